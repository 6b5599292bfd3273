"""The result of a comparison of several groups, for all of them together and for every pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from math import comb, isnan
from typing import TYPE_CHECKING, Any, ClassVar, final

from ...core.words import count, listed, span, strength
from ...inference import TestResult
from ...inference.joint_test import JointTest
from ...inference.null import HOLM
from ...inference.permutations import EXACT
from ...inference.result import FEW_ROWS
from ...inference.wording import beside, brief, together_of
from ...report.description import Description, Grid
from ...report.document import HeatMap
from ...tables.columns import Encoded, MissingCells
from ...tables.columns.encoded import ENCODED
from ..adjustment_notes import OneOfMany, facts_on_adjusted
from ..comparison.result import UNSCALED
from ..designs import NO_DESIGN, STRENGTHS, TableDesign, exactness
from ..many_tests import LEFT, out_of_reach
from ..study import Study
from .parts import GroupColumn, GroupPair

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BESIDE = 6
"""So many groups stand beside each other in a terminal."""
_SPANS = "; the intervals are approximate, 95 % each, not adjusted for their number"


@final
@dataclass(frozen=True, eq=False)
class GroupComparison(JointTest, Study):
    """The comparison of several groups: a test of all groups, of every pair, and of every column.

    Attributes
    ----------
    by : str
        The column that holds the groups.
    groups, sizes : tuple of str, tuple of int
        The groups, and their rows.
    test : TestResult
        The test of all groups.
    estimator : str
    scaled : bool
        Whether every column was divided by its standard deviation over all groups.
    pairs : tuple of GroupPair
        The pairs of groups, those that differ most first.
    columns : tuple of GroupColumn
        The columns, those in which groups differ most clearly first.
    notes : tuple of str
        What else a reader should know.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column of every group.
    encoded : Encoded
        The groups as the coordinates that the kernels see.
    name : str
        What to call the table.
    level : float
        p-values at most this count as a difference wherever the result is shown.
    seed : int or None
        The seed of the run, if reports are to name it.
    design : TableDesign
        The strata, clusters and weights, by the names of columns.
    adjustment : str
        How p-values of pairs and of columns were adjusted: "holm" or "bh".
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (GroupPair, GroupColumn, TableDesign, *ENCODED)

    by: str
    groups: tuple[str, ...]
    sizes: tuple[int, ...]
    test: TestResult
    estimator: str
    scaled: bool
    pairs: tuple[GroupPair, ...]
    columns: tuple[GroupColumn, ...]
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)
    level: float
    name: str = "the table"
    seed: int | None = None
    design: TableDesign = NO_DESIGN
    adjustment: str = HOLM

    @property
    def joint(self) -> TestResult:
        """The test of all groups, which is ``test``."""
        return self.test

    def differ(self, level: float | None = None) -> bool:
        """Whether the test of all groups rejects one distribution for all, at ``level`` or that of the result."""
        return self.test.pvalue <= (self.level if level is None else level)

    def differing(self, level: float | None = None) -> tuple[GroupPair, ...]:
        """Return the pairs whose adjusted p-value is at most a level, by default that of the result."""
        level = self.level if level is None else level
        return tuple(pair for pair in self.pairs if pair.adjusted <= level)

    def differing_columns(self, level: float | None = None) -> tuple[GroupColumn, ...]:
        """Return the columns whose adjusted p-value is at most a level, by default that of the result."""
        level = self.level if level is None else level
        return tuple(column for column in self.columns if column.adjusted <= level)

    def verdict(self, level: float | None = None) -> str:
        """Return the outcome of the test of all groups in one sentence, with which every report begins."""
        level = self.level if level is None else level
        of, p = f"the {len(self.groups)} groups of {brief(self.by)}", beside(self.test.pvalue, level)
        if self.differ(level):
            return f"T{of[1:]} differ: p = {p}, at most {level:g}."
        rest = self.test.nothing_found(level, "difference")
        return f"No difference between {of} was found{together_of(len(self.columns))}: p = {p}, above {level:g}. {rest}"

    def limits(self) -> tuple[str, ...]:
        """Return notes on groups of few rows, and if no pair, or no column, can be found to differ with so few."""
        notes, few = self._no_pair(self.level), self._few(FEW_ROWS)
        if few and not notes:
            notes = (f"in pairs with a group of few rows only a very clear difference can be found: {few}",)
        return (*notes, *self._no_column(self.level))

    def _no_pair(self, level: float) -> tuple[str, ...]:
        sizes = dict(zip(self.groups, self.sizes, strict=True))
        finest = [_finest(pair.n_resamples, sizes[pair.first], sizes[pair.second]) for pair in self.pairs]
        return out_of_reach(finest, level, "pair", self.adjustment)

    def _no_column(self, level: float) -> tuple[str, ...]:
        finest = [self.finest(column.n_resamples) for column in self.columns]
        return out_of_reach(finest, level, "column", self.adjustment)

    def on_pairs(self, level: float | None = None) -> str:
        """Return in a few words how many pairs of groups differ, and which pair most."""
        level = self.level if level is None else level
        pairs = self.differing(level)
        if not pairs:
            verb = "can be found to differ" if self._no_pair(level) else "differs"
            return f"none of {len(self.pairs)} {verb} on its own (adjusted p above {level:g})"
        verb, most = ("differs", "") if len(pairs) == 1 else ("differ", " most of all")
        names = f"{brief(pairs[0].first)} and {brief(pairs[0].second)}"
        return f"{len(pairs)} of {len(self.pairs)} {verb} (adjusted p at most {level:g}),{most} {names}"

    def on_columns(self, level: float | None = None) -> str:
        """Return in a few words in how many columns groups differ, and in which most clearly."""
        level = self.level if level is None else level
        columns = self.differing_columns(level)
        if not columns:
            verb = "can be found to differ" if self._no_column(level) else "differ"
            return f"groups {verb} in none of {len(self.columns)} (adjusted p above {level:g})"
        most = "" if len(columns) == 1 else "most clearly in "
        return (
            f"groups differ in {len(columns)} of {len(self.columns)} (adjusted p at most {level:g}), "
            f"{most}{brief(columns[0].name)}"
        )

    def describe(self) -> Description:
        """Return the verdict, the test of all groups, the pairs and the columns, those that differ most first."""
        title = f"Groups of {brief(self.by)} in {self.name} compared"
        grids = (self.grid(), self.column_grid(), *([self.means_grid()] if len(self.groups) <= _MOST_BESIDE else []))
        return Description(title, self.verdict(), self.facts(), grids, (*self.limits(), *self.notes), self.details())

    def facts(self) -> list[tuple[str, str]]:
        """Return the rows, the p-value, what kind of difference there is, and how many pairs differ."""
        spans = "" if self.design else _SPANS
        sizes = [f"{size:,} of {brief(name)}" for name, size in zip(self.groups, self.sizes, strict=True)]
        return [
            ("rows", f"{', '.join(sizes)}{self.missing.left_out}; {count(len(self.encoded.names), 'column')}"),
            *([("design", self.design.assumed())] if self.design else []),
            *self.test.in_short(self.level, exactness(self.design)),
            ("pairs", self.on_pairs()),
            ("columns", self.on_columns()),
            *self._on_adjusted(),
            (
                "strength",
                f"share of how the rows of two groups vary that their group explains; about 0 if alike{spans}",
            ),
            *([] if self.scaled else [("scale", UNSCALED)]),
        ]

    def _few(self, least: int) -> str:
        """Return in words which groups have fewer rows, and how many."""
        sizes = zip(self.groups, self.sizes, strict=True)
        return listed(f"{brief(name)} ({size})" for name, size in sizes if size < least)

    def _on_adjusted(self) -> list[tuple[str, str]]:
        of_all = self.test.n_resamples if self.test.scheme == EXACT else 0
        families: dict[str, Mapping[str, OneOfMany]] = {
            "pair": {f"{pair.first} and {pair.second}": pair for pair in self.pairs},
            "column": {column.name: column for column in self.columns},
        }
        return facts_on_adjusted(self.adjustment, self.level, families, of_all=of_all)

    def details(self) -> list[tuple[str, str]]:
        """Return details for ``--verbose``: the statistic, the permutations, the kernels and the scale."""
        scale = "every column divided by its standard deviation over all groups (scale=False leaves them as they are)"
        return [*self.test.details(), *([("scale", scale)] if self.scaled else [])]

    def grid(self) -> Grid:
        """Return the pairs as texts, those that differ most first."""
        rows = [
            (
                pair.first,
                pair.second,
                strength(pair.strength),
                *((f"{pair.adjusted:.2g}", f"{pair.pvalue:.2g}") if pair.n_resamples else (LEFT, LEFT)),
                *(() if self.design else (span(pair.interval) or "–",)),
            )
            for pair in self.pairs
        ]
        strong = frozenset((k, j) for k, pair in enumerate(self.pairs) if pair.adjusted <= self.level for j in (0, 1))
        header = (self.by, self.by, "strength", "adjusted p", "p", *(() if self.design else ("interval",)))
        return Grid("Pairs of groups that differ most", header, rows, 2, "pair", strong, "differ", names=2)

    def column_grid(self) -> Grid:
        """Return the columns as texts, those in which groups differ most clearly first."""
        rows = [
            (
                column.name,
                f"{column.first} and {column.second}",
                strength(column.strength),
                f"{column.adjusted:.2g}",
                f"{column.pvalue:.2g}",
            )
            for column in self.columns
        ]
        strong = frozenset((k, 0) for k, column in enumerate(self.columns) if column.adjusted <= self.level)
        header = ("column", "most between", "strength", "adjusted p", "p")
        return Grid("Columns in which groups differ most", header, rows, 2, "column", strong, "differ", names=2)

    def means_grid(self) -> Grid:
        """Return the mean of every column in every group as texts, in the order of the columns."""
        rows = [(levels.described, *levels.words) for levels in (column.levels for column in self.columns)]
        alike = "; all rows count alike" if self.design else ""
        title = f"Means ± standard deviations, or shares of a category{alike}"
        return Grid(title, ("column", *map(brief, self.groups)), rows, noun="column")

    def heat_map(self) -> HeatMap:
        """Return the strengths of all pairs as a map; stars mark those that differ."""
        place = {name: k for k, name in enumerate(self.groups)}
        cells: list[list[float | None]] = [[None] * len(place) for _ in place]
        stars = set()
        for pair in self.pairs:
            i, j = place[pair.first], place[pair.second]
            cells[i][j] = cells[j][i] = None if isnan(pair.strength) else max(pair.strength, 0.0)
            stars |= {(i, j), (j, i)} if pair.adjusted <= self.level else set()
        values = tuple(map(tuple, cells))
        star_label = f"adjusted p at most {self.level:g}"
        return HeatMap("", "strength", self.groups, self.groups, values, frozenset(stars), star_label)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the strengths of all pairs as a heat map; stars mark the pairs that differ.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure by default.
        """
        from ...report import pictures

        return pictures.show(self.heat_map(), ax, size=(4.2, 3.4))

    def rows(self) -> list[dict[str, Any]]:
        """Return the test of all groups, then every pair and every column, those that differ most first."""
        joint: dict[str, Any] = {"tested": "all groups", "column": None, "first": None, "second": None}
        values = {"strength": None, "statistic": self.statistic, "pvalue": self.pvalue, "adjusted": None}
        rows = [{**joint, **values, "n_resamples": self.test.n_resamples, "low": None, "high": None}]
        for pair in self.pairs:
            cells = asdict(pair)
            low, high = cells.pop("interval") or (None, None)
            rows.append({"tested": "pair", "column": None, **cells, "low": low, "high": high})
        for column in self.columns:
            cells = column.content()
            levels = {
                f"{what} {group}": value
                for what, key in (("mean", "means"), ("sd", "deviations"), ("blank", "blank"))
                for group, value in zip_longest(self.groups, cells.pop(key))
            }
            rows.append({"tested": "column", "column": cells.pop("name"), **cells, "low": None, "high": None, **levels})
        blank: dict[str, Any] = dict.fromkeys(name for row in rows for name in row)
        return [blank | row for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain names and numbers, for JSON."""
        test = self.test
        return {
            "verdict": self.verdict(),
            "by": self.by,
            "groups": [{"name": name, "rows": size} for name, size in zip(self.groups, self.sizes, strict=True)],
            "columns": [column.content() for column in self.columns],
            "statistic": test.statistic,
            "statistic_name": test.statistic_name,
            "pvalue": test.pvalue,
            "scheme": test.scheme,
            "n_resamples": test.n_resamples,
            "null_quantiles": test.quantiles(),
            "estimator": self.estimator,
            "kind": None if test.kind is None else asdict(test.kind),
            "scaled": self.scaled,
            "pairs": [asdict(pair) for pair in self.pairs],
            "missing": self.missing.as_dict(),
            "notes": [*self.limits(), *self.notes],
            "level": self.level,
            "design": self.design.as_dict(STRENGTHS),
            "adjustment": self.adjustment,
            "seed": self.seed,
        }


def _finest(n_resamples: int, first: int, second: int) -> float:
    """Return a bound: no test of two groups of so many rows has a smaller p-value.

    If all ways to deal the rows to both are enumerated, those that swap equally large groups have the same statistic.
    """
    swaps = n_resamples + 1 == comb(first + second, first) and first == second
    return (2.0 if swaps else 1.0) / (1 + n_resamples)
