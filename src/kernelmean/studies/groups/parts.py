"""How two groups differ, and how groups differ in one column."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isnan
from typing import Any, final

from ...tables.columns.kinds import KINDS
from ..levels import Levels


@final
@dataclass(frozen=True)
class GroupPair:
    """How two groups differ.

    Attributes
    ----------
    first, second : str
        The groups.
    strength : float
        The share of the variation of their rows that the group explains, with the Gaussian kernel at the median
        distance of all rows: near 0 for equal distributions (of either sign, as it is unbiased), at most 1. With
        strata and weights it is that within strata, of weighted rows; nan where no stratum has rows of both groups.
    statistic, pvalue : float
        The statistic and the p-value of the test of the two groups alone.
    adjusted : float
        The p-value adjusted for the number of pairs, as in :class:`kernelmean.studies.comparison.ColumnDifference`.
    n_resamples : int
        The permutations that the p-value comes from; 0 if the design does not allow a test of the two groups.
    interval : (float, float) or None
        An approximate 95 % interval of the strength, as in :meth:`kernelmean.TestResult.effect_size`, for this pair
        alone; of the first ten pairs. None for others, where no row varies, and where a group has two rows.
    """

    first: str
    second: str
    strength: float
    statistic: float
    pvalue: float
    adjusted: float
    n_resamples: int
    interval: tuple[float, float] | None = None


@final
@dataclass(frozen=True)
class GroupColumn:
    """How groups differ in one column.

    Attributes
    ----------
    name : str
        The column.
    first, second : str
        The two groups that differ most in it.
    strength : float
        The share of the variation of this column that the group explains for these two, as for a `GroupPair`.
    statistic, pvalue : float
        The statistic and the p-value of the test of all groups on this column alone.
    adjusted : float
        The p-value adjusted for the number of columns.
    n_resamples : int
        The permutations that the p-value comes from.
    kind : str
        As of :class:`kernelmean.studies.comparison.ColumnDifference`.
    means : tuple of float
        The mean of every group, all its rows counted alike; of categories the share of ``category``. nan where no cell
        is known.
    category : str or None
        The one whose share differs most between ``first`` and ``second``, for its size.
    deviations : tuple of float
        The standard deviations of numbers in every group, nan of fewer than two; empty for other columns.
    blank : tuple of float
        The shares of blank cells in every group, if there are some, and if these are not the category.
    """

    name: str
    first: str
    second: str
    strength: float
    statistic: float
    pvalue: float
    adjusted: float
    n_resamples: int
    kind: str
    means: tuple[float, ...]
    category: str | None
    deviations: tuple[float, ...] = ()
    blank: tuple[float, ...] = ()

    def content(self) -> dict[str, Any]:
        """Return the values for JSON, with None where there is no statistic or no mean."""
        means, deviations = (
            [None if isnan(value) else value for value in values] for values in (self.means, self.deviations)
        )
        known = {"means": means, "deviations": deviations, "blank": list(self.blank)}
        statistic = None if isnan(self.statistic) else self.statistic
        return {**asdict(self), "statistic": statistic, **known, "unit": KINDS[self.kind].measured}

    @property
    def levels(self) -> Levels:
        """What the column is like in every group."""
        return Levels(self.name, self.kind, self.means, self.category, self.deviations, self.blank)
