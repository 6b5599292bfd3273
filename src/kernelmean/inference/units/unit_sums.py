"""Sums over units, added up batch by batch wherever the rows are: a table in memory is a source of one batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, final

import numpy as np

from ...core.array import Array, IntArray, in_host_memory, slices, take_rows
from ...plan.plan import DEFAULT, Plan
from .dealing import Deals
from .kernel_sums import Block, KernelSums
from .layout import Layout, Units

_TILE, _JOB = 4096, 2**14
"""Rows whose columns stay in the cache of a processor, and rows of one job."""
_ENTRIES = 2**25
"""Of all columns of the rows of one job on a device, which is slow to begin a job."""


class Summed(Protocol):
    """Columns of any rows, and kernels that are weighted sums of their squares."""

    @property
    def size(self) -> int:
        """The number of columns."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which of them belong together."""

    @property
    def n_kernels(self) -> int:
        """The number of kernels."""

    def prepare(self) -> None:
        """Compute what all rows share."""

    def grouped(self, rows: Array, starts: IntArray, weights: Array | None = None) -> Array:
        """Return the sums of columns and kernels' squares over rows from one start to the next, shape (g, D + K)."""


class RowUnits(Protocol):
    """Which unit every row belongs to, by its sample and its number in it."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The rows of the samples."""

    @property
    def count(self) -> int:
        """The number of units."""

    def of(self, sample: int, start: int, stop: int) -> tuple[IntArray, Array | None]:
        """Return the units and the weights of some rows, ``count`` for rows that take no part."""

    def only(self, sample: int, start: int, stop: int) -> RowUnits:
        """Return what is needed for some rows."""


@final
@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows whose units and weights are listed, in a few bytes each."""

    sizes: tuple[int, ...]
    count: int
    numbers: IntArray
    """The units of the rows, sample after sample."""
    weights: Array | None
    first: int = 0
    """The number among all rows of the first that is listed."""

    @classmethod
    def of_layout(cls, layout: Layout, sizes: tuple[int, ...], rows: IntArray | None = None) -> Self:
        """List the rows of a layout; ``rows`` are their numbers among all, if it has not all of them."""
        layout = layout.in_parts
        places = layout.order if rows is None else rows[layout.order]
        count = len(layout.sizes)
        numbers = np.full(sum(sizes), count, dtype=np.min_scalar_type(count))
        numbers[places] = np.repeat(np.arange(count), layout.sizes)
        if (layout.weights == 1.0).all():
            return cls(sizes, count, numbers, None)
        weights = np.zeros(len(numbers))
        weights[places] = layout.weights
        return cls(sizes, count, numbers, weights)

    def _slice(self, sample: int, start: int, stop: int) -> slice:
        before = sum(self.sizes[:sample]) - self.first
        return slice(before + start, before + stop)

    def of(self, sample: int, start: int, stop: int) -> tuple[IntArray, Array | None]:
        """Return the units and the weights of some rows."""
        rows = self._slice(sample, start, stop)
        return self.numbers[rows], None if self.weights is None else self.weights[rows]

    def only(self, sample: int, start: int, stop: int) -> RowUnits:
        """Return those of some rows."""
        numbers, weights = self.of(sample, start, stop)
        return replace(self, numbers=numbers, weights=weights, first=sum(self.sizes[:sample]) + start)


@final
@dataclass(eq=False)
class UnitSums:
    """Sums of columns and of the kernels' squares over units; a row counts for the same unit in every process."""

    columns: Summed
    rows: RowUnits
    sums: Array = field(init=False)
    """Shape (units, columns + kernels)."""
    added: IntArray = field(init=False)
    """How many rows of every sample were added."""

    def __post_init__(self) -> None:
        self.sums = np.zeros((self.rows.count, self.columns.size + self.columns.n_kernels))
        self.added = np.zeros(len(self.rows.sizes), dtype=np.int64)

    def add(self, rows: Array, sample: int = 0, plan: Plan = DEFAULT, *, start: int | None = None) -> None:
        """Add the next rows of a sample, or those from the row number ``start`` on."""
        first, many = int(self.added[sample]) if start is None else start, rows.shape[0]
        if first + many > self.rows.sizes[sample]:
            raise ValueError(
                f"more than {self.rows.sizes[sample]:,} rows were read; rows must stay as they are meanwhile"
            )
        self.added[sample] += many
        numbers, weights = self.rows.of(sample, first, first + many)
        order = np.argsort(numbers.astype(np.min_scalar_type(self.rows.count)), kind="stable")  # linear time in 16 bits
        order = order[: np.count_nonzero(numbers < self.rows.count)]
        for units, part in self._grouped(rows, order, numbers, weights, plan):
            self.sums[units] += part

    def _grouped(
        self, rows: Array, order: IntArray, numbers: IntArray, weights: Array | None, plan: Plan
    ) -> Iterator[tuple[IntArray, Array]]:
        """Yield units and the sums over their rows, a few rows at a time, which fall into few units."""
        width = self.sums.shape[1]
        tile, job = (_TILE, _JOB) if in_host_memory(rows) else (max(_JOB, _ENTRIES // width),) * 2
        self.columns.prepare()  # or every thread would

        def one(some: IntArray) -> tuple[IntArray, Array]:
            units = numbers[some]
            starts = np.flatnonzero(np.append(True, units[1:] != units[:-1]))
            part = self.columns.grouped(take_rows(rows, some), starts, None if weights is None else weights[some])
            return units[starts], part

        def run(some: slice) -> list[tuple[IntArray, Array]]:
            return [one(order[part]) for part in slices(some.stop, tile, start=some.start)]

        for parts in plan.map(run, slices(len(order), job), len(order) * width):
            yield from parts

    def state(self) -> list[Any]:
        """Return the sums, and the numbers of rows."""
        return [self.sums, self.added]

    def restore(self, arrays: list[Any]) -> None:
        """Go on from what was added up elsewhere."""
        self.sums, self.added = arrays

    def __add__(self, other: UnitSums) -> UnitSums:
        """Return the sums over the rows of both, different rows of the same samples."""
        merged = UnitSums(self.columns, self.rows)
        merged.restore([self.sums + other.sums, self.added + other.added])
        return merged

    def all(self) -> Array:
        """Return the sums over all rows.

        Raises
        ------
        ValueError
            When rows are missing.
        """
        for added, n in zip(self.added.tolist(), self.rows.sizes, strict=True):
            if added != n:
                raise ValueError(f"{added:,} rows were read of {n:,}; rows must stay as they are meanwhile")
        return self.sums


def dealt_units(deals: Deals) -> Units:
    """Return the bins of samples as units."""
    masses, n = deals.held.astype(np.float64), int(deals.held.sum())
    return Units(deals.cells, deals.labels, masses, n, np.zeros_like(deals.cells), binned=True)


def summed(columns: Summed, sums: Array, masses: Array) -> KernelSums:
    """Return the kernel sums of units from the sums of columns and squares, (units, columns + kernels)."""
    return KernelSums.of(columns.blocks, sums[:, : columns.size], sums[:, columns.size :], masses)


def in_fixed_order(units: Units, sums: Array, columns: Summed) -> tuple[Units, Array]:
    """Return the units of two samples, and their sums, in an order that does not depend on which sample came first.

    The sums decide, in digits that no grouping of sums changes: of weights, of squares, and of columns, since the
    kernels of categories have the same squares in every row.
    """
    if int(units.labels.max()) != 1 or units.patterns is not None:
        return units, sums
    places = []
    for label in (0, 1):
        inside = units.labels == label
        every = [units.masses[inside].sum(), *np.roll(sums[inside].sum(axis=0), -columns.size)]
        places.append([float(f"{value:.9e}") for value in every])
    if places[0] <= places[1]:
        return units, sums
    labels = 1 - units.labels
    order = np.lexsort((labels, units.cells))
    exchanged = replace(
        units,
        cells=units.cells[order],
        labels=labels[order],
        masses=units.masses[order],
        stratum=units.stratum[order],
    )
    return exchanged, sums[order]


def of_samples(values: Array, sizes: Sequence[int]) -> list[Array]:
    """Cut what all rows have, sample after sample."""
    return np.split(values, np.cumsum(sizes)[:-1])
