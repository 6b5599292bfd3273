"""Means closer than a margin: margins of columns, and what the intervals of the differences say of them.

A mean is shown to be closer than its margin where the 95 % interval of the difference lies within it, so for one column
at level 0.025, as approximately as the interval. The intervals follow the design, and so does this. It needs no
adjustment for many columns to say that all of them are close: each has to be shown.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...core.cells import column_name
from ...core.validate import check_positive_number
from ...core.words import EVERY, count, did_you_mean, listed, signed
from ...report.description import Grid
from ...tables.columns.kinds import Coding
from .column import ColumnDifference

Margins = float | Mapping[Any, float] | None
"""One margin for all columns of numbers, or margins by column; "*" stands for the other columns of numbers."""


def by_column(equivalence: Margins) -> dict[str, float]:
    """Return the margins by column, that of all other columns of numbers under "*".

    Raises
    ------
    ValueError, TypeError
        When a margin is not a positive number.
    """
    if equivalence is None:
        return {}
    given = equivalence if isinstance(equivalence, Mapping) else {EVERY: equivalence}
    return {column_name(name): check_positive_number(margin, "equivalence") for name, margin in given.items()}


def margins_of(equivalence: Margins, codings: Sequence[Coding]) -> dict[str, float]:
    """Return the margin of every column that has one.

    Raises
    ------
    ValueError
        When a column that is named is not compared, or has no mean, or no column holds numbers.
    """
    given, known = by_column(equivalence), {coding.name: coding for coding in codings}
    for name in given.keys() - {EVERY}:
        if name not in known:
            raise ValueError(
                f"equivalence names a column {name!r} that is not compared{did_you_mean(name, known)}; columns that "
                f"vary are {listed(known)}"
            )
        if not known[name].type.averaged:
            raise ValueError(
                f"equivalence names the column {name!r}, which holds categories: these have no mean, so leave it out"
            )
    plain = [name for name, coding in known.items() if coding.type.plain] if EVERY in given else []
    if EVERY in given and not plain:
        raise ValueError("equivalence is for columns of numbers, and no column that varies holds numbers; leave it out")
    named = {name: margin for name, margin in given.items() if name != EVERY}
    return dict.fromkeys(plain, given.get(EVERY, math.nan)) | named


def closeness(columns: Sequence[ColumnDifference]) -> tuple[Grid, ...]:
    """Return which means are shown to be closer than their margins; nothing where no column has a margin."""
    asked = [column for column in columns if column.equivalent is not None]
    if not asked:
        return ()
    rows = [
        (column.name, "yes" if column.equivalent else "no", _in_words(column), column.difference()) for column in asked
    ]
    shown, rest = (
        sum(bool(column.equivalent) for column in asked),
        [own.name for own in columns if own.equivalent is None],
    )
    left = f"; without a margin, so not judged: {listed(rest)}" if rest else ""
    title = (
        f"Means closer than a margin: shown for {shown} of {count(len(asked), 'column')}, by 95 % intervals within the "
        f"margin, each at level 0.025{left}"
    )
    heads = ("column", "closer", "margin", "difference (95 % interval)")
    strong = frozenset((k, 0) for k, column in enumerate(asked) if column.equivalent)
    return (Grid(title, heads, rows, numbers=2, noun="column", strong=strong),)


def _in_words(column: ColumnDifference) -> str:
    """Return the margin of a column in the unit in which its difference is written."""
    unit, divisor = column.type.unit(column.means[0] - column.means[1])
    return f"{signed(column.margin / divisor)}{unit}"
