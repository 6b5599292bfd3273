"""Cheap permutations of two samples: one pass over the Gram matrix adds up bins of rows, then whole bins are permuted.

Bins of equal size lie within one sample each; exchanging them is a group of permutations of the rows, so the test is
exact for any bins that the seed draws. The few rows that do not fill a bin stay in their sample. The weights are those
of MMD² itself, so samples may have unequal sizes (Domingo-Enrich, Dwivedi & Mackey 2025 treat equal ones).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, as_host, joined, namespace, slices, total
from ..permutations import Permutations, RandomPermutations
from ..problem import Problem
from ..resampling_options import Resources, Shape
from ..statistics import RemovedMeans, Sums
from .base import Scheme, Tile, Tiling, Total, upper_tiles
from .device import tile_side

_BINS = 512
_LEAST_BINS = 64
_MOST_BINS = 4096
_TILE = 512
_LABEL_SHARE = 0.25  # of the memory


@final
@dataclass(frozen=True)
class RowBins:
    """How the rows are cut: bins of ``size`` rows from each sample, then up to two bins of leftover rows."""

    order: IntArray
    """The rows in the order of the bins, shape (n,)."""
    edges: IntArray
    """Where the bins start and end in that order, shape (bins + 1,)."""
    labels: Array
    """1 for bins of the first sample, shape (bins,)."""
    movable: int
    """The number of bins of full size, which come first."""

    @classmethod
    def draw(cls, labels: Array, rng: np.random.Generator) -> RowBins:
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

    def permuted(self, permutations: IntArray) -> Array:
        """Return the labels of the bins after permutations of the movable ones, shape (bins, b)."""
        labels = np.repeat(self.labels[:, None], len(permutations), axis=1)
        labels[: self.movable] = self.labels[permutations.T]
        return labels


def bin_size(n_first: int, n_second: int) -> int:
    """Return a size that gives about 512 bins, at least 64 of them to the smaller sample."""
    return max(1, min((n_first + n_second) // _BINS, min(n_first, n_second) // _LEAST_BINS))


@final
@dataclass(frozen=True, eq=False)
class BinTiling(Tiling):
    """Two samples in the order of their bins; the total is the sum of every Gram matrix over all pairs of bins."""

    problem: Problem
    bins: RowBins
    permutations: Permutations
    """Of the movable bins, the observed arrangement first."""
    at_once: int = 1024
    """How many of them are evaluated together."""
    size: int = _TILE
    """The most rows of a tile, unless one bin has more."""

    def tiles(self) -> list[Tile]:
        """Return pairs of groups of bins of one size each."""
        sizes = np.diff(self.bins.edges)
        changes = [0, *(np.flatnonzero(np.diff(sizes)) + 1).tolist(), len(sizes)]
        runs = (slices(stop, max(1, self.size // int(sizes[start])), start=start) for start, stop in pairwise(changes))
        return upper_tiles([group for run in runs for group in run])

    def evaluator(self) -> Callable[[Tile], list[Any]]:
        """Prepare the sums over the bins of a tile."""
        edges, starts, side = self.bins.edges.tolist(), self.bins.edges[:-1], self.problem.left.unshifted()
        left, tiles, right = (None, side.tiles(), None) if side.on_device else side.separated()

        def add_up(tile: Tile) -> list[Any]:
            rows, columns = (slice(edges[group.start], edges[group.stop]) for group in tile)
            if left is None or right is None:
                return [_per_bin(gram, *(group.stop - group.start for group in tile)) for gram in tiles(rows, columns)]
            i, j = (starts[group] - starts[group.start] for group in tile)
            return [
                np.add.reduceat(a[:, None] * _row_sums(gram, b, j), i, axis=0)
                for gram, a, b in zip(tiles(rows, columns), left[:, rows], right[:, columns], strict=True)
            ]

        return add_up

    def total(self, parts: Iterable[tuple[Tile, list[Any]]]) -> Total:
        """Put the sums of the tiles where they belong, and mirror them."""
        count = len(self.bins.sizes)
        sums = np.zeros((self.problem.left.count, count, count))
        for (i, j), found in _copied(list(parts)) if self.problem.left.on_device else parts:
            for k, part in enumerate(found):
                sums[k, i, j] = part
                sums[k, j, i] = part.T
        return (sums,)

    def sums(self, total: Total) -> Sums:
        """Center, and permute the bins."""
        (raw,), bins, n = total, self.bins, self.problem.n
        raw_diagonals = np.add.reduceat(self.problem.left.unshifted().gram_diagonal(), bins.edges[:-1], axis=1)
        row_means = raw.sum(axis=2) / n
        grams, diagonals = _centered(raw, raw_diagonals, row_means, bins.sizes)
        first = float(self.problem.labels.sum())
        left, _ = self.problem.index
        right_trace = np.full(len(left), first * (1 - first / n))

        def of(batch: IntArray) -> Sums:
            labels = bins.permuted(batch)
            pairs = np.stack([np.einsum("ip,ip->p", labels, gram @ labels) for gram in grams])
            level = RemovedMeans((row_means @ labels)[left], row_means.sum(axis=1)[left] / n)
            return Sums(pairs[left], (diagonals @ labels)[left], diagonals.sum(axis=1)[left], right_trace, level)

        return Sums.joined(list(map(of, self.permutations.batches(self.at_once))), axis=1)


@final
class Blocks(Scheme):
    """One streaming pass of bin sums, then random permutations of the bins: O(n² d) time, O(n d) memory, any d."""

    name = "blocks"
    summary = "random permutations of bins of rows, after one pass over the Gram matrix"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Draw the bins and their permutations, and add up all tiles."""
        bins = RowBins.draw(problem.labels, rng)
        permutations = RandomPermutations(bins.movable, n_resamples + 1, rng)
        at_once = max(64, int(_LABEL_SHARE * resources.memory / (24 * len(bins.labels))))
        tiling = BinTiling(problem.shuffled(bins.order), bins, permutations, at_once)
        if not problem.left.on_device:
            return tiling.sums(tiling.evaluated(resources.n_jobs))
        tiling = replace(tiling, size=tile_side(problem.left, resources))
        return tiling.sums(tiling.evaluated())

    def obstacle(self, shape: Shape) -> str | None:
        """Refuse independence, and samples so unequal that the bins would be too many."""
        if shape.first is None:
            return "it serves two-sample tests"
        if shape.n > _MOST_BINS * bin_size(shape.first, shape.n - shape.first):
            return f"with {shape.first} rows against {shape.n - shape.first} it needs too many bins"
        return None


def _per_bin(tile: Any, rows: int, columns: int) -> Any:
    """Return the sums of a tile of another library over a number of bins of equal size, in float64."""
    xp = namespace(tile)
    across = total(xp.reshape(tile, (tile.shape[0], columns, -1)), axis=2)
    return total(xp.reshape(across, (rows, -1, columns)), axis=1)


def _copied(parts: list[tuple[Tile, list[Any]]]) -> list[tuple[Tile, list[Array]]]:
    """Return the sums of tiles of another library on the host, copied at once."""
    flat = as_host(joined([namespace(own).reshape(own, (-1,)) for _, found in parts for own in found]))
    ends = np.cumsum([math.prod(own.shape) for _, found in parts for own in found])
    copies = iter(np.split(flat, ends[:-1]))
    return [(tile, [next(copies).reshape(own.shape) for own in found]) for tile, found in parts]


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
