"""Kernels of any kind: a function of two arrays, and a Gram matrix that was computed elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ..core.array import Array, IntArray, as_host, joined, like, slices
from ..core.frozen import Frozen, owned
from ..core.validate import check_finite, check_numbers, check_points
from .bandwidth import bandwidth_from
from .base import BandwidthOf, Kernel, as_rows, two_tables

_LOOKED_AT = 300
"""So many rows of a function, evenly spaced, show whether it is a kernel; of a matrix four times as many."""
_ROUNDING = 1e-6
_AT_ONCE = 32


@final
@dataclass(frozen=True)
class KernelFunction(Kernel):
    """The kernel that a function of two arrays computes, as wherever a test or an estimator takes ``kernel=function``.

    Parameters
    ----------
    function : callable
        From NumPy arrays X (n, d) and Y (m, d) to the matrix k(x_i, y_j), shape (n, m), such as those of
        ``sklearn.metrics.pairwise``. It is called with blocks of rows, wherever the rows are, so k(x_i, y_j) may depend
        on no other row.

    Raises
    ------
    TypeError, ValueError
        When it is no function, or what it returns has another shape, is not finite, or is not symmetric and positive
        semi-definite on 300 of the rows that a test, an estimator or :func:`kernelmean.embed` is given.

    Notes
    -----
    It has no closed forms, so it goes with no noise but a ``noise.Sampled``, and files cannot hold it.

    Examples
    --------
    >>> import numpy as np
    >>> def overlap(X, Y):
    ...     return np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2)
    >>> KernelFunction(overlap)(np.array([[1.0, 2.0]]), np.array([[3.0, 1.0]]))
    array([[2.]])
    """

    function: Callable[[Array, Array], Any]

    def __post_init__(self) -> None:
        if isinstance(self.function, type | Kernel) or not callable(self.function):
            raise TypeError(f"function is {self.function!r}; pass a function of two arrays that returns their matrix")

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the matrix that the function computes, shape (n, m)."""
        X, Y = two_tables(X, Y)
        shape = X.shape[0], Y.shape[0]
        copies = np.array(as_host(X)), np.array(as_host(Y))  # it may write to them, as compiled functions want to
        gram = check_numbers(self.function(*copies), f"what {self!r} returns", finite=False)
        if gram.shape != shape:
            raise ValueError(f"{self!r} returns shape {gram.shape}; the matrix k(x_i, y_j), shape {shape}, is needed")
        check_finite(gram, f"the matrix of {self!r}")
        return like(gram.copy(), X)  # a function may fill one array again and again

    def diag(self, X: Array) -> Array:
        """Return k(x_i, x_i), shape (n,), from 32 rows at a time."""
        X = as_rows(X)
        return joined([like(as_host(self(X[i, :], X[i, :])).diagonal(), X) for i in slices(X.shape[0], _AT_ONCE)])

    def resolved(self, X: Array, bandwidth_of: BandwidthOf = bandwidth_from) -> Self:
        """Return the kernel itself, after a look at its matrix of some rows."""
        del bandwidth_of
        some = as_host(X)[_spaced(X.shape[0], _LOOKED_AT)]
        check_gram(as_host(self(some, some)), f"the matrix of {self!r}")
        return self

    def __repr__(self) -> str:
        return f"KernelFunction({getattr(self.function, '__name__', repr(self.function))})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class Precomputed(Frozen, Kernel):
    """The kernel on numbers of rows whose values are the entries of a Gram matrix, k(i, j) = K_ij.

    Tests and :class:`kernelmean.KernelMean` make it of the matrices that they are given with ``kernel="precomputed"``.

    Parameters
    ----------
    gram : array of shape (n, n)
        K: finite, symmetric and positive semi-definite up to rounding. Copied.

    Raises
    ------
    ValueError
        When K is not such a matrix. Of a larger one, 1,200 rows, evenly spaced, show whether it is positive
        semi-definite.

    Notes
    -----
    It knows its n rows and nothing else: no other points, no columns, no noise. Two of these kernels are equal if they
    are the same object.

    Examples
    --------
    >>> import numpy as np
    >>> Precomputed([[1.0, 0.5], [0.5, 1.0]])(np.array([[0.0]]), np.array([[0.0], [1.0]]))
    array([[1. , 0.5]])
    """

    gram: Array

    def __post_init__(self) -> None:
        gram = check_points(self.gram, "the Gram matrix")
        if gram.shape[0] != gram.shape[1]:
            raise ValueError(f"the Gram matrix has shape {gram.shape}; one row and column per row of data is needed")
        check_gram(gram, "the Gram matrix")
        object.__setattr__(self, "gram", owned((gram + gram.T) / 2, None))

    @property
    def rows(self) -> Array:
        """The numbers of all rows as points, shape (n, 1)."""
        return np.arange(len(self.gram), dtype=np.float64)[:, None]

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the entries of these rows and columns, shape (n, m)."""
        return like(self.gram[np.ix_(self._numbers(X), self._numbers(Y))], X)

    def diag(self, X: Array) -> Array:
        """Return K_ii, shape (n,)."""
        return like(self.gram.diagonal()[self._numbers(X)], X)

    def _numbers(self, X: Array) -> IntArray:
        """Return the numbers of rows that points are."""
        points, n = as_host(as_rows(X)), len(self.gram)
        numbers = points[:, 0].astype(np.intp)
        if points.shape[1] != 1 or (numbers != points[:, 0]).any() or numbers.min() < 0 or numbers.max() >= n:
            raise ValueError(
                f"a precomputed kernel knows the {n} rows of its matrix and no other points or columns; its points are "
                f"their numbers, 0 to {n - 1}, in one column"
            )
        return numbers

    def __deepcopy__(self, memo: dict[int, Any]) -> Precomputed:
        return self  # nothing can change it, and kernels that are the same object are equal

    def __repr__(self) -> str:
        return f"Precomputed({len(self.gram)} rows)"


def as_kernel(value: Any) -> Any:
    """Return a function as a kernel, a kernel, a class of kernels or a name as it is; no array is one."""
    if hasattr(value, "__array__"):
        raise TypeError(
            f"kernel is an array of shape {np.shape(value)}; if it is a Gram matrix, pass its rows as the data, with "
            "kernel='precomputed'"
        )
    is_function = callable(value) and not isinstance(value, type | Kernel)
    return KernelFunction(value) if is_function else value


def _spaced(n: int, most: int) -> IntArray:
    """Return all row numbers, or some that are evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


def check_gram(gram: Array, what: str) -> None:
    """Raise when a square matrix is not symmetric and, on 1,200 rows, positive semi-definite, up to rounding."""
    gap = np.abs(gram - gram.T)
    if gap.max() > _ROUNDING * np.abs(gram).max():
        i, j = (int(place) for place in np.unravel_index(gap.argmax(), gap.shape))
        raise ValueError(
            f"{what} is not symmetric: entry ({i}, {j}) is {gram[i, j]:.6g} and ({j}, {i}) is {gram[j, i]:.6g}; rows "
            "and columns must be the same rows in the same order"
        )
    some = _spaced(len(gram), 4 * _LOOKED_AT)
    part = gram[np.ix_(some, some)]
    largest = float(np.abs(part).max())
    try:
        np.linalg.cholesky(part / (largest or 1.0) + _ROUNDING * np.sqrt(len(part)) * np.eye(len(part)))
    except np.linalg.LinAlgError as error:
        lowest = float(np.linalg.eigvalsh(part)[0])
        raise ValueError(
            f"{what} is not positive semi-definite (an eigenvalue is {lowest:.4g}, entries are up to {largest:.4g}): "
            "similarities and distances need not be a kernel; of distances D that are those of a space of vectors, "
            "pass exp(-D²/(2θ²))"
        ) from error
