"""Words that results share: p-values beside a level, short names of tables and columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath

from scipy.stats import binom

WEAK = 0.05
"""The strength of a pair of columns is called low below this."""
_LONGEST_NAME, _MOST_DIGITS = 32, 17
_RARE = 0.02
"""The probability below which so small a count of permutations is rare."""


def together_of(columns: int) -> str:
    """Return what a verdict is about: all columns together where there are several, whatever each shows alone."""
    return ", all columns taken together" if columns > 1 else ""


def beside(p: float, level: float) -> str:
    """Return a p-value with as many digits as show on which side of a level it lies.

    Examples
    --------
    >>> beside(0.0123456, 0.05), beside(0.05, 0.05), beside(0.0500001, 0.05)
    ('0.0123', '0.05', '0.0500001')
    """
    texts = (f"{p:.{digits}g}" for digits in range(3, _MOST_DIGITS + 1))
    return next((text for text in texts if (float(text) <= level) == (p <= level)), repr(p))


def close_call(
    p: float, level: float, n_resamples: int, resamples: str = "permutations", *, draws_rows: bool = False
) -> str:
    """Return how far a p-value varies with the permutations that were drawn if a level is within that, else "".

    Within two standard errors, at the level, of a share of so many permutations. If the seed also draws the rows that
    stand for kernels, p varies more than that, however many permutations there are.

    Examples
    --------
    >>> close_call(0.0505, 0.05, 999)
    '0.0505 ± 0.0069 by the choice of permutations; more of them decide (n_resamples=9999)'
    >>> close_call(0.0505, 0.05, 10**6), close_call(0.01, 0.05, 999)
    ('', '')
    """
    varies = near(p, level, n_resamples)
    more = 10 ** (round(math.log10(1 + n_resamples)) + 1) - 1
    rest = f"; more of them decide (n_resamples={more})"
    if draws_rows:
        rest = ", and more by that of rows to stand for kernels: another seed may decide otherwise"
    return varies and f"{varies} by the choice of {resamples}{rest}"


def near(p: float, level: float, n_resamples: int, times: float = 1.0) -> str:
    """Return a p-value and its standard error at a level if it is within two of them, else "".

    It is a share of so many permutations, multiplied by ``times`` if it is adjusted. So few of them may then decide
    that the normal approximation fails: a count that is rare at the level, by the binomial distribution, is not near.
    Nor is an adjusted p-value that none of them reached: it is as small as it can be.
    """
    share = level / times
    error = times * math.sqrt(share * (1.0 - share) / (1 + n_resamples))
    reached = round(p / times * (1 + n_resamples)) - 1
    if times > 1.0 and reached == 0:
        return ""
    if abs(p - level) > 2.0 * error or float(binom.cdf(reached, n_resamples, share)) < _RARE:
        return ""
    return f"{beside(p, level)} ± {error:.2g}"


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
