"""Sums of features over bins of rows: which bin a row falls into depends on its number, never on the batch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.validate import check_finite
from ...embedding.features.base import HEAD, FeatureMap, Summary
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan
from ...tables.shuffle import shuffled

CAPACITY = 2048
"""Bins of a sample of unknown length, at most; at least half of them are used from so many rows on."""
_JOB_ROWS = 2048


@final
@dataclass(eq=False)
class BinSums(Summary):
    """Sums of (1, 1, |φ|², √residual, φ) over bins of ``size`` rows of one sample, built batch by batch.

    With the number of rows known beforehand they are dealt to bins at random: row i falls into bin π(i) // size, π a
    permutation of all rows that the seed draws. Otherwise bins are runs of consecutive rows, and when all are taken
    two neighbours become one. Either way the last bin holds the rows that fill no bin. Rows that :meth:`keep` was
    called with are in no bin either.

    Attributes
    ----------
    sums : array of shape (bins, 4 + m)
    size : int
        Rows of a full bin.
    rows : int
        Rows seen.
    stop : int
        One more than the largest row number seen.
    n_rows : int or None
        The number of rows, where it is known beforehand.
    seed : int
        Of the permutation.
    fixed : array of shape (4 + m,)
        The sums over rows that were kept apart.
    """

    sums: Array
    size: int
    rows: int
    stop: int
    n_rows: int | None
    seed: int
    fixed: Array

    @classmethod
    def empty(cls, features: FeatureMap, seed: int, *, n_rows: int | None = None, size: int = 1) -> Self:
        """Return the sums of no rows; ``size`` is that of all bins where the number of rows is known, else ignored."""
        count = CAPACITY if n_rows is None else n_rows // size + 1
        none = np.zeros(HEAD + features.size)
        return cls(np.zeros((count, len(none))), 1 if n_rows is None else size, 0, 0, n_rows, seed, none)

    def __post_init__(self) -> None:
        """Check what files may bring."""
        many = CAPACITY if self.n_rows is None else self.n_rows // max(self.size, 1) + 1
        fits = self.sums.ndim == 2 and len(self.sums) == many and self.fixed.shape == self.sums.shape[1:]
        if not fits or not 0 <= self.rows <= self.stop or self.size < 1:
            raise ValueError("sums of bins, their size and the number of rows do not go together")
        check_finite(self.fixed, "the sums of rows that were kept apart")
        check_finite(self.sums, "the sums of bins")

    def add(self, features: FeatureMap, X: Array, start: int | None = None, plan: Plan = DEFAULT) -> None:
        """Add rows number ``start``, start + 1, …; by default those that follow the last ones."""
        start = self.stop if start is None else start
        if self.n_rows is not None and start + len(X) > self.n_rows:
            raise ValueError(f"row {start + len(X)} was passed, but {self.n_rows} rows were announced")
        self.coarsen_to_hold(start + len(X))
        numbers = self._numbers(np.arange(start, start + len(X)))
        order = np.argsort(numbers, kind="stable")  # so that few rows at a time fall into few bins
        X, numbers = X[order], numbers[order]

        def run(job: slice) -> list[tuple[IntArray, Array]]:
            rows, own = X[job], numbers[job]
            return [_sums_by_bin(features, rows[tile], own[tile]) for tile in features.tiles(len(rows))]

        for parts in plan.map(run, slices(len(X), _JOB_ROWS), len(X) * features.size):
            for bins, part in parts:
                self.sums[bins] += part
        self.rows += len(X)
        self.stop = max(self.stop, start + len(X))

    def keep(self, features: FeatureMap, X: Array, plan: Plan = DEFAULT) -> None:
        """Add rows that no permutation moves and that have no number: those that something was chosen by."""
        self.fixed = self.fixed + features.row_sums(X, None, Dirac(), plan)

    @property
    def total_rows(self) -> int:
        """The rows in bins, and those that were kept apart."""
        return self.rows + round(float(self.fixed[0]))

    @property
    def total(self) -> Array:
        """The sums over all rows, shape (4 + m,)."""
        return np.asarray(self.sums.sum(axis=0) + self.fixed)

    def _numbers(self, rows: IntArray) -> IntArray:
        """Return the bin of every row."""
        if self.n_rows is None:
            return rows // self.size
        return np.minimum(shuffled(rows, self.n_rows, self.seed) // self.size, len(self.sums) - 1)

    def coarsen_to_hold(self, rows: int) -> None:
        """Join neighbours until bins of unknown length hold so many rows."""
        while self.n_rows is None and rows > self.size * CAPACITY:
            self._join_neighbours()

    def _join_neighbours(self) -> None:
        joined = self.sums[0::2] + self.sums[1::2]
        self.sums = np.concatenate([joined, np.zeros_like(joined)])
        self.size *= 2

    def copy(self) -> BinSums:
        """Return an independent copy."""
        return replace(self, sums=self.sums.copy(), fixed=self.fixed.copy())

    def mapped(self, convert: Callable[[Array], Array], mass: float) -> BinSums:
        """Return the sums of other features, linear in those (..., 4 + m), whose |φ|² is ``mass`` for every row."""

        def both(sums: Array) -> Array:
            return np.concatenate([sums[..., :1] * np.array([1.0, 1.0, mass, 0.0]), convert(sums)], axis=-1)

        return replace(self, sums=both(self.sums), fixed=both(self.fixed))

    def coarsened(self, size: int) -> BinSums:
        """Return bins of at least ``size`` rows: a larger power of two, where the length was unknown."""
        coarse = self.copy()
        while coarse.size < size and coarse.n_rows is None:
            coarse._join_neighbours()
        return coarse

    def __add__(self, other: BinSums) -> BinSums:
        """Return the sums over the rows of both, which must be different rows of one sample."""
        if (self.n_rows, self.seed) != (other.n_rows, other.seed) or self.sums.shape != other.sums.shape:
            raise ValueError("the sums are of different samples: length, seed or features differ")
        merged = self.coarsened(other.size)
        finer = other.coarsened(merged.size)
        merged.sums += finer.sums
        merged.fixed += other.fixed
        merged.rows, merged.stop = self.rows + other.rows, max(self.stop, other.stop)
        return merged

    def check_complete(self, name: str) -> None:
        """Raise when rows are missing or were counted twice."""
        expected = self.stop if self.n_rows is None else self.n_rows
        if self.rows != expected:
            raise ValueError(
                f"{name}: {self.rows} rows were added of {expected}; every row must be added exactly once before a test"
            )

    @property
    def full(self) -> Array:
        """The sums of the bins that are full, shape (bins, 4 + m)."""
        return self.sums[: self.rows // self.size]

    @property
    def left_over(self) -> Array:
        """The sums of the rows that fill no bin and of those that were kept apart, shape (4 + m,)."""
        return np.asarray(self.sums[self.rows // self.size :].sum(axis=0) + self.fixed)


def _sums_by_bin(features: FeatureMap, X: Array, numbers: IntArray) -> tuple[IntArray, Array]:
    """Return the bins of rows that are sorted by their bins, and the sums over each of them."""
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    return numbers[starts], features.grouped(X, starts)
