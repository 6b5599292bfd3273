"""Columns that name rows or units: whether rows that are to be pairs have the same name, and units of several rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.cells import Cells, label, missing_cells
from ..core.table import Frame
from ..core.words import worded, written
from ..tables.columns.inspection import TIME, UNIT, UNITS, called_identifier, words_of
from ..tables.columns.kinds import Named
from ..tables.columns.texts import as_clusters, insist

_LEAST_CALLED, _LEAST_TEXTS, _LEAST_INTEGERS = 4, 4, 20
"""From so many rows on a column names them: one that is called an identifier, one of texts, one of integers."""
_LEAST_PARTLY = 10
"""The least texts that name rows of which some have no partner."""
_LEAST_UNITS = 20
_UNIT_ID = re.compile(f"({UNITS})?id|uuid|guid|identifier|seqn")
_GROUP = re.compile(
    "interviewer|enumerator|observer|operator|rater|site|batch|school|class(room)?|ward|hospital|clinic|village"
)
_LEAST_GROUPS, _LEAST_EACH, _EVEN, _MANY_DIGITS = 10, 3, 0.1, 10_000
_NEAR_ONE = 0.2
"""How far the logarithm of the mean of survey weights is from 0."""


@final
@dataclass(frozen=True)
class RowKey:
    """A column whose cells name every row of two tables, some of them in both."""

    name: str
    own: list[str]
    other: list[str]
    """Its cells in the first table and in the second."""

    @property
    def common(self) -> int:
        """How many rows have a partner of the same name."""
        return len({*self.own} & {*self.other})

    @property
    def as_strata(self) -> str:
        """What to write so that rows of one name are compared, in whatever order they stand."""
        strata = written(f"strata={self.name!r}", worded("--strata", self.name))
        return f"{strata} instead of {written('paired=True', '--paired')}"


def check_row_order(first: Frame, second: Frame, names: Iterable[str], measured: Iterable[str] = ()) -> bool:
    """Return whether a column names the rows of both; raise where it has another order there, or partly other values.

    ``measured`` are columns that the user called measurements or categories.
    """
    key = row_key(first, second, names, measured)
    if key is None or key.own == key.other:
        return key is not None
    name = key.name
    sort = f"and row i of one is paired with row i of the other; sort both tables by {name!r}"
    if key.common < max(len(key.own), len(key.other)):
        raise ValueError(
            f"{key.common:,} of the {len(key.own):,} values of {name!r} in {first.source} are in {second.source}, "
            f"{sort} without the rows that have no partner, or write {key.as_strata}"
        )
    is_clear = first[name].dtype == object or called_identifier(name)
    keep = "" if is_clear else f"; if it holds measurements, such as ranks, insist with {insist('keep', [name])}"
    raise ValueError(
        f"{second.source} has the values of {name!r} in another order than {first.source}, {sort}, or write "
        f"{key.as_strata}{keep}"
    )


def row_key(first: Frame, second: Frame, names: Iterable[str], measured: Iterable[str] = ()) -> RowKey | None:
    """Return the first column that names the rows of both tables, None if there is none."""
    given = {*measured}
    for name in names:
        cells = [_all_different(frame, name) for frame in (first, second) if name in frame.names]
        if len(cells) == 2 and cells[0] and cells[1]:
            key = RowKey(name, cells[0], cells[1])
            if _names_rows(key, is_text=first[name].dtype == object, is_measured=name in given):
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
    rows, called = min(len(key.own), len(key.other)), called_identifier(key.name)
    if key.common == len(key.own) == len(key.other):
        least = _LEAST_CALLED if called else _LEAST_TEXTS if is_text else _LEAST_INTEGERS
        return rows >= least and (called or is_text or not is_measured)
    if called and not is_measured:
        return rows >= _LEAST_CALLED and key.common > 0
    return is_text and rows >= _LEAST_PARTLY and 2 * key.common >= rows


def numbers_groups(name: str, cells: Cells) -> bool:
    """Return whether whole numbers recur as the numbers of groups do: interviewers, sites, batches.

    They have no gaps or many digits, each has three rows or more, and all have nearly as many, unless the name says so.
    Counts of draws at random vary ten times as much.
    """
    called_time = any(TIME.fullmatch(word) for word in words_of(name))
    if called_time or not _are_numbers(cells) or (cells != np.rint(cells)).any():
        return False
    values, counts = np.unique(cells, return_counts=True)
    dense = values[-1] - values[0] + 1 == len(values) or values[0] >= _MANY_DIGITS
    several = _LEAST_GROUPS <= len(values) <= len(cells) / _LEAST_EACH and counts.min() >= _LEAST_EACH
    return bool(dense and several and (_called_group(name) or counts.var() <= _EVEN * counts.mean()))


def holds_weights(name: str, cells: Cells) -> bool:
    """Return whether a column is called weights, and holds positive numbers whose mean is near 1."""
    if not {"weight", "weights", "wt", "wts"}.intersection(words_of(name)) or not _are_numbers(cells):
        return False
    return bool(cells.min() > 0.0 and np.ptp(cells) > 0.0 and abs(np.log(cells.mean())) < _NEAR_ONE)


def _are_numbers(cells: Cells) -> bool:
    return cells.dtype == np.float64 and len(cells) > 0 and bool(np.isfinite(cells).all())


def _called_group(name: str) -> bool:
    return any(_GROUP.fullmatch(word) for word in words_of(name))


def _names_units(name: str) -> bool:
    """Return whether a column has a name for units that may have several rows: user_id, patient."""
    words = words_of(name)
    return bool(words) and bool(_UNIT_ID.fullmatch(words[-1]) or (len(words) == 1 and UNIT.fullmatch(words[0])))


def units_notes(frames: Sequence[Frame], named: Named, rows: str = "rows") -> Iterator[str]:
    """Yield notes on columns that seem to name units of several rows, such as users with their sessions.

    ``named`` are the columns whose kind the user named; ``rows`` are the words for those of the frames.
    """
    for name in frames[0].names:
        if not (_names_units(name) or _called_group(name)) or named.find(name) is not None:
            continue
        cells = np.concatenate([frame[name] for frame in frames])
        known = cells[~missing_cells(cells)]
        if known.dtype not in (object, np.float64) or (known.dtype == np.float64 and (known != np.rint(known)).any()):
            continue
        if not _names_units(name) and not numbers_groups(name, known):
            continue
        units = len({*map(str, known.tolist())})
        if _LEAST_UNITS <= units < len(known):
            yield (
                f"{name} looks like a key of units with several rows each ({units:,} in {len(known):,} {rows}): if it "
                f"names them, write {as_clusters(name)}, otherwise leave it out"
            )
