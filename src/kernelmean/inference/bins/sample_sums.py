"""The sums of one sample over bins of its rows, built batch by batch in constant memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...plan.plan import DEFAULT, Plan
from .columns import Columns
from .dealing import Deal
from .two_samples import Bins

_TILE, _JOB = 1024, 2**14
"""Rows whose columns a processor keeps in its cache, and rows of one job."""
RUNS, _HEAD = 512, 256
"""Bins of a sample of unknown length, and those that are remembered of every smaller size."""


@dataclass(eq=False)
class SampleSums(ABC):
    """Sums of the columns and of the kernels' squares over the bins of one sample."""

    columns: Columns

    @property
    def width(self) -> int:
        """How many numbers are added up."""
        return self.columns.size + self.columns.n_kernels

    @abstractmethod
    def add(self, rows: Array, plan: Plan = DEFAULT) -> None:
        """Add the rows that follow those so far."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many were added."""

    @abstractmethod
    def state(self) -> list[Array]:
        """Return all that was added up."""

    @abstractmethod
    def restore(self, arrays: list[Array]) -> None:
        """Go on from what was added up elsewhere."""

    def _grouped(self, rows: Array, bins: IntArray, plan: Plan) -> Iterator[tuple[IntArray, Array]]:
        """Yield bins and the sums over some of their rows; bins are ascending."""

        def run(job: slice) -> list[tuple[IntArray, Array]]:
            parts = slices(job.stop - job.start, _TILE)
            return [self._tile(rows[job][part], bins[job][part]) for part in parts]

        for parts in plan.map(run, slices(len(rows), _JOB), len(rows) * self.width):
            yield from parts

    def _tile(self, rows: Array, bins: IntArray) -> tuple[IntArray, Array]:
        starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))
        return bins[starts], self.columns.grouped(rows, starts)


@final
@dataclass(eq=False)
class DealtSums(SampleSums):
    """Of a sample of known length, whose rows are dealt to bins; whoever adds a row, it falls into the same bin."""

    deal: Deal
    sums: Array = field(init=False)
    """Shape (bins + 1, columns + kernels); the last row is of the rows that no bin takes."""
    first: int = 0
    """The number of the first row that is added here, where several add the rows of one sample."""
    added: int = 0

    def __post_init__(self) -> None:
        self.sums = np.zeros((self.deal.bins + 1, self.width))

    @property
    def rows(self) -> int:
        """How many were added."""
        return self.added

    def add(self, rows: Array, plan: Plan = DEFAULT) -> None:
        """Add the rows that follow those so far."""
        start = self.first + self.added
        bins = self.deal.bin_of(np.arange(start, start + len(rows)))
        order = np.argsort(bins, kind="stable")  # so that few rows at a time fall into few bins
        for numbers, part in self._grouped(rows[order], bins[order], plan):
            self.sums[numbers] += part
        self.added += len(rows)

    def state(self) -> list[Array]:
        """Return the sums, and the number of rows."""
        return [self.sums, np.array([self.added])]

    def restore(self, arrays: list[Array]) -> None:
        """Go on from what was added up elsewhere."""
        self.sums, self.added = arrays[0], int(arrays[1][0])

    def __add__(self, other: DealtSums) -> DealtSums:
        """Return the sums over the rows of both, which are different rows of one sample."""
        merged = DealtSums(self.columns, self.deal)
        merged.sums, merged.added = self.sums + other.sums, self.added + other.added
        return merged

    def bins(self) -> Bins:
        """Return what the sample brings to a test.

        Raises
        ------
        ValueError
            When rows are missing, or there were more than were announced.
        """
        if self.added != self.deal.n:
            raise ValueError(f"{self.added:,} rows were read of {self.deal.n:,}; rows must stay as they are meanwhile")
        return Bins(self.deal.size, self.sums[:-1], self.sums[-1], self.deal.n)


@final
@dataclass(eq=False)
class RunSums(SampleSums):
    """Of a sample of unknown length: bins are runs of consecutive rows, and where there are too many, two become one.

    Of every size that bins had, the sums of the first ones are remembered, so that two samples of whatever lengths have
    bins of one size.
    """

    sums: Array = field(init=False)
    """Shape (512, columns + kernels)."""
    heads: list[Array] = field(default_factory=list)
    """Of bins of 1, 2, 4, … rows."""
    kept: Array = field(init=False)
    """Sums over rows that never move, since features were fitted to them."""
    counts: IntArray = field(init=False)
    """How many rows are in bins, and how many never move."""

    def __post_init__(self) -> None:
        self.sums = np.zeros((RUNS, self.width))
        self.kept = np.zeros(self.width)
        self.counts = np.zeros(2, dtype=np.int64)

    @property
    def rows(self) -> int:
        """How many were added."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """The rows of a bin, now."""
        return 1 << len(self.heads)

    def state(self) -> list[Array]:
        """Return the sums, and the numbers of rows."""
        return [self.counts.astype(np.float64), self.kept, self.sums, np.array(self.heads)]

    def restore(self, arrays: list[Array]) -> None:
        """Go on from what was added up elsewhere."""
        counts, self.kept, self.sums, heads = arrays
        self.counts, self.heads = counts.astype(np.int64), list(heads)

    def keep(self, rows: Array, plan: Plan = DEFAULT) -> None:
        """Add rows that no permutation moves."""
        for _, part in self._grouped(rows, np.zeros(len(rows), dtype=np.intp), plan):
            self.kept += part[0]
        self.counts[1] += len(rows)

    def add(self, rows: Array, plan: Plan = DEFAULT) -> None:
        """Add the rows that follow those so far."""
        while len(rows):
            left = RUNS * self.size - int(self.counts[0])
            if not left:
                self._coarsen()
                continue
            bins = (self.counts[0] + np.arange(min(left, len(rows)))) // self.size
            for numbers, part in self._grouped(rows[:left], bins, plan):
                self.sums[numbers] += part
            self.counts[0] += len(bins)
            rows = rows[left:]

    def _coarsen(self) -> None:
        self.heads.append(self.sums[:_HEAD].copy())
        joined = self.sums[0::2] + self.sums[1::2]
        self.sums = np.concatenate([joined, np.zeros_like(joined)])

    def bins(self, size: int) -> Bins:
        """Return what the sample brings to a test with bins of a size that its own had: all of that size, or some."""
        full = self.sums[: self.counts[0] // size] if size == self.size else self.heads[size.bit_length() - 1]
        total = self.sums.sum(axis=0) + self.kept
        return Bins(size, full, total - full.sum(axis=0), self.rows)
