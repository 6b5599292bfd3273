"""From the words of a command line to tables, with notes on how they were read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ..core.array import Progress
from ..core.table import Frame
from ..core.words import count, refuse
from ..inference.wording import short
from ..studies import study
from ..studies.columns import describe_columns, describe_long
from ..studies.described import DescribedTable
from ..studies.designs import NO_DESIGN, TableDesign
from ..studies.row_keys import check_row_order, with_keys
from ..tables import limits
from ..tables.batchwise import is_long, placed
from ..tables.files import PARQUET, ending
from ..tables.read import read
from ..tables.readers import PLAIN, TextFormat
from ..tables.readers.text_file import STANDARD_INPUT
from ..tables.reading import match_columns, read_frame, split_groups
from ..tables.source import Source, joined
from .named_tables import NamedTable, files_of, named_table
from .option_texts import option_words, split_names
from .options import MixedTable, NumberTable, OneTable, SeriesTable, TwoTables

Study = TypeVar("Study", bound=Any)


@dataclass(frozen=True)
class ReadOptions:
    """How tables are read: which columns, and at most how many rows.

    Without ``max_rows`` more rows than ``limit`` are an error; ``otherwise`` ends its message and says what takes more.
    """

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    max_rows: int | None = None
    seed: int = 0
    limit: int = limits.TEST_LIMIT
    otherwise: str = ""
    text: TextFormat = PLAIN
    design: TableDesign = NO_DESIGN
    """Its columns are read as well."""
    also: tuple[str, ...] = ()
    """Names of other columns that are read whether or not ``columns`` names them, as options name them."""

    def chosen(self, known: Sequence[str]) -> list[str]:
        """Return the columns to read of a table with these; none for all of them."""
        columns = split_names(self.columns, known)
        return list(dict.fromkeys([*columns, *self.design.columns, *split_names(self.also, known)])) if columns else []


def reading(
    table: MixedTable | SeriesTable | NumberTable,
    seed: int,
    limit: int,
    otherwise: str = "",
    design: TableDesign = NO_DESIGN,
    also: Iterable[str] = (),
) -> ReadOptions:
    """Return how tables are read, from the options of a command; those besides --columns name ``also`` more columns."""
    if design.paired and table.max_rows is not None:
        raise ValueError("--max-rows draws rows of each table, and --paired needs both rows of a pair; leave one out")
    columns, drop = tuple(table.columns or ()), tuple(table.drop or ())
    return ReadOptions(columns, drop, table.max_rows, seed, limit, otherwise, table.text, design, tuple(also))


@dataclass(frozen=True)
class Input:
    """A table, what to call it, and notes for the reader."""

    frame: Frame
    name: str
    notes: tuple[str, ...]

    def told(self, result: Study, seed: int) -> Study:
        """Return the result of a study with the name of the table and notes on how it was read."""
        return replace(result, notes=(*self.notes, *result.notes), name=short(self.name), seed=seed)


def row_limit(estimator: str, others: str = "", *, in_memory: Any = False) -> tuple[int, str]:
    """Return how many rows a test takes without --max-rows, and what to say about tests with one kernel."""
    limit = study.row_limit(estimator)
    if limit != limits.ADAPTIVE_LIMIT:
        return limits.TEST_LIMIT, ""
    more = f"takes up to {limits.TEST_LIMIT:,} rows" if in_memory or not others else others
    return limit, f"; a test of one kernel, such as --estimator mkme, {more}"


def read_one(source: str, reading: ReadOptions) -> Input:
    """Return one table: a file, or all of a folder or of a pattern."""
    return _limited(select_columns(whole_table(named_table(source), reading), reading), reading, stream=0)


def read_in_order(words: Sequence[str], reading: ReadOptions) -> Input:
    """Return one table of files in the order of time."""
    files = files_of(words)
    if len(files) == 1:
        return read_one(files[0], reading)
    check_once(*files)
    return _limited(select_columns(_one_after_another(files, reading), reading), reading, stream=0)


def _one_after_another(files: Sequence[str], reading: ReadOptions) -> Frame:
    """Return the rows of files with the same columns as one table."""
    first, *others = (read_frame(file, text=reading.text) for file in files)
    frames = [first, *(match_columns(first, other)[0] for other in others)]
    notes = tuple(dict.fromkeys(note for frame in frames for note in frame.notes))
    name = f"{files[0]} to {files[-1]} ({count(len(files), 'file')})"
    return replace(joined(frames), source=name, rows=None, notes=notes)


def described(table: OneTable, options: MixedTable, reading: ReadOptions, progress: Progress) -> DescribedTable:
    """Return what the columns of a table of any length are taken for."""
    if reading.max_rows is None and is_long(named_table(table.data).source, reading.limit, reading.text):
        rows = long_table(table, reading)
        result = describe_long(rows, options.kinds(rows.names, scale=True), reading.seed, progress)
    else:
        read = read_one(table.data, reading)
        result = describe_columns(read.frame, options.kinds(read.frame.names, scale=True))
        result = replace(result, notes=tuple(dict.fromkeys((*result.notes, *read.notes))))
    return replace(result, name=short(result.name))


def read_numbers(source: str, reading: ReadOptions, missing: str) -> Input:
    """Return one table of numbers. Rows with blank cells are an error, or left out and counted in a note."""
    whole = select_columns(whole_table(named_table(source), reading), reading)
    table = whole.to_table(missing, reader="read_table")
    frame = whole if len(table) == len(whole) else whole.take(whole.complete())
    read = _limited(frame, reading, stream=0)
    if len(frame) == len(whole):
        return read
    left_out = f"{whole.source}: {count(len(whole) - len(frame), 'row')} with blank cells left out"
    return Input(read.frame, read.name, (*whole.notes, left_out, *read.notes[len(whole.notes) :]))


def read_tables(
    first: NamedTable, second: NamedTable | None, tables: TwoTables, reading: ReadOptions
) -> tuple[Input, ...]:
    """Return tables with the same columns: those of two sources, or the groups (two or more) of one."""
    if second is not None:
        check_once(*first.files, *second.files)
        everything = [whole_table(named, reading) for named in (first, second)]
        one, two = (select_columns(frame, reading) for frame in everything)
        _check_pairs(everything, one.names, reading)
        return _matched(one, two, reading)
    by, chosen = str(tables.by), None if tables.groups is None else option_words(tables.groups)
    every = whole_table(first, reading)
    whole = select_columns(every, reading, also=(by,))
    groups = split_groups(whole, by, chosen)
    if reading.design.paired:
        _check_pairs(split_groups(every, by, chosen), whole.names, reading)
    return tuple(_limited(group, reading, stream) for stream, group in enumerate(groups))


def _check_pairs(frames: Sequence[Frame], tested: Sequence[str], reading: ReadOptions) -> None:
    """Raise where rows are to be pairs, and a column that is left out names them in another order."""
    if reading.design.paired and len(frames) == 2:
        first, second = frames
        check_row_order(first, second, [name for name in first.names if name not in tested])


def _matched(one: Frame, two: Frame, reading: ReadOptions) -> tuple[Input, Input]:
    """Return two tables with their columns in the same order."""
    two, moved = match_columns(one, two)
    inputs = (_limited(one, reading, stream=0), _limited(two, reading, stream=1))
    if not moved:
        return inputs
    note = f"{inputs[1].name}: its columns stand in another order and were matched by name"
    return inputs[0], Input(inputs[1].frame, inputs[1].name, (*inputs[1].notes, note))


def whole_table(named: NamedTable, reading: ReadOptions) -> Frame:
    """Return all rows of a table."""
    files = files_of(named.files) if named.in_files else named.files
    if any(ending(Path(file)) not in PARQUET for file in files) and named.in_files:
        return replace(_one_after_another(files, reading), source=f"{named.name} ({count(len(files), 'file')})")
    if named.in_files:
        return replace(read(named.source, text=reading.text).whole(), source=named.name)
    return read_frame(named.files[0], text=reading.text)


def are_streamed(first: NamedTable, second: NamedTable | None, estimator: str, reading: ReadOptions) -> bool:
    """Whether two tables are read batch by batch: if one is long, and all rows are asked for."""
    if second is None or reading.max_rows is not None:
        return False
    return placed([first.source, second.source], study.row_limit(estimator), reading.text)[1]


def is_streamed(table: OneTable, estimator: str, reading: ReadOptions) -> bool:
    """Whether a table is read batch by batch: if it is long, and all rows are asked for."""
    named = named_table(table.data)
    if reading.max_rows is not None or not named.fits_batches:
        return False
    return placed([named.source], study.row_limit(estimator), reading.text)[1]


def long_table(table: OneTable, reading: ReadOptions) -> Source:
    """Return the chosen columns of a file that is read batch by batch."""
    return _chosen(named_table(table.data), reading)


def long_tables(first: NamedTable, second: NamedTable, reading: ReadOptions) -> tuple[Source, Source]:
    """Return the chosen columns of two tables that are read batch by batch."""
    tables = _chosen(first, reading), _chosen(second, reading)
    if reading.design.paired:
        _check_pairs([_left_out(first, tables[0], reading), _left_out(second, tables[1], reading)], (), reading)
    return tables


def _left_out(named: NamedTable, table: Source, reading: ReadOptions) -> Frame:
    """Return the columns of a table that were not chosen and may name its rows."""
    source = read(named.source, text=reading.text)
    rest = [name for name in source.names if name not in table.names]
    return joined(with_keys(source.reordered(rest).frames(), ()))


def _chosen(named: NamedTable, reading: ReadOptions) -> Source:
    source = read(named.source, text=reading.text)
    columns = reading.chosen(source.names)
    drop = [name for name in split_names(reading.drop, source.names) if name not in reading.design.columns]
    if columns or drop:
        source = read(named.source, columns=columns or None, drop=drop, text=reading.text)
    return source.titled(named.name) if named.in_files else source


def check_for_cluster(second: NamedTable | None, reading: ReadOptions) -> None:
    """Raise for options that do not go with tables on a cluster."""
    if second is None:
        raise ValueError("--scheduler compares two tables of Parquet files; leave --by out, write: compare A B")
    reading.design.refuse_cluster("leave --scheduler out")
    refuse("with --scheduler workers read all rows, and lost tasks are done again", max_rows=(reading.max_rows, None))
    if reading.text != PLAIN:
        raise ValueError("workers read Parquet files, whose numbers and dates need no options; leave those of text out")


def on_cluster(plan: Any, named: NamedTable, reading: ReadOptions) -> Any:
    """Return the chosen columns of a table that the workers of a plan read."""
    files = [file if named.is_built_in else os.path.abspath(file) for file in named.files]
    table = plan.table(files, named.name)
    chosen = Frame({name: np.empty(0) for name in table.names}, named.name)
    return table.reordered(select_columns(chosen, reading).names)


def check_once(*sources: str) -> None:
    """Raise if two tables are to come from standard input."""
    if sources.count(STANDARD_INPUT) > 1:
        raise ValueError("two tables are to come from standard input (-), which holds one; write the other to a file")


def select_columns(frame: Frame, reading: ReadOptions, also: tuple[str, ...] = ()) -> Frame:
    """Return the columns asked for, with those of the design even if dropped, and the one that splits into groups."""
    columns = replace(reading, also=(*reading.also, *also)).chosen(frame.names)
    dropped = [name for name in split_names(reading.drop, frame.names) if name not in reading.design.columns]
    for name in {*also}.intersection(dropped):
        raise ValueError(f"--by {name} is among --drop; leave it out there: the column of the groups is not compared")
    return frame.select(columns or None, dropped)


def _limited(frame: Frame, reading: ReadOptions, stream: int) -> Input:
    """Return at most ``max_rows`` rows, drawn with the seed; without ``max_rows``, raise for more than the limit."""
    most, limit = reading.max_rows, reading.limit
    if most is None and len(frame) > limit:
        raise ValueError(
            f"{frame.source} has {count(len(frame), 'row')}; up to {limit:,} are read without being asked, as time "
            f"grows with their number, at worst with its square; add --max-rows {len(frame)} to read all of them, or "
            f"--max-rows {limit} for a random part of them, which the output states{reading.otherwise}"
        )
    if most is None or len(frame) <= most:
        return Input(frame, frame.source, frame.notes)
    rows = np.random.default_rng([reading.seed, stream]).choice(len(frame), most, replace=False)
    drawn = f"{frame.source}: a random subsample of {most:,} of {count(len(frame), 'row')} (seed {reading.seed})"
    return Input(frame.take(np.sort(rows)), frame.source, (*frame.notes, drawn))
