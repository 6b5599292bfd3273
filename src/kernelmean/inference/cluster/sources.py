"""Sources of a table on a cluster: dask arrays, dask data frames, Parquet files that all workers can read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from ...core.cells import column_name
from ...tables import read as table_at
from ...tables.files import PARQUET, as_written, ending, first_line, parquet_files
from .running import gathered, task

_PART_ROWS = 2**18


def partitions(client: Any, X: Any, name: str) -> list[Any]:
    """Return the tasks that make the partitions of a table, in the order of its rows.

    Raises
    ------
    TypeError
        When the data are in this process, or are not a table.
    """
    from dask import is_dask_collection

    paths = _paths(X)
    if paths:
        (pieces,) = gathered(client, [task(_pieces, paths)])
        return [task(read, piece) for piece in pieces]
    if not is_dask_collection(X):
        raise TypeError(
            f"{name} is a {type(X).__name__} in this process, where a cluster would only copy it; leave plan= out, or "
            "pass a dask array, a dask data frame, or the path of Parquet files that the workers can read"
        )
    table = hasattr(X, "rechunk") or hasattr(X, "columns")
    if not table or X.ndim != 2:
        raise TypeError(
            f"{name} is a dask {type(X).__name__} of {getattr(X, 'ndim', 'no')} dimensions, a dask array (n, d) or a "
            f"dask data frame is needed; for one column write {name}.reshape(-1, 1) or {name}.to_frame()"
        )
    if hasattr(X, "rechunk"):
        return list(X.rechunk({1: -1}).to_delayed().ravel())
    return list(X.to_delayed())


def column_names(X: Any) -> tuple[str, ...] | None:
    """Return the columns of a dask table, which are known without computing it; None for files."""
    if _paths(X):
        return None
    if hasattr(X, "rechunk"):
        return tuple(f"x{j}" for j in range(X.shape[1]))
    return tuple(map(column_name, X.columns))


def _paths(X: Any) -> tuple[str, ...]:
    """Return the files or folders that hold a table; none for other sources."""
    paths = [X] if isinstance(X, str | os.PathLike) else X
    named = isinstance(paths, list | tuple) and all(isinstance(path, str | os.PathLike) for path in paths)
    return tuple(map(os.fspath, paths)) if named else ()


@final
@dataclass(frozen=True)
class Piece:
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    names: tuple[str, ...]


def _pieces(paths: tuple[str, ...]) -> list[Piece]:
    """Return the pieces of Parquet files or folders, each of at most about 260,000 rows."""
    from pyarrow import parquet

    try:
        names = table_at(paths[0] if len(paths) == 1 else list(paths)).names
    except OSError as error:
        raise _unreadable(str(error.filename or paths[0]), error.strerror or first_line(error)) from error
    pieces = []
    for path in paths:
        if not Path(path).is_dir() and ending(Path(path)) not in PARQUET:
            raise ValueError(
                f"{path} is no Parquet file, which workers cannot share out; write it as Parquet, or pass a data frame"
            )
        for file in parquet_files(Path(path)) if Path(path).is_dir() else [Path(path)]:
            with parquet.ParquetFile(file) as opened:
                rows = [opened.metadata.row_group(k).num_rows for k in range(opened.num_row_groups)]
            pieces += [Piece(str(file), groups, names) for groups in _grouped(rows)]
    return pieces


def _unreadable(path: str, why: str) -> ValueError:
    return ValueError(f"a worker cannot read {path} ({why}); all workers need the same files at that path")


def _grouped(rows: list[int]) -> list[tuple[int, ...]]:
    """Join neighbouring row groups while they are small."""
    joined: list[list[int]] = []
    size = 0
    for group, count in enumerate(rows):
        if not joined or size + count > _PART_ROWS:
            joined.append([])
            size = 0
        joined[-1].append(group)
        size += count
    return [tuple(groups) for groups in joined]


def read(piece: Piece) -> Any:
    """Return a piece as an Arrow table."""
    from pyarrow import ArrowException, parquet

    try:
        with parquet.ParquetFile(piece.path) as file:
            return file.read_row_groups(list(piece.groups), columns=as_written(piece.names, file.schema_arrow.names))
    except (ArrowException, OSError) as error:
        raise _unreadable(piece.path, first_line(error)) from error
