"""Elements of HTML; whatever is not an element is escaped."""

from __future__ import annotations

import html
import re
from typing import final

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
