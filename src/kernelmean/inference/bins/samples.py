"""Samples in units of any number of rows: which rows features are fitted to, what is added up, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.table import Table
from ...core.words import count
from ...tables.shuffle import unshuffled
from ..adaptive.coordinates import Columns
from ..designs.design import Design
from ..designs.labelled import LabelDesign
from ..designs.paired import PairedDesign, PairRows, signed_null
from ..null import Null
from ..questions import Question
from ..resampling import Resampling
from ..result import TestResult
from ..units.dealing import PILOT, Deals
from ..units.layout import Units
from ..units.samples import Labelings
from ..units.unit_sums import (
    ListedRows,
    RowUnits,
    Summed,
    UnitSums,
    dealt_units,
    in_fixed_order,
    of_samples,
    summed,
)
from .fitting import Fitted, fitted
from .request import BinnedTest


@final
@dataclass(frozen=True, eq=False)
class SamplesInUnits:
    """The units of samples of known lengths."""

    test: BinnedTest
    rows: RowUnits
    """Which unit every row belongs to."""
    units: Units
    pilot: tuple[IntArray, ...]
    """The ascending numbers of the rows that features are fitted to: permutations only exchange them."""
    typical_sizes: tuple[float, ...]
    design: LabelDesign | None = None

    @classmethod
    def of(cls, test: BinnedTest, sizes: Sequence[int]) -> Self:
        """Divide samples of so many rows into units: without a design by their numbers alone."""
        if not test.request.design.says_more:
            deals = Deals.dealt(sizes, test.seed)
            pilot = tuple(deal.fitted_to for deal in deals.each)
            return cls(test, deals, dealt_units(deals), pilot, tuple(sizes))
        design = test.request.design.of_samples(sizes)
        layout = design.layout(range(len(sizes))).in_bins(np.random.default_rng([test.seed, 2]))
        rows = np.concatenate(design.rows)
        chosen = np.zeros(sum(sizes), dtype=bool)
        chosen[rows[layout.pilot(PILOT)]] = True
        pilot = tuple(map(np.flatnonzero, of_samples(chosen, sizes)))
        listed_rows = ListedRows.of_layout(layout, tuple(sizes), rows)
        return cls(test, listed_rows, layout.units, pilot, design.typical_sizes, design)

    def fitted(self, sources: Sequence[Any], rows: Sequence[Array]) -> Fitted:
        """Fit the features to the rows of the pilot."""
        return self.fitted_to(pilot_question(self.test, sources, rows))

    def fitted_to(self, question: Question) -> Fitted:
        """Fit the features to a question about the rows of the pilot, without a design."""
        fit = fitted(question, self.test.request, self.typical_sizes, self.test.seed)
        design: Any = None if self.design is None else self.design.in_outline
        return replace(fit, question=replace(fit.question, design=design))

    def null(self, question: Any, columns: Summed, sums: Array, how: Resampling) -> Null:
        """Return the null of kernels on some columns from the sums over all rows."""
        units, every = in_fixed_order(self.units, sums, columns)
        labelings = Labelings.of(summed(columns, every, units.masses), units, how)
        null: Null = question.labelled(labelings, self.test.request.statistic)
        return null

    def result(self, fit: Fitted, sums: UnitSums, *notes: str) -> TestResult:
        """Return the result from the sums over all rows."""
        return self.of_sums(fit, sums.columns, sums.all(), *notes)

    def of_sums(self, fit: Fitted, columns: Summed, sums: Array, *notes: str) -> TestResult:
        """Return the result of the columns that were fitted, from their sums over all rows."""
        null = self.null(fit.question, columns, sums, fit.how)
        return fit.result(null, self.rows.sizes, *self._described(), *notes)

    def _described(self) -> tuple[str, ...]:
        """Say which units are permuted."""
        if self.design is not None:
            return self.design.notes
        units, labels = self.units, self.units.labels
        bins = [int((labels[units.cells == 0] == sample).sum()) for sample in range(int(labels.max()) + 1)]
        size = int(units.masses[0])
        rest = [n - dealt * size for n, dealt in zip(self.rows.sizes, bins, strict=True)]
        text = f"permutations of {' and '.join(map(str, bins))} bins of {count(size, 'row')}"
        if any(rest):
            text += f" (the other {' and '.join(f'{n:,}' for n in rest)} count too, and stay in their table)"
        return (text,)


@final
@dataclass(frozen=True, eq=False)
class PairsInUnits:
    """Pairs of rows of two samples, of a known number, whose members are exchanged in bins."""

    test: BinnedTest
    rows: PairRows

    @classmethod
    def of(cls, test: BinnedTest, sizes: Sequence[int]) -> Self:
        """Check that both samples have equally many rows."""
        n, m = sizes
        if n != m or n < 2:
            raise ValueError(f"X has {n} rows and Y has {m}; pairs need as many of both, at least two")
        return cls(test, PairRows(n, test.seed))

    @property
    def pilot(self) -> tuple[IntArray, ...]:
        """The ascending numbers of the pairs that features are fitted to, for each of both rows."""
        numbers = np.sort(unshuffled(np.arange(min(self.rows.n, PILOT // 2)), self.rows.n, self.rows.seed))
        return numbers, numbers

    def fitted(self, sources: Sequence[Any], rows: Sequence[Array]) -> Fitted:
        """Fit the features to the pairs of the pilot."""
        return self.fitted_to(pilot_question(self.test, sources, rows))

    def fitted_to(self, question: Any) -> Fitted:
        """Fit the features to a question about the pairs of the pilot, without a design."""
        fit = fitted(question, self.test.request, (self.rows.n,), self.test.seed)
        design: Any = PairedDesign((question.X, question.Y)).in_outline
        return replace(fit, question=replace(fit.question, design=design))

    def null(self, question: Any, columns: Columns, sums: Array, how: Resampling) -> Null:
        """Return the null of kernels on some columns; rows of the pilot tell how large the kernels are."""
        both = np.concatenate([question.X, question.Y])
        scale = 2 * columns.grouped(both, np.arange(1))[0, columns.size :] / len(both)
        kernels = summed(columns, sums, self.rows.held.astype(np.float64))
        return signed_null(kernels, scale, self.test.request.statistic, how, binned=self._binned)

    def result(self, fit: Fitted, sums: UnitSums, *notes: str) -> TestResult:
        """Return the result from the sums over all pairs."""
        return self.of_sums(fit, fit.columns[0], sums.all(), *notes)

    def of_sums(self, fit: Fitted, columns: Columns, sums: Array, *notes: str) -> TestResult:
        """Return the result of the columns that were fitted, from their sums over all pairs."""
        null = self.null(fit.question, columns, sums, fit.how)
        bins = (f"the rows of a pair are exchanged, in {self.rows.count:,} bins of pairs",) if self._binned else ()
        return fit.result(null, (self.rows.n,), *bins, *notes)

    @property
    def _binned(self) -> bool:
        return self.rows.n > self.rows.count


def pilot_question(test: BinnedTest, sources: Sequence[Any], rows: Sequence[Array]) -> Any:
    """Return the question of a test about the rows of a pilot, without a design."""
    tables = [Table(values, source.names, named=source.named) for values, source in zip(rows, sources, strict=True)]
    kind: type[Question] = test.question
    return kind.of(tables, Design())
