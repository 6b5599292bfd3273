r"""How far the means of a column are apart: an approximate interval, and the deviation within tables and strata.

The difference of means is :math:`\sum_i w_i x_i` over the rows of the first table minus the same over the second, with
weights of sum one that follow the design (:mod:`.row_weights`). Its variance adds up over tables and strata: with r the
distances from the mean of the stratum in the table, and :math:`z_c` the sum of :math:`w_i r_i` over the rows of cluster
c, a stratum of C equal clusters has :math:`\frac{C}{C-1} \sum_c z_c^2`. Without a design it is Welch's.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ...core.array import Array, BoolArray, IntArray
from ...core.table import Frame
from ...inference import Design
from ...inference.designs.design import codes
from ...tables.columns.column_codings import Categories, Coding, Numbers
from ...tables.columns.kinds import as_labels
from ...tables.columns.summaries import (
    UNKNOWN,
    CategoryShares,
    ColumnSummary,
    Interval,
    interval,
    pooled_within,
    shares_of,
)
from .row_weights import RowWeights

_FEWEST_STRATA = 10
"""Of strata with a row or cluster of its own, from which the variance between strata is taken."""


@final
class GapsOfMeans:
    """The means of columns under a design, and their differences."""

    def __init__(self, design: Design, weigh: RowWeights | None, sizes: tuple[int, int]) -> None:
        self.paired = design.paired
        self._within = weigh is None or weigh.strata is None or weigh.within
        given = None if weigh is None else weigh.weights
        self._weights = np.ones(sum(sizes)) if given is None else np.concatenate(given)
        self._weigh: Callable[[Sequence[BoolArray]], Sequence[Array]] = weigh or _alike
        whole = np.zeros(sum(sizes), dtype=np.intp)
        self.strata = whole if design.strata is None else _pooled(design.strata, sizes)
        self.clusters = np.arange(sum(sizes)) if design.clusters is None else _pooled(design.clusters, sizes)
        self._table = np.repeat([0, 1], sizes)

    def summary(self, coding: Coding, frames: Sequence[Frame]) -> ColumnSummary:
        """Return what a column is like in either table."""
        shares: tuple[CategoryShares, ...] = ()
        if isinstance(coding, Categories):
            weights = self._weigh([np.ones(len(frame), dtype=bool) for frame in frames])
            labels = [as_labels(frame, coding.name) for frame in frames]
            shares = shares_of(coding, [_counted(*each) for each in zip(labels, weights, strict=True)])
            if coding.type.kind != "boolean":
                return ColumnSummary((math.nan,) * len(frames), shares)
            values: list[Array] = [np.asarray(frame[coding.name], dtype=np.float64) for frame in frames]
        else:
            assert isinstance(coding, Numbers)
            values = [coding.numbers(frame) for frame in frames]
        origin = coding.origin / 1e9 if isinstance(coding, Numbers) else 0.0
        means = tuple(mean + origin for mean in self._means(values))
        return ColumnSummary(means, shares, self.deviation(values), self.interval(values))

    def _means(self, values: Sequence[Array]) -> list[float]:
        """Return the means of the numbers that are not missing, nan if there are none."""
        known = [~np.isnan(each) for each in values]
        return [
            float(np.average(each[rows], weights=weights[rows])) if weights[rows].any() else math.nan
            for each, rows, weights in zip(values, known, self._weigh(known), strict=True)
        ]

    def interval(self, values: Sequence[Array]) -> Interval:
        """Return an approximate 95 % interval of the first mean minus the second, from cells that may be NaN.

        It is not known where squares overflow.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return _of_pairs(*values) if self.paired else self._of_samples(values)

    def _of_samples(self, values: Sequence[Array]) -> Interval:
        weighed = self._weigh([~np.isnan(each) for each in values])
        if not all(own.any() for own in weighed):
            return UNKNOWN
        weights = np.concatenate([own / own.sum() for own in weighed])
        used = weights > 0.0
        cells, weights = np.concatenate(values)[used], weights[used]
        table, strata = self._table[used], self.strata[used]
        _, place = np.unique(2 * strata + table, return_inverse=True)  # a stratum in a table, its two tables in turn
        masses: Array = np.bincount(place, weights).astype(np.float64)
        means: Array = np.bincount(place, weights * cells) / masses
        if len(means) % 2 or len(means) == 0:
            return UNKNOWN
        shares, gaps = masses[::2], means[::2] - means[1::2]
        gap = float(shares @ gaps)
        cluster, first = _numbered(self.clusters[used], table)
        if (np.bincount(place[first]) < 2).any():
            return _between_strata(gap, shares, gaps)
        units = np.bincount(cluster, weights).astype(np.float64)
        sums = np.bincount(cluster, weights * (cells - means[place])).astype(np.float64)
        return interval(gap, *_variances(units, sums, place[first], masses))

    def deviation(self, values: Sequence[Array]) -> float:
        """Return the standard deviation within the tables, and within strata unless these are tiny; nan if not known.

        Rows have their weights, and strata count as in the differences of means. In one stratum of rows of equal
        weights it is the pooled standard deviation, with n + m - 2 degrees of freedom.
        """
        counted = np.concatenate(self._weigh([~np.isnan(each) for each in values])) > 0.0
        cells, table, strata = np.concatenate(values)[counted], self._table[counted], self.strata[counted]
        _, first, place = np.unique(2 * strata + table, return_index=True, return_inverse=True)
        if len(first) < 2 or len(first) % 2:
            return math.nan
        weights = self._weights[counted] / self._weights[counted].max()
        masses = np.bincount(place, weights).reshape(-1, 2)
        weights *= np.repeat(masses.prod(axis=1) / np.square(masses.sum(axis=1)), 2)[place]
        if not self._within:
            _, first, place = np.unique(table, return_index=True, return_inverse=True)
        distances = cells - cells[first][place]  # exactly 0 where all are equal
        mass: Array = np.bincount(place, weights).astype(np.float64)
        distances -= (np.bincount(place, weights * distances) / mass)[place]
        farthest = float(np.abs(distances).max()) or 1.0  # squares neither overflow nor vanish
        sums = weights * np.square(distances / farthest), np.square(weights)
        squares, second = (np.bincount(place, own).astype(np.float64) for own in sums)
        return farthest * pooled_within(squares, mass, second)


def _alike(known: Sequence[BoolArray]) -> Sequence[Array]:
    return [each.astype(np.float64) for each in known]


def _counted(labels: npt.NDArray[Any], weights: Array) -> Counter[Any]:
    """Return the weight of every label."""
    counts: Counter[Any] = Counter()
    for label, weight in zip(labels.tolist(), weights.tolist(), strict=True):
        counts[label] += weight
    return counts


def _variances(units: Array, sums: Array, place: IntArray, masses: Array) -> tuple[Array, Array]:
    """Return the variance of the weighted mean of each place times its mass, and the degrees of freedom.

    Of units with shares u in a place, the squares of ``sums`` are too small by the factor 1 - 2 Σu³ / Σu² + Σu² if
    values vary alike, and there are as many degrees of freedom as of 1 / Σu² equal units: C - 1 of C equal ones.
    """
    shares = units / masses[place]
    second, third = (np.bincount(place, shares**power) for power in (2, 3))
    kept = 1.0 - 2.0 * third / second + second
    squares = np.bincount(place, np.square(sums))
    whole = np.divide(squares, kept, out=np.full(len(kept), np.inf), where=kept > 0.0)
    return whole, 1.0 / second - 1.0


def _of_pairs(first: Array, second: Array) -> Interval:
    gaps = first - second
    if len(gaps) < 2 or np.isnan(gaps).any():  # the means beside it are of all known cells, not of whole pairs
        return UNKNOWN
    return interval(float(gaps.mean()), np.array([gaps.var(ddof=1) / len(gaps)]), np.array([len(gaps) - 1.0]))


def _pooled(parts: Sequence[Array], sizes: tuple[int, int]) -> IntArray:
    found, _ = codes(np.concatenate([np.asarray(part) for part in parts]), "labels")
    assert len(found) == sum(sizes), "a label for every row"
    return found


def _numbered(clusters: IntArray, table: IntArray) -> tuple[IntArray, IntArray]:
    """Return the number of the cluster of every row, shape (n,), and the first row of each cluster of either table."""
    _, first, numbers = np.unique(2 * clusters + table, return_index=True, return_inverse=True)
    return numbers, first


def _between_strata(gap: float, shares: Array, gaps: Array) -> Interval:
    """Return the interval from how the differences within strata vary, where some stratum has one row or cluster."""
    if len(gaps) < _FEWEST_STRATA:
        return UNKNOWN
    return interval(gap, *_variances(shares, shares * (gaps - gap), np.zeros(len(gaps), np.intp), np.ones(1)))
