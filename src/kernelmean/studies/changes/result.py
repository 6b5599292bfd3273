"""The result of a search for change points."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from ...core.frozen import Frozen
from ...core.table import Frame
from ...core.words import count, listed
from ...inference import EvidenceKind
from ...inference.changes import Search
from ...inference.wording import beside, brief
from ...report import pictures
from ...report.description import Description, Grid
from ...tables.columns import Encoded, MissingCells
from ...tables.columns.encoded import ENCODED
from ..levels import Levels
from ..plots.changes import series_panels, shown
from ..study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_COLUMNS = 3


@final
@dataclass(frozen=True)
class ChangePoint:
    """A place in a table where the distribution of its rows changes.

    Attributes
    ----------
    row : int
        The number of rows before the change, so ``table[row:]`` begins with the first row of the new segment.
    low, high : int
        An interval for ``row``.
    pvalue : float
        The p-value, adjusted for all places of the table.
    kind : EvidenceKind or None
        How the segments on either side differ: a description, not a test.
    columns : tuple of str
        The columns that differ on their own between these segments, those that differ most first.
    time, earliest, latest : str
        The times of the rows ``row``, ``low`` and ``high`` as text, in UTC (with the letter Z) if they have a time
        zone; empty if no time column was named.
    """

    row: int
    low: int
    high: int
    pvalue: float
    kind: EvidenceKind | None
    columns: tuple[str, ...]
    time: str = ""
    earliest: str = ""
    latest: str = ""

    @property
    def words(self) -> str:
        """What changes, in a few words."""
        kind = self.kind.words if self.kind is not None and self.kind.clear else "of no clear kind"
        more = len(self.columns) - _MOST_COLUMNS
        names = ", ".join(map(brief, self.columns[:_MOST_COLUMNS])) + (f" and {more} more" if more > 0 else "")
        return f"{kind}: {names}" if names else kind


@final
@dataclass(frozen=True, eq=False)
class Changes(Frozen, Study):
    """The change points of a table in time order.

    Attributes
    ----------
    pvalue : float
        The p-value of "no change at all": if nothing changes, it is at most α with probability at most α.
    points : tuple of ChangePoint
        The change points, in the order of time, of all columns together and of single columns.
    n_rows : int
        The number of rows of the table, or of those drawn from it.
    time : str or None
        The column of the time.
    search : Search
        The level and the other options of the search.
    notes : tuple of str
        What else a reader should know.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column.
    encoded : Encoded
        The table as the coordinates that the kernels see.
    stamps : Frame or None
        The column of the time, for pictures.
    name : str
        What to call the table.
    seed : int or None
        The seed of the run, if reports are to name it.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (ChangePoint, EvidenceKind, Search, *ENCODED)

    pvalue: float
    points: tuple[ChangePoint, ...]
    n_rows: int
    time: str | None
    search: Search
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)
    stamps: Frame | None = field(default=None, repr=False)
    name: str = "the table"
    seed: int | None = None

    @property
    def segments(self) -> tuple[slice, ...]:
        """The rows between the change points, as slices of the table."""
        ends = [0, *(point.row for point in self.points), self._end]
        return tuple(map(slice, ends, ends[1:]))

    @property
    def _end(self) -> int:
        """The number of the last row: more than ``n_rows`` if rows were drawn from a longer table."""
        return max(self.n_rows, int(self.encoded.frames[0].row_numbers()[-1]))

    def verdict(self) -> str:
        """Return the outcome in one sentence, with which every report begins."""
        level = self.search.level
        p = f"p = {beside(self.pvalue, level)}, {'at most' if self.pvalue <= level else 'above'} {level:g}"
        drawn = " that were drawn" if self._end > self.n_rows else ""
        rows = f"{count(self.n_rows, 'row')}{drawn}"
        if not self.points:
            return f"No change was found in {rows}: {p}. That does not show that there is none."
        places = listed(point.time or f"{point.row:,}" for point in self.points)
        where = f"{'at' if self.time else 'after'} {places}{'' if self.time else ' rows'}"
        if self.pvalue > level:
            one = len(self.points) == 1
            likely = "The most likely change is" if one else f"The {len(self.points):,} most likely changes are"
            return f"{likely} {where}, but chance alone gives as clear a one: {p}."
        return f"{count(len(self.points), 'change')} found in {rows}, {where}: {p}."

    def describe(self) -> Description:
        """Return the verdict, the change points, and how they were found."""
        search = self.search
        facts = [
            ("rows", f"{self.n_rows:,}"),
            ("columns", listed(self.encoded.in_table_order())),
            ("level", f"{search.level:g}{self._shares()}; intervals miss a change with this probability"),
            *([] if search.n_changes is None else [("change points asked for", f"{search.n_changes}")]),
            ("shortest segment", count(search.least_segment, "row")),
            *([("blocks", f"{search.block:,} rows stay together")] if search.block > 1 else []),
            ("permutations", f"{search.n_resamples:,} or more of every stretch{self._bins()}"),
            *self._advice(),
        ]
        header = ("rows before", "adjusted p", "what changes", "interval", *(("time",) if self.time else ()))
        rows = [
            (
                f"{point.row:,}",
                f"{point.pvalue:.2g}",
                point.words,
                f"{point.low:,} to {point.high:,}",
                *((f"{point.time} ({point.earliest} to {point.latest})",) if self.time else ()),
            )
            for point in self.points
        ]
        grid = Grid("Change points", header, rows, len(header), "change point")
        notes = (*self.notes, *self._overlaps())
        return Description(f"Changes in {self.name}", self.verdict(), facts, (grid, *self._between()), notes)

    def _between(self) -> list[Grid]:
        """Return by how much columns change: what they are like in every segment; nothing if none changes.

        Of categories it is the share of the one that changes most where the column first does.
        """
        if not any(point.columns for point in self.points):
            return []
        (frame,), codings = self.encoded.frames, {coding.name: coding for coding in self.encoded.codings}
        ends = np.searchsorted(frame.row_numbers() - 1, [segment.start for segment in self.segments[1:]])
        frames = [frame.take(rows) for rows in np.split(np.arange(len(frame)), ends)]
        header, columns = ["rows"], [[_rows(segment) for segment in self.segments]]
        for name in shown(self)[:_MOST_COLUMNS]:
            first = next(k for k, point in enumerate(self.points) if name in point.columns)
            levels = Levels.of(codings[name], frames, (first, first + 1))
            header.append(brief(levels.described))
            columns.append(list(levels.words))
        title = "Between the changes: means ± standard deviations, or shares of a category"
        return [Grid(title, tuple(header), list(zip(*columns, strict=True)), len(header), "segment")]

    def _shares(self) -> str:
        """Return how the level is shared, if single columns are searched too."""
        together, single = self.search.shares(len(self.encoded.codings))
        level = self.search.level
        both = f"{level * together:g} for all columns together and {level * (1 - together):g} for single columns"
        return f", {both}" if single else ""

    def _bins(self) -> str:
        """Return which rows permutations keep together, if these are more than the blocks that were asked for."""
        rows = self.search.bin_rows(self.n_rows)
        return (
            f"; those of the whole table keep {rows:,} rows together, as it is long" if rows > self.search.block else ""
        )

    def _overlaps(self) -> list[str]:
        """Return a note if intervals of neighboring changes overlap."""
        pairs = [(one, two) for one, two in zip(self.points, self.points[1:], strict=False) if two.low <= one.high]
        places = listed(f"{one.row:,} and {two.row:,}" for one, two in pairs)
        meaning = "each is where its change can be if the other change is after the rows given"
        return [f"the intervals of the changes after rows {places} overlap: {meaning}"] if pairs else []

    def _advice(self) -> list[tuple[str, str]]:
        """Return how to see what no column shows on its own."""
        together = [point.row for point in self.points if not point.columns]
        if not together or len(self.encoded.codings) == 1:
            return []
        row = together[0]
        return [
            ("which pairs", f"compare the dependence within rows 1 to {row:,} with that within the rows after them")
        ]

    def plot(self) -> Figure:
        """Draw every column that changes, over time and with the change points."""
        drawn = series_panels(self)
        return pictures.show_all(drawn, [self.verdict(), *[""] * (len(drawn) - 1)], wide=1, size=(6.4, 2.2))

    def rows(self) -> list[dict[str, Any]]:
        """Return every change point."""
        return [
            {
                **{name: value for name, value in asdict(point).items() if name not in ("kind", "columns")},
                "kind": None if point.kind is None else point.kind.name,
                "columns": ", ".join(point.columns),
            }
            for point in self.points
        ]

    def to_frame(self) -> Any:
        """Return :meth:`rows` as a pandas data frame, in which times are times or numbers, as in the table.

        Raises
        ------
        ImportError
            When pandas is not installed.
        """
        frame = super().to_frame()
        for name in ("time", "earliest", "latest") if self.time is not None and self.points else ():
            frame[name] = _as_times(frame[name])
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names and numbers, for JSON."""
        return {
            "verdict": self.verdict(),
            "pvalue": self.pvalue,
            "points": [asdict(point) for point in self.points],
            "segments": [[rows.start, rows.stop] for rows in self.segments],
            "rows": self.n_rows,
            "columns": list(self.encoded.in_table_order()),
            "time": self.time,
            "search": asdict(self.search),
            "missing": self.missing.as_dict(),
            "notes": list(self.notes),
            "seed": self.seed,
        }


def _rows(segment: slice) -> str:
    return f"{segment.start + 1:,} to {segment.stop:,}"


def _as_times(texts: Any) -> Any:
    """Return a pandas Series of texts as the numbers, times or spans of time that they say."""
    import pandas as pd

    for read in (pd.to_numeric, partial(pd.to_datetime, format="ISO8601"), pd.to_timedelta):
        try:
            return read(texts)
        except ValueError:
            continue
    return texts
