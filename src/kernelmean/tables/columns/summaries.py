"""Summaries of a column in every table, for readers: means, or shares of categories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np
from scipy.special import stdtrit

from ...core.array import Array

LEVEL = 0.95
UNKNOWN = (math.nan, math.nan)
Interval: TypeAlias = tuple[float, float]


@final
@dataclass(frozen=True)
class CategoryShares:
    """The share of a category in the known cells of every table; of "(missing)", in its rows."""

    category: str
    shares: tuple[float, ...]


def most_changed(shares: Sequence[CategoryShares], one: int = 0, other: int = 1) -> CategoryShares:
    """Return the shares of the category that differs most between two tables, for its size.

    That is in standard deviations, at the mean of both shares; of two that differ equally it is the rarer one.

    Examples
    --------
    >>> most_changed([CategoryShares("Japan", (0.35, 0.0)), CategoryShares("USA", (0.35, 1.0))]).category
    'USA'
    """

    def change(each: CategoryShares) -> tuple[float, float]:
        first, second = each.shares[one], each.shares[other]
        mean = (first + second) / 2.0
        return round((first - second) ** 2 / (mean * (1.0 - mean) or 1.0), 9), -mean

    return max(shares, key=change)


@final
@dataclass(frozen=True)
class ColumnSummary:
    """A summary of a column in every table."""

    means: tuple[float, ...]
    """In the units of the column: levels are numbered from 0, times are seconds since 1970 (UTC), truth values give the
    share of true ones. nan for categories. Missing cells do not count."""
    shares: tuple[CategoryShares, ...]
    """For categories and truth values; the last one is that of missing cells if they are a category."""
    deviation: float = np.nan
    """The standard deviation within the tables, pooled; nan for categories and where it is not known."""
    interval: Interval = UNKNOWN
    """An approximate 95 % interval of the first mean minus the second, nan where it is not known."""

    @property
    def gap(self) -> float:
        """The first mean minus the second, in standard deviations within the tables; nan where these are 0."""
        return (self.means[0] - self.means[1]) / self.deviation if self.deviation > 0.0 else np.nan


def interval(gap: float, variances: Array, freedom: Array) -> Interval:
    """Return Student's interval of a difference whose variance is a sum, each part with its degrees of freedom.

    Examples
    --------
    >>> low, high = interval(1.0, np.array([0.01, 0.0]), np.array([9.0, 9.0]))
    >>> round(low, 4), round(high, 4)
    (0.7738, 1.2262)
    """
    gap, total = float(gap), float(variances.sum())
    if not (math.isfinite(gap) and math.isfinite(total)) or (freedom < 1.0).any():
        return UNKNOWN
    if total == 0.0:
        return gap, gap
    shares = variances / total
    reach = float(stdtrit(1.0 / float(np.sum(shares**2 / freedom)), 0.5 + LEVEL / 2)) * math.sqrt(total)
    return gap - reach, gap + reach


def of_moments(means: Array | Sequence[float], variances: Array, counts: Array) -> Interval:
    """Return Welch's interval from the means, the variances (divisor n) and the sizes of two samples."""
    freedom = np.asarray(counts) - 1.0
    if (freedom < 1.0).any() or not np.isfinite(variances).all():
        return UNKNOWN
    return interval(float(means[0] - means[1]), np.asarray(variances) / freedom, freedom)


def pooled_within(squares: Array, masses: Array, second: Array | None = None) -> float:
    """Return a standard deviation from the sums of weighted squares about the means of parts; nan if none is defined.

    ``masses`` are the sums of the weights of the parts, ``second`` those of their squares, by default of weights 1.

    Examples
    --------
    >>> pooled_within(np.array([2.0, 6.0]), np.array([3.0, 3.0]))
    1.4142135623730951
    """
    freedom = float(np.sum(masses - (masses > 0.0 if second is None else second / masses)))
    return math.sqrt(float(np.sum(squares)) / freedom) if freedom > 0.0 else math.nan
