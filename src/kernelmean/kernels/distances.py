"""Tiles of squared distances |x - y|², by a matrix product repaired where it loses digits, and of exp(-|x - y|²)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist

from ..core.array import (
    Array,
    array_api,
    as_float64,
    as_type,
    centered,
    like,
    namespace,
    overwritten,
    squared_norms,
    to_numpy,
)
from ..core.cached import cached_property
from ..core.validate import check_same_columns

Blocks = Callable[[slice, slice], Array]
"""A function from two slices of rows to their tile; big sums are computed from such tiles."""


LOSS = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 2.5e-7}
_FEW_COLUMNS = 5  # up to here, differences are as quick as a checked and repaired product
_NEAR = 8.0  # exp(2 x · y) is then at most e^16, and its relative error 16 eps
HOPELESS = 1e12  # from here on, a product loses all digits of smaller distances, or overflows
_REACH = {"float64": 450.0, "float32": 2.0}  # |x|² up to which a product of that type is exact to its last digits


@array_api
def squared_distance_blocks(X: Array, Y: Array, *, floor: float = 0.0, dtype: npt.DTypeLike = np.float64) -> Blocks:
    r"""Prepare |x_i - y_j|² for slices of ``X`` (n, d) and ``Y`` (m, d), in the units to which the caller scaled them.

    Wherever the data lie, the error is a small multiple of 1e-13 (in float32: 2.5e-7) times max(``floor``, |x - y|²):
    the relative error is the same for all distances down to ``floor``. Pass 1 if you exponentiate.

    Notes
    -----
    |x|² + |y|² - 2 x·y is one product of inner size d + 2 of the centered tables. Its error is eps (|x|² + |y|²), so
    pairs too close for that (near duplicates far from the center) are recomputed by differences; a tile with many of
    them is computed by differences altogether. Arrays of other libraries use a product in the type of the result, one
    in float64 where that loses digits, and sums of squared differences where both do.
    """
    signed = _signed_blocks(*recentered(X, Y), floor, 1.0, np.dtype(dtype).name)
    return lambda i, j: overwritten("abs", signed(i, j))


@squared_distance_blocks.numpy
def _(X: Array, Y: Array, *, floor: float = 0.0, dtype: npt.DTypeLike = np.float64) -> Blocks:
    return _mended(X, Y, *recentered(X, Y), floor, np.dtype(dtype))


def _mended(X: Array, Y: Array, A: Array, B: Array, floor: float, dtype: np.dtype[Any]) -> Blocks:
    """Prepare products of the recentered tables A and B, with differences of X and Y where products lose digits."""
    with np.errstate(over="ignore"):  # an infinite norm stands for a tile of differences
        A, B = (Z.astype(dtype, copy=False).astype(np.float64, copy=False) for Z in (A, B))
        norm_A, norm_B = (np.einsum("ij,ij->i", Z, Z) for Z in (A, B))
        left = np.column_stack([-2.0 * A, norm_A, np.ones(len(A))]).astype(dtype)
        right = np.column_stack([B, np.ones(len(B)), norm_B]).astype(dtype)
    limit = LOSS[dtype] / np.finfo(dtype).eps
    # per row the squared distance below which the product is too coarse
    far_X, far_Y = (np.where(norm > limit * floor, norm / limit, 0.0) for norm in (norm_A, norm_B))

    def differences(i: slice, j: slice) -> Array:
        with np.errstate(over="ignore"):
            return cdist(X[i], Y[j], "sqeuclidean").astype(dtype, copy=False)

    def block(i: slice, j: slice) -> Array:
        rows, columns = np.flatnonzero(far_X[i]), np.flatnonzero(far_Y[j])
        many = X.shape[1] <= _FEW_COLUMNS and 8 * rows.size * columns.size > far_X[i].size * far_Y[j].size
        if many or max(far_X[i].max(initial=0.0), far_Y[j].max(initial=0.0)) > HOPELESS:
            return differences(i, j)
        squared = left[i] @ right[j].T
        np.abs(squared, out=squared)
        if rows.size and columns.size:
            close = np.flatnonzero(squared[rows] < far_X[i][rows, None] + far_Y[j])
            if 8 * close.size > squared.size:
                return differences(i, j)
            row, column = rows[close // squared.shape[1]], close % squared.shape[1]
            gap = X[i][row] - Y[j][column]
            squared[row, column] = np.einsum("ij,ij->i", gap, gap)
        return squared

    return block


def recentered(X: Array, Y: Array) -> tuple[Array, Array]:
    """Shift both tables, with the same columns, to where most rows of X are."""
    check_same_columns(X, Y)
    first, second = centered(as_float64(X), as_float64(Y))
    return first, second


@final
@dataclass(frozen=True, eq=False)
class ExponentialBlocks:
    """The block function factor · exp(-|x_i - y_j|²), for which big sums have a fast path."""

    X: Array
    Y: Array
    """The rows in units of the kernel, divided by √2 θ; shapes (n, d) and (m, d)."""
    tiles: Blocks
    """The block function without the factor."""
    dtype: str = "float64"
    """"float64" or "float32": the type in which tiles are computed and returned."""
    factor: float = 1.0

    def __call__(self, i: slice, j: slice) -> Array:
        """Return the tile of rows ``i`` of X and rows ``j`` of Y."""
        gram = self.tiles(i, j)
        if self.factor != 1.0:
            gram *= self.factor
        return gram

    def unit(self, dtype: str) -> ExponentialBlocks:
        """Return the same without the factor, computed in ``dtype``."""
        return replace(self, factor=1.0) if dtype == self.dtype else exponential_blocks(self.X, self.Y, dtype)

    def separated(self) -> tuple[Array, Blocks, Array] | None:
        """Return a (n,), E and b (m,) with entries a_i E_ij b_j, E_ij = exp(2 x_i · y_j): less work for sums.

        Return None when a point is so far from the origin, compared with the bandwidth, that E would lose digits.
        """
        return None if self.dtype != "float64" else _separated(self.X, self.Y, self.factor)


@array_api
def _separated(X: Array, Y: Array, factor: float) -> tuple[Array, Blocks, Array] | None:  # noqa: ARG001
    """Return the factors of ``ExponentialBlocks.separated``; on a device they save nothing."""
    return None


@_separated.numpy
def _(X: Array, Y: Array, factor: float) -> tuple[Array, Blocks, Array] | None:
    norms = [np.einsum("ij,ij->i", Z, Z) for Z in (X, Y)]
    if max(norm.max(initial=0.0) for norm in norms) > _NEAR:
        return None

    def middle(i: slice, j: slice) -> Array:
        inner = twice[i] @ Y[j].T
        return np.exp(inner, out=inner)

    twice = 2.0 * X
    return factor * np.exp(-norms[0]), middle, np.exp(-norms[1])


@array_api
def exponential_blocks(X: Array, Y: Array, dtype: str = "float64") -> ExponentialBlocks:
    """Prepare exp(-|x - y|²) for slices of two recentered tables of float64."""
    exponents = _signed_blocks(X, Y, 1.0, -1.0, dtype)
    return ExponentialBlocks(X, Y, lambda i, j: overwritten("exp", exponents(i, j)), dtype)


@exponential_blocks.numpy
def _(X: Array, Y: Array, dtype: str = "float64") -> ExponentialBlocks:
    distances = _mended(X, Y, X, Y, 1.0, np.dtype(dtype))

    def tile(i: slice, j: slice) -> Array:
        gram = distances(i, j)
        np.negative(gram, out=gram)
        return np.exp(gram, out=gram)

    return ExponentialBlocks(X, Y, tile, dtype)


def scaled_blocks(factor: float, blocks: Blocks) -> Blocks:
    """Prepare ``factor`` times a block function; a Gaussian one keeps its fast path."""
    if isinstance(blocks, ExponentialBlocks):
        return replace(blocks, factor=factor * blocks.factor)
    return lambda i, j: factor * blocks(i, j)


# -- arrays of other libraries: nothing waits for a device, and each tile's result is copied to the host once ----------


@dataclass(frozen=True)
class _Products:
    r"""Squared distances as one matrix product of a given type, :math:`±(|x|^2 + |y|^2 - 2 x^⊤y)`."""

    X: Any
    Y: Any
    sign: float
    dtype: str

    @cached_property
    def _factors(self) -> tuple[Any, Any]:
        """The factors (n, d + 2) and (m, d + 2)."""
        X, Y = (as_type(Z, self.dtype) for Z in (self.X, self.Y))
        norm_X, norm_Y = (as_type(squared_norms(Z), self.dtype)[:, None] for Z in (X, Y))
        one_X, one_Y = (like(np.ones((Z.shape[0], 1)), Z) for Z in (X, Y))
        concat = namespace(X).concat
        left = concat([-2.0 * self.sign * X, self.sign * norm_X, self.sign * one_X], axis=1)
        return left, concat([Y, one_Y, norm_Y], axis=1)

    def __call__(self, i: slice, j: slice) -> Any:
        left, right = self._factors
        return left[i, :] @ right[j, :].T


def _signed_blocks(X: Any, Y: Any, floor: float, sign: float, dtype: str) -> Blocks:
    """Prepare ±|x_i - y_j|² of two recentered float64 tables, by the cheapest method that is accurate on a tile."""
    norms = [to_numpy(squared_norms(Z)) for Z in (X, Y)]
    products = {name: _Products(X, Y, sign, name) for name in (dtype, "float64")}

    def block(i: slice, j: slice) -> Any:
        farthest = [norm[part].max(initial=0.0) for norm, part in zip(norms, (i, j), strict=True)]
        # where one point is near the origin and the other is not, their distance is as large as what is lost with
        reach = max(farthest) if max(farthest) > HOPELESS else min(farthest)
        product = next((products[name] for name in products if reach <= _REACH[name] * floor), None)
        if product is not None:
            return as_type(product(i, j), dtype)
        return as_type(sign * summed_over_axes(X[i, :], Y[j, :], lambda gap: gap * gap), dtype)

    return block


def summed_over_axes(X: Any, Y: Any, term: Callable[[Any], Any]) -> Any:
    """Return Σ_k f(x_ik - y_jk), shape (n, m), one axis after another, for arrays of any library."""
    total = term(X[:, 0][:, None] - Y[:, 0][None, :])
    for axis in range(1, X.shape[1]):
        total += term(X[:, axis][:, None] - Y[:, axis][None, :])
    return total
