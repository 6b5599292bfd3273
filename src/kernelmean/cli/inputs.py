"""From the words of a command line to tables of numbers, and what a reader must be told about the way there."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .._table import Frame, Table, count
from ..tables import match_columns, read_frame, split_frame

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT = 5000, 20_000, 100_000
"""Rows that an estimate, an adaptive test and a test of one kernel take without being asked for it: minutes."""


@dataclass(frozen=True)
class Reading:
    """How tables are read: which columns, what to do with blank cells, how many rows at most.

    Without ``max_rows`` more rows than ``limit`` are an error, and ``otherwise`` says what else takes more.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: str = "error"
    max_rows: int | None = None
    seed: int = 0
    limit: int = TEST_LIMIT
    otherwise: str = ""


@dataclass(frozen=True)
class Input:
    """A table, what to call it, and notes for the reader."""

    table: Table
    name: str
    notes: tuple[str, ...]


def read_one(source: str, reading: Reading) -> Input:
    """Return one table."""
    return _numbers(_select(read_frame(source), reading), reading, stream=0)


def read_pair(A: str, B: str | None, by: str | None, groups: str | None, reading: Reading) -> tuple[Input, Input]:
    """Return two tables with the same columns: of two sources, or of two groups of one."""
    first, second = _two_frames(A, B, by, groups, reading)
    second, moved = match_columns(first, second)
    inputs = (_numbers(first, reading, stream=0), _numbers(second, reading, stream=1))
    if not moved:
        return inputs
    note = f"{inputs[1].name}: its columns stand in another order and were matched by name"
    return inputs[0], Input(inputs[1].table, inputs[1].name, (*inputs[1].notes, note))


def _two_frames(A: str, B: str | None, by: str | None, groups: str | None, reading: Reading) -> tuple[Frame, Frame]:
    if (B is None) == (by is None):
        raise ValueError(
            "two tables, or one table and the column that splits it, are needed; write: compare A B, or: compare DATA "
            "--by COLUMN"
        )
    if by is None:
        if groups is not None:
            raise ValueError("--groups names two groups of one column; say which with --by COLUMN")
        return _select(read_frame(A), reading), _select(read_frame(str(B)), reading)
    frame = _select(read_frame(A), reading, also=by)
    return split_frame(frame, by, None if groups is None else _names(groups))


def _names(text: str) -> list[str]:
    """Return names separated by commas; one that holds a comma stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _select(frame: Frame, reading: Reading, also: str | None = None) -> Frame:
    columns = split_names(reading.columns, frame.names)
    if also is not None and columns:
        columns = [*(name for name in columns if name != also), also]
    return frame.select(columns or None, split_names(reading.drop, frame.names))


def split_names(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return column names from options: each is a name, or names separated by commas."""
    names = set(known)
    return [name for text in texts for name in ([text] if text in names else map(str.strip, text.split(",")))]


def _numbers(frame: Frame, reading: Reading, stream: int) -> Input:
    """Return the numbers of a frame, with notes on rows that were left out."""
    table = frame.to_table(reading.missing)
    notes = list(frame.notes)
    if len(table) < len(frame):
        notes.append(f"{frame.source}: {count(len(frame) - len(table), 'row')} with blank cells left out")
    kept = _limited(table, frame.source, reading, stream)
    if len(kept) < len(table):
        notes.append(
            f"{frame.source}: a random subsample of {len(kept):,} of {count(len(table), 'row')} (seed {reading.seed})"
        )
    return Input(kept, frame.source, tuple(notes))


def _limited(table: Table, source: str, reading: Reading, stream: int) -> Table:
    """Return at most ``max_rows`` rows, drawn by the seed; many rows without being asked for are an error."""
    wanted, limit = reading.max_rows, reading.limit
    if wanted is None and len(table) > limit:
        raise ValueError(
            f"{source} has {count(len(table), 'row')}, the limit is {limit:,}; add --max-rows {limit} for a random "
            f"subsample that the output states, or --max-rows {len(table)} for all rows (time grows with their number, "
            f"at worst with its square){reading.otherwise}"
        )
    if wanted is None or len(table) <= wanted:
        return table
    rows = np.random.default_rng([reading.seed, stream]).choice(len(table), wanted, replace=False)
    return table.take(np.sort(rows))
