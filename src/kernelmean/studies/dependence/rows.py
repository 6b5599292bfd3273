"""Whether the rows of a study of dependence are held in memory, or read batch by batch."""

from __future__ import annotations

from typing import Any

from ...tables.batchwise import asked_for, is_long, measured
from ...tables.read import is_in_memory, is_path, read
from ...tables.source import Source
from ..rows.batchwise import row_limit


def placed(table: Any, estimator: str) -> tuple[Any, bool]:
    """Return a table, and whether it is read batch by batch: if asked for, or if it is long.

    A table of unknown length is read up to the limit.
    """
    said, limit = asked_for(table), row_limit(estimator)
    found = table if is_in_memory(table) or is_path(table) else read(table)
    if said is not None or limit is None:
        return found, bool(said)
    if isinstance(found, Source):
        return measured(found, limit, frames=True)
    if is_path(found):
        return found, is_long(found, limit)
    shape: tuple[int, ...] = getattr(found, "shape", ())
    return found, bool(shape) and shape[0] > limit
