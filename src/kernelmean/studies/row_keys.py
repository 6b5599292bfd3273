"""Columns that name rows: whether rows that are to be pairs have the same name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.cells import label, missing_cells
from ..core.table import Frame
from ..tables.columns.texts import insist

_LEAST_TEXTS, _LEAST_INTEGERS = 4, 20
"""From so many rows on a column of texts, or of integers, names them."""
_LEAST_PARTLY = 10
"""The least texts that name rows of which some have no partner."""


@final
@dataclass(frozen=True)
class RowKey:
    """A column whose cells name every row of two tables, some of them in both."""

    name: str
    first: list[str]
    second: list[str]
    """Its cells in the first table and in the second."""

    @property
    def common(self) -> int:
        """How many rows have a partner of the same name."""
        return len({*self.first} & {*self.second})

    @property
    def as_strata(self) -> str:
        """What to write so that rows of one name are compared, in whatever order they stand."""
        return f"strata={self.name!r} instead of paired=True"


def check_row_order(first: Frame, second: Frame, names: Iterable[str], measured: Iterable[str] = ()) -> bool:
    """Return whether a column names the rows of both; raise where it has another order there, or partly other values.

    ``measured`` are columns that the user called measurements or categories.
    """
    key = row_key(first, second, names, measured)
    if key is None or key.first == key.second:
        return key is not None
    name = key.name
    sort = f"and row i of one is paired with row i of the other; sort both tables by {name!r}"
    if key.common < max(len(key.first), len(key.second)):
        raise ValueError(
            f"{key.common:,} of the {len(key.first):,} values of {name!r} in {first.source} are in {second.source}, "
            f"{sort} without the rows that have no partner, or write {key.as_strata}"
        )
    keep = (
        ""
        if first[name].dtype == object
        else f"; if it holds measurements, such as ranks, insist with {insist('keep', [name])}"
    )
    raise ValueError(
        f"{second.source} has the values of {name!r} in another order than {first.source}, {sort}, or write "
        f"{key.as_strata}{keep}"
    )


def with_keys(frames: Iterable[Frame], always: Iterable[str]) -> list[Frame]:
    """Return some columns of batches, and those that may name rows, whose cells are all different in every batch."""
    kept: list[Frame] = []
    for frame in frames:
        names = kept[-1].names if kept else frame.names
        kept.append(frame.select([name for name in names if name in always or _all_different(frame, name)]))
    return [frame.select(kept[-1].names) for frame in kept]


def row_key(first: Frame, second: Frame, names: Iterable[str], measured: Iterable[str] = ()) -> RowKey | None:
    """Return the first column that names the rows of both tables, None if there is none."""
    measured = {*measured}
    for name in names:
        cells = [_all_different(frame, name) for frame in (first, second) if name in frame.names]
        if len(cells) == 2 and cells[0] and cells[1]:
            key = RowKey(name, cells[0], cells[1])
            if _names_rows(key, is_text=first[name].dtype == object, is_measured=name in measured):
                return key
    return None


def _all_different(frame: Frame, name: str) -> list[str]:
    """Return the texts or integers of a column if all are different, else nothing."""
    cells = frame[name]
    if cells.dtype not in (object, np.float64) or missing_cells(cells).any():
        return []
    if cells.dtype == np.float64 and not ((cells == np.rint(cells)).all() and len(np.unique(cells)) == len(cells)):
        return []
    labels = [str(label(cell)) for cell in cells.tolist()]
    return labels if len({*labels}) == len(labels) else []


def _names_rows(key: RowKey, *, is_text: bool, is_measured: bool) -> bool:
    """Return whether cells that are all different in either table name rows: they are the same, or enough of them."""
    rows = min(len(key.first), len(key.second))
    if key.common == len(key.first) == len(key.second):
        return rows >= (_LEAST_TEXTS if is_text else _LEAST_INTEGERS) and (is_text or not is_measured)
    return is_text and rows >= _LEAST_PARTLY and 2 * key.common >= rows
