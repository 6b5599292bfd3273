"""Columns that say which of two tables a row is from: they differ in every comparison, whatever else does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.array import Array
from ...core.words import leave_out, listed
from ...tables.columns import Encoded
from ...tables.columns.column_codings import Categories
from ...tables.columns.inspection import times_apart


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
        *_named(constant, "one value in each table and another in the other"),
        *_named(apart, "no value in common in the two tables"),
    )


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
