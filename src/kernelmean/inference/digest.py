"""Digests of what results depend on: of rows, whatever batches they come in, and of options."""

from __future__ import annotations

import hashlib
import json
from copy import copy
from typing import Any, final

import numpy as np

from ..core.array import Array
from ..core.cells import Cells, Declared, missing_cells
from ..core.table import Frame
from ..estimators.serialization import AnyArray, encode

_LONGEST = 60  # letters of an option; of longer ones the digest is kept


def option_text(value: Any) -> str:
    """Return the value of an option as a text that differs between values; arrays count to the last digit.

    Raises
    ------
    TypeError
        When it holds something that is neither of the library nor a number, a text, an array, or a collection of such.

    Examples
    --------
    >>> option_text("median"), option_text(0.5), len(option_text(np.eye(2)))
    ('"median"', '0.5', 64)
    """
    arrays: list[AnyArray] = []
    text = json.dumps(encode(value, arrays), sort_keys=True)
    if not arrays and len(text) <= _LONGEST:
        return text
    found = hashlib.sha256(text.encode())
    for array in arrays:
        found.update(f"{array.dtype.str} {array.shape} ".encode())
        found.update(array.tobytes())
    return found.hexdigest()


@final
class RowDigest:
    """The rows so far, of a table of columns or of an array of numbers, as a text of 64 letters.

    Attributes
    ----------
    rows : int
        How many there were.

    Examples
    --------
    >>> first, again = RowDigest(), RowDigest()
    >>> first.add(np.eye(3)), again.add(np.eye(3)[:1]), again.add(np.eye(3)[1:])
    (None, None, None)
    >>> first.text == again.text, first.text == RowDigest().text
    (True, False)
    """

    def __init__(self) -> None:
        self.rows = 0
        self._columns: dict[str, _Column] = {}

    def add(self, rows: Frame | Array) -> None:
        """Add rows that follow those so far."""
        self.rows += len(rows)
        if not isinstance(rows, Frame):
            self._column(f"array of {rows.shape[1]} columns").numbers(rows)
            return
        for name in rows.names:
            self._column(name).cells(rows[name], rows.declared.get(name))

    @property
    def text(self) -> str:
        """The digest of the rows so far."""
        parts = [self.rows, *((name, column.text) for name, column in self._columns.items())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def copy(self) -> RowDigest:
        """Return an independent copy."""
        other = RowDigest()
        other.rows = self.rows
        other._columns = {name: column.copy() for name, column in self._columns.items()}
        return other

    def _column(self, name: str) -> _Column:
        return self._columns.setdefault(name, _Column())


class _Column:
    """One column: cells of one type follow one another, and missing ones wait until a cell says what they are.

    A batch without any cell does not know its type, so that missing cells at its end must not be hashed as one.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._kind: tuple[str, Declared | None] | None = None
        self._missing = 0

    @property
    def text(self) -> str:
        return f"{self._hash.hexdigest()} {self._missing}"

    def copy(self) -> _Column:
        other = copy(self)
        other._hash = self._hash.copy()
        return other

    def numbers(self, rows: Array) -> None:
        self._hash.update(np.ascontiguousarray(rows, dtype=np.float64).data)

    def cells(self, cells: Cells, declared: Declared | None) -> None:
        stop = len(cells)  # one more than the position of the last cell that is not missing
        if stop and missing_cells(cells[-1:])[0]:
            stop = int(np.flatnonzero(~missing_cells(cells)).max(initial=-1)) + 1
        if stop:
            self._turn((cells.dtype.str, declared))
            self._hash.update(_bytes(_absent(cells.dtype, self._missing)))
            self._hash.update(_bytes(cells[:stop]))
            self._missing = 0
        self._missing += len(cells) - stop

    def _turn(self, kind: tuple[str, Declared | None]) -> None:
        """Say of which type the next cells are, where it is another one."""
        if kind != self._kind:
            self._hash = hashlib.sha256(self._hash.digest() + repr(kind).encode())
            self._kind = kind


def _absent(dtype: np.dtype[np.generic], many: int) -> Cells:
    """Return missing cells of a type."""
    if dtype.kind == "O":
        return np.full(many, None, dtype=object)
    return np.full(many, np.nan if dtype.kind == "f" else "NaT", dtype=dtype)


def _bytes(cells: Cells) -> bytes | memoryview:
    """Return cells as bytes; the texts of objects are quoted, so that no two lists have one text."""
    if cells.dtype == object:
        return (repr(cells.tolist())[1:-1] + ", ").encode() if len(cells) else b""
    if cells.dtype.kind == "f" and (absent := np.isnan(cells)).any():
        cells = np.where(absent, np.nan, cells)  # which has many forms in memory
    return np.ascontiguousarray(cells).view(np.int64).data
