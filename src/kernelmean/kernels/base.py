"""What a kernel is: a symmetric positive semi-definite function of two rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.array import Array, full, joined
from .bandwidth import bandwidth_from

Blocks = Callable[[slice, slice], Array]


class Kernel(ABC):
    """A symmetric positive semi-definite function k(x, y) of two rows of a table.

    Kernels are values: immutable, comparable, with a readable ``repr``. They form an algebra:
    ``k1 + k2``, ``2.0 * k`` and ``k1 * k2`` are kernels.
    """

    @abstractmethod
    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix k(x_i, y_j), shape (n, m), of ``X`` (n, d) and ``Y`` (m, d)."""

    def diag(self, X: Array) -> Array:
        """Return k(x_i, x_i), shape (n,), in O(n d)."""
        return joined([self(x, x)[0, :] for x in (X[i : i + 1, :] for i in range(X.shape[0]))])

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare ``f(i, j) = k(X[i], Y[j])`` for slices; families with a faster way override it."""
        return lambda i, j: self(X[i, :], Y[j, :])

    def resolved(self, X: Array, bandwidth_of: Callable[[Array, str], Any] = bandwidth_from) -> Kernel:
        """Return the kernel with the bandwidths that its rules, such as "median", find in the rows ``X`` (n, d).

        Examples
        --------
        >>> from kernelmean.kernels import Gaussian
        >>> (2.0 * Gaussian("median")).resolved(np.array([[0.0], [3.0]]))
        2.0 * Gaussian(bandwidth=3.0)
        """
        rule = getattr(self, "bandwidth", None)
        if not isinstance(rule, str):
            return self
        found: Kernel = replace(self, bandwidth=bandwidth_of(X, rule))  # type: ignore[type-var]
        return found

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return values of the family that :func:`kernelmean.support` lists and the tests try."""
        return ()

    def __add__(self, other: Kernel) -> Kernel:
        from .compose import Sum

        return Sum((self, other)) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        from .compose import Product, Scaled

        if isinstance(other, Kernel):
            return Product((self, other))
        return Scaled(float(other), self) if isinstance(other, (int, float)) else NotImplemented

    __rmul__ = __mul__


def check_kernel(value: Any, name: str = "kernel") -> Kernel:
    """Return ``value`` when it is a kernel, or say what is one."""
    if not isinstance(value, Kernel):
        raise TypeError(f"{name} is {value!r}, a value such as kernels.Gaussian(1.0) is needed")
    return value


def check_kernels(values: Any, name: str) -> tuple[Kernel, ...]:
    """Return ``values`` as a non-empty tuple of kernels, or say what is wrong with them."""
    kernels = tuple(values)
    if not kernels:
        raise ValueError(f"{name} is empty, at least one kernel is needed")
    return tuple(check_kernel(kernel, f"one of {name}") for kernel in kernels)


class Stationary(Kernel):
    """A kernel that depends on x - y only: additive noise turns it into another kernel."""

    def diag(self, X: Array) -> Array:
        """Return the constant k(x, x), shape (n,)."""
        origin = np.zeros((1, X.shape[1]))
        return full(X, float(self(origin, origin)[0, 0]))
