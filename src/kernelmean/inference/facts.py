"""Facts about a test as pairs of a name and a text: what screens, pages and notebooks say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ..core.words import count
from .result import TestResult

Facts = list[tuple[str, str]]
_LONGEST_NAME, _MOST_DIGITS = 32, 17


def facts_of(test: TestResult, of: str = "") -> Facts:
    """Return the statistic (and ``of`` what it is), the p-value with what it rests on, and the kernels of many."""
    statistic = [("statistic", f"{test.statistic:.4g}, {test.statistic_name}{of}")]
    return [*statistic, ("p-value", origin(test)), *kernel_facts(test)]


def origin(test: TestResult) -> str:
    """Return a p-value with what it rests on."""
    finest = test.pvalue * (test.n_resamples + 1) < 1.5
    source = f"{test.pvalue:.3g}, exact, from {count(test.n_resamples, 'permutation')} (scheme {test.scheme})"
    return source + ("; no smaller one is possible with so many" if finest else "")


def kernel_facts(test: TestResult) -> Facts:
    """Say how many kernels an adaptive test used, and which told most."""
    if not test.members:
        return []
    most = ", ".join(member.label for member in test.strongest(3))
    return [("kernels", f"{len(test.members)}, which make one p-value; strongest: {most}")]


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
