"""What is added up for a table: coordinates in which kernels are weighted sums of squares, and their squares."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, as_float64, to_numpy
from ...core.cached import cached_property
from ...core.sums import RowGroups
from ...kernels import Kernel
from ..low_rank import Coordinates
from ..rotations.stripes import BlockPair
from ..units.kernel_sums import Block
from .fitted_views import ViewedColumns
from .views import ViewFits, ViewPart, Views, ViewSource


@final
@dataclass(frozen=True, eq=False)
class Columns:
    """Coordinates of the rows of a table, fitted to a pilot, and the kernels on them."""

    fits: ViewFits
    parts: tuple[ViewPart, ...]
    """Gives the columns of any rows, some at a time."""
    blocks: tuple[Block, ...]
    """One for every part, in their order."""
    size: int
    """The number of columns."""

    @classmethod
    def of(cls, pilot: ViewSource, views: Views, kernels: Sequence[Kernel]) -> Self:
        """Return the columns of views that are fitted to a pilot, for some kernels on them.

        Raises
        ------
        ValueError
            When a kernel is not a sum over the columns, such as one on the order of all rows.
        """
        by_part: list[dict[int, Array]] = [{} for _ in views.parts]
        for number, kernel in enumerate(kernels):
            part, weights = located(views.parts, kernel)
            by_part[part][number] = weights
        blocks = [
            Block(part.place, np.array(list(by_kernel), dtype=np.intp), _stacked(list(by_kernel.values()), part.place))
            for part, by_kernel in zip(views.parts, by_part, strict=True)
        ]
        return cls(pilot.fits, tuple(views.parts), tuple(blocks), views.table.shape[1])

    @classmethod
    def side_by_side(cls, many: Sequence[Self]) -> tuple[Self, list[IntArray]]:
        """Join several that are fitted to one pilot; return where the sums of each are among all sums, too."""
        parts: list[ViewPart] = []
        blocks: list[Block] = []
        ends, size = [0, 0], sum(side.size for side in many)
        places = []
        for side in many:
            first, kernel = ends
            parts += [replace(part, place=_behind(part.place, first)) for part in side.parts]
            blocks += [
                replace(each, place=_behind(each.place, first), numbers=each.numbers + kernel) for each in side.blocks
            ]
            ends = [first + side.size, kernel + side.n_kernels]
            places.append(np.r_[first : ends[0], size + kernel : size + ends[1]])
        return cls(many[0].fits, tuple(parts), tuple(blocks), size), places

    @property
    def n_kernels(self) -> int:
        """The number of kernels."""
        return sum(len(block.numbers) for block in self.blocks)

    def at(self, rows: Array) -> Iterator[tuple[Block, Array]]:
        """Yield the columns of any rows (n, d), block by block, shape (columns, n)."""
        waiting, turn = {}, 0
        for number, columns in self._viewed(as_float64(rows)):
            waiting[number] = columns
            while turn in waiting:
                yield self.blocks[turn], waiting.pop(turn)
                turn += 1

    def grouped(self, rows: Array, starts: IntArray, weights: Array | None = None) -> Array:
        """Return the sums of columns and kernels' squares over rows from one start to the next, shape (g, D + K)."""
        out = np.empty((self.size + self.n_kernels, len(starts)))
        source, groups = self._viewed.source(as_float64(rows)), RowGroups(starts, rows, weights)
        for column, table, into in self._by_place:
            out[into] = groups.sums_at(source.places[column], table).T
        for number, columns in self._viewed.computed(source):
            block = self.blocks[number]
            out[block.place] = to_numpy(groups.sums(columns))
            out[self.size + block.numbers] = to_numpy(groups.sums(block.weighted(columns)))
        return out.T

    def means(self, rows: Array, starts: IntArray) -> Array:
        """Return the means of the columns over rows from one start to the next, shape (g, D).

        Kernel values are added up before they become coordinates, which is half of the work of :meth:`grouped`.
        """
        out = np.empty((self.size + self.n_kernels, len(starts)))
        source, groups = self._viewed.source(as_float64(rows)), RowGroups(starts, rows)
        sizes = np.diff(np.append(starts, rows.shape[0]))
        for column, table, into in self._by_place:
            out[into] = groups.sums_at(source.places[column], table).T / sizes
        for number, means in self._viewed.computed(source, lambda values: groups.sums(values) / sizes):
            out[self.blocks[number].place] = means
        return out[: self.size].T

    def prepare(self) -> None:
        """Compute what all rows share, before several threads do so at once."""
        _ = self._by_place

    @cached_property
    def _viewed(self) -> ViewedColumns:
        return ViewedColumns(self.parts, self.fits)

    @cached_property
    def _by_place(self) -> list[tuple[int, Array, IntArray]]:
        """For every column whose ranks are looked up: what is added up at each rank, and where the sums belong."""
        lookups = []
        for column, tables in self._viewed.tables().items():
            values, into = [], []
            for number, table in tables:
                block = self.blocks[number]
                values += [table.T, block.weighted(table.T)]
                into += [np.r_[block.place], self.size + block.numbers]
            lookups.append((column, np.vstack(values).T.copy(), np.concatenate(into)))
        return lookups


@final
@dataclass(frozen=True, eq=False)
class PairDifferences:
    """The differences of the columns of the two rows of every pair, which stand side by side, shape (n, 2d)."""

    columns: Columns

    @property
    def size(self) -> int:
        """The number of columns."""
        return self.columns.size

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which of them belong together."""
        return self.columns.blocks

    @property
    def n_kernels(self) -> int:
        """The number of kernels."""
        return self.columns.n_kernels

    def prepare(self) -> None:
        """Compute what all rows share."""
        self.columns.prepare()

    def grouped(self, rows: Array, starts: IntArray, weights: Array | None = None) -> Array:
        """Return the sums of columns and kernels' squares over rows from one start to the next, shape (g, D + K)."""
        out, dim = np.empty((self.size + self.n_kernels, len(starts))), rows.shape[1] // 2
        groups, sides = RowGroups(starts, rows, weights), (rows[:, :dim], rows[:, dim:])
        for (block, first), (_, second) in zip(*map(self.columns.at, sides), strict=True):
            out[block.place] = groups.sums(first - second)
            out[self.size + block.numbers] = groups.sums(block.weighted(first - second))
        return out.T


@final
@dataclass(frozen=True, eq=False)
class OwnColumns:
    """Columns that are fitted to only some coordinates, in an order of their own, cut into blocks."""

    places: IntArray
    """The positions of these coordinates among all."""
    columns: Columns
    order: IntArray
    """The order of the columns."""
    sizes: tuple[int, ...]
    """The sizes of the blocks."""

    def blocks_at(self, rows: Array) -> list[Array]:
        """Return the columns of rows, one array for every block, shape (columns, n)."""
        columns = np.concatenate([values for _, values in self.columns.at(rows[:, self.places])])
        return np.split(columns[self.order], np.cumsum(self.sizes[:-1]))


@final
class Apart:
    """Columns side by side, each fitted to its own coordinates."""

    def __init__(self, each: Sequence[OwnColumns]) -> None:
        self._each = each
        ends = np.cumsum([0, *(size for columns in each for size in columns.sizes)]).tolist()
        self.size = int(ends[-1])
        none = np.zeros(0, dtype=np.intp)
        self.blocks = [Block(slice(a, b), none, np.zeros((0, b - a))) for a, b in pairwise(ends)]

    def at(self, rows: Array) -> Iterator[tuple[Block, Array]]:
        """Yield the columns of any rows (n, d), block by block, shape (columns, n)."""
        yield from zip(self.blocks, (block for columns in self._each for block in columns.blocks_at(rows)), strict=True)


def located(parts: Sequence[ViewPart], kernel: Kernel) -> tuple[int, Array]:
    """Return which part of the columns a kernel uses, and the weights of the first columns of this part in it."""
    if not isinstance(kernel, Coordinates):
        raise ValueError(  # noqa: TRY004, a value of estimator= that these data do not go with
            f"{kernel!r} needs all rows at once, in memory, and at most 5000 of two variables with a design; leave "
            "members on 'order' out, or take fewer rows"
        )
    if not kernel.columns:  # all rows are equal
        return 0, np.zeros(0)
    starts = [part.place.start for part in parts]
    number = bisect_right(starts, kernel.columns[0]) - 1
    return number, np.append(np.zeros(kernel.columns[0] - starts[number]), kernel.weights)


def block_pairs(x: Columns, y: Columns, kernels: Sequence[tuple[Kernel, Kernel]]) -> list[BlockPair]:
    """Return which blocks of the columns of two variables meet for some pairs of kernels."""
    by_blocks: dict[tuple[int, int], list[tuple[int, Array, Array]]] = {}
    for number, (left, right) in enumerate(kernels):
        (i, v), (j, w) = located(x.parts, left), located(y.parts, right)
        by_blocks.setdefault((i, j), []).append((number, v, w))
    pairs = []
    for (i, j), kernels_there in by_blocks.items():
        numbers, lefts, rights = zip(*kernels_there, strict=True)
        weights = _stacked(lefts, x.blocks[i].place), _stacked(rights, y.blocks[j].place)
        pairs.append(BlockPair(i, j, np.array(numbers), weights))
    return pairs


def _stacked(weights: Sequence[Array], place: slice) -> Array:
    """Return weights of the first columns of a block as weights of all of them, shape (k, columns)."""
    stacked = np.zeros((len(weights), place.stop - place.start))
    for row, values in zip(stacked, weights, strict=True):
        row[: len(values)] = values
    return stacked


def _behind(place: slice, first: int) -> slice:
    return slice(first + place.start, first + place.stop)
