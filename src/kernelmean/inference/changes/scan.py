r"""The scan of a piece of a series: windows of many lengths side by side, and one exact p-value for all of them.

Of two neighboring windows of a and b bins of rows the statistic of a kernel is
:math:`\frac{ab}{a+b} \|\bar φ_1 - \bar φ_2\|²`: what a change between them explains of the scatter of the features φ.
Windows of one pair of lengths are alike under permutations of the bins, so the largest of their statistics counts.
Those of all lengths and kernels are combined as adaptive tests combine kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from scipy.special import logsumexp

from ...core.array import SILENT, Array, IntArray, Progress
from ...core.cached import cached_property
from ..adaptive.kinds import strengths_of
from ..adaptive.many_kernels import harmonic
from .features import ChangeFeatures

_UNEVEN = 4
"""Of two windows side by side, one is this many times as long as the other, or both are equally long."""
_STEPS = 4
"""Windows move by this part of the shorter one."""
_FIRST, _HOPELESS = 99, 0.2
_ROUNDING = 1e-10


@final
@dataclass(frozen=True)
class Windows:
    """Pairs of neighboring windows over bins that are alike: of two lengths, or the sides of splits of the whole."""

    spans: IntArray
    """Start, middle and end of every pair, in equal steps, shape (q, 3)."""

    def differences(self, sums: Array) -> Array:
        """Return √(ab / (a + b)) times the difference of the means, shape (q, D), from cumulative sums (m + 1, D)."""
        start, middle, end = (sums[place] for place in self._places)
        before, behind = self._factors
        first = (middle - start) * before
        first -= (end - middle) * behind
        return np.asarray(first)

    @cached_property
    def _places(self) -> list[slice]:
        """Starts, middles and ends as slices; one element if all are the same number."""
        steps = self.spans[min(1, len(self.spans) - 1)] - self.spans[0]
        ends = zip(self.spans[0].tolist(), self.spans[-1].tolist(), steps.tolist(), strict=True)
        return [slice(first, last + 1, step or 1) for first, last, step in ends]

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        a, b = np.diff(self.spans, axis=1).T[:, :, None]
        return np.sqrt(b / (a * (a + b))), np.sqrt(a / (b * (a + b)))


def windows(bins: int, shortest: int) -> list[Windows]:
    """Return windows of ``shortest`` bins, twice, four times … as many, side by side, and all splits of the whole."""
    found = []
    lengths = [shortest * 2**k for k in range((bins // shortest).bit_length())]
    for length in lengths:
        for a, b in ((length, length), (length, _UNEVEN * length), (_UNEVEN * length, length)):
            starts = np.arange(0, bins - a - b + 1, max(1, length // _STEPS))
            found.append(np.stack([starts, starts + a, starts + a + b], axis=1))
        middles = np.arange(length, min(2 * length, bins // 2 + 1))
        sides = (middles, np.setdiff1d(bins - middles, middles))
        found += [np.stack([np.zeros_like(own), own, np.full_like(own, bins)], axis=1) for own in sides]
    return [Windows(spans) for spans in found if len(spans)]


@final
@dataclass(frozen=True)
class Scan:
    """What the scan of some rows found."""

    pvalue: float
    strength: float
    """log Σ w/p over all windows and kernels, from the permutations alone: the larger, the clearer the change."""
    shares: Array
    """The part of it that every kernel has, shape (K,)."""
    around: tuple[int, int]
    """The rows of the pair of windows with the most evidence."""


def scan(
    features: ChangeFeatures,
    rows: tuple[int, int],
    bins: tuple[int, int],
    n_resamples: int,
    rng: np.random.Generator,
    progress: Progress = SILENT,
) -> Scan:
    """Test whether rows [first, last) are in random order, on bins of ``bins[0]`` rows, windows of ``bins[1]`` or more.

    If p is above 0.2 after 99 permutations, the others are skipped. This is exact: at levels below 0.2 only the p-value
    of all permutations counts, at other levels at most that of the 99. Progress is told after the 99.
    """
    label = f"permutations of rows {rows[0] + 1:,} to {rows[1]:,}"
    own = binned(features.columns, *rows, bins[0])
    groups = windows(len(own), bins[1])
    weights = np.repeat([part.member.weight for part in features.parts], len(groups))
    values = [_largest(features, groups, own)]
    for count in (min(_FIRST, n_resamples), n_resamples):
        orders = (rng.permutation(len(own)) for _ in range(count + 1 - len(values)))
        for order in orders:
            values.append(_largest(features, groups, own[order]))
            if len(values) > _FIRST + 1:
                progress(label, len(values) - 1, n_resamples)
        combined = harmonic(np.stack(values, axis=1), weights / weights.sum())
        pvalue = float((combined >= combined[0] - _ROUNDING * (1.0 + np.abs(combined).max())).mean())
        if pvalue > _HOPELESS:
            break
    evidence = strengths_of(np.stack(values, axis=1)) + np.log(weights / weights.sum())
    shares = np.exp(evidence - logsumexp(evidence)).reshape(len(features.parts), len(groups))
    best, group = np.unravel_index(int(shares.argmax()), shares.shape)
    part, squares = features.parts[best], np.square(groups[group].differences(cumulative(own)))
    found = part.of(squares[:, part.columns])
    start, _, end = groups[group].spans[int(found.argmax())] * bins[0] + rows[0]
    return Scan(pvalue, float(logsumexp(evidence)), shares.sum(axis=1), (int(start), int(end)))


def cumulative(bins: Array) -> Array:
    """Return the sums of the first 0, 1, …, m bins, shape (m + 1, D)."""
    sums = np.zeros((bins.shape[1], len(bins) + 1))
    np.cumsum(bins.T, axis=1, out=sums[:, 1:])
    return np.ascontiguousarray(sums.T)


def _largest(features: ChangeFeatures, groups: list[Windows], bins: Array) -> Array:
    """Return the largest statistic of every kernel in every group, shape (K groups,)."""
    sums, ends = cumulative(bins), np.cumsum([0, *(len(group.spans) for group in groups)])
    squares = np.empty((ends[-1], bins.shape[1]))
    for group, start, end in zip(groups, ends, ends[1:], strict=False):
        np.square(group.differences(sums), out=squares[start:end])
    found = [np.maximum.reduceat(part.of(squares[:, part.columns]), ends[:-1]) for part in features.parts]
    return np.concatenate(found)


def binned(columns: Array, first: int, last: int, width: int) -> Array:
    """Return the sums of coordinates (k, n) over bins of rows from ``first`` to ``last``, centered, shape (m, k).

    Rows at the end that fill no bin are left out.
    """
    count = (last - first) // width
    rows = columns[:, first : first + count * width]
    sums = rows.reshape(len(rows), count, width).sum(axis=2).T
    return np.ascontiguousarray(sums - sums.mean(axis=0))
