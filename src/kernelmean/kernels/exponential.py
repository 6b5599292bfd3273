"""Tiles of exp(-|x - y|²), which big sums know how to speed up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core.array import Array, array_api
from . import array_api_distances
from .blocks import Blocks
from .distances import squared_distance_blocks

_NEAR = 8.0  # exp(2 x · y) then is at most e^16, and its relative error 16 eps


@final
@dataclass(frozen=True, eq=False)
class ExponentialBlocks:
    """The block function factor · exp(-|x_i - y_j|²), which big sums know how to speed up."""

    X: Array
    Y: Array
    """In the units of the kernel: divided by √2 θ, shape (n, d) and (m, d)."""
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

        None where a point is so far from the origin, compared with the bandwidth, that E would lose digits.
        """
        return None if self.dtype != "float64" else _separated(self.X, self.Y, self.factor)


@array_api
def _separated(X: Array, Y: Array, factor: float) -> tuple[Array, Blocks, Array] | None:  # noqa: ARG001
    """Return the factors of ``ExponentialBlocks.separated``; they gain nothing on a device."""
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
    """Prepare exp(-|x - y|²) for slices of two tables of float64."""
    return ExponentialBlocks(X, Y, array_api_distances.exponential_blocks(X, Y, dtype), dtype)


@exponential_blocks.numpy
def _(X: Array, Y: Array, dtype: str = "float64") -> ExponentialBlocks:
    distances = squared_distance_blocks(X, Y, floor=1.0, dtype=dtype)

    def tile(i: slice, j: slice) -> Array:
        gram = distances(i, j)
        np.negative(gram, out=gram)
        return np.exp(gram, out=gram)

    return ExponentialBlocks(X, Y, tile, dtype)


def scaled_blocks(factor: float, blocks: Blocks) -> Blocks:
    """Prepare ``factor`` times a block function; a Gaussian one stays one that big sums know how to speed up."""
    if isinstance(blocks, ExponentialBlocks):
        return replace(blocks, factor=factor * blocks.factor)
    return lambda i, j: factor * blocks(i, j)
