"""From the words of a command line to tables of numbers, and what a reader must be told about the way there."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..core.table import Frame
from ..core.words import count
from ..inference.adaptive import NAMED
from ..tables.columns import Missing
from ..tables.readers import PLAIN
from ..tables.readers.text_file import STANDARD_INPUT
from ..tables.reading import TextFormat, match_columns, read_frame, split_frame

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT = 5000, 20_000, 100_000
"""Rows that an estimate, an adaptive test and a test of one kernel take without being asked for it: minutes."""
AUTO = "auto"
"""The estimator of a comparison that asks for none: the adaptive test in memory, mkme over streams."""


@dataclass(frozen=True)
class Reading:
    """How tables are read: which columns, how many rows at most.

    Without ``max_rows`` more rows than ``limit`` are an error, and ``otherwise`` says what else takes more.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    max_rows: int | None = None
    seed: int = 0
    limit: int = TEST_LIMIT
    otherwise: str = ""
    text: TextFormat = PLAIN


def reading(
    columns: list[str] | None,
    drop: list[str] | None,
    max_rows: int | None,
    seed: int,
    text: TextFormat,
    limit: int,
    otherwise: str = "",
) -> Reading:
    """Return how options of a command say that tables are read."""
    return Reading(tuple(columns or ()), tuple(drop or ()), max_rows, seed, limit, otherwise, text)


@dataclass(frozen=True)
class Input:
    """A table, what to call it, and notes for the reader."""

    frame: Frame
    name: str
    notes: tuple[str, ...]


def row_limit(estimator: str, others: str = f"takes up to {TEST_LIMIT:,} rows") -> tuple[int, str]:
    """Return how many rows a test takes without being asked for it, and what tests of one kernel do."""
    if estimator not in (*NAMED, AUTO):
        return TEST_LIMIT, ""
    return ADAPTIVE_LIMIT, f"; a test of one kernel, such as --estimator mkme, {others}"


def read_one(source: str, reading: Reading) -> Input:
    """Return one table."""
    return _limited(select_columns(read_frame(source, text=reading.text), reading), reading, stream=0)


def read_numbers(source: str, reading: Reading, missing: str) -> Input:
    """Return one table of numbers without blank cells; rows that have some are an error, or left out and counted."""
    whole = select_columns(read_frame(source, text=reading.text), reading)
    table = whole.to_table(missing, reader="read_table")
    frame = whole if len(table) == len(whole) else whole.take(whole.complete())
    read = _limited(frame, reading, stream=0)
    if len(frame) == len(whole):
        return read
    left_out = f"{whole.source}: {count(len(whole) - len(frame), 'row')} with blank cells left out"
    return Input(read.frame, read.name, (*whole.notes, left_out, *read.notes[len(whole.notes) :]))


def read_pair(A: str, B: str | None, by: str | None, groups: str | None, reading: Reading) -> tuple[Input, Input]:
    """Return two tables with the same columns: of two sources, or of two groups of one."""
    check_pair(B, by, groups)
    first, second = _two_frames(A, B, by, groups, reading)
    second, moved = match_columns(first, second)
    inputs = (_limited(first, reading, stream=0), _limited(second, reading, stream=1))
    if not moved:
        return inputs
    note = f"{inputs[1].name}: its columns stand in another order and were matched by name"
    return inputs[0], Input(inputs[1].frame, inputs[1].name, (*inputs[1].notes, note))


def check_pair(B: str | None, by: str | None, groups: str | None) -> None:
    """Raise unless there are two tables, or one and the column that splits it."""
    if (B is None) == (by is None):
        raise ValueError(
            "two tables, or one table and the column that splits it, are needed; write: compare A B, or: compare DATA "
            "--by COLUMN"
        )
    if by is None and groups is not None:
        raise ValueError("--groups names two groups of one column; say which with --by COLUMN")


def _two_frames(A: str, B: str | None, by: str | None, groups: str | None, reading: Reading) -> tuple[Frame, Frame]:
    if by is None:
        check_once(A, str(B))
        return select_columns(read_frame(A, text=reading.text), reading), select_columns(
            read_frame(str(B), text=reading.text), reading
        )
    frame = select_columns(read_frame(A, text=reading.text), reading, also=by)
    return split_frame(frame, by, None if groups is None else option_words(groups))


def check_once(*sources: str) -> None:
    """Raise when two tables are to come from standard input."""
    if sources.count(STANDARD_INPUT) > 1:
        raise ValueError("two tables are to come from standard input (-), which holds one; write the other to a file")


def option_words(text: str) -> list[str]:
    """Return names separated by commas; one that holds a comma stands in double quotes."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def select_columns(frame: Frame, reading: Reading, also: str | None = None) -> Frame:
    """Return the columns that were asked for, and one more."""
    columns = split_names(reading.columns, frame.names)
    if also is not None and columns:
        columns = [*(name for name in columns if name != also), also]
    return frame.select(columns or None, split_names(reading.drop, frame.names))


def split_names(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return column names from options: each is a name, or names separated by commas."""
    names = set(known)
    return [name for text in texts for name in ([text] if text in names else map(str.strip, text.split(",")))]


def missing_rule(text: str) -> Missing:
    """Return one rule for all columns, or those of single columns: "drop", or "age=noise,city=category"."""
    return (
        text
        if "=" not in text
        else dict(assigned(part, "--missing", "age=noise,city=category") for part in option_words(text))
    )


def level_orders(texts: Sequence[str]) -> dict[str, list[str]]:
    """Return the levels of columns from options such as "size=low,mid,high"."""
    named = [assigned(text, "--ordinal", "size=low,mid,high") for text in texts]
    return {name: option_words(levels) for name, levels in named}


def assigned(text: str, option: str, example: str) -> tuple[str, str]:
    """Return what stands before and after the last equals sign that follows a name."""
    name, sign, value = text.partition("=")
    if not (name.strip() and sign and value.strip()):
        raise ValueError(
            f"{option} is {text!r}; write a column, an equals sign and what it is, such as {option} {example}"
        )
    return name.strip(), value.strip()


def _limited(frame: Frame, reading: Reading, stream: int) -> Input:
    """Return at most ``max_rows`` rows, drawn by the seed; many rows without being asked for are an error."""
    wanted, limit = reading.max_rows, reading.limit
    if wanted is None and len(frame) > limit:
        raise ValueError(
            f"{frame.source} has {count(len(frame), 'row')}, the limit is {limit:,}; add --max-rows {limit} for a "
            f"random subsample that the output states, or --max-rows {len(frame)} for all rows (time grows with their "
            f"number, at worst with its square){reading.otherwise}"
        )
    if wanted is None or len(frame) <= wanted:
        return Input(frame, frame.source, frame.notes)
    rows = np.random.default_rng([reading.seed, stream]).choice(len(frame), wanted, replace=False)
    drawn = f"{frame.source}: a random subsample of {wanted:,} of {count(len(frame), 'row')} (seed {reading.seed})"
    return Input(frame.take(np.sort(rows)), frame.source, (*frame.notes, drawn))
