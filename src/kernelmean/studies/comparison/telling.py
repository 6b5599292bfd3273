"""Columns that say which of two tables a row is from: they differ in every comparison, whatever else does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...core.words import listed
from ...tables.columns import Encoded
from ...tables.columns.inspection import times_apart


def foremost(encoded: Encoded, notes: Sequence[str]) -> tuple[str, ...]:
    """Return those notes that :func:`telling` makes of the rows; not of drawn rows, about which none was made."""
    return tuple(note for note in telling(encoded) if note in notes)


def telling(encoded: Encoded) -> tuple[str, ...]:
    """Return notes on times that are all later in one table, and on columns that are constant in each and differ."""
    names = [
        name for name in encoded.in_table_order() if all(not np.ptp(p, axis=0).any() for p in encoded.points((name,)))
    ]
    apart = tuple(times_apart(encoded.frames))
    if not names:
        return apart
    have, they, leave = ("has", "it shows", "it") if len(names) == 1 else ("have", "they show", "them")
    return (
        *apart,
        f"{listed(names)} {have} one value in each table and another in the other, so {they} from which table a row "
        f"is, and the test of all columns counts {leave}; leave {leave} out unless that is your question",
    )
