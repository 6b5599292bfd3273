"""Words for messages: numbers with their nouns, lists that are cut, text that is safe to print."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_LISTED = 8
_UNITS = (3600, "hour"), (60, "minute")


class Notice(str):
    """The label of a step of progress that is worth a line of its own, such as how long the work will take."""

    __slots__ = ()


def roughly(seconds: float) -> str:
    """Return "25 seconds", "3 minutes", "2 hours"."""
    unit, noun = next(((unit, noun) for unit, noun in _UNITS if seconds >= 2 * unit), (1, "second"))
    return count(round(seconds / unit), noun)


def count(n: int, noun: str) -> str:
    """Return "1 row", "2 rows", "12,000 rows", "2 batches"."""
    many = "es" if noun.endswith(("ch", "s", "x")) else "s"
    return f"{n:,} {noun}{'' if n == 1 else many}"


def passed(n: int, noun: str) -> str:
    """Return "1 pair was passed", "2 pairs were passed"."""
    return f"{count(n, noun)} {'was' if n == 1 else 'were'} passed"


def listed(names: Iterable[Any]) -> str:
    """Return names separated by commas; long lists are cut and say so."""
    all_names = [str(name) for name in names]
    rest = len(all_names) - _LISTED
    return ", ".join(all_names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")


def printable(text: str) -> str:
    """Return a text as one line, in which a point stands for what is no letter: what steers a terminal, say."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else " " if letter.isspace() else "." for letter in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return " (did you mean 'x'?)" for the known name nearest to a wrong one, or nothing."""
    folded = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""
