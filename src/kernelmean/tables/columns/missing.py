"""Missing cells: what is done with them, and the messages about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from ...core.cells import column_name, missing_cells
from ...core.table import Frame
from ...core.words import EVERY, count, did_you_mean, leave_out, listed, percent
from .kinds import ColumnKind

RULES = ("error", "drop", "category", "noise")
_NAMED = "'error', 'drop', 'category' or 'noise'"
Missing: TypeAlias = str | Mapping[str, str]
"""One rule for all columns, or one for each of some columns; the others have that of "*", else must be complete."""

_WORDS = {
    "drop": "such rows were left out",
    "category": "a category of its own",
    "noise": "the mean of the column with its variance as noise",
}


@final
@dataclass(frozen=True)
class MissingColumn:
    """The missing cells of one column: what was done with them, and how many there are in every table."""

    name: str
    rule: str
    cells: tuple[int, ...]


@final
@dataclass(frozen=True)
class MissingCells:
    """The missing cells of tables."""

    rule: Any
    """The rule as passed: "error", "drop", "category", "noise", or one of them for each of some of the columns used."""
    columns: tuple[MissingColumn, ...]
    """The columns with missing cells."""
    rows: tuple[int, ...]
    """The number of rows that were left out of every table."""

    def notes(self, sources: Sequence[str], sizes: Sequence[int]) -> tuple[str, ...]:
        """Return sentences for a reader, with the shares of all rows where there are several tables."""
        if not self.columns:
            return ()
        left_out = [
            f"{source}: {count(rows, 'row')} with blank cells left out"
            for source, rows in zip(sources, self.rows, strict=True)
            if rows
        ]
        rows = [size + rest for size, rest in zip(sizes, self.rows, strict=True)] if len(sources) > 1 else []
        return (*left_out, *(note for rule in ("category", "noise") for note in self._kept(rule, sources, rows)))

    def shares(self, name: str, sizes: Sequence[int]) -> tuple[float, ...]:
        """Return the share of a column's missing cells in every table, if they were not left out; else nothing."""
        column = next((each for each in self.columns if each.name == name and each.rule != "drop"), None)
        rows = zip(() if column is None else column.cells, sizes, self.rows, strict=column is not None)
        return tuple(cells / (size + left_out) for cells, size, left_out in rows)

    def _kept(self, rule: str, sources: Sequence[str], rows: Sequence[int]) -> Iterator[str]:
        """Yield how many missing cells of which columns follow a rule, in the order of the tables."""
        parts = [f"{_joined(_shares(each.cells, rows))} of {each.name}" for each in self.columns if each.rule == rule]
        if parts:
            where = "" if len(sources) == 1 else f" in {_joined(sources)}"
            yield f"missing cells{where}: {'; '.join(parts)} ({_WORDS[rule]})"

    @property
    def left_out(self) -> str:
        """How many rows were left out, in words that follow the rows that are left; "" if none was."""
        rows = sum(self.rows)
        return f"; {count(rows, 'row')} with blank cells left out" if rows else ""

    def costly(self, left: Iterable[int]) -> tuple[str, ...]:
        """Return a note if more than a tenth of the rows were left out, given how many are left of every table."""
        return costly_drop(sum(self.rows), sum(left), "row")

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as plain names and numbers, for JSON."""
        columns = [{"name": each.name, "rule": each.rule, "cells": list(each.cells)} for each in self.columns]
        rule = self.rule if isinstance(self.rule, str) else dict(self.rule)
        return {"rule": rule, "columns": columns, "rows_left_out": list(self.rows)}


def _shares(cells: Sequence[int], rows: Sequence[int]) -> list[str]:
    """Return numbers of cells, with their shares of rows, if there are any."""
    if not rows:
        return [f"{number:,}" for number in cells]
    return [f"{number:,} ({percent(number / n)})" if number else "0" for number, n in zip(cells, rows, strict=True)]


def _joined(texts: Sequence[str]) -> str:
    """Return "6", "6 and 7", or "6, 7 and 1"."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 1 else texts)


def costly_drop(gone: int, left: int, noun: str) -> tuple[str, ...]:
    """Return a note if more than a tenth of the rows, or of the pairs, were left out for blank cells.

    Examples
    --------
    >>> costly_drop(9, 17, "row"), costly_drop(1, 17, "row")
    (("17 of 26 rows are left, also for columns without blank cells; missing='category' keeps all",), ())
    """
    if 10 * gone <= gone + left:
        return ()
    all_of = f"{left:,} of {count(gone + left, noun)} are left, also for columns without blank cells"
    return (f"{all_of}; missing='category' keeps all",)


def rules_for(missing: Missing, names: Sequence[str]) -> dict[str, str]:
    """Return the rule of every column.

    Raises
    ------
    ValueError
        When a rule or a column is unknown.
    TypeError
        When ``missing`` is neither a text nor a dict.
    """
    if not isinstance(missing, str | Mapping):
        raise TypeError(f"missing is {missing!r}; write one of {_NAMED}, or a dict from column to one of them")
    rules = {EVERY: missing} if isinstance(missing, str) else {column_name(name): missing[name] for name in missing}
    for name, rule in rules.items():
        if rule not in RULES:
            raise ValueError(f"missing is {rule!r}; write {_NAMED}")
        if name not in names and name != EVERY:
            raise ValueError(f"missing= names a column {name!r} that is not there{did_you_mean(name, names)}")
    return {name: rules.get(name, rules.get(EVERY, "error")) for name in names}


def _check_complete(frames: Sequence[Frame], blank: Sequence[Mapping[str, Any]], missing: Missing, drops: bool) -> None:
    """Raise when cells are missing; say where the first is and how many all tables have in every column."""
    frame, masks = next(((frame, masks) for frame, masks in zip(frames, blank, strict=True) if masks), (None, {}))
    if frame is None:
        return
    counts = sum((Counter({name: int(mask.sum()) for name, mask in each.items()}) for each in blank), Counter[str]())
    name, mask = next(iter(masks.items()))
    empty = [other for other, absent in masks.items() if absent.all()]
    if empty and len(frame) > 1:
        raise ValueError(
            f"{frame.source}: column {empty[0]!r} is blank in every row; leave it out {leave_out(empty[:1])}, or fill "
            "it first"
        )
    row = frame.row_numbers()[int(np.argmax(mask))]
    category = _written_rule(missing, counts, "category")
    dropped = f"{_written_rule(missing, counts, 'drop')} to leave such rows out, "
    more = listed(f"{cells:,} in {other!r}" for other, cells in counts.items() if other != name)
    of = "" if len(frames) == 1 else " of both tables" if len(frames) == 2 else " of all tables"
    raise ValueError(
        f"{frame.source}: row {row}, column {name!r} is blank or NaN "
        f"({count(counts[name], 'such cell')} in this column{of}{'; ' + more if more else ''}); "
        f"write {dropped if drops else ''}{category} for a category of their own, or fill them first"
    )


def _written_rule(missing: Missing, names: Iterable[str], rule: str) -> str:
    """Return the option that gives columns a rule, beside the rules that other columns have been given."""
    if isinstance(missing, str) or not missing:
        return f"missing={rule!r}"
    rules = {**missing, **dict.fromkeys(names, rule)}
    return f"missing={rules!r}"


def _check_noise(names: Sequence[str], types: Mapping[str, ColumnKind]) -> None:
    others = [name for name in names if not types[name].noisy]
    if others:
        raise ValueError(
            f"missing='noise' is for numbers and times, and {others[0]!r} is {types[others[0]].kind}; write a rule for "
            f"each column, such as missing={{{others[0]!r}: 'category'}}, or missing='category' or 'drop'"
        )


def sifted(
    frame: Frame, types: Mapping[str, ColumnKind], missing: Missing, *, drops: bool = True
) -> tuple[Frame, dict[str, int]]:
    """Return some rows without those to leave out (there may be none), and the missing cells of columns that have some.

    Errors suggest to leave rows out only if they may be: ``drops``.
    """
    return all_sifted([frame], types, missing, drops=drops)[0]


def all_sifted(
    frames: Sequence[Frame], types: Mapping[str, ColumnKind], missing: Missing, *, drops: bool = True
) -> list[tuple[Frame, dict[str, int]]]:
    """Return the same of several tables; an error counts the missing cells of all of them."""
    rules, kept = rules_for(missing, frames[0].names), []
    blank = [{name: mask for name in frame.names if (mask := missing_cells(frame[name])).any()} for frame in frames]
    if not any(blank):
        return [(frame, {}) for frame in frames]
    refused = [{name: mask for name, mask in masks.items() if rules[name] == "error"} for masks in blank]
    _check_complete(frames, refused, missing, drops)
    for frame, masks in zip(frames, blank, strict=True):
        _check_noise([name for name in masks if rules[name] == "noise"], types)
        dropped = [mask for name, mask in masks.items() if rules[name] == "drop"]
        used = frame.take(~np.logical_or.reduce(dropped)) if dropped else frame
        kept.append((used, {name: int(mask.sum()) for name, mask in masks.items()}))
    return kept
