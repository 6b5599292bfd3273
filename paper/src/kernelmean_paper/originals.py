"""From the original files of data sets to rows of cells in one format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation

Rows = list[list[str]]
Convert = Callable[[Sequence[str]], Rows]
"""Maps the texts of the files of a home to the rows of the table."""


def delimited(
    order: Sequence[int] | None = None,
    *,
    separator: str | None = ",",
    codes: Mapping[int, Mapping[str, str]] | None = None,
    cells: int | None = None,
) -> Convert:
    """Return a converter of files with one row per line.

    Parameters
    ----------
    order : sequence of int, optional
        The columns of the files in the order of the table; None keeps all as they are, negative ones count from the
        end.
    separator : str, optional
        The separator of cells; None is any white space.
    codes : mapping from int to mapping from str to str, optional
        Numbers for the texts in a column of the files.
    cells : int, optional
        Leave out lines with another number of cells, such as those of a text around the table.
    """

    def convert(texts: Sequence[str]) -> Rows:
        rows = []
        for parts in _lines(texts, separator):
            if cells is None or (len(parts) == cells and all(map(_is_number, parts))):
                coded = [(codes or {}).get(column, {}).get(part, part) for column, part in enumerate(parts)]
                rows.append([plain(coded[column]) for column in (range(len(parts)) if order is None else order)])
        return rows

    return convert


def libsvm(columns: int) -> Convert:
    """Return a converter of LIBSVM's sparse format, "label index:value ..."; the label becomes the last column."""

    def convert(texts: Sequence[str]) -> Rows:
        rows = []
        for label, *pairs in _lines(texts, None):
            row = ["0"] * columns + [plain(label)]
            for pair in pairs:
                index, _, value = pair.partition(":")
                row[int(index) - 1] = plain(value)
            rows.append(row)
        return rows

    return convert


def plain(text: str) -> str:
    """Return a decimal number exactly, without exponent and trailing zeros; "?" is a missing one.

    Examples
    --------
    >>> plain("18.00"), plain("-.5e-1"), plain("?")
    ('18', '-0.05', '')
    """
    if text == "?":
        return ""
    try:
        number = Decimal(text).normalize()
    except InvalidOperation as error:
        raise ValueError(f"{text[:20]!r} is not a number") from error
    return "0" if number == 0 else format(number, "f")


def _lines(texts: Sequence[str], separator: str | None) -> Iterator[list[str]]:
    for text in texts:
        for line in text.splitlines():
            if line.strip():
                yield [part.strip() for part in line.split(separator)]


def _is_number(text: str) -> bool:
    try:
        plain(text)
    except ValueError:
        return False
    return True
