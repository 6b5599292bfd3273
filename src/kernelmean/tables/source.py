"""Sources of rows: a file, a folder, a table in memory or a stream of batches, all with one interface."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, final

import numpy as np

from ..core.array import Array, BoolArray
from ..core.cells import Cells, missing_cells
from ..core.table import Frame
from ..core.words import listed, refuse

READER = "kernelmean.read"
"""The reader whose options errors about cells and columns suggest."""
UNNAMED, BATCHES, DASK, ARROW_READER = "the table", "the iterable", "the dask table", "the Arrow reader"
"""The names, in errors, of a table in memory and of other sources without a path."""
_KINDS = {"f": "numbers", "O": "text", "M": "times", "m": "durations"}


@final
@dataclass(frozen=True, eq=False)
class Source:
    """Rows that are read batch by batch. Make one with :func:`kernelmean.read`; a table in memory is one batch.

    Iterating yields the numbers, as finite float64 arrays of shape (b, d), b ≥ 1; :meth:`frames` yields columns of any
    kind, and :meth:`whole` returns all of them at once.

    Attributes
    ----------
    source : str
        The name of the source in errors.
    names : tuple of str
        The names of the columns.
    n_rows : int or None
        The number of rows, if it is known before reading.
    named : bool
        Whether columns are matched by name; False for an array.
    missing : {"error", "drop"}
        What to do with rows that hold a missing cell when numbers are read.
    in_memory : bool
        Whether to hold all rows in memory, however many they are.
    """

    source: str
    names: tuple[str, ...]
    n_rows: int | None
    _frames: Callable[[], Iterator[Frame]]
    _arrays: Callable[[], Iterator[Array]]
    _whole: Callable[[], Frame]
    named: bool = True
    missing: str = "error"
    in_memory: bool = False
    notes: tuple[str, ...] = ()
    """What a reader of its rows should know."""
    _once: Any = None  # the reader or iterator, if rows can be read only once
    _kept: BoolArray | None = None  # which of its rows frames() yields

    @property
    def once(self) -> bool:
        """Whether the rows can be read only once."""
        return self._once is not None

    def __iter__(self) -> Iterator[Array]:
        """Yield the numbers."""
        return self._arrays()

    def frames(self) -> Iterator[Frame]:
        """Yield frames of at least one row, with columns of any kind and row numbers from 1."""
        refuse(f"rows of {self.source} are read batch by batch, all of them", missing=(self.missing, "error"))
        start = 0
        for frame in self._frames():
            rows, start = numbered(frame, start), start + len(frame)
            if self._kept is None:
                yield rows
            elif (kept := self._kept[start - len(frame) : start]).any():
                yield rows.take(kept)

    def only(self, kept: BoolArray) -> Source:
        """Return the source whose :meth:`frames` and :meth:`whole` have some of the rows, numbered as they are here."""
        return replace(self, n_rows=int(kept.sum()), _kept=kept)

    def whole(self) -> Frame:
        """Return all rows as one frame, in memory."""
        frame = self._whole() if self._kept is None else self._whole().take(self._kept)
        frame = replace(frame, notes=(*frame.notes, *self.notes))
        return frame if self.missing == "error" else frame.take(frame.complete())

    def reordered(self, names: Sequence[str]) -> Source:
        """Return the same rows with their columns in another order."""
        index = [self.names.index(name) for name in names]
        return replace(
            self,
            names=tuple(names),
            _frames=lambda: (frame.select(names) for frame in self._frames()),
            _arrays=lambda: (np.ascontiguousarray(X[:, index]) for X in self._arrays()),
            _whole=lambda: self._whole().select(names),
        )

    def called(self, names: Sequence[str]) -> Source:
        """Return the same rows with other column names."""
        return replace(
            self,
            names=tuple(names),
            _frames=lambda: (frame.called(names) for frame in self._frames()),
            _whole=lambda: self._whole().called(names),
        )

    @property
    def titleless(self) -> bool:
        """Whether the rows have no path that could name them."""
        return self.source in (UNNAMED, BATCHES, DASK, ARROW_READER)

    def titled(self, source: str) -> Source:
        """Return the same rows under another name in errors."""
        return replace(
            self,
            source=source,
            _frames=lambda: (replace(frame, source=source) for frame in self._frames()),
            _whole=lambda: replace(self._whole(), source=source),
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Raise: an array of a source would silently hold all rows, and have no names."""
        raise TypeError(
            f"{self!r} is read row by row; write rows.whole() for a table in memory, which has names, or "
            "numpy.concatenate(list(rows)) for its numbers"
        )

    def __repr__(self) -> str:
        rows = "an unknown number of rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        return f"Source({self.source}: {rows}, columns {listed(self.names)})"


def numbered(frame: Frame, start: int) -> Frame:
    """Return a frame whose first row is number ``start`` + 1 of its table."""
    return replace(frame, rows=np.arange(start + 1, start + 1 + len(frame)))


def numbers_of(frames: Iterator[Frame], missing: str) -> Iterator[Array]:
    """Yield the numbers of consecutive frames; errors count rows from the start."""
    start = 0
    for frame in frames:
        chosen = numbered(frame, start)
        start += len(frame)
        if missing == "drop":
            chosen = chosen.take(chosen.complete())
        if len(chosen):
            yield np.asarray(chosen.to_table(reader=READER))


def split_rows(batches: Iterator[Array], rows: int) -> tuple[Array | None, Iterator[Array]]:
    """Return the first rows (fewer if there are fewer, None if there are none) and the remaining batches."""
    head: list[Array] = []
    missing = rows
    rest: list[Array] = []
    while missing > 0 and not rest:
        batch = next(batches, None)
        if batch is None:
            break
        head.append(batch[:missing])
        rest = [batch[missing:]] if len(batch) > missing else []
        missing -= len(head[-1])
    return np.concatenate(head) if head else None, chain(rest, batches)


def in_blocks(batches: Iterable[Array], rows: int) -> Iterator[Array]:
    """Yield the rows of batches of any size in blocks of one size; the last one may be shorter."""
    parts: list[Array] = []
    missing = rows
    for batch in batches:
        while len(batch):
            part, batch = batch[:missing], batch[missing:]  # noqa: PLW2901
            parts.append(part)
            missing -= len(part)
            if not missing:
                yield np.concatenate(parts)
                parts, missing = [], rows
    if parts:
        yield np.concatenate(parts)


def side_by_side(rows: tuple[Iterator[Array], Iterator[Array]], sources: tuple[Any, Any]) -> Iterator[Array]:
    """Yield the columns of two sources, whose rows are passed, side by side, in batches of any size both can give.

    Raises
    ------
    ValueError
        When they have different numbers of rows.
    """
    firsts, others = rows
    for batch in firsts:
        head, others = split_rows(others, len(batch))
        if head is None or len(head) < len(batch):
            raise unequal(*sources)
        yield np.hstack([batch, head])
    if next(others, None) is not None:
        raise unequal(*sources)


def unequal(first: Any, second: Any) -> ValueError:
    """Return the error for sources whose rows belong together but differ in number."""
    rows = (f" ({table.n_rows:,})" if table.n_rows else "" for table in (first, second))
    one, other = (table.source + many for table, many in zip((first, second), rows, strict=True))
    return ValueError(
        f"{one} and {other} have different numbers of rows; row i of X and row i of Y must be one observation"
    )


def refuse_dropped(source: Source) -> Source:
    """Return a source, or raise if it leaves out rows whose partners in another one stay."""
    if source.missing == "drop":
        raise ValueError(
            f"{source.source} leaves out rows with blank cells, and row i of X and row i of Y are one observation; "
            "leave missing= out, and remove the same rows from both beforehand"
        )
    return source


def in_step(first: Iterator[Frame], second: Iterator[Frame]) -> Iterator[tuple[Frame, Frame]]:
    """Yield the rows of two tables of one length side by side, as many of both at a time."""
    rest: Frame | None = None
    for frame in first:
        start = 0
        while start < len(frame) and (rest := rest or next(second, None)):
            many = min(len(frame) - start, len(rest))
            yield frame.take(slice(start, start + many)), rest.take(slice(0, many))
            start, rest = start + many, rest.take(slice(many, None))


def joined(frames: Sequence[Frame]) -> Frame:
    """Return the rows of several frames with the same columns as one; a column may have no cells in some of them.

    Raises
    ------
    ValueError
        When a column holds cells of different types, such as numbers and text.
    """
    first = frames[0]
    cells = {name: np.concatenate(_alike(frames, name)) for name in first.names}
    declared = {name: declaration for frame in reversed(frames) for name, declaration in frame.declared.items()}
    return replace(first, cells=cells, rows=np.concatenate([f.row_numbers() for f in frames]), declared=declared)


def _alike(frames: Sequence[Frame], name: str) -> list[Cells]:
    """Return the parts of a column with one type; a part in which all cells are missing is NaN in any column."""
    parts = [frame[name] for frame in frames]
    if all(part.dtype.kind == parts[0].dtype.kind for part in parts):
        return parts
    filled = [not missing_cells(part).all() for part in parts]
    like = filled.index(True) if any(filled) else next(k for k, part in enumerate(parts) if part.dtype != np.float64)
    for frame, part, holds in zip(frames, parts, filled, strict=True):
        if holds and part.dtype.kind != parts[like].dtype.kind:
            raise ValueError(
                f"column {name!r} holds {_KINDS[parts[like].dtype.kind]} in {frames[like].source} and "
                f"{_KINDS[part.dtype.kind]} in {frame.source}; write both in the same way"
            )
    kind = parts[like].dtype
    absent = {"O": None, "f": np.nan}.get(kind.kind, "NaT")
    return [part if holds else np.full(len(part), absent, kind) for part, holds in zip(parts, filled, strict=True)]
