"""Which tables a command line names: by files, folders, patterns, or the files that a shell made of a pattern."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from ..core.words import count
from ..tables.datasets import BUILT_IN
from ..tables.files import PARQUET, ending, matching, natural_order, parquet_files, table_files
from .options import TwoTables

_OF_FILES = "write two files, such as compare A B, or folders or patterns in quotes"
_INSTEAD = (
    "write two folders, such as compare big other, or two patterns in quotes, such as compare "
    "'big/*.parquet' 'other/*.parquet'"
)


@dataclass(frozen=True)
class NamedTable:
    """A table of the command line: its file, folder or files, and what to call it."""

    files: tuple[str, ...]
    name: str

    @property
    def source(self) -> str | list[str]:
        """What :func:`kernelmean.read` takes."""
        return self.files[0] if len(self.files) == 1 else list(self.files)

    @property
    def is_built_in(self) -> bool:
        """Whether it is one of the built-in tables."""
        return self.source in BUILT_IN if isinstance(self.source, str) else False

    @property
    def in_files(self) -> bool:
        """Whether it is in several files, or in a folder of them."""
        return len(self.files) > 1 or (self.files[0] not in BUILT_IN and os.path.isdir(self.files[0]))

    @property
    def fits_batches(self) -> bool:
        """Whether it can be read batch by batch: one file, or Parquet files."""
        return len(self.files) == 1 or all(ending(Path(file)) in PARQUET for file in self.files)


def named_tables(tables: TwoTables) -> tuple[NamedTable, NamedTable | None]:
    """Return the two tables that were named, or one and None if a column splits it.

    Raises
    ------
    ValueError
        When there are neither two tables nor one and a column that splits it, when a pattern matches no file, or when
        it is not clear which files belong to which table.
    """
    if tables.by is None and tables.groups is not None:
        raise ValueError("--groups names groups of one column; name the column with --by COLUMN")
    if tables.more:
        if tables.by is not None:
            raise ValueError(f"--by splits one file; {count(2 + len(tables.more), 'file')} were named")
        return _of_folders([tables.a, str(tables.b), *tables.more])
    if tables.b is not None and tables.by is not None:
        raise ValueError(
            f"two tables were named, and --by splits one; write compare A B, or compare DATA --by {tables.by}, not "
            "both (weights or strata in a second file: join them into a column of the first, and write --weights NAME)"
        )
    if (tables.b is None) == (tables.by is None):
        raise ValueError(
            "two tables, or one table and the column that splits it, are needed; write: compare A B, or: compare DATA "
            "--by COLUMN"
        )
    first = named_table(tables.a)
    if tables.b is not None:
        return first, named_table(tables.b)
    if first.in_files:
        raise ValueError(f"--by splits one file, and {first.name} is more; write two tables: compare A B")
    return first, None


def named_table(word: str) -> NamedTable:
    """Return the table that one word names."""
    files = matching(word)
    return NamedTable(tuple(files), files[0] if len(files) == 1 else word)


def files_of(words: Iterable[str]) -> list[str]:
    """Return the files that words name, in order; those of a folder or a pattern by name, part-2 before part-10."""
    return [file for word in words for file in _in_folder(word) or sorted(matching(word), key=natural_order)]


def told_apart(files: Sequence[str]) -> list[str]:
    """Return the names of files, with as many of their folders as tell them apart."""
    paths = [Path(file).parts for file in files]
    ends, longer = [path[-1:] for path in paths], True
    while longer:
        alike = Counter(ends)
        longest = [path[-len(end) - 1 :] if alike[end] > 1 else end for path, end in zip(paths, ends, strict=True)]
        ends, longer = longest, longest != ends
    return [str(Path(*end)) for end in ends]


def _in_folder(word: str) -> list[str]:
    """Return the tables in a folder; nothing where the word names no folder."""
    if word in BUILT_IN or not os.path.isdir(word):
        return []
    files = [str(file) for file in table_files(Path(word))]
    if not files:
        raise ValueError(f"{word} is a folder without tables; write one with files such as day-1.csv or day-1.parquet")
    return files


def _of_folders(words: list[str]) -> tuple[NamedTable, NamedTable]:
    """Return the tables in two folders, whose files were named one by one."""
    files = [file for word in words for file in matching(word)]
    lone = next((file for file in files if file in BUILT_IN or os.path.isdir(file)), None)
    if lone is not None:
        raise ValueError(f"{lone} is a table by itself, and {count(len(files), 'table')} were named; two are needed")
    folders = [(str(folder), list(group)) for folder, group in groupby(files, lambda file: Path(file).parent)]
    if len(folders) != 2:
        distinct = len({folder for folder, _ in folders})
        instead = _INSTEAD if all(file.endswith(".parquet") for file in files) else _OF_FILES
        mixed = ", not one folder after the other," if distinct == 2 else ""
        raise ValueError(
            f"{count(len(files), 'file')} in {count(distinct, 'folder')}{mixed} are not clearly two tables; {instead}; "
            f"or for a reference and later files: kernelmean monitor {files[0]} {files[1]} ..."
        )
    first, second = (_of_folder(*each) for each in folders)
    return first, second


def _of_folder(folder: str, files: list[str]) -> NamedTable:
    """Return files of one folder as a table; all its Parquet files are the folder itself."""
    chosen = sorted(set(files), key=natural_order)
    if len(chosen) == 1:
        return NamedTable((chosen[0],), chosen[0])
    whole = {str(file) for file in parquet_files(Path(folder))} if folder else set()
    if {str(Path(file)) for file in chosen} == whole:
        return NamedTable((folder,), folder)
    return NamedTable(tuple(chosen), f"{folder} ({count(len(chosen), 'file')})")
