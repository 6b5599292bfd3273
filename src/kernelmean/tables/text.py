"""CSV files in blocks: column types are found in the first block, and widened when a later cell does not fit."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from ..core.cached import cached_property
from ..core.cells import column_name
from ..core.table import Frame, as_frame
from .files import check_header, first_line, import_arrow, unnamed_note
from .readers import TextColumns, TextFormat, Widened, check_units
from .readers.columns import NUMBERS
from .readers.csv_file import (
    BLOCK_BYTES,
    Header,
    check_closed,
    csv_options,
    is_bytes,
    kept_as_text,
    may_be_rounded,
    raw_names,
    read_header,
    refused,
    text_columns,
)
from .readers.text_file import TextFile, not_encoded, open_text

_COLUMN = re.compile(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to [^:]*: (?:.*? '(.*)')?", re.DOTALL)
CHAIN: Final = (
    "null",
    "int64",
    "bool",
    "date32[day]",
    "time32[s]",
    "timestamp[s]",
    "timestamp[s, tz=UTC]",
    "timestamp[ns]",
    "timestamp[ns, tz=UTC]",
    "double",
    NUMBERS,
)
"""The types of a column in the order in which Arrow tries them; if none fits, it is text, and may still be numbers."""


@final
@dataclass(frozen=True)
class CsvBlocks:
    """A CSV file, read block by block."""

    file: TextFile
    header: Header
    text: TextFormat
    """How numbers and dates are written."""

    @classmethod
    def of(cls, path: Path, text: TextFormat) -> CsvBlocks:
        """Read the beginning of a file; errors as for :func:`kernelmean.tables.read_table`."""
        file = open_text(path, text)
        return cls(file, read_header(file, text), text)

    @cached_property
    def written(self) -> list[str]:
        """The names of all columns as written in the file, with blanks around them."""
        return raw_names(self.file, self.header)

    @cached_property
    def raw(self) -> dict[str, str]:
        """The names of the columns, and the same as written in the file; a first column without a name is left out."""
        names = check_header([*map(column_name, self.written)], self.file.name)
        check_units(self.text, names, self.file.name)
        return dict(zip(names, self.written[-len(names) :], strict=True))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of its rows should know."""
        return unnamed_note(len(self.written) - len(self.raw), self.file.name)

    def frames(self, names: Sequence[str], types: dict[str, str]) -> Callable[[], Iterator[Frame]]:
        """Return a function that yields the frames of some columns of any kind.

        Unknown types are found in the first block. A pass may raise :class:`Widened`; types with which a whole pass
        succeeded stay as they are.
        """
        raw = {name: self.raw[name] for name in names}
        looked_at: set[str] = set()

        def widened(some: Sequence[str]) -> bool:
            """Look at columns once as text, and return whether some must stay text."""
            new = [name for name in some if name not in looked_at]
            looked_at.update(new)
            kept = self._kept_as_text(new)
            types.update(dict.fromkeys(kept, NUMBERS))
            return bool(kept)

        def read() -> Iterator[Frame]:
            if unknown := {name: own for name, own in raw.items() if name not in types}:
                types.update(self._inferred(unknown))
            widened([name for name in names if types[name] == "int64"])
            columns = TextColumns(self.text, types, untyped=True)
            arrow_types = {raw[name]: self._arrow_type(types[name]) for name in names}
            try:
                for frame in self._blocks(raw, arrow_types):
                    if widened([name for name in names if types[name] == "double" and may_be_rounded(frame[name])]):
                        raise Widened
                    yield columns.read(frame)
            except import_arrow().ArrowException as error:
                self._widen(types, error)

        return read

    def numbers(self, names: Sequence[str]) -> Iterator[Frame]:
        """Yield the frames of columns of numbers."""
        arrow = import_arrow()
        raw = {name: self.raw[name] for name in names}
        marked = self.text.thousands is not None or bool(self.text.columns_with_absent)
        types = {own: arrow.string() if marked else arrow.float64() for own in raw.values()}
        whole = [] if marked else [name for name, kind in self._inferred(raw).items() if kind in ("int64", "null")]
        texts = self._kept_as_text(whole)
        types |= {raw[name]: arrow.string() for name in texts}
        columns = TextColumns(self.text, strict=marked or bool(texts))
        looked_at = set(whole)
        try:
            for frame in self._blocks(raw, types | text_columns(self.file, self.header, self.text)):
                large = [name for name in names if name not in looked_at and may_be_rounded(frame[name])]
                looked_at.update(large)
                if rounded := self._kept_as_text(large):
                    raise ValueError(
                        f"{self.file.name}: column {rounded[0]!r} holds integers beyond 2^53, which float64 "
                        "cannot hold exactly; leave it out with drop=, or subtract a constant"
                    )
                yield columns.read(frame)
        except arrow.ArrowException as error:
            raise ValueError(
                f"{self.file.name} is not a table of numbers ({first_line(error)}); every line needs as many cells as "
                "the header; leave out columns that are not numbers with drop=, or choose others with columns="
            ) from error

    def _blocks(self, raw: Mapping[str, str], types: Mapping[str, Any]) -> Iterator[Frame]:
        arrow = import_arrow()
        start, last = 0, None
        with self.file.open() as source, self._reader(source, raw, types) as reader:
            for batch in reader:
                if len(batch):
                    last = arrow.Table.from_batches([batch])
                    frame = as_frame(last.rename_columns(list(raw)), self.file.name)
                    rows = np.arange(start + 1, start + 1 + len(frame))
                    start += len(frame)
                    yield Frame(frame.cells, frame.source, rows=rows, declared=frame.declared)
        if last is not None:
            check_closed(self.file, last)

    def _reader(self, source: Any, raw: Mapping[str, str], types: Mapping[str, Any]) -> Any:
        from pyarrow import csv

        chosen = {"column_types": dict(types), "include_columns": list(raw.values())}
        return csv.open_csv(source, **csv_options(self.file, self.header, self.text, BLOCK_BYTES, **chosen))

    def _inferred(self, raw: Mapping[str, str]) -> dict[str, str]:
        arrow = import_arrow()
        given = text_columns(self.file, self.header, self.text)
        try:
            with self.file.open() as source, self._reader(source, raw, given) as reader:
                found = list(reader.schema.types)
        except (arrow.ArrowException, UnicodeDecodeError) as error:
            raise refused(self.file, error) from error
        if any(map(is_bytes, found)):
            raise not_encoded(self.file.name, self.file.encoding)
        return {name: NUMBERS if kind == arrow.string() else str(kind) for name, kind in zip(raw, found, strict=True)}

    def _kept_as_text(self, names: Sequence[str]) -> list[str]:
        """Return which columns of numbers only text holds as they are written, in the whole file."""
        called = {self.raw[name]: name for name in names}
        return [called[own] for own in kept_as_text(self.file, self.header, self.text, list(called))]

    def _arrow_type(self, kind: str) -> Any:
        """Return Arrow's type for a column; types that it does not know are text, which is parsed afterwards."""
        arrow = import_arrow()
        known = {
            "timestamp[s, tz=UTC]": arrow.timestamp("s", "UTC"),
            "timestamp[ns, tz=UTC]": arrow.timestamp("ns", "UTC"),
        }
        return known.get(kind) or (arrow.type_for_alias(kind) if kind in CHAIN[:-1] else arrow.string())

    def _widen(self, types: dict[str, str], error: BaseException) -> None:
        """Give the column of an error the next wider type and raise Widened; or raise the error."""
        found = _COLUMN.search(str(error))
        if found is None:
            raise refused(self.file, error) from error
        name = column_name(self.written[int(found.group(1))])  # numbers count all columns of the file, also unused ones
        if types[name] not in CHAIN[:-1]:
            raise refused(self.file, error) from error
        wider = CHAIN[CHAIN.index(types[name]) + 1 :]
        types[name] = next((kind for kind in wider if self._fits(found.group(2), kind)), wider[0])
        raise Widened from error

    def _fits(self, cell: str | None, kind: str) -> bool:
        from pyarrow import csv

        options = csv.ConvertOptions(column_types={"x": self._arrow_type(kind)}, decimal_point=self.text.decimal)
        content = io.BytesIO('x\n"{}"\n'.format((cell or "").replace('"', '""')).encode())
        parse = csv.ParseOptions(newlines_in_values=True)
        try:
            return bool(csv.read_csv(content, parse_options=parse, convert_options=options).num_rows)
        except import_arrow().ArrowException:
            return False
