from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from .features import Features
from .scan import Scan, scan

_MOST_BINS = 256
_NEGLIGIBLE = 0.02


def gain(features, shares, first, last):
    """Return the explained scatter of every split first + 1, ..., last - 1."""
    n = last - first
    total = np.zeros(n - 1)
    times = np.arange(1, n)
    for part, share in zip(features.parts, shares):
        if share < _NEGLIGIBLE:
            continue
        own = features.columns[part.columns, first:last]
        sums = own - own.mean(axis=1, keepdims=True)
        unit = np.square(sums).mean(axis=1)
        np.cumsum(sums, axis=1, out=sums)
        sq = np.square(sums[:, :-1])
        if part.weights is None:
            value = (sq).max(axis=0); scale = unit.max()
        else:
            value = part.weights @ sq; scale = np.sqrt(np.square(part.weights*unit).sum())
        total += share * value / scale
    return total * (1/times + 1/(n-times))


def located(features, shares, first, last, min_rows):
    g = gain(features, shares, first, last)
    edge = min(min_rows, (last-first)//2)
    inner = g[edge-1 : len(g)-edge+1]
    return first + edge + int(np.argmax(inner))

def search(features, level, n_resamples, min_rows, block, rng):
    n = features.columns.shape[1]
    todo = [(0, n, 0.0)]
    found = []
    overall = None
    while todo:
        first, last, above = todo.pop()
        length = last - first
        if length < 2*max(min_rows, block):
            continue
        width = block * -(-length // (_MOST_BINS*block))
        shortest = max(1, -(-min_rows // width))
        P = max(n_resamples, int(np.ceil(50*n/length)) - 1)
        one = scan(features, (first, last), (width, shortest), P, rng)
        if one is None: continue
        if overall is None: overall = one.pvalue
        p = max(above, min(1.0, one.pvalue*n/length))
        if p <= level:
            row = located(features, one.shares, *one.around, min_rows)
            row = located(features, one.shares, first, last, min_rows) if one.around==(first,last) else row
            found.append((row, p, one.shares))
            todo += [(first,row,p),(row,last,p)]
    found.sort(key=lambda f: f[0])
    # refine
    rows = [f[0] for f in found]
    for _ in range(2):
        ends = [0, *rows, n]
        for k, f in enumerate(found):
            ends = [0, *rows, n]
            rows[k] = located(features, f[2], ends[k], ends[k+2], min_rows)
    return overall, rows, [f[1] for f in found]
