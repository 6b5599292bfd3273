"""How one column differs between two tables."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, final

from ...core.words import cut, listed, percent, signed
from ...tables.columns import CategoryShares
from ...tables.columns.kinds import KINDS, ColumnKind
from ...tables.columns.summaries import most_changed

_LONGEST_CELL = 24


@final
@dataclass(frozen=True)
class ColumnDifference:
    """How one column differs between two tables.

    Attributes
    ----------
    name : str
    means : (float, float)
        The two means, in the units of the column. Ordinal levels count from 0, times are seconds since 1970 (UTC), and
        the mean of truth values is the share of true ones. nan for categories. With weights they are weighted; with
        strata both tables are weighted so that strata count as in the tests.
    gap : float
        The first mean minus the second, in standard deviations within the tables (Cohen's d). Their squares are pooled
        over the tables, with n + m - 2 degrees of freedom. With strata it is the mean of the differences within strata,
        and the standard deviations are within tables and strata, unless strata have fewer than 4 rows on average;
        weights count in both. nan for categories, and where no table varies, so that there is no unit.
    noise : float
        The standard deviation of the noise that the joint test chose, in the units of the column (for categories: of
        shares).
    statistic, pvalue : float
        Of the column alone: the squared maximum mean discrepancy, unbiased unless there are strata, clusters or weights
        (in an adaptive test that of the Gaussian kernel at the median bandwidth on 16 landmarks among the rows, which
        comes within a few per cent of it), and the permutation p-value of its test.
    adjusted : float
        The p-value adjusted for the number of columns. If you reject all columns with a value of at most α, any column
        that does not differ is among them with probability at most α; with ``adjustment="bh"`` the expected share of
        such columns among them is at most α.
    n_resamples : int
        The permutations that the p-value comes from.
    kind : str
        "numeric", "boolean", "categorical", "ordinal", "datetime" or "duration".
    shares : tuple of CategoryShares
        For categories and truth values: how often each occurs in the known cells of the two tables, and blank cells in
        their rows, weighted as the means.
    interval : (float, float)
        An approximate 95 % interval of the first mean minus the second, in the units of the column (of times, seconds):
        Student's, from the variance between rows, or between clusters or pairs, within strata. It is for this column
        alone, whatever the number of columns. nan for categories, and where there are too few rows.
    margin : float
        The difference of means that matters, in the units of the interval, from ``equivalence=``; nan if none was
        named.
    """

    name: str
    means: tuple[float, float]
    gap: float
    noise: float
    statistic: float
    pvalue: float
    adjusted: float
    n_resamples: int
    kind: str = "numeric"
    shares: tuple[CategoryShares, ...] = ()
    interval: tuple[float, float] = (math.nan, math.nan)
    margin: float = math.nan

    def __post_init__(self) -> None:
        """Check the kind."""
        if self.kind not in KINDS:
            raise ValueError(f"{self.name} is of the kind {self.kind!r}, which is none of {listed(KINDS)}")

    @property
    def type(self) -> type[ColumnKind]:
        """What the kind answers."""
        return KINDS[self.kind]

    def content(self) -> dict[str, Any]:
        """Return the values for JSON, with None where a column has no mean."""
        known = {"means": self.means, "interval": self.interval}
        pairs = {name: [None if math.isnan(end) else end for end in pair] for name, pair in known.items()}
        gap = None if math.isnan(self.gap) else self.gap
        content = {**asdict(self), **pairs, "gap": gap, "unit": self.type.measured}
        del content["margin"]
        return content | self.closeness()

    def closeness(self) -> dict[str, Any]:
        """Return the margin, and whether the interval lies within it; nothing without a margin."""
        return {} if math.isnan(self.margin) else {"margin": self.margin, "equivalent": self.equivalent}

    @property
    def equivalent(self) -> bool | None:
        """Whether the interval lies within the margin; None without a margin, or where no interval is known."""
        least = max(map(abs, self.interval))
        return None if math.isnan(self.margin) or math.isnan(least) else least < self.margin

    @property
    def category(self) -> str | None:
        """Of categories, the one whose share changed most, for its size."""
        return None if not self.type.by_shares else self._most.category

    def shown(self) -> tuple[float, float]:
        """Return what is shown of the column in each table: its mean, or the share of ``category``."""
        if not self.type.by_shares:
            return self.means
        first, second = self._most.shares
        return first, second

    @property
    def _most(self) -> CategoryShares:
        return most_changed(self.shares)

    def difference(self) -> str:
        """Return the first mean minus the second in words, with its interval; nothing for categories."""
        gap, ends = self.means[0] - self.means[1], self.interval
        if math.isnan(gap):
            return ""
        unit, divisor = self.type.unit(gap)
        span = "" if math.isnan(ends[0]) else f" ({signed(ends[0] / divisor)} to {signed(ends[1] / divisor)})"
        return f"{signed(gap / divisor)}{span}{unit}"

    def describe(self) -> tuple[str, str]:
        """Return what the column is like in each table, in a few words: its mean, or a category and its share."""
        if not self.type.by_shares:
            first, second = self.type.written(self.means)
            return first, second
        first, second = (cut(f"{percent(share, 1)} {self.category}", _LONGEST_CELL) for share in self.shown())
        return first, second
