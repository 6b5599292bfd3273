"""The comparison of two tables given some of their columns: what differs beyond what these explain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, final

import numpy as np

from ..core.array import RngLike, as_rng
from ..core.frozen import Frozen
from ..core.table import Frame, Table
from ..core.words import listed
from ..inference import AdjustedDifference, AdjustedResult, Design
from ..inference.adaptive.kinds import LEVEL
from ..inference.base_result import Result
from ..inference.given import adjusted_test
from ..inference.null import HOLM, adjusted
from ..inference.wording import short
from ..report.description import Description, Grid
from ..tables.columns import Encoded, Encoding, encode
from ..tables.columns.kinds import Coding
from .given import crossed, known_columns


@final
@dataclass(frozen=True)
class ColumnGiven:
    """The test of one column beyond what is given, and the differences of its mean or its shares."""

    name: str
    pvalue: float
    adjusted: float
    """Adjusted for the number of columns."""
    differences: tuple[AdjustedDifference, ...]


@final
@dataclass(frozen=True, eq=False, repr=False)
class ComparisonGiven(Frozen, Result):
    """The comparison of two tables beyond what some of their columns explain.

    Attributes
    ----------
    test : AdjustedResult
        Of all columns together, in deviations.
    columns : tuple of ColumnGiven
        Every column alone, those with the smallest p-values first.
    names : (str, str)
    given : tuple of str
    adjustment : str
        How p-values of columns were adjusted: "holm" or "bh".
    notes : tuple of str
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (ColumnGiven, *(AdjustedResult.holds or ()), AdjustedResult)

    test: AdjustedResult
    columns: tuple[ColumnGiven, ...]
    names: tuple[str, str]
    given: tuple[str, ...]
    adjustment: str = HOLM
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"ComparisonGiven({listed(self.given)}, pvalue={self.test.pvalue:.4g})"

    @property
    def pvalue(self) -> float:
        """The p-value of all columns together."""
        return self.test.pvalue

    @property
    def statistic(self) -> float:
        """The statistic of all columns together."""
        return self.test.statistic

    def verdict(self) -> str:
        """Return the outcome for all columns together in one sentence."""
        return self.test.verdict()

    def describe(self) -> Description:
        """Return what differs beyond what is given, column by column."""
        header = ("column", "difference", "adjusted", "95 % interval", "p", "adjusted p")
        rows: list[tuple[str, ...]] = []
        strong = set()
        for column in self.columns:
            pvalues = f"{column.pvalue:.3g}", f"{column.adjusted:.3g}"
            if column.adjusted <= LEVEL:
                strong.add((len(rows), 0))
            rows += [(*each.cells(), *pvalues) for each in column.differences]
        title = f"Means and shares of {self.names[0]} minus {self.names[1]}"
        grid = Grid(title, header, tuple(rows), noun="row", strong=frozenset(strong), mark="differs", whole=True)
        return Description(self.test.test.method, self.verdict(), self.test.facts(), (grid,), notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names, numbers and texts."""
        return {
            **self.test.to_dict(),
            "verdict": self.verdict(),
            "names": list(self.names),
            "given": list(self.given),
            "adjustment": self.adjustment,
            "differences": self.rows(),
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for every mean and every share."""
        return [
            {"column": column.name, **each.to_dict(), "pvalue": column.pvalue, "adjusted_pvalue": column.adjusted}
            for column in self.columns
            for each in column.differences
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw the differences as they are and adjusted, in deviations; returns the axes."""
        differences = tuple(each for column in self.columns for each in column.differences)
        return replace(self.test, differences=differences).plot(ax)


def compare_given(
    A: Frame,
    B: Frame,
    given: Sequence[str],
    *,
    encoding: Encoding,
    n_resamples: int = 999,
    rng: RngLike = 0,
    adjustment: str = HOLM,
) -> ComparisonGiven:
    """Compare two tables beyond what the columns ``given`` explain; see ``given`` of :func:`kernelmean.mmd_test`.

    Given categories are strata, crossed if there are several; given numbers and times are what is regressed on. All
    other columns are compared, together and each alone.
    """
    A.select(given)  # raises if one is not there
    names = short(A.source), short(B.source)
    encoded = encode((A, B), names, encoding)
    discrete, known = known_columns(encoded, given)
    order = [name for name in encoded.in_table_order() if name not in given]
    if not order:
        raise ValueError("all columns that vary are given, so there is none to compare; give fewer of them")
    design = Design(strata=crossed(encoded, discrete) if discrete else None)
    seeds = as_rng(rng).spawn(1 + len(order))
    codings = {coding.name: coding for coding in encoded.codings}

    def tested(some: Sequence[str], seed: np.random.Generator) -> AdjustedResult:
        (one, two), known_rows = _tables(encoded, some), _known(encoded, known)
        result = adjusted_test(one, two, known_rows, design=design, n_resamples=n_resamples, rng=seed)
        return replace(result, names=(*names, listed(given)))

    together = tested(order, seeds[0])
    alone = [tested([name], seed) for name, seed in zip(order, seeds[1:], strict=True)]
    pvalues = adjusted([test.pvalue for test in alone], adjustment)
    columns = [
        ColumnGiven(name, test.pvalue, pvalue, _in_units(test, codings[name]))
        for name, test, pvalue in zip(order, alone, pvalues, strict=True)
    ]
    ranked = tuple(sorted(columns, key=lambda column: column.pvalue))
    notes = (*encoded.notes(), *together.test.notes)
    return ComparisonGiven(together, ranked, names, tuple(given), adjustment, notes)


def _known(encoded: Encoded, names: Sequence[str]) -> tuple[Any, Any] | None:
    """Return the columns of both tables that are regressed on."""
    first, second = encoded.coordinates(names)
    return (first, second) if names else None


def _tables(encoded: Encoded, names: Sequence[str]) -> list[Table]:
    """Return the coordinates of some columns of both tables, with their names."""
    coordinates = [name for coding in encoded.codings if coding.name in names for name in coding.names]
    return [Table(values, tuple(coordinates)) for values in encoded.coordinates(names)]


def _in_units(test: AdjustedResult, coding: Coding) -> tuple[AdjustedDifference, ...]:
    """Return the differences of a column in its units: those of its mean, or of the shares of its categories."""
    measured = coding.names if coding.category_weight is not None else coding.names[:1]
    gaps = [each.times(coding.scale) for each in test.differences if each.name in measured]
    units = [coding.type.unit(max(abs(gap.raw), abs(gap.adjusted))) for gap in gaps]
    return tuple(gap.times(1.0 / size, unit) for gap, (unit, size) in zip(gaps, units, strict=True))
