"""Polynomial kernels, including the linear one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.array import Array, namespace, squared_norms
from ..core.validate import as_value, check_integer, check_positive
from .base import Kernel, as_rows, two_tables


@dataclass(frozen=True)
class Polynomial(Kernel):
    r"""The polynomial kernel :math:`k(x, y) = (c + x^⊤ y)^p`.

    Parameters
    ----------
    degree : int
        p ≥ 1.
    offset : float
        c ≥ 0, in squared units of X.

    Examples
    --------
    >>> import numpy as np
    >>> Polynomial(2)(np.array([[1.0, 1.0]]), np.array([[2.0, 0.0]]))
    array([[9.]])
    """

    degree: int
    offset: float = 1.0

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return cls(2), cls(3)

    def __post_init__(self) -> None:
        object.__setattr__(self, "degree", check_integer(self.degree, "degree", 1))
        object.__setattr__(self, "offset", as_value(check_positive(self.offset, "offset", zero=True)))

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        X, Y = two_tables(X, Y)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.offset + X @ Y.T
            return check_overflow(self, values if self.degree == 1 else values**self.degree)

    def diag(self, X: Array) -> Array:
        """Return (c + |x_i|²)^p, shape (n,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return check_overflow(self, (self.offset + squared_norms(as_rows(X))) ** self.degree)


def check_overflow(kernel: Kernel, values: Array) -> Array:
    """Return the values of an unbounded kernel, or raise when they overflow."""
    if not bool(namespace(values).all(namespace(values).isfinite(values))):
        raise ValueError(f"{kernel!r} overflows on data of this size; divide the columns by their standard deviations")
    return values


@dataclass(frozen=True)
class Linear(Polynomial):
    """The linear kernel k(x, y) = xᵀy: its mean embedding is the mean.

    Examples
    --------
    >>> Linear()
    Linear()
    """

    degree: int = 1
    offset: float = 0.0

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return (cls(),)

    def __repr__(self) -> str:
        return "Linear()"
