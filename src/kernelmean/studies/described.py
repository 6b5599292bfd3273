"""What the columns of a table are taken for: the result of describing one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, final

from ..core.cell_formats import Reading, ways
from ..core.words import Advice, count, listed
from ..report.description import Description, Grid, Shown
from ..tables.columns.kinds import CategoryKind

FEW_BLANK = 0.05
"""The share of rows with blank cells up to which these rows are better left out."""


@final
@dataclass(frozen=True)
class DescribedColumn:
    """A column, what it is taken for, and which options change that."""

    name: str
    taken: str
    """What a kind of column says, or why it is none of them: "identifier", "free text", "codes"."""
    why: str
    change: str
    """The options that take it for something else, or what to write instead."""
    stops: bool
    """Whether a comparison stops at it even without missing cells."""
    missing: int
    distinct: int | None
    """The number of different values; None if cells cannot be told apart, such as lists."""
    values: str
    """The range, or the most common values."""
    decide: bool = False
    """Whether it stops, or may well be meant otherwise, so that somebody should decide."""


@final
@dataclass(frozen=True)
class DescribedTable(Shown):
    """The columns of one table.

    Attributes
    ----------
    columns : tuple of DescribedColumn
        In the order of the table.
    n_rows : int
        The number of rows of the table.
    blank : tuple of str
        The columns whose missing cells would stop a comparison, since no rule was named for them.
    notes : tuple of str
        What else a reader should know.
    name : str
        What to call the table.
    blank_rows : int
        How many rows have a missing cell in one of these columns that its options keep; of a long table by those that
        were drawn.
    readings : dict
        The options that read columns at which a comparison stops, by column, where they are known.
    undecided : dict
        What to choose between for columns that two options read as different numbers or dates, by column.
    """

    columns: tuple[DescribedColumn, ...]
    n_rows: int
    blank: tuple[str, ...]
    notes: tuple[str, ...] = ()
    name: str = "the table"
    blank_rows: int = 0
    readings: Mapping[str, Reading] = field(default_factory=dict)
    undecided: Mapping[str, str] = field(default_factory=dict)

    @property
    def stopping(self) -> tuple[str, ...]:
        """The columns at which a comparison stops."""
        return tuple(column.name for column in self.columns if column.stops)

    def verdict(self) -> str:
        """Return in one sentence whether the table can be compared as it is, and which columns prevent that."""
        whole = f"{self.name} has {count(self.n_rows, 'row')} and {count(len(self.columns), 'column')}"
        stops = [f"at {listed(self.stopping)}"] if self.stopping else []
        blank = [f"at blank cells of {listed(self._blank_only)}"] if self._blank_only else []
        if not self.n_rows or len(self._dropped) == len(self.columns):
            return f"{whole}: there is nothing to compare."
        if not stops + blank:
            few = ", but need more than one row" if self.n_rows == 1 else ""
            return f"{whole}: compare and dependence take all of them as they are{few}."
        return f"{whole}: compare and dependence stop {' and '.join([*stops, *blank])}."

    @property
    def _blank_only(self) -> list[str]:
        return [name for name in self.blank if name not in self.stopping]

    @property
    def _dropped(self) -> list[str]:
        return [name for name in self.stopping if name not in self.readings and name not in self.undecided]

    @property
    def blank_kept(self) -> list[str]:
        """The columns with missing cells without a rule that the options keep."""
        return [name for name in self.blank if name not in self._dropped]

    def options(self) -> str:
        """Return the options that read columns at fault, or leave them out, and rows with blank cells if few.

        If they are not few, blank cells are a category, as are texts that are read as missing. Columns that you have to
        decide on are neither read nor left out.
        """
        left = self._dropped
        if len(left) == len(self.columns):
            return ""
        drop = [f"drop={left!r}"]
        absent = any("na_values" in reading for reading in self.readings.values())
        rule = "drop" if self.blank_rows <= FEW_BLANK * self.n_rows and not absent else "category"
        blank = [f"missing={rule!r}"]
        reads = [f"text={ways(self.readings.values())}"] * bool(self.readings)
        return " ".join(reads + drop * bool(left) + blank * (absent or bool(self.blank_kept)))

    def _blank_cells(self) -> str:
        """Return how many rows have one in a column that is kept, and which column has most of them."""
        missing = {column.name: column.missing for column in self.columns if column.name in self.blank_kept}
        most = max(missing, key=lambda name: missing[name])
        rows = f"{count(self.blank_rows, 'row')} of {self.n_rows:,} {'has' if self.blank_rows == 1 else 'have'} one"
        rows += " in a column that is not dropped" if len(missing) < len(self.blank) else ""
        if len(missing) == 1 or 2 * missing[most] <= self.blank_rows:
            return rows
        return f"{rows}, {missing[most]:,} of them in {most}; {drop_option(most)} keeps rows that lack no other cell"

    def describe(self) -> Description:
        """Return what every column is taken for, why, and what changes that."""
        cells = [
            (one.name, one.taken, one.values, f"{one.missing:,}", "" if one.distinct is None else f"{one.distinct:,}")
            for one in self.columns
        ]
        kinds = Grid("Columns", ("column", "taken for", "values", "missing", "distinct"), cells, 3, whole=True)
        reasons, others = (
            Grid(title, ("column", "why", "what changes it"), words, 3, whole=True)
            for title, words in (("What to decide", self._reasons(True)), ("Clear columns", self._reasons(False)))
        )
        options = self.options()
        facts = [("options to add", options)] if options else []
        for advice in dict.fromkeys(self.undecided.values()):
            alike = listed(name for name, other in self.undecided.items() if other == advice)
            facts.append(("once you decide", f"{alike}: {advice}"))
        facts += [("blank cells", self._blank_cells())] if self.blank_kept else []
        if any(column.taken == CategoryKind.taken and not column.stops for column in self.columns):
            facts.append(("with --by", "compare may stop at more columns: those that number the rows within a group"))
        if others.rows:
            says = "rows() or --verbose says why each is taken so, and what changes it"
            facts.append(("clear", f"{count(len(others.rows), 'column')}; {says}"))
        return Description(
            f"The columns of {self.name}", self.verdict(), facts, (kinds, reasons), self.notes, detailed=(others,)
        )

    def _reasons(self, decide: bool) -> list[tuple[str, str, str]]:
        """Return why the columns that somebody should decide on, or the others, are taken so, and what changes it."""
        return [(one.name, one.why, one.change) for one in self.columns if one.decide == decide]

    def rows(self) -> list[dict[str, Any]]:
        """Return every column."""
        return [asdict(column) for column in self.columns]

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as plain names and numbers, for JSON."""
        return {
            "verdict": self.verdict(),
            "rows": self.n_rows,
            "columns": self.rows(),
            "stopping": list(self.stopping),
            "blank": list(self.blank),
            "options": Advice(self.options()),
            "undecided": {name: Advice(advice) for name, advice in self.undecided.items()},
            "notes": list(self.notes),
        }


def drop_option(name: str) -> str:
    """Return the option that leaves a column out."""
    return f"drop=[{name!r}]"
