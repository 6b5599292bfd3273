"""What a comparison found in single columns, in one or two sentences for screen and page."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from ...core.words import ABSENT, count, leave_out, listed, percent, signed
from ...inference.wording import brief, titles
from ...report.description import Grid
from ...tables.columns import Encoded, MissingCells
from ..designs import TableDesign
from .column import ColumnDifference
from .row_weights import RowWeights

_MOST, _FEWEST, _MUCH = 3, 10, 0.2
"""Columns whose spread is named; rows that a spread needs; the change of its logarithm that is named with a design, and
the share of a variance that one cell should not have."""
_SELDOM, _CLEAR = np.log(0.01), 3.0
"""The logarithm of a chance that is too small for chance; standard errors that are clearly more than chance."""


class Compared(ABC):
    """The part of a comparison that words on single columns rest on."""

    names: tuple[str, str]
    sizes: tuple[int, int]
    columns: tuple[ColumnDifference, ...]
    missing: MissingCells
    encoded: Encoded
    level: float
    design: TableDesign
    row_weights: RowWeights | None

    @abstractmethod
    def adjusted(self) -> dict[str, float]:
        """Return the adjusted p-value of every column."""

    @abstractmethod
    def differ(self) -> bool:
        """Whether the joint test rejects one distribution for both tables."""

    @abstractmethod
    def limits(self) -> tuple[str, ...]:
        """Return a note if no column can be found to differ."""


@final
@dataclass(frozen=True)
class TableSpread:
    """How a column of numbers is spread in one table."""

    name: str
    """What to call the table."""
    deviation: float
    without: float
    """The standard deviation without its most extreme value, if that makes up much of it, else the same."""
    extreme: str
    """That value, or nothing."""
    error: float
    """The standard error of the logarithm of ``without``, for rows that do not depend on each other."""

    def words(self) -> str:
        """Return the standard deviation, and how much of it is one value."""
        rest = f" ({signed(self.without)} without its most extreme value, {self.extreme})" if self.extreme else ""
        return f"{signed(self.deviation)} in {self.name}{rest}"


def facts_on_columns(result: Compared) -> list[tuple[str, str]]:
    """Return what the table of columns does not show: dates, changed spreads, categories."""
    spreads = changed_spreads(result)
    alone = [words for column in differing(result) for words in lone_categories(result, column)]
    dates = [column.name for column in differing(result) if column.type.dated]
    return [
        *([("dates", _on_dates(dates))] if dates and len(result.columns) > len(dates) else []),
        *(
            [("spread", f"changed more than the mean in {'; '.join(spreads)}; a description, not a test")]
            if spreads
            else []
        ),
        *([("categories", "; ".join(alone[:_MOST]))] if alone else []),
    ]


def _on_dates(names: list[str]) -> str:
    """Return in words that dates differ between tables of different times, and how to leave them out."""
    have, them, so = ("holds", "it", "it differs") if len(names) == 1 else ("hold", "them", "they differ")
    return (
        f"{listed(names)} {have} dates, and the test of all columns counts {them}: if the tables are of different "
        f"times, {so} whatever else does; leave {them} out {leave_out(names)}"
    )


def differing(result: Compared) -> list[ColumnDifference]:
    """Return the columns that differ on their own."""
    values = result.adjusted()
    return [column for column in result.columns if values[column.name] <= result.level]


def changed_spreads(result: Compared, first: int = 0) -> list[str]:
    """Return in words how the spread of columns changed, from the ``first`` that differs on.

    They are those in which it changed beyond chance, and more than the mean did; of more than three it says how many.
    """
    changed = [(column, spreads_of(result, column)) for column in differing(result)[first:]]
    texts = [
        spread_in_words(result, column, spreads)
        for column, spreads in changed
        if spreads and abs(log_ratio(spreads)) > max(abs(column.gap), _beyond_chance(result, spreads))
    ]
    return [*texts[:_MOST], *([count(len(texts) - _MOST, "more column")] if len(texts) > _MOST else [])]


def _beyond_chance(result: Compared, spreads: tuple[TableSpread, ...]) -> float:
    """Return the change of the logarithm of a spread from which on it is named; with a design, errors may be larger."""
    first, second = spreads
    return max(_MUCH if result.design else 0.0, _CLEAR * float(np.hypot(first.error, second.error)))


def lone_categories(result: Compared, column: ColumnDifference) -> list[str]:
    """Return in words the most frequent category of either table that the other lacks by more than chance."""
    if not column.type.by_shares or result.design:
        return []
    texts = []
    for here, other in ((0, 1), (1, 0)):
        alone = [entry for entry in column.shares if entry.shares[other] == 0.0 and entry.category != ABSENT]
        most = max(alone, key=lambda entry: entry.shares[here], default=None)
        rows = 0.0 if most is None else most.shares[here] * result.sizes[here]
        if most is not None and rows * np.log(result.sizes[here] / sum(result.sizes)) < _SELDOM:
            names = groups(result.names)
            share = percent(most.shares[here])
            texts.append(
                f"{brief(column.name)}: {brief(most.category)} only in {names[here]}, {share}; no row of {names[other]}"
            )
    return texts


def blank_cells(result: Compared, column: ColumnDifference) -> tuple[str, ...]:
    """Return what to say of blank cells in either table, if they differ more than the means do, and beyond chance."""
    shares = result.missing.shares(column.name, result.sizes)
    if not shares or column.type.by_shares or result.design:
        return "", ""
    n, m = result.sizes
    whole = (n * shares[0] + m * shares[1]) / (n + m)
    apart = abs(shares[0] - shares[1]) / max(np.sqrt(whole * (1.0 - whole)), np.finfo(float).tiny)
    if apart <= max(abs(column.gap), _CLEAR * np.sqrt(1.0 / n + 1.0 / m)):
        return "", ""
    return tuple(f", {percent(share)} blank" for share in shares)


def on_columns(result: Compared) -> str:
    """Return in words which columns differ on their own."""
    values = result.adjusted()
    names = [brief(name) for name, p in values.items() if p <= result.level]
    if len(values) == 1:
        return f"{brief(*values)} is the only column, so the test of both tables is the test of it."
    if names:
        how_many, differ = ("One", "differs") if len(names) == 1 else (len(names), "differ")
        pronoun = "its" if len(names) == 1 else "their"
        return f"{how_many} of {len(values)} columns {differ} on {pronoun} own: {listed(names)}."
    if result.limits():
        return f"With so few rows or permutations none of the {len(values)} columns can be found to differ on its own."
    if result.differ():
        return (
            f"None of the {len(values)} columns is shown to differ on its own: the difference may lie in how columns "
            "go together, or be spread over several of them."
        )
    return f"None of the {len(values)} columns is shown to differ on its own."


def spreads_of(result: Compared, column: ColumnDifference) -> tuple[TableSpread, ...]:
    """Return how a column of numbers is spread in both tables, weighted as the means; nothing of few rows."""
    if not column.type.plain or column.shares:
        return ()
    coding = next(coding for coding in result.encoded.codings if coding.name == column.name)
    cells = [coding.numbers(frame) for frame in result.encoded.frames]
    known = [np.isfinite(numbers) for numbers in cells]
    weights = [mask.astype(np.float64) for mask in known] if result.row_weights is None else result.row_weights(known)
    spreads = []
    for name, values, counted in zip(groups(result.names), cells, weights, strict=True):
        used = counted > 0.0
        if used.sum() < _FEWEST:
            return ()
        spreads.append(_spread(name, values[used], counted[used]))
    return tuple(spreads) if min(spread.without for spread in spreads) > 0.0 else ()


def _spread(name: str, values: Array, weights: Array) -> TableSpread:
    squares = weights * np.square(values - np.median(values))
    farthest, (deviation, error) = int(squares.argmax()), _deviation(values, weights)
    if squares[farthest] > _MUCH * squares.sum():
        without, error = _deviation(np.delete(values, farthest), np.delete(weights, farthest))
        return TableSpread(name, deviation, without, signed(float(values[farthest])), error)
    return TableSpread(name, deviation, deviation, "", error)


def _deviation(values: Array, weights: Array) -> tuple[float, float]:
    """Return a standard deviation, and the standard error of its logarithm by the delta method."""
    centered = values - np.average(values, weights=weights)
    unit = float(np.abs(centered).max()) or 1.0  # fourth powers neither overflow nor vanish
    squares = np.square(centered / unit)
    variance = np.average(squares, weights=weights)
    fourth = np.average(np.square(squares), weights=weights)
    rows = np.square(weights.sum()) / np.square(weights).sum()
    error = np.sqrt(max(fourth - variance**2, 0.0) / rows) / (2.0 * variance) if variance > 0.0 else np.inf
    unbiased = rows / (rows - 1.0) if rows > 1.0 else 1.0
    return float(np.sqrt(unbiased * variance)) * unit, float(error)


def log_ratio(spreads: tuple[TableSpread, ...]) -> float:
    """Return the logarithm of how much wider the second table is, without values that make up much of a spread."""
    return float(np.log(spreads[1].without / spreads[0].without))


def spread_in_words(result: Compared, column: ColumnDifference, spreads: tuple[TableSpread, ...]) -> str:
    """Return the standard deviations of a column in both tables."""
    weighted = "" if result.row_weights is None else "weighted "
    return f"{brief(column.name)}: {weighted}standard deviation {spreads[0].words()}, {spreads[1].words()}"


def closeness(columns: Sequence[ColumnDifference]) -> tuple[Grid, ...]:
    """Return which means are shown to be closer than their margins; nothing where no column has a margin.

    A mean is closer where the 95 % interval of the difference lies within the margin, so for one column at level 0.025,
    as approximately as the interval. It needs no adjustment for many columns to say that all of them are close: each
    has to be shown.
    """
    with_margin = [column for column in columns if not math.isnan(column.margin)]
    if not with_margin:
        return ()
    words = {True: "yes", False: "no", None: "no interval"}
    rows = [(column.name, words[column.equivalent], _in_words(column), column.difference()) for column in with_margin]
    shown = sum(bool(column.equivalent) for column in with_margin)
    rest = [column.name for column in columns if math.isnan(column.margin)]
    left = f"; without a margin, so not judged: {listed(rest)}" if rest else ""
    unknown = any(column.equivalent is None for column in with_margin)
    left += "; without an interval, as for a stratum of one row or cluster, nothing can be shown" if unknown else ""
    title = (
        f"Means closer than a margin: shown for {shown} of {count(len(with_margin), 'column')}, by approximate "
        f"95 % intervals within the margin, each at a level of about 0.025{left}"
    )
    heads = ("column", "closer", "margin", "difference (95 % interval)")
    strong = frozenset((k, 0) for k, column in enumerate(with_margin) if column.equivalent)
    return (Grid(title, heads, rows, numbers=2, noun="column", strong=strong),)


def _in_words(column: ColumnDifference) -> str:
    """Return the margin of a column in the unit in which its difference is written."""
    unit, divisor = column.type.unit(column.means[0] - column.means[1])
    return f"{signed(column.margin / divisor)}{unit}"


def groups(names: tuple[str, str]) -> tuple[str, str]:
    """Return the titles of two tables; of two groups of one column, which the headline names, without the column.

    Examples
    --------
    >>> groups(("clinic=North", "clinic=South")), groups(("target=0", "target=1"))
    (('North', 'South'), ('target=0', 'target=1'))
    """
    (by, sign, one), (other, _, two) = (name.partition("=") for name in names)
    are_words = sign and by == other and not (one + two).strip("-.").replace(".", "").isdecimal()
    return titles((one, two) if are_words else names)
