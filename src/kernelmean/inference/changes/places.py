r"""Where a change is: the split of a stretch of rows that explains most, and the splits that data do not rule out.

With features centered over the n rows of the stretch and their sums S_t over its first t rows, a change after t rows
explains :math:`G(t) = (1/t + 1/(n - t)) \|S_t\|²` of the scatter.
"""

from __future__ import annotations

import numpy as np

from ...core.array import Array
from .features import ChangeFeatures, ChangeKernel
from .scan import Scan, binned

_NEGLIGIBLE = 0.1
"""Kernels with less than this part of the most evidence are not used to place a change."""
_MOST_BINS = 256
_RESAMPLES = 199
_MARGIN = 2
"""The window of the next closer look, in lengths of the interval on either side of it."""


def coordinates(features: ChangeFeatures, scan: Scan, first: int, last: int) -> Array:
    """Return the coordinates of rows [first, last) in which a change shows, weighted by evidence, shape (q, n).

    Of a kernel whose coordinates count alone, it is that one which changes most around the place that the scan found.
    """
    shares, rows = scan.shares, []
    for part, share in zip(features.parts, shares.tolist(), strict=True):
        if share > _NEGLIGIBLE * shares.max():
            columns = features.columns[part.columns]
            if part.weights is None:
                around = columns[:, slice(*scan.around)]
                around = around - around.mean(axis=1, keepdims=True)
                columns = columns[[int(np.argmax([gain(column[None]).max() for column in around]))]]
            rows.append(_weighted(columns[:, first:last], part, share))
    return np.concatenate(rows)


def _weighted(columns: Array, part: ChangeKernel, share: float) -> Array:
    """Return centered coordinates whose gain has the deviation ``share`` without a change; one if each counts alone."""
    columns = columns - columns.mean(axis=1, keepdims=True)
    weights = np.ones(1) if part.weights is None else part.weights
    spread = float(np.linalg.norm(weights * np.square(columns).mean(axis=1)))
    return np.asarray(columns * np.sqrt(share * weights / (spread or 1.0))[:, None])


def gain(columns: Array) -> Array:
    """Return G after 1, …, n - 1 rows, shape (n - 1,), of centered coordinates (q, n)."""
    n = columns.shape[1]
    sums = np.cumsum(columns[:, :-1], axis=1)
    before = np.arange(1, n)
    return np.asarray(np.square(sums, out=sums).sum(axis=0) * (1 / before + 1 / (n - before)))


def most(columns: Array, shortest: int) -> int:
    """Return after how many rows a change explains most, with at least ``shortest`` rows on either side."""
    edge = _edge(columns, shortest)
    return edge + int(np.argmax(gain(columns)[edge - 1 : columns.shape[1] - edge]))


def interval(columns: Array, search: tuple[int, int], level: float, rng: np.random.Generator) -> tuple[int, int]:
    """Return an interval for the one change of some rows, from the shortest segment and the rows that stay together.

    The search starts on bins of rows, then uses finer ones around the interval.
    """
    shortest, block = search
    start, stop, width = 0, columns.shape[1], columns.shape[1] + 1
    low, high = start, stop
    while (finer := block * -(-(stop - start) // (_MOST_BINS * block))) < width:
        width = finer
        first, last = _kept(binned(columns, start, stop, width).T, -(-shortest // width), level, rng)
        low, high = start + (first - 1) * width + 1, min(start + (last + 1) * width, stop) - 1
        margin = max(_MARGIN * (high - low), _MOST_BINS // 4)
        start, stop = max(0, low - margin), min(columns.shape[1], high + margin)
    return low, high


def _kept(columns: Array, shortest: int, level: float, rng: np.random.Generator) -> tuple[int, int]:
    r"""Return the first and the last split t that is not much worse than the best: :math:`\max G - G(t) \le c`.

    c is the largest of three 1 - level quantiles of this difference: with the change at the best split, and at the
    first and the last split that the c of the best one keeps. The rows before a change, and those after it, are in
    random order.
    """
    n, edge = columns.shape[1], _edge(columns, shortest)
    gains = gain(columns)[edge - 1 : n - edge]
    best = edge + int(np.argmax(gains))
    tried: dict[int, float] = {}
    first = last = best
    for _ in range(2):
        for split in {first, best, last} - {*tried}:
            orders = (np.append(rng.permutation(split), split + rng.permutation(n - split)) for _ in range(_RESAMPLES))
            every = [gain(columns[:, order])[edge - 1 : n - edge] for order in orders]
            tried[split] = float(
                np.quantile([each.max() - each[split - edge] for each in every], 1 - level, method="higher")
            )
        near = edge + np.flatnonzero(gains >= gains.max() - max(tried.values()))
        first, last = int(near[0]), int(near[-1])
    return first, last


def _edge(columns: Array, shortest: int) -> int:
    return max(1, min(shortest, columns.shape[1] // 2))
