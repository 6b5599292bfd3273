"""Whether parts of a reference, in its order, differ among themselves: then batches differ from it without drift."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import chdtrc
from scipy.stats import rankdata

from ...core.array import Array

MOST_ROWS = 4096
"""At most so many rows, in equal steps, are looked at."""
_MOST_PARTS = 10
_CLEAR = 0.001
_LEAST = 1e-100


def note_on_parts(rows: Array, length: int, batch: int) -> str:
    """Return a note if consecutive parts of a reference differ clearly, else "".

    Coordinates of rows in their order, shape (m, D), stand for a reference of some length. It is cut into at most ten
    parts at least as long as a batch. The test of Kruskal & Wallis compares them, for every coordinate; p is the
    smallest p-value times their number.
    """
    parts = min(length // batch, _MOST_PARTS, len(rows))
    if parts < 2:
        return ""
    own = list(_of_parts(rows, parts))
    p = min(own, default=1.0) * len(own)
    if p >= _CLEAR:
        return ""
    said = f"p < {_LEAST:g}" if p < _LEAST else f"p = {p:.2g}"
    return (
        f"{parts} parts of the reference, each at least as long as a batch, differ from each other ({said}): if its "
        "rows are in the order of time, they have a rhythm or drift, and an alarm need not mean a change; compare "
        "like with like, such as each weekday with its own reference, or residuals from the mean of the hour of the "
        "week (docs/guides/drift.md)"
    )


def _of_parts(rows: Array, parts: int) -> Iterator[float]:
    """Yield the p-value of every coordinate that varies."""
    n = len(rows)
    for values in rows.T:
        ranks = rankdata(values) - (n + 1) / 2
        total = np.square(ranks).sum()
        if total > 0.0:
            between = sum(np.square(own.sum()) / len(own) for own in np.array_split(ranks, parts))
            yield float(chdtrc(parts - 1, (n - 1) * between / total))
