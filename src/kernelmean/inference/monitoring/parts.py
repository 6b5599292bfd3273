"""Whether parts of a reference, in its order, differ among themselves: then batches differ from it without drift."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np
from scipy.special import chdtrc
from scipy.stats import rankdata

from ...core.array import Array
from ...core.cached import cached_property

MOST_ROWS = 4096
"""At most so many rows, in equal steps, are looked at."""
_MOST_PARTS = 10
_CLEAR = 0.001
_LEAST = 1e-100
_EXPECTED = 5


@final
@dataclass(frozen=True, eq=False)
class InOrder:
    """Rows of a reference in their order, cut into parts that are compared."""

    rows: Array
    """Coordinates, shape (m, D)."""
    length: int
    """The rows of the whole reference."""
    batch: int = 0
    """The rows of the first batch; 0 before there is one."""

    def beside(self, batch: int) -> Self:
        """Return the same once a batch has come; only the first one counts."""
        return self if self.batch else replace(self, batch=batch)

    @cached_property
    def note(self) -> str:
        """A note if consecutive parts differ clearly, else ""."""
        return note_on_parts(self.rows, self.length, self.batch) if self.batch else ""


def note_on_parts(rows: Array, length: int, batch: int) -> str:
    """Return a note if consecutive parts of a reference differ clearly, else "".

    Coordinates of rows in their order, shape (m, D), stand for a reference of some length. It is cut into at most ten
    parts at least as long as a batch. The test of Kruskal & Wallis compares them, for every coordinate with enough
    different values; p is the smallest p-value times their number.
    """
    parts = min(length // batch, _MOST_PARTS, len(rows))
    if parts < 2:
        return ""
    own = list(_of_parts(rows, parts))
    p = min((len(own) * each for each in own), default=1.0)
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
    """Yield the p-value of every coordinate; a part may expect five rows that have not the most frequent value."""
    n = len(rows)
    for values in rows.T:
        if n - np.unique(values, return_counts=True)[1].max() < _EXPECTED * parts:
            continue  # too rare for the approximation of its p-value
        ranks = rankdata(values) - (n + 1) / 2
        total = np.square(ranks).sum()
        between = sum(np.square(own.sum()) / len(own) for own in np.array_split(ranks, parts))
        yield float(chdtrc(parts - 1, (n - 1) * between / total))
