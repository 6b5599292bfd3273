"""What the columns of a table are taken for, and why, by the rules of ``compare``; no column is refused here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ..core.array import SILENT, IntArray, Progress
from ..core.cell_formats import joint_readings
from ..core.cells import missing_cells
from ..core.table import Frame
from ..core.words import Advice, cut, leave_out, percent
from ..tables.columns import Encoding
from ..tables.columns.agreement import Named
from ..tables.columns.copies import repeated_cells
from ..tables.columns.inspection import Inspection
from ..tables.columns.kinds import KINDS, CategoryKind, ColumnKind, TooManyCategoriesError
from ..tables.columns.labels import label_counts
from ..tables.columns.missing import rules_for
from ..tables.columns.scan import TableScan
from ..tables.columns.texts import Finding, insist
from ..tables.drawn import Drawn
from ..tables.source import Source
from .cells import texts_of as as_read
from .described import FEW_BLANK, DescribedColumn, DescribedTable, drop_option

_SHOWN, _LONGEST, _FEW_LEVELS, _TWO = 3, 20, 20, 2
_DRAWN = 100_000
"""At most so many rows of a long table give ranges and most common values."""
_LABEL = "rows"


@final
@dataclass(frozen=True)
class SeenTable:
    """What was found in all rows of a table, which need not all be held."""

    inspection: Inspection
    missing: Mapping[str, int]
    """The missing cells of every column."""
    n_rows: int

    @classmethod
    def of(cls, frame: Frame, encoding: Encoding) -> SeenTable:
        """Look at a whole table."""
        inspection = encoding.inspection(frame, 1)
        inspection.add(frame, 0)
        return cls(inspection, _blank(frame), len(frame))


def describe_columns(frame: Frame, encoding: Encoding, seen: SeenTable | None = None) -> DescribedTable:
    """Return what every column of a table is taken for.

    Parameters
    ----------
    frame : Frame
        The rows, or some of them.
    encoding : Encoding
        What the user says about the columns.
    seen : SeenTable, optional
        What was found in all rows, if the frame has only some of them.

    Raises
    ------
    ValueError
        When the user names a column that does not exist.

    Notes
    -----
    O(n d log n) time.

    Examples
    --------
    >>> frame = Frame({"x": np.array([1.5, 2.0, np.nan])}, "t")
    >>> (column,) = describe_columns(frame, Encoding()).columns
    >>> column.taken, column.values, column.missing
    ('number', '1.5 to 2', 1)
    """
    rules, named = rules_for(encoding.missing, frame.names), encoding.named
    seen = seen or SeenTable.of(frame, encoding)
    judged = seen.inspection.judged()
    columns = tuple(
        _described(_ToDescribe(frame, name, encoding, named, rules[name], seen), *judged.get(name, (None, None)))
        for name in frame.names
    )
    blank = tuple(one.name for one in columns if one.missing and rules[one.name] == "error")
    usable = frame.select([one.name for one in columns if not one.stops])
    ways = {name: finding.reading for name, (finding, _) in judged.items() if finding is not None and finding.reading}
    notes = (*repeated_cells(frame), *frame.notes)
    readings = joint_readings(
        {name: reading for name, reading in ways.items() if not (_has_points(usable) and "decimal" in reading)}
    )
    undecided = {name: each.advice for name, (each, _) in judged.items() if each is not None and len(each.readings) > 1}
    table = DescribedTable(columns, seen.n_rows, blank, notes, frame.source, 0, readings, undecided)
    masks = [missing_cells(frame[name]) for name in table.blank_kept]
    share = float(np.any(masks, axis=0).mean()) if masks else 0.0
    return replace(table, blank_rows=round(share * seen.n_rows))


def _has_points(frame: Frame) -> bool:
    """Return whether numbers with a decimal point were read, as which another decimal mark would not read them."""
    numbers = [frame[name] for name in frame.names if frame[name].dtype == np.float64]
    return frame.marks.decimal == "." and any(bool((values[~np.isnan(values)] % 1 != 0).any()) for values in numbers)


def describe_long(source: Source, encoding: Encoding, seed: int = 0, progress: Progress = SILENT) -> DescribedTable:
    """Return what every column of a table is taken for, reading it batch by batch in bounded memory.

    Kinds and missing cells are those of all rows. Ranges, most common values and the number of different ones are those
    of rows drawn with ``seed``, and a note says so.

    Raises
    ------
    ValueError
        When the table has no rows, or the user names a column that does not exist.
    """
    drawn, missing, inspection = Drawn(_DRAWN, seed), Counter[str](), None
    for frame in source.frames():
        inspection = inspection or encoding.inspection(frame, 1)
        inspection.add(frame, 0)
        missing.update(_blank(frame))
        drawn.add(frame)
        progress(_LABEL, drawn.seen, max(drawn.seen, source.n_rows or 0))
    if inspection is None:
        raise ValueError(f"{source.source} has no rows")
    some = drawn.frame.take(np.argsort(drawn.numbers))
    table = describe_columns(replace(some, notes=source.notes), encoding, SeenTable(inspection, missing, drawn.seen))
    if len(some) == drawn.seen:
        return table
    note = (
        f"values and their number are those of a random {len(some):,} of {drawn.seen:,} rows (seed {seed}); kinds and "
        "missing cells are those of all rows"
    )
    return replace(table, notes=(*table.notes, note))


def _blank(frame: Frame) -> dict[str, int]:
    return {name: int(missing_cells(frame[name]).sum()) for name in frame.names}


@final
@dataclass(frozen=True)
class _ToDescribe:
    """One column of a table, and what the user says about it."""

    frame: Frame
    name: str
    encoding: Encoding
    named: Named
    rule: str
    """What is done with its missing cells."""
    seen: SeenTable

    @property
    def missing(self) -> int:
        """The missing cells of all rows."""
        return self.seen.missing[self.name]

    def kind(self) -> tuple[ColumnKind, bool]:
        """Return the kind, and whether cells differ; raise as a comparison does, but not for missing cells."""
        column = replace(self.frame, cells={self.name: self.frame[self.name]})
        missing = {self.name: "category" if self.rule == "error" else self.rule}
        ordinal = {self.name: levels} if (levels := self.named.ordinal.get(self.name)) else None
        categorical = (self.name,) if self.name in self.named.categorical else ()
        encoding = replace(self.encoding, missing=missing, ordinal=ordinal, categorical=categorical)
        (coding,) = TableScan.of([column], encoding)[0].codings()
        return coding.type, coding.varies

    @property
    def cells(self) -> Any:
        """The cells that are not missing."""
        cells = self.frame[self.name]
        return cells[~missing_cells(cells)]

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers."""
        if self.frame[self.name].dtype != np.float64:
            return False
        cells = self.cells
        return bool(np.isfinite(cells).all() and (cells == np.rint(cells)).all())

    def values(self) -> tuple[int | None, str]:
        """Return the number of different cells, and their range or the most common ones."""
        declared = self.frame.declared.get(self.name)
        if self.frame[self.name].dtype.kind in "fmM" and (declared is None or declared.kind == "zoned"):
            return self._range()
        try:
            labels = label_counts(self.frame, self.name)
        except TypeError:  # cells such as lists
            return None, ""
        counts = Counter({text: n for text, n in labels.items() if text is not None})
        return len(counts), _most_common(counts) if counts else ""

    def _range(self) -> tuple[int, str]:
        """Return the number of different numbers or times, and the lowest and the highest."""
        cells = self.frame[self.name]
        known: IntArray = np.flatnonzero(~np.isnan(cells))
        if not len(known):
            return 0, ""
        ordered = np.sort(cells[known])
        lowest, highest = known[cells[known].argmin()], known[::-1][cells[known][::-1].argmax()]
        first, last = as_read(self.frame, self.name, np.array([lowest, highest]))
        return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1])), first if first == last else f"{first} to {last}"


def _most_common(counts: Counter[str]) -> str:
    """Return the most common texts with their shares, or examples if none occurs twice."""
    common, total = counts.most_common(_SHOWN), sum(counts.values())
    more = [f"{len(counts) - len(common):,} more"] if len(counts) > len(common) else []
    repeats = common[0][1] > 1 or len(counts) == 1
    shown = [f"{cut(text, _LONGEST)} {percent(n / total)}" if repeats else cut(text, _LONGEST) for text, n in common]
    return ", ".join([*shown, *more])


def _described(column: _ToDescribe, finding: Finding | None, note: str | None) -> DescribedColumn:
    """Return what a column is taken for, given what was found or noted about it."""
    missing = column.missing
    distinct, values = column.values()
    taken, why, change, stops = _refused(finding) if finding is not None else _kind(column, note, distinct)
    few = distinct is not None and _TWO < distinct <= _FEW_LEVELS
    may_differ = few and column.named.find(column.name) is None and (taken == CategoryKind.taken or column.is_whole)
    decide = stops or note is not None or taken not in [kind.taken for kind in KINDS.values()] or may_differ
    if column.rule == "error" and 0 < missing < column.seen.n_rows:
        rules = "drop or category" if missing <= FEW_BLANK * column.seen.n_rows else "category or drop"
        change = f"{change}; its blank cells: missing= {rules}"
    return DescribedColumn(column.name, taken, why, Advice(change), stops, missing, distinct, values, decide)


def _refused(finding: Finding) -> tuple[str, str, str, bool]:
    advice = f"{finding.advice}, or " if finding.advice else ""
    insisting = f" or {finding.insisting}" if finding.insist else ""
    return finding.taken, finding.what, f"{advice}{drop_option(finding.column)}{insisting}", True


def _kind(column: _ToDescribe, note: str | None, distinct: int | None) -> tuple[str, str, str, bool]:
    """Return what a column without findings is taken for, why, what changes that, and whether it stops."""
    name = column.name
    if distinct == 0:
        whole = column.missing == column.seen.n_rows
        why = "every cell is blank" if whole else "every cell of the rows that were drawn is blank"
        return "nothing", why, drop_option(name), whole and column.rule in ("error", "drop")
    try:
        kind, varies = column.kind()
    except TooManyCategoriesError as error:
        return "category", f"has {error.found[name]}", f"{drop_option(name)}, or group rare categories first", True
    except (TypeError, ValueError) as error:
        what, _, mend = str(error).partition("; ")
        what = what.removeprefix(f"{column.frame.source}: ").removeprefix(f"column {name!r} ")
        return "none of the kinds", what, mend or leave_out([name]), True
    noted = [note.removeprefix(f"{name} ")] if note else []
    most = column.encoding.max_categories
    pooled = kind.by_shares and (distinct or 0) > most
    noted += [f"the {most:,} most frequent are kept, and the others are one category"] * pooled
    constant = [] if varies else ["the same in every row, so left out"]
    reason, change = _reasons(column, kind, distinct or 0)
    return kind.taken, "; ".join([reason, *noted, *constant]), change, False


def _reasons(column: _ToDescribe, kind: ColumnKind, distinct: int) -> tuple[str, str]:
    """Return in a few words why a column is of its kind, and the options that take it for something else."""
    name, named = column.name, column.named
    if name in named.ordinal:
        return "ordinal= names its levels", "without ordinal="
    if name in named.categorical:
        return "categorical= names it", f"without {insist('categorical', [name])}"
    why, others = kind.reasons(name, distinct, whole=column.is_whole, declared=name in column.frame.declared)
    return why, ", or ".join([*others, drop_option(name)])
