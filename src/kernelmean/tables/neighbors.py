"""Whether rows that follow each other are alike: the sign of a series in time, whose rows are not independent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ..core.array import Array
from ..core.cells import Cells
from ..core.table import Frame

_STRETCH = 16
"""The least rows of a stretch, where there are so many; ranks are taken within stretches."""
MOST_ROWS = 4096
"""Of a longer table only the first rows are looked at."""
_LEAST_ROWS = 8
_CLEAR, _LARGE = 5.0, 0.2
"""Standard deviations (one column of 3.5 million reaches them by chance), and the least correlation to speak of."""
_SORTED = 0.5
"""How much more steps go one way than the other where a column is sorted, perhaps within groups, or counts rows."""


@final
@dataclass(frozen=True)
class Alike:
    """The column in which rows next to each other are most clearly alike."""

    column: str
    correlation: float
    """Of the ranks of a row and the next one."""

    @property
    def words(self) -> str:
        """What was found, as the beginning of a note."""
        return (
            f"rows next to each other are alike ({self.column}: rank correlation {self.correlation:.2f} from row to "
            f"row, within some {_STRETCH} rows)"
        )


@final
@dataclass(frozen=True)
class Neighbors:
    """How much a row is like the next one, column by column.

    Rows are cut into stretches. Let z be the ranks within one of W rows, centered and scaled to :math:`Σ z_i² = W`. If
    all orders are equally likely, :math:`1 + Σ z_i z_{i+1}` has mean 0, and a variance of at most about W. Sums over
    stretches are not moved by a change between two of them, by a slow trend, or by rows that are sorted by groups.
    """

    names: tuple[str, ...]
    sums: Array
    """For every column that sum, rows, pairs of neighbors, rises plus falls, rises less falls, and the same again
    unless the column counts rows, shape (d, 6)."""

    @classmethod
    def of(cls, frames: Iterable[Frame]) -> Self:
        """Look at the first 4,096 rows of every table with the same columns, in their order; O(n d) time."""
        frames = tuple(frames)
        names = frames[0].names
        return cls(names, np.array([sum(_sums(frame[name]) for frame in frames) for name in names]).reshape(-1, 6))

    def and_of(self, frame: Frame) -> Self:
        """Count the rows of another table with these columns too."""
        return self + Neighbors.of((frame.select(self.names),))

    def __add__(self, other: Neighbors) -> Self:
        """Return the same of the rows of both, which have the same columns."""
        return type(self)(self.names, self.sums + other.sums)

    def alike(self) -> Alike | None:
        """Return where rows are most clearly like the next ones, None if they are not.

        Nothing is said of a column that is sorted, nor of a table that is sorted by a column.
        """
        moved, rows, pairs, steps, drift, uneven = self.sums.T
        with np.errstate(invalid="ignore", divide="ignore"):
            correlation, deviations = moved / pairs, moved / np.sqrt(rows)
        clear = (deviations > _CLEAR) & (correlation > _LARGE) & (np.abs(drift) < _SORTED * steps)
        if not clear.any() or ((np.abs(uneven) >= _SORTED * steps) & (2 * steps > pairs)).any():
            return None
        most = int(np.argmax(np.where(clear, correlation, -np.inf)))
        return Alike(self.names[most], float(correlation[most]))


def _sums(cells: Cells) -> Array:
    """Return the sums of one column; blank cells are equal to each other, and stretches of equal cells do not count."""
    cells = cells[:MOST_ROWS]
    texts = [str(cell) for cell in cells] if cells.dtype == object else cells
    values = np.unique(texts, return_inverse=True)[1].astype(np.float64)  # whole numbers in the order of the cells
    if len(values) < _LEAST_ROWS:
        return np.zeros(6)
    stretches = max(len(values) // _STRETCH, 1)
    length = len(values) // stretches
    values = values[: stretches * length].reshape(stretches, length)
    values = values[np.ptp(values, axis=1) > 0]
    above = values[:, :, None] > values[:, None, :]
    ranks = above.sum(axis=2, dtype=np.float64) - above.sum(axis=1)
    moved = 1.0 + length * (ranks[:, 1:] * ranks[:, :-1]).sum(axis=1) / np.square(ranks).sum(axis=1)
    steps = np.sign(np.diff(values, axis=1))
    drift = steps.sum()
    uneven = 0.0 if _counts(cells) else drift
    return np.array([moved.sum(), values.size, values.size - len(values), np.abs(steps).sum(), drift, uneven])


def _counts(cells: Cells) -> bool:
    """Return whether a column holds times, or numbers most of which are one step after the one before."""
    if cells.dtype == object or cells.dtype.kind in "mM":
        return cells.dtype != object
    with np.errstate(invalid="ignore"):
        steps = np.diff(cells)
        return bool(np.mean(steps == np.median(steps)) > 0.5)
