"""Digests of what a monitor depends on: of the rows of its reference, in any batches, and of options."""

from __future__ import annotations

import hashlib
import json
from typing import Any, final

import numpy as np

from ...core.cells import Cells, Declared, missing_cells
from ...core.table import Frame
from ...estimators.serialization import AnyArray, encode

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
    sha = hashlib.sha256(text.encode())
    for array in arrays:
        sha.update(f"{array.dtype.str} {array.shape} ".encode())
        sha.update(array.tobytes())
    return sha.hexdigest()


@final
class RowDigest:
    """The rows of a table so far, as a text of 64 letters.

    Examples
    --------
    >>> frame = Frame({"x": np.arange(3.0)}, "rows")
    >>> first, again = RowDigest(), RowDigest()
    >>> first.add(frame), again.add(frame.take(slice(0, 1))), again.add(frame.take(slice(1, None)))
    (None, None, None)
    >>> first.text == again.text, first.text == RowDigest().text
    (True, False)
    """

    def __init__(self) -> None:
        self._rows = 0
        self._columns: dict[str, _Column] = {}

    def add(self, rows: Frame) -> None:
        """Add rows that follow those so far."""
        self._rows += len(rows)
        for name in rows.names:
            self._columns.setdefault(name, _Column()).add(rows[name], rows.declared.get(name))

    @property
    def text(self) -> str:
        """The digest of the rows so far."""
        parts = [self._rows, *((name, column.text) for name, column in self._columns.items())]
        return hashlib.sha256(repr(parts).encode()).hexdigest()


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

    def add(self, cells: Cells, declared: Declared | None) -> None:
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
