"""What a comparison of two samples returns when other columns are known."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from ...core.array import Array
from ...core.frozen import Frozen
from ...core.words import number_range, rounded, signed
from ...report import pictures
from ...report.description import Description, Grid
from ...report.document import Bars
from ..adaptive.kinds import LEVEL
from ..base_result import Result
from ..wording import beside
from .ci_result import ConditionalResult, MemberPvalue


@final
@dataclass(frozen=True)
class AdjustedDifference:
    """How far the means of a column are apart, X minus Y, in its units."""

    name: str
    raw: float
    """As they are."""
    adjusted: float
    """Once the known columns have explained what they can."""
    low: float
    high: float
    """The approximate 95 % interval of the adjusted difference, NaN where a sample has too few effective rows."""
    deviation: float
    """Of the column over both samples."""
    pvalue: float = math.nan
    """Of the test of this column alone, where it was made."""
    adjusted_pvalue: float = math.nan
    """The same, adjusted for the number of columns."""

    def times(self, factor: float, unit: str = "") -> AdjustedDifference:
        """Return the difference in another unit, which the name tells."""
        numbers = (self.raw, self.adjusted, self.low, self.high, self.deviation)
        return AdjustedDifference(f"{self.name}, {unit.strip()}" if unit else self.name, *(factor * n for n in numbers))

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, None where they are not known."""
        numbers = {"difference": self.raw, "adjusted_difference": self.adjusted, "low": self.low, "high": self.high}
        numbers |= {"pvalue": self.pvalue, "adjusted_pvalue": self.adjusted_pvalue}
        return {"of": self.name} | {name: None if math.isnan(value) else value for name, value in numbers.items()}

    def cells(self) -> tuple[str, ...]:
        """Return the name and the numbers as texts."""
        reach = "not known" if math.isnan(self.low) else number_range([self.low, self.high])
        pvalues = () if math.isnan(self.pvalue) else (f"{self.pvalue:.3g}", f"{self.adjusted_pvalue:.3g}")
        return self.name, rounded(self.raw), rounded(self.adjusted), reach, *pvalues


@final
@dataclass(frozen=True, eq=False, repr=False)
class AdjustedResult(Frozen, Result):
    """Whether two samples differ beyond what known columns explain; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    test : ConditionalResult
        The test of the label of the sample and the columns given what is known, and how well that predicts both.
    sizes : (int, int)
        The rows of X and of Y.
    differences : tuple of AdjustedDifference
        Those of the means of all columns that vary.
    weights : array of shape (n + m,)
        How much the rows of X and then of Y count in the adjusted difference; each sample's sum to 1.
    mmd2 : (float, float)
        The unbiased squared distance of the kernel means of the columns in deviations, as they are and adjusted, on at
        most 100 features of the Gaussian kernel with the median distance. Once nothing is left, it is about 0.
    names : (str, str, str)
        What to call X, Y and what is known.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (AdjustedDifference, ConditionalResult, MemberPvalue)

    test: ConditionalResult
    sizes: tuple[int, int]
    differences: tuple[AdjustedDifference, ...]
    weights: Array
    mmd2: tuple[float, float]
    names: tuple[str, str, str] = ("X", "Y", "Z")

    def __iter__(self) -> Iterator[float]:
        return iter(self.test)

    def __repr__(self) -> str:
        return f"AdjustedResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, exact={self.exact})"

    @property
    def statistic(self) -> float:
        """The statistic of the test."""
        return self.test.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of the test."""
        return self.test.pvalue

    @property
    def exact(self) -> bool:
        """Whether the p-value is exact: only strata are given."""
        return self.test.exact

    @property
    def effective_rows(self) -> tuple[float, float]:
        """How many rows of either sample with equal weights tell as much as those with the weights: the overlap."""
        n = self.sizes[0]
        first, second = (1.0 / float(np.square(part).sum()) for part in (self.weights[:n], self.weights[n:]))
        return first, second

    def verdict(self) -> str:
        """Return the outcome at level .05 in one sentence."""
        p, (first, second, known) = beside(self.pvalue, LEVEL), self.names
        beyond = f"beyond what is explained by {known}: p = {p}"
        if self.pvalue > LEVEL:
            return f"{first} and {second} show no difference {beyond}, above {LEVEL:g}."
        return f"{first} and {second} differ {beyond}, at most {LEVEL:g}."

    def facts(self) -> list[tuple[str, str]]:
        """Return the p-value and what it rests on."""
        first, second, _ = self.names
        effective = [f"{rows:,.0f} of {size:,}" for rows, size in zip(self.effective_rows, self.sizes, strict=True)]
        return [
            *(fact for fact in self.test.facts() if fact[0] not in ("rows", "columns", "correlation left")),
            ("overlap", f"{first} counts as {effective[0]} rows, {second} as {effective[1]}"),
            (
                "squared distance",
                f"{signed(self.mmd2[0], 'z.3g')}, adjusted {signed(self.mmd2[1], 'z.3g')} (MMD² of a Gaussian kernel)",
            ),
        ]

    def describe(self) -> Description:
        """Return whether the samples differ, and the differences of columns."""
        rows = tuple(difference.cells() for difference in self.differences)
        header = ("column", "difference", "adjusted", "95 % interval", "p", "adjusted p")[: len(rows[0])]
        differing = [number for number, each in enumerate(self.differences) if each.adjusted_pvalue <= LEVEL]
        title = f"Means of {self.names[0]} minus {self.names[1]}"
        strong, mark = frozenset((number, 0) for number in differing), "differs" if len(header) > 4 else ""
        grid = Grid(title, header, rows, noun="row", strong=strong, mark=mark, whole=True)
        return Description(self.test.method, self.verdict(), self.facts(), (grid,), self.test.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names, numbers and texts."""
        return {
            **self.test.to_dict(),
            "verdict": self.verdict(),
            "names": list(self.names),
            "sizes": list(self.sizes),
            "effective_rows": list(self.effective_rows),
            "mmd2": list(self.mmd2),
            "differences": [difference.to_dict() for difference in self.differences],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for every column."""
        return [difference.to_dict() for difference in self.differences]

    def plot(self, ax: Any = None) -> Any:
        """Draw the differences of the means, as they are and adjusted, in deviations; returns the axes."""
        names = tuple(difference.name for difference in self.differences)
        raw, adjusted = (
            tuple(float(getattr(each, kind) / each.deviation) for each in self.differences)
            for kind in ("raw", "adjusted")
        )
        label = f"mean of {self.names[0]} minus {self.names[1]}, in deviations"
        bars = Bars("", label, names, (("as they are", raw), ("adjusted", adjusted)))
        return pictures.show(bars, ax, size=(6.0, 3.4), words=self.verdict())
