"""Columns that say which of two tables a row is from: they differ in every comparison, whatever else does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ...core.array import Array
from ...core.words import leave_out, listed
from ...tables.columns import Encoded
from ...tables.columns.column_codings import Categories, Numbers
from ...tables.columns.inspection import times_apart
from .column_summaries import CategoriesSeen, ColumnSeen, NumbersSeen

_ONE_VALUE = "one value in each table and another in the other"
_NONE_IN_COMMON = "no value in common in the two tables"
_ROUNDING = 1e-24
"""Below this share of its square, a variance is that of a constant."""
_DECIMALS, _MOST = 5, 0.5
"""Decimals of a number, and the share of the cells that must have no more."""


def foremost(encoded: Encoded, notes: Sequence[str]) -> tuple[str, ...]:
    """Return those notes that :func:`telling` makes of the rows; not of drawn rows, about which none was made."""
    return tuple(note for note in telling(encoded) if note in notes)


def telling(encoded: Encoded) -> tuple[str, ...]:
    """Return notes on times that are all later in one table, and on columns that have no value in common in both."""
    points = {name: encoded.points((name,)) for name in encoded.in_table_order()}
    constant = [name for name, both in points.items() if not any(np.ptp(own, axis=0).any() for own in both)]
    categories = {own.name for own in encoded.codings if isinstance(own, Categories)}.difference(constant)
    apart = [name for name, both in points.items() if name in categories and _no_category_in_common(both)]
    return (
        *times_apart(encoded.frames),
        *_named(constant, _ONE_VALUE),
        *_named(apart, _NONE_IN_COMMON),
    )


def telling_of(columns: Iterable[ColumnSeen], drawn: Encoded) -> tuple[str, ...]:
    """Return the same notes, but those on times, from summaries of all rows and from some rows."""
    found: dict[int, list[str]] = {1: [], 2: []}
    shown = {*drawn.groups}
    for column in columns:
        distinct = _values_of_each(column.values)
        if isinstance(column.values, NumbersSeen) and distinct:
            few = drawn.points((column.name,)) if column.name in shown else ()
            distinct *= not any(np.ptp(own, axis=0).any() for own in few)
        if distinct:
            found[min(distinct, 2)].append(column.name)
    return (*_named(found[1], _ONE_VALUE), *_named(found[2], _NONE_IN_COMMON))


def _values_of_each(seen: NumbersSeen | CategoriesSeen | None) -> int:
    """Return the most different values of a column in a table, if the other has none of them; else 0."""
    if isinstance(seen, CategoriesSeen):
        one, two = {*seen.first}, {*seen.second}
        return max(len(one), len(two)) if one and two and not one & two else 0
    if seen is None or not seen.counts.all():
        return 0
    constant = bool((seen.squares <= _ROUNDING * seen.counts * np.square(seen.means)).all())
    return int(constant and seen.high > seen.low)


def in_single_precision(encoded: Encoded) -> tuple[str, ...]:
    """Return a note on columns that are float32 in one table and float64 in the other, of decimals such as 0.1."""
    numeric = [own.name for own in encoded.codings if isinstance(own, Numbers) and own.type.kind == "numeric"]
    found = [name for name in numeric if len({*map(_is_widened, (frame[name] for frame in encoded.frames))}) > 1]
    if not found:
        return ()
    return (
        f"{listed(found)}: float32 in one table, float64 in the other; 0.1 is not the same number in both, so values "
        "that should be equal differ: convert both tables to float32",
    )


def _is_widened(cells: Array) -> bool:
    """Return whether numbers were decimals in float32 before they became float64."""
    known = cells[np.isfinite(cells)]
    if not len(known) or (known.astype(np.float32) != known).any():
        return False
    decimals = np.round(known, _DECIMALS)
    return bool(np.mean((decimals != known) & (decimals.astype(np.float32) == known)) > _MOST)


def _no_category_in_common(both: Sequence[Array]) -> bool:
    found = np.stack([(own != 0.0).any(axis=0) for own in both])
    return found.shape[1] > 1 and not found.all(axis=0).any()  # two categories share one coordinate


def _named(names: Sequence[str], what: str) -> tuple[str, ...]:
    """Return a note on columns, if there are any."""
    if not names:
        return ()
    have, they, are, them = (
        ("has", "it shows", "is it", "it") if len(names) == 1 else ("have", "they show", "are they", "them")
    )
    return (
        f"{listed(names)} {have} {what}, so {they} from which table a row is, and the test of all columns counts "
        f"{them}: {are} the label? Unless that is your question, leave {them} out {leave_out(names)}",
    )
