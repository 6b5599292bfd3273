"""Kernels, symmetric positive semi-definite functions of two rows, and their algebra."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, imul, mul
from typing import Any, ClassVar, Self

import numpy as np

from ..core.array import (
    Array,
    array_api,
    as_float64,
    as_type,
    full,
    is_foreign,
    joined,
    namespace,
    overwritten,
    precision,
    slices,
)
from ..core.validate import as_value, check_numbers, check_positive, check_same_columns
from .bandwidth import bandwidth_from, check_axes, check_bandwidth
from .distances import Blocks, scaled_blocks

BandwidthOf = Callable[[Array, str], Any]


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
        """Prepare ``f(i, j) = k(X[i], Y[j])`` for slices; families with a faster method override it."""
        return lambda i, j: self(X[i, :], Y[j, :])

    def resolved(self, X: Array, bandwidth_of: BandwidthOf = bandwidth_from) -> Kernel:
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
        resolved: Kernel = replace(self, bandwidth=bandwidth_of(X, rule))  # type: ignore[type-var]
        return resolved

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels of the family, for :func:`kernelmean.support` and the tests."""
        return ()

    def __add__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        return Sum((self, other))

    def __mul__(self, other: Kernel | float) -> Kernel:
        if isinstance(other, Kernel):
            return Product((self, other))
        if not isinstance(other, (int, float)):
            return NotImplemented
        return Scaled(float(other), self)

    __rmul__ = __mul__


def as_rows(X: Any, name: str = "X") -> Array:
    """Return rows as floats, shape (n, d), or raise; floats of other libraries keep their type."""
    if is_foreign(X):
        is_float = namespace(X).isdtype(X.dtype, "real floating")
        X = X if is_float else namespace(X).astype(X, namespace(X).float64)
    elif getattr(X, "dtype", None) != np.float64:
        X = check_numbers(X, name, finite=False)
    if X.ndim != 2:
        raise ValueError(
            f"{name} has shape {tuple(X.shape)}, rows of shape (n, d) are needed; write {name}[:, None] for one column"
        )
    rows: Array = X
    return rows


def two_tables(X: Any, Y: Any) -> tuple[Array, Array]:
    """Return the rows of two tables with the same columns, or raise."""
    X, Y = as_rows(X, "X"), as_rows(Y, "Y")
    check_same_columns(X, Y)
    return X, Y


def rules_of(kernel: Kernel, dim: int) -> tuple[str, ...]:
    """Return the rules for bandwidths that still need rows, for this number of columns."""
    rules: list[str] = []

    def noted(_: Array, rule: str) -> float:
        rules.append(rule)
        return 1.0

    kernel.resolved(np.zeros((1, dim)), noted)
    return tuple(rules)


def check_kernel(value: Any, name: str = "kernel") -> Kernel:
    """Return ``value`` if it is a kernel, or raise."""
    if not isinstance(value, Kernel):
        raise TypeError(f"{name} is {value!r}, a value such as kernels.Gaussian(1.0) is needed")
    return value


def check_kernels(values: Any, name: str) -> tuple[Kernel, ...]:
    """Return ``values`` as a non-empty tuple of kernels, or raise."""
    kernels = tuple(values)
    if not kernels:
        raise ValueError(f"{name} is empty, at least one kernel is needed")
    return tuple(check_kernel(kernel, f"one of {name}") for kernel in kernels)


class Blockwise(Kernel):
    """A kernel whose Gram matrices are made block by block."""

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m): one block of all rows."""
        return self.blocks(*two_tables(X, Y))(slice(None), slice(None))

    @abstractmethod
    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare ``f(i, j) = k(X[i], Y[j])`` for slices."""


class Stationary(Kernel):
    """A kernel that depends only on x - y; additive noise turns it into another kernel."""

    def diag(self, X: Array) -> Array:
        """Return the constant k(x, x), shape (n,)."""
        X = as_rows(X)
        origin = np.zeros((1, X.shape[1]))
        return full(X, float(self(origin, origin)[0, 0]))


class WithBandwidth(Stationary):
    """A kernel of the differences x_j - y_j in units of θ_j; a dataclass with the field ``bandwidth``, checked here."""

    bandwidth: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))

    def bandwidths(self, dim: int) -> Array:
        """Return θ_j of every axis, shape (d,)."""
        return np.broadcast_to(check_axes(self.bandwidth, dim), (dim,))


@dataclass(frozen=True)
class Scaled(Kernel):
    """The kernel ``factor * kernel``, with ``factor`` ≥ 0.

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> 2.0 * Gaussian(1.0)
    2.0 * Gaussian(bandwidth=1.0)
    """

    factor: float
    kernel: Kernel

    def __post_init__(self) -> None:
        factor = check_positive(self.factor, "factor", zero=True)
        if factor.ndim:
            raise ValueError(f"factor is {self.factor!r}, one number is needed")
        object.__setattr__(self, "factor", as_value(factor))
        check_kernel(self.kernel)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        return self.factor * self.kernel(X, Y)

    def diag(self, X: Array) -> Array:
        """Return factor · k(x_i, x_i), shape (n,)."""
        return self.factor * self.kernel.diag(X)

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the kernel inside, and scale its blocks."""
        return scaled_blocks(self.factor, self.kernel.blocks(X, Y))

    def resolved(self, X: Array, bandwidth_of: BandwidthOf = bandwidth_from) -> Scaled:
        """Resolve the kernel inside."""
        return replace(self, kernel=self.kernel.resolved(X, bandwidth_of))

    def __repr__(self) -> str:
        return f"{self.factor!r} * {self.kernel!r}"


class Combined(Kernel):
    """Kernels on the same columns, combined by one operation; a dataclass whose one field holds them."""

    holds: ClassVar[str]
    symbol: ClassVar[str]

    @property
    def parts(self) -> tuple[Kernel, ...]:
        """The kernels."""
        parts: tuple[Kernel, ...] = getattr(self, self.holds)
        return parts

    def __post_init__(self) -> None:
        object.__setattr__(self, self.holds, check_kernels(self.parts, self.holds))

    def _joined(self, values: Iterable[Any]) -> Any:
        return reduce({"+": add, "*": mul}[self.symbol], values)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        return self._joined(kernel(X, Y) for kernel in self.parts)

    def diag(self, X: Array) -> Array:
        """Return k(x_i, x_i), shape (n,), from those of the kernels."""
        return self._joined(kernel.diag(X) for kernel in self.parts)

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare every kernel, and combine their blocks."""
        inner = [kernel.blocks(X, Y) for kernel in self.parts]
        return lambda i, j: self._joined(block(i, j) for block in inner)

    def resolved(self, X: Array, bandwidth_of: BandwidthOf = bandwidth_from) -> Self:
        """Resolve every kernel."""
        parts = tuple(kernel.resolved(X, bandwidth_of) for kernel in self.parts)
        return replace(self, **{self.holds: parts})  # type: ignore[type-var]

    def __repr__(self) -> str:
        return "(" + f" {self.symbol} ".join(map(repr, self.parts)) + ")"


@dataclass(frozen=True, repr=False)
class Sum(Combined):
    """The sum of kernels on the same columns, as ``k1 + k2`` makes it."""

    terms: tuple[Kernel, ...]
    holds, symbol = "terms", "+"


@dataclass(frozen=True, repr=False)
class Product(Combined):
    """The product of kernels on the same columns, as ``k1 * k2`` makes it."""

    factors: tuple[Kernel, ...]
    holds, symbol = "factors", "*"


AxisProfile = Callable[[Array], Array]
_STRIPS = 4  # of a tile on a device
_CHUNK = 2**15  # numbers at a time: an axis's scratch values then stay in the cache
_AXES_OF_ALL, _RARE = 3, 8  # the axes of all pairs, and the share of these that are left where they are listed


class Separable(Blockwise, Stationary):
    r"""A kernel :math:`k(x, y) = \prod_j f_j(|x_j - y_j|)` with one function per axis, its *profile*.

    Noise that is independent between the axes smooths each profile separately.
    """

    @abstractmethod
    def profiles(self, dim: int) -> Sequence[AxisProfile]:
        """Return the ``dim`` profiles, functions from arrays of differences ≥ 0 to new arrays of the same shape."""

    def diag(self, X: Array) -> Array:
        """Return the constant Π_j f_j(0), shape (n,)."""
        X = as_rows(X)
        return full(X, math.prod(float(profile(np.zeros(1))[0]) for profile in self.profiles(X.shape[1])))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Prepare the profiles and multiply them axis by axis, in O(n m d) time and O(n m) memory."""
        check_same_columns(X, Y)
        profiles, dtype = self.profiles(X.shape[1]), precision(X)
        X, Y = as_float64(X), as_float64(Y)
        return lambda i, j: as_type(_product_over_axes(X[i, :], Y[j, :], profiles), dtype)


@array_api
def _product_over_axes(X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> Array:
    """Return Π_j f_j(|x_j - y_j|), shape (n, m), a few strips of rows at a time: profiles hold several copies."""

    def strip(rows: slice) -> Array:
        gaps = (X[rows, :][:, axis][:, None] - Y[:, axis][None, :] for axis in range(X.shape[1]))
        return reduce(imul, (profile(overwritten("abs", gap)) for profile, gap in zip(profiles, gaps, strict=True)))

    gram: Array = joined([strip(rows) for rows in slices(X.shape[0], -(-X.shape[0] // _STRIPS))])
    return gram


@_product_over_axes.numpy
def _(X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> Array:
    gram, first, rest = np.ones((len(X), len(Y))), slice(_AXES_OF_ALL), slice(_AXES_OF_ALL, None)
    for rows in slices(len(X), max(1, _CHUNK // max(1, len(Y)))):
        part = gram[rows]
        _multiply(part, X[rows, first], Y[:, first], profiles[first])
        if len(profiles) > _AXES_OF_ALL:
            multiply = _multiply_listed if _RARE * np.count_nonzero(part != 0.0) < part.size else _multiply
            multiply(part, X[rows, rest], Y[:, rest], profiles[rest])
    return gram


def _multiply(gram: Array, X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> None:
    """Multiply by the profiles of some axes, in place."""
    for axis, profile in enumerate(profiles):
        gap = X[:, axis, None] - Y[:, axis]
        gram *= profile(np.abs(gap, out=gap))


def _multiply_listed(gram: Array, X: Array, Y: Array, profiles: Sequence[AxisProfile]) -> None:
    """Do the same where a product is not 0 yet: profiles that vanish beyond a distance leave few."""
    row, column = np.divmod(np.flatnonzero(gram != 0.0), gram.shape[1])
    left = gram[row, column]
    gram[:] = 0.0
    for axis, profile in enumerate(profiles):
        left *= profile(np.abs(X[row, axis] - Y[column, axis]))
        kept = left != 0.0
        row, column, left = row[kept], column[kept], left[kept]
    gram[row, column] = left
