"""Text files: plain, compressed, or standard input, and their encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, cast, final

from ...core.words import count, read_with
from ..files import check_file, empty, first_line
from .text_format import TextFormat

STANDARD_INPUT: Final = "-"
"""The name of standard input as a source of tables."""
_STREAM_NAME: Final = "standard input"
_HEAD = 1 << 16
_MARKS: Final = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_LINE_END: Final = re.compile("\r\n|\r|\n")
_UTF8 = ("utf-8", "utf-8-sig")


@final
@dataclass(frozen=True)
class TextFile:
    """A text file whose beginning has been read."""

    path: Path
    """Where it is."""
    name: str
    """The name of the file in errors."""
    encoding: str
    """Of its letters."""
    head: str
    """Its beginning: at most 64 KiB, without a byte order mark and skipped lines."""
    whole: bool
    """Whether ``head`` is the whole file."""
    data: bytes | None = None
    """The bytes of standard input, which can be read only once."""
    skipped: int = 0
    """The number of lines above the table, which are left out."""

    @property
    def is_utf8(self) -> bool:
        """Whether no decoding is needed: readers of tables expect UTF-8."""
        return self.encoding in _UTF8

    @contextmanager
    def open(self) -> Iterator[BinaryIO | str]:
        """Yield the file in a form that readers of tables take; damage found while reading is a plain error.

        Raises
        ------
        ValueError
            When the compressed data are damaged, or a character is not in the encoding.
        """
        with told(self.name, self.encoding):
            if self.data is None and not _is_compressed(self.path):
                yield str(self.path)
            else:
                with _opened(self.path, self.data) as file:
                    yield file

    def check_encoding(self) -> None:
        """Raise when a character of the file is not in its encoding."""
        with told(self.name, self.encoding), _opened(self.path, self.data) as file:
            decoder = codecs.getincrementaldecoder(self.encoding)()
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)

    def ends_with_quote(self) -> bool:
        """Whether the last character, apart from line ends, is a quotation mark."""
        with told(self.name, self.encoding), _opened(self.path, self.data) as file:
            tail = first = file.read(2)
            while block := file.read(1 << 20):
                tail = (tail + block)[-64:]
        codec = {"utf-16": "utf-16-be" if first == codecs.BOM_UTF16_BE else "utf-16-le"}
        return tail.decode(codec.get(self.encoding, self.encoding), errors="replace").rstrip("\r\n").endswith('"')


def open_text(path: Path, text: TextFormat) -> TextFile:
    """Read the beginning of a text file.

    Raises
    ------
    ValueError, OSError
        When there is no such file, or it is empty, damaged or not text.
    """
    data = _standard_input() if str(path) == STANDARD_INPUT else None
    if data is None:
        check_file(path)
    name = str(path) if data is None else _STREAM_NAME
    with told(name, text.encoding or "utf-8"), _opened(path, data) as file:
        start = file.read(_HEAD)
        whole = not file.read(1)
    if not start:
        raise ValueError(empty(name))
    marked = next((codec for mark, codec in _MARKS.items() if start.startswith(mark)), None)
    encoding = codecs.lookup(marked or text.encoding or "utf-8").name
    head = codecs.getincrementaldecoder(encoding)(errors="replace").decode(start)  # a letter may be cut off at the end
    if "\0" in head and start.startswith(b"\x1f\x8b"):
        unpack = "unpack it with gunzip" if name == _STREAM_NAME else "let its name end in .gz"
        raise ValueError(f"{name} is compressed by gzip; {unpack}")
    if "\0" in head:
        mend = read_with("TextFormat(encoding='utf-16-le')")
        raise ValueError(
            f"{name} is not a text file; a CSV file in UTF-8, or a file that ends in .parquet, is needed, or for text "
            f"of two bytes a letter {mend} or utf-16-be"
        )
    if head.lstrip("\ufeff \t\r\n")[:14].lower().startswith(("<!doctype html", "<html")):
        raise ValueError(f"{name} is a web page and no table; save the file itself, maybe after logging in")
    below = _below(head.removeprefix("\ufeff"), text.skip)
    if text.skip and not below.strip():
        raise ValueError(
            f"{name} has no more than the {count(text.skip, 'line')} to skip; skip those above the header only"
        )
    return TextFile(path, name, encoding, below, whole, data, text.skip)


def _below(head: str, skip: int) -> str:
    """Return the beginning of a file without its first lines, nothing where it has no more."""
    ends = [0, *(match.end() for match in islice(_LINE_END.finditer(head), skip))]
    return head[ends[-1] :] if len(ends) > skip else ""


def _standard_input() -> bytes:
    stream = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise ValueError("there is no standard input to read; pass a file")
    data = cast(bytes, stream.read())
    if not data:
        raise ValueError("standard input is empty, or was read before; a header line and rows are needed")
    return data


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _opened(path: Path, data: bytes | None) -> BinaryIO:
    if data is not None:
        return io.BytesIO(data)
    return cast(BinaryIO, gzip.open(path, "rb")) if _is_compressed(path) else path.open("rb")


@contextmanager
def told(name: str, encoding: str) -> Iterator[None]:
    """Turn damaged compressed data, and characters that are not in the encoding, into plain errors."""
    try:
        yield
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{name} is damaged or not compressed by gzip ({first_line(error)}); write it again"
        ) from error
    except UnicodeDecodeError as error:
        raise not_encoded(name, encoding) from error


def not_encoded(name: str, encoding: str) -> ValueError:
    """Return the error for bytes that are not characters of an encoding."""
    called = "UTF-8" if encoding in _UTF8 else encoding
    mend = read_with("TextFormat(encoding='cp1252')")
    return ValueError(f"{name} is not {called} text; {mend}, as Windows writes it, or utf-16, ...")
