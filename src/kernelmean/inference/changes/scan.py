r"""The scan of a piece of a series: windows of many lengths side by side, and one exact p-value for all of them.

Of two neighboring windows of a and b bins of rows the statistic of a kernel is
:math:`\frac{ab}{a+b} \|\bar φ_1 - \bar φ_2\|²`: what a change between them explains of the scatter of the features φ.
Windows of one pair of lengths are alike under permutations of the bins, so the largest of their statistics counts.
Those of all lengths and kernels are combined as adaptive tests combine kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from ...core.array import Array, IntArray
from ..adaptive.combination import harmonic
from ..adaptive.kinds import strengths_of
from .features import ChangeFeatures, ChangeKernel

_UNEVEN = 4
"""Windows side by side are as long as each other, or one of them so many times as long."""
_STEPS = 4
"""Windows move by this part of the shorter one."""
_FIRST, _HOPELESS = 99, 0.2
_ROUNDING = 1e-10


@final
@dataclass(frozen=True)
class Windows:
    """Pairs of neighboring windows over bins, those of the same group one after another."""

    spans: IntArray
    """Start, middle and end of every pair, shape (q, 3)."""
    groups: IntArray
    """The first pair of every group, and q at the end."""
    contrasts: Any
    """Sparse, shape (q, m + 1): from cumulative sums of bins to √(ab / (a + b)) times the difference of two means."""

    @classmethod
    def of(cls, bins: int, shortest: int) -> Windows:
        """Return windows of ``shortest`` bins, twice, four times … as many, and all splits of the whole."""
        groups = [*_side_by_side(bins, shortest), *_splits(bins, shortest)]
        spans = np.concatenate(groups)
        a, b = np.diff(spans, axis=1).T
        first, second = np.sqrt(b / (a * (a + b))), np.sqrt(a / (b * (a + b)))
        entries = np.stack([-first, first + second, -second], axis=1).ravel()
        contrasts = csr_array((entries, spans.ravel(), np.arange(0, spans.size + 1, 3)), shape=(len(spans), bins + 1))
        return cls(spans, np.cumsum([0, *map(len, groups)]), contrasts)

    def statistics(self, part: ChangeKernel, bins: Array) -> Array:
        """Return the statistic of one kernel for every pair of windows, shape (q,), from its bins (m, k)."""
        sums = np.zeros((len(bins) + 1, bins.shape[1]))
        np.cumsum(bins, axis=0, out=sums[1:])
        differences = self.contrasts @ sums
        return part.of(np.square(differences, out=differences))

    def largest(self, parts: tuple[ChangeKernel, ...], bins: list[Array], order: Any = slice(None)) -> Array:
        """Return the largest statistic of every kernel in every group, shape (K groups,), of bins in some order."""
        starts = self.groups[:-1]
        found = [self.statistics(part, own[order]) for part, own in zip(parts, bins, strict=True)]
        return np.maximum.reduceat(np.stack(found), starts, axis=1).ravel()


def _side_by_side(bins: int, shortest: int) -> list[IntArray]:
    """Return windows of equal lengths, and those of which one is longer."""
    found = []
    for length in (shortest * 2**k for k in range((bins // shortest).bit_length())):
        for a, b in ((length, length), (length, _UNEVEN * length), (_UNEVEN * length, length)):
            starts = np.arange(0, bins - a - b + 1, max(1, length // _STEPS))
            found.append(np.stack([starts, starts + a, starts + a + b], axis=1))
    return [group for group in found if len(group)]


def _splits(bins: int, shortest: int) -> list[IntArray]:
    """Return the splits of the whole, grouped by the length of the shorter side."""
    middles = np.arange(shortest, bins - shortest + 1)
    octaves = np.log2(np.minimum(middles, bins - middles) / shortest).astype(int)
    own = [middles[octaves == octave] for octave in np.unique(octaves)]
    return [np.stack([np.zeros_like(each), each, np.full_like(each, bins)], axis=1) for each in own]


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
    """The rows of the pair of windows that told most."""


def scan(
    features: ChangeFeatures, rows: tuple[int, int], bins: tuple[int, int], n_resamples: int, rng: np.random.Generator
) -> Scan:
    """Test whether rows [first, last) are in random order, on bins of ``bins[0]`` rows, windows of ``bins[1]`` or more.

    After 99 permutations the others are spared where p is above 0.2 then. That is exact: at levels below 0.2 only the
    p-value of all permutations counts, at others at most that of the 99.
    """
    parts = features.parts
    own = [binned(features.columns[part.columns], *rows, bins[0]) for part in parts]
    windows = Windows.of(len(own[0]), bins[1])
    weights = np.repeat([part.member.weight for part in parts], len(windows.groups) - 1)
    values = [windows.largest(parts, own)]
    for count in (min(_FIRST, n_resamples), n_resamples):
        orders = (rng.permutation(len(own[0])) for _ in range(count + 1 - len(values)))
        values += [windows.largest(parts, own, order) for order in orders]
        pvalue = _pvalue(harmonic(np.stack(values, axis=1), weights / weights.sum()))
        if pvalue > _HOPELESS:
            break
    evidence = strengths_of(np.stack(values, axis=1)) + np.log(weights / weights.sum())
    shares = np.exp(evidence - logsumexp(evidence)).reshape(len(parts), -1)
    best, group = np.unravel_index(int(shares.argmax()), shares.shape)
    found = windows.statistics(parts[best], own[best])[windows.groups[group] : windows.groups[group + 1]]
    start, _, end = windows.spans[windows.groups[group] + int(found.argmax())] * bins[0] + rows[0]
    return Scan(pvalue, float(logsumexp(evidence)), shares.sum(axis=1), (int(start), int(end)))


def _pvalue(values: Array) -> float:
    return float((values >= values[0] - _ROUNDING * (1.0 + np.abs(values).max())).mean())


def binned(columns: Array, first: int, last: int, width: int) -> Array:
    """Return the sums of coordinates (k, n) over bins of rows from ``first`` to ``last``, centered, shape (m, k).

    Rows at the end that fill no bin are left out.
    """
    count = (last - first) // width
    rows = columns[:, first : first + count * width]
    sums = rows.reshape(len(rows), count, width).sum(axis=2).T
    return np.ascontiguousarray(sums - sums.mean(axis=0))
