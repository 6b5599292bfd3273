"""The sums of one sample over bins of its rows, built batch by batch in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.array import Array, IntArray, in_host_memory, slices, take_rows
from ...plan.plan import DEFAULT, Plan
from ..adaptive.coordinates import Columns
from ..units.dealing import Deal
from .two_samples import Bins

_BIN = np.uint16  # integers of 16 bits are sorted in linear time
_TILE, _JOB = 4096, 2**14
"""Rows whose columns stay in the cache of a processor, and rows of one job."""
_ENTRIES = 2**25
"""Of all columns of the rows of one job on a device, which is slow to begin a job."""


@final
@dataclass(eq=False)
class SampleSums:
    """Sums of the columns and of the kernels' squares over bins; a row falls into the same bin in every process."""

    columns: Columns
    deal: Deal
    sums: Array = field(init=False)
    """Shape (bins + 1, columns + kernels); the last row is for the rows outside all bins."""
    first: int = 0
    """The number of the first row that is added here, if the rows are added in several places."""
    added: int = 0

    def __post_init__(self) -> None:
        self.sums = np.zeros((self.deal.bins + 1, self.width))

    @property
    def width(self) -> int:
        """The number of sums per bin."""
        return self.columns.size + self.columns.n_kernels

    def add(self, rows: Array, plan: Plan = DEFAULT) -> None:
        """Add the next rows."""
        start, many = self.first + self.added, rows.shape[0]
        if start + many > self.deal.n:
            raise ValueError(f"more than {self.deal.n:,} rows were read; rows must stay as they are meanwhile")
        bins = self.deal.bin_of(np.arange(start, start + many)).astype(_BIN)
        for numbers, part in self._grouped(rows, bins, plan):
            self.sums[numbers] += part
        self.added += many

    def _grouped(self, rows: Array, bins: IntArray, plan: Plan) -> Iterator[tuple[IntArray, Array]]:
        """Yield bins and the sums over their rows, a few rows at a time."""
        tile, job = (_TILE, _JOB) if in_host_memory(rows) else (max(_JOB, _ENTRIES // self.width),) * 2
        self.columns.prepare()  # or every thread would
        order = np.argsort(bins, kind="stable")  # so that few rows at a time fall into few bins

        def run(some: slice) -> list[tuple[IntArray, Array]]:
            parts = [order[part] for part in slices(some.stop, tile, start=some.start)]
            return [self._tile(take_rows(rows, part), bins[part]) for part in parts]

        for parts in plan.map(run, slices(len(bins), job), len(bins) * self.width):
            yield from parts

    def _tile(self, rows: Array, bins: IntArray) -> tuple[IntArray, Array]:
        starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
        return bins[starts], self.columns.grouped(rows, starts)

    def state(self) -> list[Array]:
        """Return the sums, and the number of rows."""
        return [self.sums, np.array([self.added])]

    def restore(self, arrays: list[Array]) -> None:
        """Go on from what was added up elsewhere."""
        self.sums, self.added = arrays[0], int(arrays[1][0])

    def __add__(self, other: SampleSums) -> SampleSums:
        """Return the sums over the rows of both, different rows of one sample."""
        merged = SampleSums(self.columns, self.deal)
        merged.sums, merged.added = self.sums + other.sums, self.added + other.added
        return merged

    def bins(self) -> Bins:
        """Return the sums of the sample for a test.

        Raises
        ------
        ValueError
            When rows are missing, or there were more than were announced.
        """
        if self.added != self.deal.n:
            raise ValueError(f"{self.added:,} rows were read of {self.deal.n:,}; rows must stay as they are meanwhile")
        return Bins(self.deal.size, self.sums[:-1], self.sums[-1], self.deal.n)


@final
class TwoSums:
    """The sums of two samples that are read side by side."""

    def __init__(self, first: SampleSums, second: SampleSums) -> None:
        self.each = first, second

    def add(self, rows: Iterable[Array | None], plan: Plan = DEFAULT) -> None:
        """Add the next rows of each sample, if there are any."""
        for own, batch in zip(self.each, rows, strict=True):
            if batch is not None and batch.shape[0]:
                own.add(batch, plan)

    def bins(self) -> tuple[Bins, Bins]:
        """Return the sums of the samples for a test."""
        return self.each[0].bins(), self.each[1].bins()
