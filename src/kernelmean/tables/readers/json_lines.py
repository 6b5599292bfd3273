"""JSON lines as frames: one flat object per line; a key that a line lacks is a missing cell."""

from __future__ import annotations

import io
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias, final

import numpy as np

from ...core.array import LARGEST_EXACT
from ...core.cells import Cells, Declared, column_name, is_missing, one_form
from ...core.table import Frame
from ...core.words import printable
from ..files import check_columns, empty, first_line
from .text_file import TextFile, open_text, told
from .text_format import TextFormat

_KINDS: Final = {bool: "truth values", int: "numbers", float: "numbers", str: "text"}
Row: TypeAlias = dict[str, Any]


@final
class JsonLines:
    """A file of JSON lines; the keys of all its lines are the columns, in the order of their first occurrence.

    Raises
    ------
    ValueError, OSError
        When a line is not a flat object, or a key holds values of several types.
    """

    def __init__(self, path: Path, text: TextFormat) -> None:
        self._file: TextFile = open_text(path, text)
        with closing(self._rows()) as rows:
            self.names = tuple(dict.fromkeys(name for _, row in rows for name in row))
        if not self.names:
            raise ValueError(empty(self._file.name))
        check_columns(self.names, self._file.name)

    def frames(self, names: Sequence[str], rows: int | None) -> Iterator[Frame]:
        """Yield frames of some columns with at most ``rows`` rows each (None: all in one)."""
        kinds: dict[str, str] = {}
        start = 0
        with closing(self._rows()) as lines:
            while batch := list(islice(lines, rows)):
                cells = {name: self._column(name, batch, kinds) for name in names}
                declared = {name: Declared("boolean") for name in names if kinds.get(name) == _KINDS[bool]}
                numbers = np.arange(start + 1, start + 1 + len(batch))
                start += len(batch)
                yield Frame(cells, self._file.name, rows=numbers, declared=declared)
                if rows is None:
                    return

    def _rows(self) -> Generator[tuple[int, Row], None, None]:
        encoding = "utf-8-sig" if self._file.is_utf8 else self._file.encoding
        with (
            told(self._file.name, self._file.encoding),
            self._file.open() as source,
            open(source, "rb") if isinstance(source, str) else nullcontext(source) as binary,
            io.TextIOWrapper(binary, encoding=encoding) as lines,
        ):
            for number, line in enumerate(lines, start=1):
                if number <= self._file.skipped or not line.strip():
                    continue
                yield number, self._parsed(number, line)

    def _parsed(self, number: int, line: str) -> Row:
        try:
            row = json.loads(line, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deep" if isinstance(error, RecursionError) else first_line(error)
            raise ValueError(f"{self._file.name}: line {number} is not JSON ({reason})") from None
        if not isinstance(row, dict):
            raise ValueError(  # noqa: TRY004 (the file is wrong, not the type of an argument)
                f'{self._file.name}: line {number} is not a JSON object, such as {{"a": 1, "b": "x"}}'
            )
        nested = next((name for name, value in row.items() if isinstance(value, dict | list)), None)
        if nested is not None:
            raise ValueError(
                f"{self._file.name}: line {number}, key {nested!r} holds several values; write each under a key of its "
                "own"
            )
        return row

    def _column(self, name: str, rows: Iterable[tuple[int, Row]], kinds: dict[str, str]) -> Cells:
        values = [row.get(name) for _, row in rows]
        cells = [
            one_form(value) if isinstance(value, str) else None if is_missing(value) else value for value in values
        ]
        for (number, _), cell in zip(rows, cells, strict=True):
            if cell is not None and _KINDS[type(cell)] != kinds.setdefault(name, _KINDS[type(cell)]):
                raise ValueError(
                    f"{self._file.name}: line {number}, key {name!r} holds {_KINDS[type(cell)]} "
                    f"({printable(str(cell))[:20]!r}), and {kinds[name]} in the lines before; write one type, and null "
                    "for what is missing"
                )
        if kinds.get(name) != _KINDS[str] and not any(
            type(cell) is int and abs(cell) > LARGEST_EXACT  # which float64 does not tell apart
            for cell in cells
        ):
            return np.array([np.nan if cell is None else float(cell) for cell in cells])
        out = np.empty(len(cells), dtype=object)
        out[:] = cells
        return out if any(cell is not None for cell in cells) else np.full(len(cells), np.nan)


def _without_repeats(pairs: list[tuple[str, Any]]) -> Row:
    row = {column_name(name): value for name, value in pairs}
    if len(row) < len(pairs):
        raise ValueError("a key occurs in it twice")
    return row
