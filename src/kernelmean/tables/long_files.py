"""Files as sources of rows, in memory or batch by batch: Parquet, Feather, CSV and JSON lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ..core.table import Frame, as_frame, check_names
from ..core.words import count, listed, refuse
from .datasets import BUILT_IN
from .files import (
    ARROW,
    JSON_LINES,
    PARQUET,
    TEXT,
    check_file,
    check_room,
    ending,
    import_arrow,
    parquet_files,
    table_files,
    unknown_ending,
)
from .readers import PLAIN, TextColumns, TextFormat, check_absent
from .readers.arrow_file import ArrowPart, arrow_part, parquet_part
from .readers.csv_file import CsvFile
from .readers.json_lines import JsonLines
from .readers.text_file import STANDARD_INPUT
from .source import Source, joined, numbered, numbers_of

BATCH_ROWS = 2**16


def chosen_names(
    names: Sequence[str], source: str, columns: Sequence[str] | None, drop: Sequence[str]
) -> tuple[str, ...]:
    """Return the chosen names, or raise when one is unknown or none is left."""
    check_names(names, source)
    chosen = Frame({name: np.empty(0) for name in names}, source).select(columns, drop).names
    if not chosen:
        raise ValueError(f"{source} has no columns left; choose at least one")
    return chosen


@dataclass(frozen=True)
class ColumnChoice:
    """The columns of a table to read, the format of their text, the rule for missing cells, and the batch size."""

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    text: TextFormat = PLAIN
    missing: str = "error"
    batch_rows: int = BATCH_ROWS

    def names(self, names: Sequence[str], source: str) -> tuple[str, ...]:
        """Return the chosen names, or raise when one is unknown or none is left."""
        check_absent(self.text, names, source)
        return chosen_names(names, source, self.columns, self.drop)

    def refuse_for(self, source: Source) -> None:
        """Raise when options are passed for a source that was made already."""
        usual = ColumnChoice()
        refuse(
            f"{source!r} was read already",
            columns=(self.columns, None),
            drop=(self.drop, ()),
            missing=(self.missing, usual.missing),
            batch_rows=(self.batch_rows, usual.batch_rows),
            text=(self.text, usual.text),
        )


_Frames: TypeAlias = Callable[[TextColumns], Iterator[Frame]]
_Whole: TypeAlias = Callable[[TextColumns], Frame]
"""Read the rows of a file with a reader of its columns of text, batch by batch or all at once."""


def _opened(
    source: str, names: tuple[str, ...], choice: ColumnChoice, frames: _Frames, whole: _Whole, **how: bool
) -> Source:
    """Return the source of the rows of a file; a first pass over all of them decides what columns of text hold."""
    columns = TextColumns(choice.text, **how)

    def settled() -> Iterator[Frame]:
        if not columns.settled:
            for _ in frames(columns):
                pass
            columns.settled = True
        return frames(columns)

    return Source(
        source,
        names,
        None,
        settled,
        lambda: numbers_of(frames(TextColumns(choice.text, **how)), choice.missing),
        lambda: whole(TextColumns(choice.text, **how)),
        missing=choice.missing,
    )


def file_source(path: Path, choice: ColumnChoice) -> Source:
    """Return a file, or a folder of Parquet files, as a source of rows; errors as for :func:`kernelmean.read`."""
    if str(path) == STANDARD_INPUT:
        raise ValueError("standard input can be read once only, not batch by batch; write the table to a file first")
    if path.is_dir():
        files = parquet_files(path)
        if not files:
            raise ValueError(f"{path} is a folder without files that end in .parquet; pass a file, or another folder")
        others = [file.name for file in table_files(path) if file not in files]
        if others:
            raise ValueError(
                f"{path} has {count(len(files), 'Parquet file')} and {count(len(others), 'table')} of another kind, "
                f"such as {others[0]}; keep files of one kind in a folder"
            )
        return parquet_source(files, str(path), choice)
    check_file(path)
    if ending(path) in PARQUET:
        return parquet_source([path], str(path), choice)
    if ending(path) in ARROW:
        return _of_arrow([arrow_part(path)], str(path), choice)
    if ending(path) in JSON_LINES:
        lines = JsonLines(path, choice.text)
        names = choice.names(lines.names, str(path))
        return _opened(
            str(path),
            names,
            choice,
            lambda columns: map(columns.read, lines.frames(names, choice.batch_rows)),
            lambda columns: columns.read(next(lines.frames(names, None))),
            iso=True,
        )
    if ending(path) in TEXT:
        return csv_source(path, choice)
    raise unknown_ending(path)


def read_frame(source: str | os.PathLike[str], *, text: TextFormat = PLAIN) -> Frame:
    """Return all columns of a file or a built-in table, with any types; see `read_table`."""
    name = os.fspath(source)
    if name in BUILT_IN:
        frame = BUILT_IN[name]()
        check_absent(text, frame.names, name)
        return TextColumns(text).read(frame)
    path = Path(name)
    choice = ColumnChoice(text=text)
    return (csv_source(path, choice) if name == STANDARD_INPUT else file_source(path, choice)).whole()


def csv_source(path: Path, choice: ColumnChoice) -> Source:
    """Return a CSV file, or standard input, which can be held in memory only."""
    file = CsvFile.of(path, choice.text)
    names = choice.names(list(file.raw), file.file.name)
    frames, whole = partial(file.frames, names), partial(file.whole, names)
    return replace(_opened(file.file.name, names, choice, frames, whole, untyped=True), notes=file.notes)


def parquet_source(files: Sequence[Path], source: str, choice: ColumnChoice) -> Source:
    """Return Parquet files with the same columns as one source of rows."""
    return _of_arrow([parquet_part(path) for path in files], source, choice)


def _of_arrow(parts: Sequence[ArrowPart], source: str, choice: ColumnChoice) -> Source:
    """Return files of one format of Arrow, with the same columns, as one source of rows."""
    chosen = [choice.names(part.names, str(part.path)) for part in parts]
    names = chosen[0]
    for part, others in zip(parts, chosen, strict=True):
        if set(others) != set(names):
            raise ValueError(
                f"{part.path} has the columns {listed(others)}, {parts[0].path} has {listed(names)}; choose columns"
            )
    n_rows = sum(part.rows for part in parts)
    if not n_rows:
        raise ValueError(f"{source} has no rows")

    def frames(columns: TextColumns) -> Iterator[Frame]:
        start = 0
        for part in parts:
            for batch in part.batches(names, choice.batch_rows):
                yield columns.read(numbered(_frame([batch], part.path, names), start))
                start += len(batch)

    def whole(columns: TextColumns) -> Frame:
        check_room(n_rows * len(names), Path(source))
        every = [_frame(list(part.batches(names, choice.batch_rows)), part.path, names) for part in parts if part.rows]
        return columns.read(every[0] if len(every) == 1 else joined(every))

    index = [f"{part.path}: the saved row index ({listed(part.index)}) was left out" for part in parts if part.index]
    opened = _opened(source, names, choice, frames, whole)
    return replace(opened, n_rows=n_rows if choice.missing == "error" else None, notes=tuple(index))


def _frame(batches: Sequence[Any], path: Path, names: Sequence[str]) -> Frame:
    return as_frame(import_arrow().Table.from_batches(batches), str(path)).select(names)
