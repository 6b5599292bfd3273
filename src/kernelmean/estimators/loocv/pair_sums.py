"""Sums of Gaussians over all pairs, with the moments that gradients need, tile by tile."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from ...core.array import (
    Array,
    array_api,
    as_float64,
    namespace,
    overwritten,
    precision,
    slices,
    to_numpy,
    total,
    without_diagonal,
)
from ...kernels.blocks import Blocks
from ...kernels.distances import squared_distance_blocks
from ...plan.plan import running

_TILE = 256
_DIFFERENCES_UP_TO = 2**17  # differences of coordinates


@dataclass(frozen=True)
class PairSum:
    """The sum of w_ij = exp(-|a_i - b_j|²) over i ≠ j, and weighted means of products of coordinates."""

    log: float
    """log Σ w_ij."""
    left: Array
    right: Array
    both: Array
    """Shape (d,). Means of a_ik², b_jk² and a_ik b_jk under the weights w_ij / Σ w; empty unless asked for."""

    @property
    def gaps(self) -> Array:
        """The mean of (a_ik - b_jk)², shape (d,)."""
        return np.maximum(self.left + self.right - 2 * self.both, 0.0)


@array_api
def pair_sum(A: Array, B: Array, *, moments: bool = True) -> PairSum:
    """Return the sum over i ≠ j for two tables (n, d); ``B is A`` halves the work. O(n² d) time, O(block²) memory."""
    return _combine(_device_tiles(A, B, moments))


@pair_sum.numpy
def _(A: Array, B: Array, *, moments: bool = True) -> PairSum:
    rows, symmetric = slices(len(A), _tile_size(len(A))), A is B
    blocks = _differences(A, B) if len(A) * A.size <= _DIFFERENCES_UP_TO else squared_distance_blocks(A, B, floor=1.0)
    cells = ((i, j) for k, i in enumerate(rows) for j in (rows[k:] if symmetric else rows))

    def run(cell: tuple[slice, slice]) -> _Tile:
        i, j = cell
        tile = _tile(blocks, A, B, i, j, moments)
        return tile.mirrored() if symmetric and i != j else tile

    tiles = map(run, cells) if len(rows) == 1 else running().map(run, cells, len(A) ** 2)
    return _combine([tile for tile in tiles if tile.total > 0])


def _differences(A: Array, B: Array) -> Blocks:
    """Return squared distances by differences: of few points faster than a product, which must be prepared."""
    return lambda i, j: cdist(A[i], B[j], "sqeuclidean")


@dataclass(frozen=True)
class _Tile:
    shift: float
    total: float
    products: Array  # (3, d) unnormalized: a², b², ab

    def mirrored(self) -> _Tile:
        """Return the sum with the tile across the diagonal, where left and right change places."""
        return _Tile(self.shift, 2 * self.total, self.products + self.products[[1, 0, 2]])


def _tile(blocks: Blocks, A: Array, B: Array, i: slice, j: slice, moments: bool) -> _Tile:
    weights = blocks(i, j)
    if i == j:
        np.fill_diagonal(weights, np.inf)
    shift = float(weights.min())
    if shift == math.inf:
        return _Tile(shift, 0.0, np.zeros((3, A.shape[1])))
    np.subtract(shift, weights, out=weights)
    np.exp(weights, out=weights)
    if not moments:
        return _Tile(shift, float(weights.sum()), np.zeros((3, 0)))
    by_row, by_column = weights.sum(axis=1), weights.sum(axis=0)
    both = np.einsum("ij,ij->j", A[i], weights @ B[j])
    return _Tile(shift, float(by_row.sum()), np.stack([by_row @ A[i] ** 2, by_column @ B[j] ** 2, both]))


def _device_tiles(A: Array, B: Array, moments: bool) -> list[_Tile]:
    """Return the tiles of arrays of another library, summed up where these live and copied at the end."""
    dtype, symmetric, dim = precision(A), A is B, A.shape[1]
    A, B = as_float64(A), as_float64(B)
    blocks, rows = squared_distance_blocks(A, B, floor=1.0, dtype=dtype), slices(A.shape[0], min(running().tiles(A)))
    cells = [(i, j) for k, i in enumerate(rows) for j in (rows[k:] if symmetric else rows)]
    cells = [(i, j) for i, j in cells if i != j or i.stop - i.start > 1]  # one point has no pair with itself
    sums = [_device_sums(blocks(i, j), A[i, :], B[j, :], i == j, moments) for i, j in cells]
    numbers = to_numpy(namespace(A).stack(sums))
    tiles = [_Tile(float(row[0]), float(row[1]), row[2:].reshape(3, dim if moments else 0)) for row in numbers]
    mirrored = [symmetric and i != j for i, j in cells]
    return [tile.mirrored() if twice else tile for tile, twice in zip(tiles, mirrored, strict=True) if tile.total > 0]


def _device_sums(tile: Array, A: Array, B: Array, diagonal: bool, moments: bool) -> Array:
    """Return the shift of a tile, the sum of its weights, and their products with a², b² and ab, one after another."""
    xp = namespace(tile)
    tile = without_diagonal(tile, math.inf) if diagonal else tile
    shift = xp.min(tile)
    weights = as_float64(overwritten("exp", shift - tile))
    by_row = total(weights, axis=1)
    head = xp.stack([as_float64(shift), total(by_row)])
    if not moments:
        return head
    both = total(A * (weights @ B), axis=0)
    return xp.concat([head, by_row @ A**2, total(weights, axis=0) @ B**2, both])


def _combine(tiles: list[_Tile]) -> PairSum:
    if len(tiles) == 1:
        (tile,) = tiles
        return PairSum(math.log(tile.total) - tile.shift, *(tile.products / tile.total))
    logs = np.array([math.log(tile.total) - tile.shift for tile in tiles])
    log = float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))
    shares = [math.exp(-tile.shift - log) for tile in tiles]
    products = np.sum([share * tile.products for share, tile in zip(shares, tiles, strict=True)], axis=0)
    return PairSum(log, *products)


def _tile_size(n: int) -> int:
    """Return a tile of at most 256 rows that cuts ``n`` evenly."""
    return math.ceil(n / math.ceil(n / _TILE))
