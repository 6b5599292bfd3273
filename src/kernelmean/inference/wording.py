"""Words that results share: p-values beside a level, short names of tables and columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

_LONGEST_NAME, _MOST_DIGITS = 32, 17


def beside(p: float, level: float) -> str:
    """Return a p-value with as many digits as show on which side of a level it lies.

    Examples
    --------
    >>> beside(0.0123456, 0.05), beside(0.05, 0.05), beside(0.0500001, 0.05)
    ('0.0123', '0.05', '0.0500001')
    """
    texts = (f"{p:.{digits}g}" for digits in range(3, _MOST_DIGITS + 1))
    return next((text for text in texts if (float(text) <= level) == (p <= level)), repr(p))


def short(name: str) -> str:
    """Return the end of a path, and the start of what is still long.

    Examples
    --------
    >>> short("data/before.csv"), short("group=a/b.c")
    ('before.csv', 'group=a/b.c')
    """
    return brief(PurePath(name).name if "=" not in name and PurePath(name).suffix else name)


def brief(name: str) -> str:
    """Return the start of a long name.

    Examples
    --------
    >>> brief("dose"), brief("a" * 50) == "a" * 31 + "…"
    ('dose', True)
    """
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def titles(names: Sequence[str]) -> tuple[str, str]:
    """Return short names of two tables that tell them apart.

    Examples
    --------
    >>> titles(["old/data.csv", "new/data.csv"]), titles(["a", "a"])
    (('old/data.csv', 'new/data.csv'), ('a (first)', 'a (second)'))
    >>> titles(["/mine/2023/raw/data.csv", "/mine/2024/raw/data.csv"])
    ('2023/raw/data.csv', '2024/raw/data.csv')
    """
    first, second = short(names[0]), short(names[1])
    if first != second:
        return first, second
    paths = [PurePath(name).parts for name in names]
    for length in range(2, max(map(len, paths)) + 1):
        ends = ["/".join(parts[-length:]) for parts in paths]
        if ends[0] != ends[1]:
            return ends[0], ends[1]
    return f"{first} (first)", f"{second} (second)"
