"""The result of a comparison of two tables, for all columns together and for every column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, final

from ...core.array import RngLike
from ...core.words import count, listed, number_range, signed
from ...inference import TestResult
from ...inference.joint_test import JointTest
from ...inference.null import HOLM
from ...inference.permutations import EXACT, labelings
from ...inference.request import ESTIMATORS
from ...inference.wording import beside, titles, together_of
from ...report.description import Description, Grid
from ...tables.columns import CategoryShares, Encoded, MissingCells
from ...tables.columns.encoded import ENCODED
from ..adjustment_notes import facts_on_adjusted
from ..designs import NO_DESIGN, TableDesign, exactness
from ..many_tests import out_of_reach
from ..plots.witness import column_witnesses
from ..study import Study
from .column import ColumnDifference
from .column_words import Compared, blank_cells, closeness, facts_on_columns, groups
from .row_weights import RowWeights

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS = 6
UNSCALED = "columns as they are, so those with large numbers weigh most"


@final
@dataclass(frozen=True, eq=False)
class Comparison(Compared, JointTest, Study):
    """The comparison of two tables: a joint test, and one test for each column.

    Attributes
    ----------
    names, sizes : (str, str), (int, int)
        What the tables are called, and their rows.
    test : TestResult
        The joint test over all columns.
    estimator : str
    bandwidth : float, tuple of float, or None
        θ of the joint test, in pooled standard deviations if ``scaled``, else in the units of the data. None for an
        adaptive test, which brings many kernels of its own.
    scaled : bool
        Whether every column was divided by its standard deviation over both tables.
    columns : tuple of ColumnDifference
        The columns, those that differ most first.
    notes : tuple of str
        What else a reader should know: columns left out, missing cells, repeated rows, how the bandwidth was found.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column of either table.
    encoded : Encoded
        The two tables as the coordinates that the kernels see, and which columns they belong to. Noise and kernels of
        ``test`` are in the order of its coordinates.
    level : float
        p-values at most this count as a difference wherever the result is shown.
    seed : int or None
        The seed of the run, if reports are to name it.
    design : TableDesign
        Which columns hold strata, clusters and weights, or that rows are pairs.
    row_weights : RowWeights or None
        How much each row of ``encoded`` counts in means and pictures; None where all count alike.
    adjustment : str
        How p-values of single columns were adjusted: "holm" or "bh".
    same_rows : bool
        Whether both tables hold the same rows, in any order; of tables in memory.
    in_series : bool
        Whether rows next to each other are alike, so that p-values are exact only if they do not depend on each other.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (
        ColumnDifference,
        CategoryShares,
        TableDesign,
        RowWeights,
        *ENCODED,
    )

    names: tuple[str, str]
    sizes: tuple[int, int]
    test: TestResult
    estimator: str
    bandwidth: Any
    scaled: bool
    columns: tuple[ColumnDifference, ...]
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)
    level: float
    seed: int | None = None
    design: TableDesign = NO_DESIGN
    row_weights: RowWeights | None = field(default=None, repr=False)
    adjustment: str = HOLM
    same_rows: bool = False
    in_series: bool = False

    @property
    def joint(self) -> TestResult:
        """The joint test over all columns, which is ``test``."""
        return self.test

    def differ(self, level: float | None = None) -> bool:
        """Whether the joint test rejects one distribution for both tables, at ``level`` or that of the result."""
        return self.test.pvalue <= (self.level if level is None else level)

    def adjusted(self) -> dict[str, float]:
        """Return the adjusted p-value of every column; for a single column that of the joint test, its only test."""
        if len(self.columns) == 1:
            return {self.columns[0].name: self.test.pvalue}
        return {column.name: column.adjusted for column in self.columns}

    def verdict(self, level: float | None = None) -> str:
        """Return the outcome of the joint test in one sentence, with which every report begins.

        It is about all columns together, and so are :meth:`differ` and the exit code of a check. Single columns have
        p-values of their own, adjusted for their number, and change no verdict.
        """
        level = self.level if level is None else level
        (first, second), p = titles(self.names), beside(self.test.pvalue, level)
        if self.differ(level):
            return f"{first} and {second} differ: p = {p}, at most {level:g}."
        nothing = self.test.nothing_found(level, "difference")
        if self.same_rows:
            nothing = "Both tables hold the same rows."
        together = together_of(len(self.columns))
        return f"No difference between {first} and {second} was found{together}: p = {p}, above {level:g}. {nothing}"

    @property
    def sd_within(self) -> str:
        """Within what the standard deviations that gaps are in are taken, in words."""
        strata = self.row_weights is not None and self.row_weights.strata is not None and self.row_weights.within
        return "within tables and strata" if strata else "within the tables"

    def limits(self) -> tuple[str, ...]:
        """Return a note if no column can be found to differ, with so few rows, whatever its values."""
        finest = [self.finest(column.n_resamples) for column in self.columns]
        return out_of_reach(finest, self.level, "column", self.adjustment)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers and truth values, those that differ most first."""
        return tuple(column.name for column in self.columns if column.type.plain)

    def plot(self, columns: Sequence[str] = (), *, rng: RngLike = 0) -> Figure:
        """Draw where columns of numbers differ, as ``plots.column_witnesses`` of the compared rows.

        Parameters
        ----------
        columns : sequence of str
            Which columns; by default the six that differ most.
        rng : int or Generator
            Seeds the bands of chance.

        Raises
        ------
        ValueError
            When a column is unknown or holds no numbers, no column holds numbers, or the comparison has a design.

        Examples
        --------
        >>> import numpy as np
        >>> import kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> result = km.compare(rng.normal(size=(30, 2)), rng.normal([0.0, 2.0], size=(30, 2)))
        >>> [ax.get_xlabel() for ax in result.plot().axes]
        ['x1', 'x0']
        """
        self.design.refuse_witness("plot()")
        names = list(columns) or list(self.numbers[:_PANELS])
        if not names or not {*names} <= {*self.numbers}:
            raise ValueError(f"columns is {names}; columns of numbers that vary can be drawn: {listed(self.numbers)}")
        first, second = (frame.select(names).to_table("drop") for frame in self.encoded.frames)
        return column_witnesses(first, second, names, names=self.names, rng=rng)

    def describe(self) -> Description:
        """Return the verdict, the test, and the columns, those that differ most first."""
        title = f"{' and '.join(titles(self.names))} compared"
        grids = self.grid(), *closeness(self.columns)
        return Description(title, self.verdict(), self.facts(), grids, (*self.limits(), *self.notes), self.details())

    def facts(self) -> list[tuple[str, str]]:
        """Return the rows, what is assumed about them, the p-value, and the kind of difference."""
        n, m = self.sizes
        rows = f"{n:,} of {self.names[0]}, {m:,} of {self.names[1]}{self.missing.left_out}"
        return [
            ("rows", f"{rows}; {count(len(self.columns), 'column')}"),
            *([("design", self.design.assumed())] if self.design else []),
            *self.test.in_short(self.level, exactness(self.design, in_series=self.in_series)),
            *self._on_adjusted(),
            *facts_on_columns(self),
            *([] if self.scaled else [("scale", UNSCALED)]),
        ]

    def _on_adjusted(self) -> list[tuple[str, str]]:
        columns = {column.name: column for column in self.columns}
        most = max(column.n_resamples for column in self.columns)
        every = labelings(*self.sizes, most + 1) - 1
        of_all = self.test.n_resamples if self.test.scheme == EXACT else every
        return facts_on_adjusted(self.adjustment, self.level, {"column": columns}, of_all=of_all)

    def details(self) -> list[tuple[str, str]]:
        """Return details for ``--verbose``: the statistic, the permutations, the kernels and the scale."""
        unit = "standard deviations" if self.scaled else "the units of the data"
        scale = "every column divided by its standard deviation over both tables (scale=False leaves them as they are)"
        of = f" of the {self.estimator} estimates" if self.estimator in ESTIMATORS else ""
        bandwidth = [] if self.bandwidth is None else [("bandwidth", f"{number_range(self.bandwidth)}, in {unit}")]
        return [*self.test.details(of), *bandwidth, *([("scale", scale)] if self.scaled else [])]

    def grid(self, *, intervals: bool = False) -> Grid:
        """Return the columns as texts, those that differ most first; a page adds intervals of differences."""
        values, noisy = self.adjusted(), any(column.noise for column in self.columns)
        heads = ("column", "gap/sd", "adjusted p", "p", *(f"mean {name}" for name in groups(self.names)))
        heads += (*(("difference (95 % interval)",) if intervals else ()), *(("noise sd",) if noisy else ()), "MMD²")
        alone = self.test.pvalue if len(self.columns) == 1 else None
        rows = [
            (
                column.name,
                "" if math.isnan(column.gap) else signed(column.gap, "+z.2f"),
                f"{values[column.name]:.2g}",
                f"{column.pvalue if alone is None else alone:.2g}",
                *(text + blank for text, blank in zip(column.describe(), blank_cells(self, column), strict=True)),
                *((column.difference(),) if intervals else ()),
                *((f"{column.noise:.2g}",) if noisy else ()),
                signed(column.statistic, "z.2g"),
            )
            for column in self.columns
        ]
        strong = frozenset((k, 0) for k, column in enumerate(self.columns) if values[column.name] <= self.level)
        below = "; unbiased MMD² may be below 0" if any(column.statistic < 0.0 for column in self.columns) else ""
        footnotes = dict.fromkeys(column.type.footnote for column in self.columns)
        below += "".join(f"; {note}" for note in footnotes if note)
        none = "can be found to differ" if self.limits() else "is shown to differ"
        title = "Columns that differ most" if strong else f"Columns, none of which {none}"
        title = f"{title} (gap: first minus second; sd: {self.sd_within}{below})"
        return Grid(title, heads, rows, noun="column", strong=strong, mark="differs")

    def rows(self) -> list[dict[str, Any]]:
        """Return the joint test, then every column, those that differ most first.

        ``gap`` is in standard deviations within the tables; ``difference`` is the first mean minus the second in the
        units of the column, and ``low`` and ``high`` are its interval; with ``equivalence=``, ``equivalent`` says
        whether that lies within ``margin``, None where no interval is known. Of categories, the means are the shares of
        the one in ``category``, which changed most; of dates and times they are seconds after 1970, as ``unit`` says.
        """
        joint: dict[str, Any] = dict.fromkeys(_COLUMNS)
        joint |= {"tested": "all columns", "statistic": self.test.statistic, "pvalue": self.test.pvalue}
        joint |= {"n_resamples": self.test.n_resamples}
        rows = [joint]
        for column in self.columns:
            first, second = means = column.shown()
            described = ("column", column.name, column.kind, column.category, column.type.measured)
            differing = (*means, column.gap, first - second, *column.interval, column.noise)
            tested = (column.statistic, column.pvalue, column.adjusted, column.n_resamples)
            values = dict(zip(_COLUMNS, (*described, *differing, *tested), strict=True))
            rows.append(values | column.closeness())
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain names and numbers, for JSON."""
        test = self.test
        return {
            "verdict": self.verdict(),
            "names": list(self.names),
            "sizes": list(self.sizes),
            "statistic": test.statistic,
            "statistic_name": test.statistic_name,
            "pvalue": test.pvalue,
            "scheme": test.scheme,
            "n_resamples": test.n_resamples,
            "null_quantiles": test.quantiles(),
            "estimator": self.estimator,
            "bandwidth": self.bandwidth,
            "kind": None if test.kind is None else asdict(test.kind),
            "kernels": [asdict(member) for member in test.members],
            "scaled": self.scaled,
            "columns": [column.content() for column in self.columns],
            "missing": self.missing.as_dict(),
            "design": self.design.as_dict(),
            "notes": [*self.limits(), *self.notes],
            "level": self.level,
            "adjustment": self.adjustment,
            "seed": self.seed,
        }


_COLUMNS = (
    *("tested", "column", "kind", "category", "unit", "mean_first", "mean_second", "gap", "difference", "low", "high"),
    *("noise", "statistic", "pvalue", "adjusted", "n_resamples"),
)
