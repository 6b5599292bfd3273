"""Cheap permutations of two samples: one pass over the Gram matrix adds up bins of rows, then whole bins are permuted.

Bins of equal size lie within one sample each; exchanging them is a group of permutations of the rows, so the test is
exact, for bins that the seed draws. The few rows that fill no bin stay in their sample. The weights are those of MMD²
itself, so unequal samples are right (Domingo-Enrich, Dwivedi & Mackey 2025 treat equal ones).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ..._array import Array, IntArray, slices
from ..permutations import RandomPermutations
from ..problem import KernelSide, Problem
from ..sizes import Resources, Shape, point_bytes
from ..statistics import Level, Sums
from .base import Scheme, in_order, upper_tiles
from .device import bin_sums, on_device

_BINS = 512
_LEAST_BINS = 64
_MOST_BINS = 4096
_TILE = 512


@final
@dataclass(frozen=True)
class Bins:
    """How the rows are cut: bins of ``size`` rows from either sample, then up to two with the rows left over.

    Attributes
    ----------
    order : array of shape (n,)
        The rows in the order of the bins.
    edges : array of shape (bins + 1,)
        Where the bins start and end in that order.
    labels : array of shape (bins,)
        1 for bins of the first sample.
    movable : int
        The number of bins of full size, which come first.
    """

    order: IntArray
    edges: IntArray
    labels: Array
    movable: int

    @classmethod
    def draw(cls, labels: Array, rng: np.random.Generator) -> Bins:
        """Shuffle the rows of both samples and cut them."""
        samples = [rng.permutation(np.flatnonzero(labels == label)) for label in (1.0, 0.0)]
        size = bin_size(*map(len, samples))
        counts = [len(sample) // size for sample in samples]
        cuts = [count * size for count in counts]
        full = [sample[:cut] for sample, cut in zip(samples, cuts, strict=True)]
        over = [(sample[cut:], label) for sample, cut, label in zip(samples, cuts, (1.0, 0.0), strict=True)]
        over = [(rows, label) for rows, label in over if len(rows)]
        sizes = [size] * sum(counts) + [len(rows) for rows, _ in over]
        return cls(
            np.concatenate(full + [rows for rows, _ in over]),
            np.concatenate([[0], np.cumsum(sizes)]),
            np.concatenate([np.repeat([1.0, 0.0], counts), [label for _, label in over]]),
            sum(counts),
        )

    @property
    def sizes(self) -> Array:
        """Return the number of rows of every bin."""
        return np.diff(self.edges).astype(np.float64)

    def relabeled(self, permutations: IntArray) -> Array:
        """Return the labels of the bins after permutations of the movable ones, shape (bins, b)."""
        labels = np.repeat(self.labels[:, None], len(permutations), axis=1)
        labels[: self.movable] = self.labels[permutations.T]
        return labels


def bin_size(n_first: int, n_second: int) -> int:
    """Return a size that gives about 512 bins, and 64 at least to the smaller sample."""
    return max(1, min((n_first + n_second) // _BINS, min(n_first, n_second) // _LEAST_BINS))


@final
class Blocks(Scheme):
    """One streaming pass of bin sums, then random permutations of the bins: O(n² d) time, O(n d) memory, any d."""

    name = "blocks"
    summary = "random permutations of bins of rows, after one pass over the Gram matrix"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw bins, add up, and permute."""
        bins = Bins.draw(problem.labels, rng)
        problem = problem.shuffled(bins.order)
        raw, raw_diagonals = _bin_sums(problem, bins, resources)
        row_means = raw.sum(axis=2) / problem.n
        grams, diagonals = _centered(raw, raw_diagonals, row_means, bins.sizes)
        draws = RandomPermutations(bins.movable, n_resamples + 1, rng)
        labels = bins.relabeled(np.concatenate(list(draws.batches(1024))))
        pairs = np.stack([np.einsum("ip,ip->p", labels, gram @ labels) for gram in grams])
        first = float(problem.labels.sum())
        left, _ = problem.index
        right_trace = np.full(len(left), first * (1 - first / problem.n))
        level = Level((row_means @ labels)[left], row_means.sum(axis=1)[left] / problem.n)
        return Sums(pairs[left], (diagonals @ labels)[left], diagonals.sum(axis=1)[left], right_trace, level)

    def memory(self, shape: Shape, resources: Resources) -> float:
        """Count the prepared points, the bin sums, the labels of the bins and the tiles."""
        assert shape.first is not None
        bins = shape.n / bin_size(shape.first, shape.n - shape.first) + 2
        grams = 3 * bins**2 + 4 * resources.n_jobs * _TILE**2
        return point_bytes(shape, shape.kernels[0]) + 8.0 * (shape.kernels[0] * grams + 3 * bins * shape.n_resamples)

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse independence, and samples so unequal that the bins would be too many."""
        if shape.first is None:
            return "it serves two-sample tests; use 'cyclic'"
        if shape.n > _MOST_BINS * bin_size(shape.first, shape.n - shape.first):
            return f"with {shape.first} rows against {shape.n - shape.first} it needs too many bins; use 'cyclic'"
        return None


def _bin_sums(problem: Problem, bins: Bins, resources: Resources) -> tuple[Array, Array]:
    """Return the sums of every Gram matrix over pairs of bins, (m, bins, bins), and of its diagonal, (m, bins)."""
    side, starts = problem.left.unshifted(), bins.edges[:-1]
    diagonals = np.add.reduceat(side.gram_diagonal(), starts, axis=1)
    if on_device(side):
        return bin_sums(side, bins.edges, resources), diagonals
    return _tiled_sums(side, bins, resources.n_jobs), diagonals


def _tiled_sums(side: KernelSide, bins: Bins, n_jobs: int) -> Array:
    """Return the sums of every Gram matrix over pairs of bins, (m, bins, bins)."""
    starts = bins.edges[:-1]
    left, tiles, right = side.separated()
    groups = slices(len(starts), max(1, _TILE // int(np.diff(bins.edges).max())))

    def add_up(pair: tuple[slice, slice]) -> list[Array]:
        rows, columns = (slice(bins.edges[group.start], bins.edges[group.stop]) for group in pair)
        i, j = (starts[group] - starts[group.start] for group in pair)
        return [
            np.add.reduceat(a[:, None] * _row_sums(tile, b, j), i, axis=0)
            for tile, a, b in zip(tiles(rows, columns), left[:, rows], right[:, columns], strict=True)
        ]

    sums = np.zeros((side.count, len(starts), len(starts)))
    pairs = upper_tiles(groups)
    for (i, j), parts in zip(pairs, in_order(add_up, pairs, n_jobs), strict=True):
        for k, part in enumerate(parts):
            sums[k, i, j] = part
            sums[k, j, i] = part.T
    return sums


def _row_sums(tile: Array, weights: Array, starts: IntArray) -> Array:
    """Return the weighted sums of every row over bins of columns, shape (rows, bins), one product a bin."""
    bins = zip(starts, [*starts[1:], len(weights)], strict=True)
    return np.stack([tile[:, start:stop] @ weights[start:stop] for start, stop in bins], axis=1)


def _centered(sums: Array, diagonals: Array, rows: Array, sizes: Array) -> tuple[Array, Array]:
    """Return the bin sums, and those of the diagonal, of the centered matrices; ``rows`` are sums of row means."""
    n = sizes.sum()
    mean = rows.sum(axis=1)[:, None] / n
    outer = rows[:, :, None] * sizes
    centered = sums - outer - outer.transpose(0, 2, 1) + mean[:, :, None] * np.outer(sizes, sizes)
    return centered, diagonals - 2 * rows + mean * sizes
