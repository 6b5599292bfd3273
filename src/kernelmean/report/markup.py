"""Elements of HTML, where whatever is not an element is escaped; cells of CSV that no spreadsheet runs."""

from __future__ import annotations

import html
import re
from typing import Any, final

_FORMULA = re.compile("[=+\\-@＝＋－＠\t\r\n]")
"""How a cell begins that a spreadsheet would run, as a formula or by what follows the break."""
_VOID = frozenset({"meta", "link", "br", "hr"})
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


@final
class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(text: str) -> Markup:
    """Return text as HTML that shows it; what no document may hold becomes a replacement sign."""
    return text if isinstance(text, Markup) else Markup(html.escape(_UNPRINTABLE.sub("\ufffd", text)))


def join(*children: str) -> Markup:
    """Return the children after each other."""
    return Markup("".join(escaped(child) for child in children))


def element(name: str, /, *children: str, **attributes: str | bool) -> Markup:
    """Return an element; ``class_`` is class, ``aria_label`` aria-label, and True an attribute without a value.

    Examples
    --------
    >>> element("p", "1 < 2 ", element("b", "yes"), class_='a "b"')
    '<p class="a &quot;b&quot;">1 &lt; 2 <b>yes</b></p>'
    """
    opening = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(str(value))}"')
        for key, value in attributes.items()
        if value is not False
    )
    return Markup(f"<{name}{opening}>" + ("" if name in _VOID else f"{join(*children)}</{name}>"))


def csv_cell(cell: Any) -> Any:
    """Return a cell of a CSV file that a spreadsheet shows and does not run: such text gets an apostrophe before it.

    Numbers, and text that is a number, stay as they are. Every break of a line becomes a newline, which a writer
    quotes: a bare carriage return would begin another row, with a cell of its own.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("a=1"), csv_cell("-2.5"), csv_cell(-2.5)
    ("'=1+1", 'a=1', '-2.5', -2.5)
    """
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if _FORMULA.match(text) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip()
