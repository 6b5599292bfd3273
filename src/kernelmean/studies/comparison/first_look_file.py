"""The result of a first pass over two tables as numbers and texts, kept in checkpoints so that one pass is enough."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.cells import Cells, Declared
from ...core.table import Frame
from ...tables.columns.encoding import Encoding
from ...tables.columns.missing import MissingCells, MissingColumn
from ...tables.readers.columns import KINDS
from ...tables.source import Source
from ...tables.text import CHAIN
from .first_look import Learnt, learnt_of


def packed(learnt: Learnt, tables: tuple[Source, Source]) -> dict[str, Any]:
    """Return what a first pass found; empty if cells are neither numbers, times nor text."""
    if not all(map(_is_plain, learnt.drawn)):
        return {}
    missing = learnt.missing
    return {
        "seen": learnt.seen,
        "drawn": [_frame(frame) for frame in learnt.drawn],
        "numbers": list(learnt.numbers),
        "missing": [[each.name, each.rule, *each.cells] for each in missing.columns],
        "left_out": list(missing.rows),
        "remarks": list(learnt.remarks),
        "in_series": learnt.in_series,
        "types": [dict(table.types) for table in tables],
    }


def unpacked(content: Mapping[str, Any], tables: tuple[Source, Source], encoding: Encoding) -> Learnt | None:
    """Return what :func:`packed` was given for the same tables and options; None if it packed nothing."""
    if not content:
        return None
    for table, types in zip(tables, content["types"], strict=True):
        if not (isinstance(types, dict) and set(types.values()) <= {*CHAIN, *KINDS}):
            raise ValueError("a column was read as something that is no type")
        table.types.update(types)
    columns = tuple(MissingColumn(name, rule, (a, b)) for name, rule, a, b in content["missing"])
    missing = MissingCells(encoding.missing, columns, _two_counts(content["left_out"]))
    first, second = (_unpacked(part, table.source) for part, table in zip(content["drawn"], tables, strict=True))
    numbers = [np.asarray(own).astype(np.int64) for own in content["numbers"]]
    for own, frame, rows in zip(numbers, (first, second), content["seen"].rows, strict=True):
        if own.shape != (len(frame),) or len(np.unique(own)) < len(own) or not (0 <= own.min() <= own.max() < rows):
            raise ValueError("rows that were drawn and their numbers do not go together")
    found = learnt_of(content["seen"], encoding, (first, second), (numbers[0], numbers[1]), missing)
    return replace(found, remarks=tuple(content["remarks"]), in_series=bool(content["in_series"]))


def _two_counts(values: Any) -> tuple[int, int]:
    """Return one count for each of the two tables."""
    if not (isinstance(values, list) and len(values) == 2 and all(type(each) is int and each >= 0 for each in values)):
        raise ValueError(f"{values!r} are no counts of the rows of two tables")
    return values[0], values[1]


def _is_plain(frame: Frame) -> bool:
    return all(
        cells.dtype.kind in "fmM" or all(cell is None or isinstance(cell, str) for cell in cells)
        for cells in frame.cells.values()
    )


def _frame(frame: Frame) -> dict[str, Any]:
    declared = {name: [each.kind, list(each.levels)] for name, each in frame.declared.items()}
    cells = {name: _cells(each) for name, each in frame.cells.items()}
    return {"rows": frame.row_numbers(), "declared": declared, "names": list(frame.names), "cells": cells}


def _cells(cells: Cells) -> dict[str, Any]:
    if cells.dtype.kind == "f":
        return {"numbers": cells}
    if cells.dtype.kind in "mM":
        return {"ticks": cells.astype(np.int64), "type": cells.dtype.str}
    absent = np.array([cell is None for cell in cells], dtype=bool)
    return {"texts": ["" if cell is None else cell for cell in cells], "absent": absent}


def _unpacked(content: Mapping[str, Any], source: str) -> Frame:
    cells = {name: _cells_of(content["cells"][name]) for name in content["names"]}
    declared = {name: Declared(kind, tuple(levels)) for name, (kind, levels) in content["declared"].items()}
    return Frame(cells, source, rows=content["rows"], declared=declared)


def _cells_of(content: Mapping[str, Any]) -> Cells:
    if "numbers" in content:
        return np.asarray(content["numbers"])
    if "ticks" in content:
        return np.asarray(content["ticks"]).astype(np.dtype(content["type"]))
    found = np.array(content["texts"], dtype=object)
    found[content["absent"]] = None
    return found
