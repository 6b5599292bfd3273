r"""The scan of a piece of a series: windows of many lengths side by side, and one exact p-value for all of them.

Of two neighboring windows of a and b bins of rows the statistic of a kernel is
:math:`\frac{ab}{a+b} \|\bar φ_1 - \bar φ_2\|²`: what a change between them explains of the scatter of the features φ.
Windows of one pair of lengths are alike under permutations of the bins, so the largest of their statistics counts.
Those of all lengths and kernels are combined as adaptive tests combine kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from ...core.array import SILENT, Array, IntArray, Progress
from ...core.cached import cached_property
from ..adaptive.many_kernels import harmonic, strengths_of
from ..null import snapped
from ..statistics import ties
from ..tiling import in_order
from .features import ChangeFeatures

_UNEVEN = 4
"""Of two windows side by side, one is this many times as long as the other, or both are equally long."""
_STEPS = 4
"""Windows move by this part of the shorter one."""
FIRST, HOPELESS = 99, 0.2
_ROUNDING = 1e-10
_CELLS = 2**17
"""About so many differences are computed at once, so that they stay in the cache of a core."""


@final
@dataclass(frozen=True)
class Windows:
    """Pairs of neighboring windows over bins, in groups that are alike: of two lengths, or the splits of the whole."""

    groups: list[IntArray]
    """Start, middle and end of every pair of a group, shape (q, 3)."""

    @cached_property
    def spans(self) -> IntArray:
        """Those of all groups, one below the other."""
        return np.concatenate(self.groups)

    @cached_property
    def starts(self) -> IntArray:
        """Where in ``spans`` every group begins."""
        return np.cumsum([0, *map(len, self.groups[:-1])])

    def pieces(self, most: int) -> list[Windows]:
        """Return them in pieces of whole groups, of about ``most`` pairs each."""
        which = np.cumsum([len(group) for group in self.groups]) // max(most, 1)
        return [Windows([self.groups[k] for k in np.flatnonzero(which == piece)]) for piece in np.unique(which)]

    def differences(self, sums: Array) -> Array:
        """Return √(ab / (a + b)) times the difference of the means, shape (q, D), from cumulative sums (m + 1, D)."""
        return np.asarray(self._contrasts @ sums[: self._contrasts.shape[1]])

    @cached_property
    def _contrasts(self) -> Any:
        """What takes cumulative sums to these differences: three numbers in every row, the others are zero."""
        a, b = np.diff(self.spans, axis=1).T
        before, behind = np.sqrt(b / (a * (a + b))), np.sqrt(a / (b * (a + b)))
        weights = np.stack([-before, before + behind, -behind], axis=1)
        ends = np.arange(0, weights.size + 1, 3)
        return csr_array((weights.ravel(), self.spans.ravel(), ends), (len(self.spans), int(self.spans.max()) + 1))


def windows(bins: int, shortest: int) -> Windows:
    """Return windows of ``shortest`` bins, twice, four times … as many, side by side, and all splits of the whole."""
    groups = list[IntArray]()
    lengths = [shortest * 2**k for k in range((bins // shortest).bit_length())]
    for length in lengths:
        for a, b in ((length, length), (length, _UNEVEN * length), (_UNEVEN * length, length)):
            starts = np.arange(0, bins - a - b + 1, max(1, length // _STEPS))
            groups.append(np.stack([starts, starts + a, starts + a + b], axis=1))
        middles = np.arange(length, min(2 * length, bins // 2 + 1))
        sides = (middles, np.setdiff1d(bins - middles, middles))
        groups += [np.stack([np.zeros_like(splits), splits, np.full_like(splits, bins)], axis=1) for splits in sides]
    return Windows([spans for spans in groups if len(spans)])


@final
@dataclass(frozen=True)
class Scan:
    """What the scan of some rows found."""

    pvalue: Fraction
    """A fraction, as products of it must not be rounded beyond a level that they equal."""
    strength: float
    """log Σ w/p over all windows and kernels, from the permutations alone: the larger, the clearer the change."""
    shares: Array
    """The part of it that every kernel has, shape (K,)."""
    around: tuple[int, int]
    """The rows of the pair of windows with the most evidence."""


@final
@dataclass(frozen=True)
class Draws:
    """Where permutations come from, whom to tell how many there are, and the threads that work on them."""

    rng: np.random.Generator
    progress: Progress = SILENT
    n_jobs: int = 1


def scan(
    features: ChangeFeatures,
    rows: tuple[int, int],
    bins: tuple[int, int],
    n_resamples: int,
    draws: Draws,
    hopeless: float = HOPELESS,
) -> Scan:
    """Test whether rows [first, last) are in random order, on bins of ``bins[0]`` rows, windows of ``bins[1]`` or more.

    If p is above ``hopeless`` after 99 permutations, the others are skipped. This is exact: at levels below that only
    the p-value of all permutations counts, at other levels at most that of the 99. Progress is told after the 99. The
    number of threads changes nothing.
    """
    label = f"permutations of rows {rows[0] + 1:,} to {rows[1]:,}"
    sums = binned(features.columns, *rows, bins[0])
    pairs = windows(len(sums), bins[1])
    weights = np.repeat([part.member.weight for part in features.parts], len(pairs.groups))
    pieces = pairs.pieces(_CELLS // sums.shape[1])
    at_once = max(1, _CELLS // (len(pairs.spans) * sums.shape[1]))
    values = _largest(features, pieces, sums, np.arange(len(sums))[None])
    for count in (min(FIRST, n_resamples), n_resamples):
        starts, parts = range(values.shape[1], count + 1, at_once), [values]
        orders = ([draws.rng.permutation(len(sums)) for _ in range(min(at_once, count + 1 - done))] for done in starts)
        batches = in_order(lambda some: _largest(features, pieces, sums, np.stack(some)), orders, draws.n_jobs)
        for start, largest in zip(starts, batches, strict=True):
            parts.append(largest)
            if count > FIRST:
                draws.progress(label, start - 1 + largest.shape[1], n_resamples)
        values = np.concatenate(parts, axis=1)
        tolerances = ties(values, np.abs(values).max(axis=1))  # one row may be unlike all others
        statistics = np.stack(list(map(snapped, values, tolerances)))
        combined = harmonic(statistics, weights / weights.sum())
        above = combined >= combined[0] - _ROUNDING * (1.0 + np.abs(combined).max())
        pvalue = Fraction(int(above.sum()), len(above))
        if pvalue > hopeless:
            break
    evidence = strengths_of(statistics) + np.log(weights / weights.sum())
    shares = np.exp(evidence - logsumexp(evidence)).reshape(len(features.parts), len(pairs.groups))
    best, group = np.unravel_index(int(shares.argmax()), shares.shape)
    part, spans, first = features.parts[best], pairs.groups[group], pairs.starts[group]
    squares = np.square(pairs.differences(cumulative(sums[:, part.columns]))[first : first + len(spans)])
    start, _, end = spans[int(part.of(squares).argmax())] * bins[0] + rows[0]
    return Scan(pvalue, float(logsumexp(evidence)), shares.sum(axis=1), (int(start), int(end)))


def cumulative(bins: Array) -> Array:
    """Return the sums of the first 0, 1, …, m bins, shape (m + 1, …)."""
    sums = np.zeros((len(bins) + 1, *bins.shape[1:]))
    np.cumsum(bins, axis=0, out=sums[1:])
    return sums


def _largest(features: ChangeFeatures, pieces: list[Windows], bins: Array, orders: IntArray) -> Array:
    """Return the largest statistic of every kernel in every group, for orders (P, m), shape (K groups, P)."""
    sums, largest = cumulative(bins[orders.T]), []
    for pairs in pieces:
        squares = pairs.differences(sums.reshape(len(sums), -1)).reshape(-1, *sums.shape[1:])
        np.square(squares, out=squares)
        largest.append([part.largest(squares[..., part.columns], pairs.starts) for part in features.parts])
    return np.concatenate(largest, axis=1).reshape(-1, len(orders))


def binned(columns: Array, first: int, last: int, width: int) -> Array:
    """Return the sums of coordinates (k, n) over bins of rows from ``first`` to ``last``, centered, shape (m, k).

    Rows at the end that fill no bin are left out.
    """
    count = (last - first) // width
    rows = columns[:, first : first + count * width]
    sums = rows.reshape(len(rows), count, width).sum(axis=2).T
    return np.ascontiguousarray(sums - sums.mean(axis=0))
