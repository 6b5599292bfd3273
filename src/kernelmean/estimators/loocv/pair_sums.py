"""Sums of Gaussians over all pairs, tile by tile, and the scores computed from them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from ...core.array import (
    Array,
    array_api,
    as_float64,
    like,
    namespace,
    overwritten,
    precision,
    slices,
    to_numpy,
    total,
    without_diagonal,
)
from ...embedding.score import Terms, norm_terms
from ...kernels.distances import Blocks, squared_distance_blocks
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
    dtype, symmetric, dim = precision(A), A is B, A.shape[1]
    A, B = as_float64(A), as_float64(B)
    blocks, rows = squared_distance_blocks(A, B, floor=1.0, dtype=dtype), slices(A.shape[0], min(running().tiles(A)))
    cells = [(i, j) for k, i in enumerate(rows) for j in (rows[k:] if symmetric else rows)]
    cells = [(i, j) for i, j in cells if i != j or i.stop - i.start > 1]  # one point has no pair with itself
    sums = [_device_sums(blocks(i, j), A[i, :], B[j, :], i == j, moments) for i, j in cells]
    numbers = to_numpy(namespace(A).stack(sums))  # summed on the device and copied at the end
    tiles = [_Tile(float(row[0]), float(row[1]), row[2:].reshape(3, dim if moments else 0)) for row in numbers]
    whole = [tile.mirrored() if symmetric and i != j else tile for tile, (i, j) in zip(tiles, cells, strict=True)]
    return _combine([tile for tile in whole if tile.total > 0])


@pair_sum.numpy
def _(A: Array, B: Array, *, moments: bool = True) -> PairSum:
    size = math.ceil(len(A) / math.ceil(len(A) / _TILE))  # at most 256 rows, which cut all evenly
    rows, symmetric = slices(len(A), size), A is B
    blocks = _differences(A, B) if len(A) * A.size <= _DIFFERENCES_UP_TO else squared_distance_blocks(A, B, floor=1.0)
    cells = ((i, j) for k, i in enumerate(rows) for j in (rows[k:] if symmetric else rows))

    def run(cell: tuple[slice, slice]) -> _Tile:
        i, j = cell
        tile = _tile(blocks, A, B, i, j, moments)
        return tile.mirrored() if symmetric and i != j else tile

    tiles = map(run, cells) if len(rows) == 1 else running().map(run, cells, len(A) ** 2)
    return _combine([tile for tile in tiles if tile.total > 0])


def _differences(A: Array, B: Array) -> Blocks:
    """Return squared distances by differences: for few points faster than a product, which must be prepared."""
    return lambda i, j: cdist(A[i], B[j], "sqeuclidean")


@dataclass(frozen=True)
class _Tile:
    shift: float
    total: float
    products: Array  # (3, d) unnormalized: a², b², ab

    def mirrored(self) -> _Tile:
        """Return the sum with the mirrored tile, in which left and right are swapped."""
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


# -- one common Gaussian noise with a variance per axis, with analytic gradient ----------------------------------------


def axis_terms(Y: Array, noise: Array, alpha: float, *, slopes: bool = True) -> Terms:
    r"""Return the terms of the score at the variances e_j/θ_j² = ``noise`` (d,), for points in units of θ.

    L_ij = Π_j (1+a_j)^{-1/2} exp(-½ Σ_j (y_ij - y_kj)²/(1+a_j)), Q_ij the same with 2a: θ^d never appears.
    O(n² d) time as matrix products, O(block²) memory. Slopes are derivatives in ``noise``.
    """
    cross = _axis_factor(Y, noise, 1.0, slopes)
    off = _axis_factor(Y, noise, 2.0, slopes)
    diag = -0.5 * float(np.log1p(2 * noise).sum()), -1.0 / (1 + 2 * noise)
    square = norm_terms(alpha, off, diag)
    return Terms(cross[0], square[0], cross[1], square[1])


def _axis_factor(Y: Array, noise: Array, sides: float, slopes: bool) -> tuple[float, Array]:
    """Return the logarithm of the mean over i ≠ j of the smoothed kernel, and its gradient."""
    s = 1.0 + sides * noise
    scaled = Y / like(np.sqrt(2 * s), Y)
    pairs = pair_sum(scaled, scaled, moments=slopes)
    log_mean = pairs.log - np.log(Y.shape[0] * (Y.shape[0] - 1.0)) - 0.5 * np.log1p(sides * noise).sum()
    slope = sides * (pairs.gaps - 0.5) / s if slopes else np.zeros_like(noise)
    return float(log_mean), slope


# -- the variance-preserving estimator: points moved towards their mean, the lost variance as noise --------------------
#
# x̃ = x̄ + r (x - x̄) + ε, ε ~ N(0, σ²I), tied σ² = (1 - r²) v or free. Leaving one out also moves the mean, so that L is
# not symmetric.

_STEPS = 100  # values of log r²/(1+2a), between which the exploration interpolates


def spanned(Y: Array) -> Array:
    """Return the points in coordinates of their span: the same inner products, in at most n columns."""
    if Y.shape[1] <= Y.shape[0]:
        return Y
    left, lengths, _ = namespace(Y).linalg.svd(Y, full_matrices=False)
    coordinates: Array = left * lengths
    return coordinates


def contracted_terms(Y: Array, contraction: float, noise: float, alpha: float, n: int, dim: int) -> Terms:
    r"""Return the terms of the score at r = ``contraction`` and σ²/θ² = ``noise``, for points in units of θ.

    L_ij = κ(|y_i - (1-r) ȳ_(-i) - r y_j|²; a) and Q_ij = κ(r² |y_i - y_j|²; 2a) with
    κ(t; a) = (1+a)^{-d/2} exp(-t/(2(1+a))). Exact in O(n² d); slopes are derivatives in (r, a), r > 0. The ``n``
    points of the sample have mean zero; Y may be a part of them, in coordinates of a subspace of the ``dim`` columns.
    """
    r = float(contraction)
    c, c_slope = (
        1 + (1 - r) / (n - 1),
        -1.0 / (n - 1),
    )  # without y_i the mean is -y_i/(n-1), so the target becomes c y_i
    root = math.sqrt(2 * (1 + noise))
    pairs = pair_sum(c * Y / root, r * Y / root)
    left, right, both = (float(part.sum()) for part in (pairs.left, pairs.right, pairs.both))
    slope = 2 * c_slope * (left - both) / c + 2 * (right - both) / r  # weighted mean of d/dr |c y_i - r y_j|²
    cross, cross_slope = _log_mean(pairs, Y.shape[0], dim, noise, 1.0, slope)
    scaled = r * Y / math.sqrt(2 * (1 + 2 * noise))
    pairs = pair_sum(scaled, scaled)
    off = _log_mean(pairs, Y.shape[0], dim, noise, 2.0, 2 * float(pairs.gaps.sum()) / r)
    diag = -0.5 * dim * math.log1p(2 * noise), np.array([0.0, -dim / (1 + 2 * noise)])
    square, square_slope = norm_terms(alpha, off, diag)
    return Terms(cross, square, cross_slope, square_slope)


def _log_mean(
    pairs: PairSum, n: int, dim: int, noise: float, sides: float, distance_slope: float
) -> tuple[float, Array]:
    s = 1 + sides * noise
    log_mean = pairs.log - math.log(n * (n - 1.0)) - 0.5 * dim * math.log1p(sides * noise)
    slope = sides * (float(pairs.gaps.sum()) - 0.5 * dim) / s
    return log_mean, np.array([-distance_slope, slope])


def contracted_on_grid(Y: Array, contractions: Array, noises: Array, alpha: float, n: int, dim: int) -> Terms:
    """Return the terms at every r of ``contractions`` with every σ²/θ² of ``noises``, shape (R, G), without slopes.

    For exploration: the off-diagonal part of Q, which depends only on r²/(1+2a), is interpolated. O(R G n²) time.
    """
    inner = Y @ Y.T
    pairs = ~np.eye(len(Y), dtype=bool)
    rows, columns = (np.broadcast_to(side, inner.shape)[pairs] for side in (np.diag(inner)[:, None], np.diag(inner)))
    both, half = inner[pairs], 0.5 * dim
    c = 1 + (1 - contractions) / (n - 1)
    products = zip(c, contractions, strict=True)
    widths = 0.5 / (1 + noises)
    cross = [_log_means(left**2 * rows + r**2 * columns - 2 * left * r * both, widths) for left, r in products]
    shares = np.log(contractions[:, None] ** 2 / (1 + 2 * noises))
    steps = np.linspace(shares.min(), shares.max(), _STEPS)
    off = np.interp(shares, steps, _log_means(rows + columns - 2 * both, 0.5 * np.exp(steps)))
    none, (square, _) = np.zeros((0,)), norm_terms(alpha, (off, 0.0), (0.0, 0.0))
    return Terms(np.stack(cross) - half * np.log1p(noises), square - half * np.log1p(2 * noises), none, none)


def _log_means(distances: Array, widths: Array) -> Array:
    """Return the log mean of exp(-width · distance) over the distances, for every width."""
    least = max(float(distances.min()), 0.0)
    return np.log(np.exp(-widths[:, None] * (distances - least)).mean(axis=1)) - widths * least
