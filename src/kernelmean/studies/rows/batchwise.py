"""Whether a study reads its tables batch by batch, and what it then cannot do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any

from ...inference.adaptive.many_kernels import NAMED
from ...inference.request import ESTIMATORS as PLAIN
from ...tables import limits
from ...tables.batchwise import is_long, measured, to_be_held
from ...tables.columns import Encoding
from ...tables.read import is_in_memory, is_path, read
from ...tables.source import Source

AUTO = "auto"


def row_limit(estimator: str) -> int | None:
    """Return the number of rows above which a comparison reads batch by batch; None if it always holds all rows."""
    if estimator in PLAIN:
        return limits.TEST_LIMIT
    return limits.ADAPTIVE_LIMIT if estimator in (AUTO, *NAMED) else None


def placed(tables: Sequence[Any], estimator: str) -> tuple[list[Any], bool]:
    """Return tables, and whether they are read batch by batch: if one is long, wherever its rows are.

    Those of unknown length are read up to the limit.
    """
    held, limit = to_be_held(*tables), row_limit(estimator)
    found = [table if is_in_memory(table) or is_path(table) else read(table) for table in tables]
    if held or limit is None:
        return found, False
    looks = [_measured(table, limit) for table in found]
    return [table for table, _ in looks], any(long for _, long in looks)


def _measured(table: Any, limit: int) -> tuple[Any, bool]:
    if isinstance(table, Source):
        return measured(table, limit, frames=True)
    if is_path(table):
        return table, is_long(table, limit)
    if hasattr(table, "shape"):
        return table, bool(table.shape) and table.shape[0] > limit
    return table, isinstance(table, Sized) and not isinstance(table, Mapping) and len(table) > limit


def check_rules(encoding: Encoding) -> None:
    """Raise for a rule for missing cells that needs all rows in memory."""
    missing = encoding.missing
    if "noise" in ([missing] if isinstance(missing, str) else [*missing.values()]):
        raise ValueError(
            "noise in missing cells gives every row a kernel of its own, which needs all rows in memory; write "
            "missing='category' or 'drop', or hold the rows, or a part of them, in memory: "
            "kernelmean.read(..., in_memory=True)"
        )
