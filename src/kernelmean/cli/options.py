"""The options that several commands share: their types, defaults and help. What their texts mean is in option_texts.py.

A command takes some of these values, and the parser sees their fields in the order of `parameters.takes_options`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from ..tables.limits import ADAPTIVE_LIMIT, ESTIMATE_LIMIT, FIT_LIMIT, MAX_CATEGORIES, TEST_LIMIT
from .option_texts import bandwidth_from, level_orders, missing_rule, missing_texts, option_words, split_names
from .parameters import (
    cluster_option,
    data_option,
    design_option,
    output_option,
    read_level,
    running_option,
    test_option,
)

if TYPE_CHECKING:
    from ..plan.plan import Plan
    from ..studies.designs import TableDesign
    from ..tables.columns import Encoding
    from ..tables.readers import TextFormat
    from .outputs import Output

# -- which tables are read, and how -----------------------------------------------------------------------------------


SOURCE = (
    "A file (.csv, .tsv or .jsonl, also as .gz; .parquet; .feather), - for CSV text from standard input, or a "
    "built-in table: wine, wbdc, iris, diabetes, digits, eckerle4."
)
_SPACE: Final = "space"


GivenOption = Annotated[
    list[str] | None,
    typer.Option(
        "--given", metavar="NAMES", help="What is known: e,f. Tests what there is beyond what these columns explain."
    ),
]


@dataclass(frozen=True)
class TwoTables:
    """Two tables, or one and the column that splits it."""

    a: Annotated[str, typer.Argument(metavar="A", help=SOURCE)]
    b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="The other table. Leave it out to split A with --by.")
    ] = None
    more: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILES]...",
            help="More Parquet files. Those of exactly two folders, one folder after the other, are two tables: "
            "big/*.parquet other/*.parquet. You can also pass two folders (big other) or two patterns in quotes.",
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Split A into groups by this column. Of more than two groups all pairs are tested.",
        ),
    ] = None
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="X,Y,...",
            help="Compare these groups only, at most 12, in this order. Name two to see in which columns they differ.",
        ),
    ] = None


@dataclass(frozen=True)
class OneTable:
    """One table."""

    data: Annotated[
        str, typer.Argument(metavar="DATA", help=f"{SOURCE} A folder, or a pattern in quotes, is all its files.")
    ]


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns of a table are used."""

    columns: Annotated[
        list[str] | None,
        data_option(metavar="NAMES", help="Use only these columns: a,b."),
    ] = None
    drop: Annotated[
        list[str] | None,
        data_option(metavar="NAMES", help="Leave these columns out, also of those in --columns: a,b."),
    ] = None


@dataclass(frozen=True)
class Kept:
    """Which columns are used although they look like identifiers."""

    keep: Annotated[
        list[str] | None,
        data_option(
            "--keep",
            metavar="NAMES",
            help="Integer columns to use although they look like identifiers: a,b.",
        ),
    ] = None

    def kept(self, names: Sequence[str]) -> list[str]:
        """Return the columns of a table with these names."""
        return split_names(self.keep or (), names)


@dataclass(frozen=True)
class Kinds(Kept):
    """What the columns of a table hold."""

    missing: Annotated[
        str,
        data_option(
            "--missing",
            metavar="RULE",
            help="What to do with blank cells: error (stop); drop (leave the row out); category (a value of its own); "
            "noise (a number known with noise only; needs --estimator kme). Or rules for single columns, after one "
            "for all others if you like: drop,city=category.",
        ),
    ] = "error"
    ordinal: Annotated[
        list[str] | None,
        data_option(metavar="COLUMN=LEVELS", help="A column with ordered levels, lowest first: size=low,mid,high."),
    ] = None
    categorical: Annotated[
        list[str] | None,
        data_option(
            "--categorical",
            metavar="NAMES",
            help="Columns to treat as categories although their cells are numbers or dates, or nearly all different: "
            "a,b.",
        ),
    ] = None

    max_categories: Annotated[
        int,
        data_option(
            "--max-categories",
            metavar="N",
            min=2,
            help="Of a column with more than N categories keep the N most frequent, and take the others as one.",
        ),
    ] = MAX_CATEGORIES

    def kinds(self, names: Sequence[str], *, scale: bool) -> Encoding:
        """Return how a table with columns of these names becomes coordinates."""
        from ..tables.columns import Encoding  # slow to import

        return Encoding(
            missing_rule(self.missing),
            level_orders(self.ordinal or ()),
            split_names(self.categorical or (), names),
            scale,
            self.max_categories,
            self.kept(names),
        )


@dataclass(frozen=True)
class KindsWithoutNoise(Kinds):
    """What the columns of a table hold, for tests that take no cells that are known with noise only."""

    missing: Annotated[
        str,
        typer.Option(
            "--missing",
            metavar="RULE",
            help="What to do with blank cells: error, drop or category. Or rules for columns: drop,a=category.",
        ),
    ] = "error"


@dataclass(frozen=True)
class KindsOfNumbers(Kept):
    """What is done with the columns of a table of numbers."""

    missing: Annotated[
        str,
        data_option(metavar="error|drop", help="What to do with rows that have a blank cell."),
    ] = "error"


@dataclass(frozen=True)
class Marks:
    """How numbers and dates are written in text."""

    decimal: Annotated[
        str,
        data_option(
            metavar="MARK",
            help="The decimal mark of numbers: a point, or a comma as in 1,5.",
        ),
    ] = "."
    thousands: Annotated[
        str | None,
        data_option(
            metavar="MARK",
            help="The mark between groups of three digits: one of . , ' _ or space.",
        ),
    ] = None
    dates: Annotated[
        str | None,
        data_option(
            metavar="dmy|mdy|ymd",
            help="The order of day, month and year in dates such as 01.02.2024. ISO dates do not need it.",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        data_option(
            metavar="NAME",
            help="The encoding of text files, such as cp1252; by default UTF-8, or UTF-16 with a byte order mark.",
        ),
    ] = None
    na_values: Annotated[
        list[str] | None,
        data_option(
            "--na-values",
            metavar="TEXTS",
            help="More texts that mean a missing cell, in all columns, -,. or in single ones, age=99 (an empty cell, "
            "NA, N/A, ?, NaN, NULL and None always do).",
        ),
    ] = None

    skip: Annotated[
        int,
        data_option(
            "--skip",
            metavar="N",
            min=0,
            help="Leave out the first N lines of text files, such as those that an instrument writes above the header.",
        ),
    ] = 0

    @property
    def text(self) -> TextFormat:
        """The text format that the options describe."""
        from ..tables.readers import TextFormat  # slow to import

        mark = " " if self.thousands == _SPACE else self.thousands
        absent = missing_texts([word for text in self.na_values or () for word in option_words(text)])
        return TextFormat(self.decimal, mark, self.dates, self.encoding, absent, self.skip)


@dataclass(frozen=True)
class MaxRows:
    """How many rows are used."""

    max_rows: Annotated[
        int | None,
        data_option(
            metavar="N",
            min=2,
            help=f"Use at most N random rows of each table. Needed above {FIT_LIMIT:,} rows for density, "
            f"{ESTIMATE_LIMIT:,} for estimate, {TEST_LIMIT:,} for changes, and {ADAPTIVE_LIMIT:,} for tests in memory "
            f"({TEST_LIMIT:,} with one kernel); N may be larger than that, while memory suffices. "
            "compare A B and dependence read longer files batch by batch instead.",
        ),
    ] = None


@dataclass(frozen=True)
class MixedTable(ColumnOptions, Kinds, Marks, MaxRows):
    """How tables with columns of any kind are read."""


@dataclass(frozen=True)
class SeriesTable(ColumnOptions, KindsWithoutNoise, Marks, MaxRows):
    """How a table in time order is read."""


@dataclass(frozen=True)
class NumberTable(ColumnOptions, KindsOfNumbers, Marks, MaxRows):
    """How a table of numbers is read."""


@dataclass(frozen=True)
class BatchTable(ColumnOptions, KindsWithoutNoise, Marks):
    """How tables that come one after another are read."""


# -- what is computed, for tables in memory and for long ones ---------------------------------------------------------


AUTO = "auto"
"""The estimator of a comparison without --estimator: the adaptive test."""
_ADAPTIVE = "adaptive (many kernels, one p-value), log-mean-exp, aggregate, kme, mkme, mmkme"


@dataclass(frozen=True)
class Seed:
    """The seed of everything random."""

    seed: Annotated[int, test_option(metavar="N", min=0, help="The same seed gives the same output.")] = 0


@dataclass(frozen=True)
class ScaleOption:
    """Whether columns are scaled."""

    scale: Annotated[
        bool,
        test_option("--scale/--no-scale", help="Divide every column by its standard deviation, or leave it as it is."),
    ] = True


@dataclass(frozen=True)
class BandwidthOption:
    """The bandwidth of the kernel."""

    bandwidth: Annotated[
        str,
        test_option(
            metavar="RULE|NUMBER",
            help="The bandwidth of the kernel: median, median-unsquared, silverman, scott, or a number.",
        ),
    ] = "median"

    @property
    def theta(self) -> Any:
        """A number, or the name of a rule."""
        return bandwidth_from(self.bandwidth)


@dataclass(frozen=True)
class Resamples:
    """How many permutations a test takes."""

    n_resamples: Annotated[
        int, test_option("--resamples", metavar="N", min=1, help="The least number of permutations of each test.")
    ] = 999


@dataclass(frozen=True)
class Threads:
    """How many threads work."""

    threads: Annotated[
        int | None,
        test_option(
            metavar="N",
            min=1,
            help="How many threads work; one for each core if not given. The number changes no result.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True)
class PlanOptions(Threads):
    """How many threads work, and how much memory the batches of a test take."""

    memory: Annotated[
        float,
        test_option(metavar="GIB", min=0.01, help="The memory for batches of permutations of rows in memory, in GiB."),
    ] = 1.0

    @property
    def plan(self) -> Plan:
        """That many threads, and that memory."""
        from ..plan.plan import Plan  # slow to import

        return Plan(threads=self.threads, memory=self.memory * 2**30)


@dataclass(frozen=True)
class ScreenOption:
    """Whether the pairs without evidence are left out of the full test."""

    screen: Annotated[
        bool,
        test_option(
            "--screen/--no-screen",
            help="With more than 40 pairs, test in full only those that a fast screen selects; --no-screen, --strata, "
            "--clusters and --weights test all.",
        ),
    ] = True


@dataclass(frozen=True)
class AdjustOption:
    """How p-values of columns or pairs are adjusted for their number."""

    adjustment: Annotated[
        str,
        test_option(
            "--adjust",
            metavar="holm|bh",
            help="How p-values of many columns or pairs are adjusted: holm bounds the probability of any false "
            "finding, bh (Benjamini-Hochberg) the expected share of false ones among the findings.",
        ),
    ] = "holm"


@dataclass(frozen=True)
class TwoSampleTest(AdjustOption, BandwidthOption, ScaleOption, Resamples, PlanOptions, Seed):
    """The test of two tables."""

    estimator: Annotated[
        str,
        test_option(
            "--estimator",
            metavar="NAME",
            help=f"{_ADAPTIVE}, s-kmse or f-kmse; auto means adaptive.",
        ),
    ] = AUTO


@dataclass(frozen=True)
class PairTest(AdjustOption, ScreenOption, ScaleOption, Resamples, PlanOptions, Seed):
    """The test of pairs of columns."""

    estimator: Annotated[
        str,
        test_option("--estimator", metavar="NAME", help=f"{_ADAPTIVE}, scose or fcose."),
    ] = "adaptive"


@dataclass(frozen=True)
class RowsOfOne:
    """The columns that hold strata, clusters and weights."""

    strata: Annotated[
        str | None,
        design_option(
            metavar="COLUMN",
            help="The strata, such as the center of a study. Rows are permuted only within their stratum.",
        ),
    ] = None
    clusters: Annotated[
        str | None,
        design_option(
            metavar="COLUMN",
            help="Which rows belong together, such as the visits of a patient. Clusters are permuted whole.",
        ),
    ] = None
    weights: Annotated[
        str | None,
        design_option(metavar="COLUMN", help="Survey or importance weights of the rows."),
    ] = None

    @property
    def of_rows(self) -> TableDesign:
        """What is assumed about the rows."""
        from ..studies.designs import TableDesign  # slow to import

        return TableDesign(self.strata, self.clusters, self.weights)


@dataclass(frozen=True)
class RowsOfTwo(RowsOfOne):
    """What the rows of two tables are."""

    paired: Annotated[
        bool,
        design_option(
            "--paired/--no-paired",
            help="Row i of one table and row i of the other are a pair, such as before and after. If rows have another "
            "order: --strata COLUMN, the column that names the pairs.",
        ),
    ] = False

    @property
    def of_rows(self) -> TableDesign:
        """What is assumed about the rows."""
        return replace(super().of_rows, paired=self.paired)


@dataclass(frozen=True)
class Cluster:
    """Where tables are compared that are too long for one machine."""

    scheduler: Annotated[
        str | None,
        cluster_option(
            metavar="ADDRESS",
            help="Compare on a Dask cluster, such as tcp://10.0.0.1:8786, whose workers read the Parquet files.",
        ),
    ] = None


# -- output files, and messages while a command runs ------------------------------------------------------------------


Quiet = Annotated[
    bool,
    running_option("--quiet/--no-quiet", "-q", help="Print the verdict only, and no progress."),
]


@dataclass(frozen=True)
class Running:
    """Messages while a command runs."""

    quiet: Quiet = False


@dataclass(frozen=True)
class RowsOutput(Running):
    """Numbers, also as rows of a table, and details."""

    json_path: Annotated[
        str | None, output_option("--json", metavar="FILE", help="Write all numbers as JSON; - means the screen.")
    ] = None
    csv_path: Annotated[
        str | None,
        output_option("--csv", metavar="FILE", help="Write the numbers as a CSV table; - means the screen."),
    ] = None
    verbose: Annotated[
        bool,
        running_option(
            "--verbose/--no-verbose",
            "-v",
            help="Also print details: the statistic, how rows were permuted, the kernels and the scale; why columns "
            "are taken as they are; and the version.",
        ),
    ] = False

    @property
    def output(self) -> Output:
        """What goes where."""
        from .outputs import Output  # slow to import

        return Output(csv=self.csv_path, json=self.json_path, quiet=self.quiet, verbose=self.verbose)


@dataclass(frozen=True)
class ReportOutput(RowsOutput):
    """What is written: a picture, a report, and numbers."""

    plot_path: Annotated[
        str | None,
        output_option("--plot", metavar="FILE", help="Draw a picture: .png, .svg or .pdf. Needs matplotlib."),
    ] = None
    html_path: Annotated[
        str | None,
        output_option("--html", metavar="FILE", help="Write a report as one page for a browser; - means the screen."),
    ] = None

    @property
    def output(self) -> Output:
        """What goes where."""
        return replace(super().output, html=self.html_path, plot=self.plot_path)


# -- what is monitored, and when that gives exit code 1 ---------------------------------------------------------------


@dataclass(frozen=True)
class Watched:
    """A reference, the tables after it, and how they are cut into batches."""

    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help=f"{SOURCE} Or a folder, or a pattern in quotes: its files are one table."
        ),
    ]
    news: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW...",
            help="Later tables, in the order of time, or a folder or a pattern in quotes: its files are batches by "
            "name. Rows of a batch are taken in random order.",
        ),
    ]
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Cut every NEW into batches by this column.")] = None
    every: Annotated[
        str | None,
        typer.Option(metavar="hour|day|week|month", help="The length of the batches, if --by is a column of times."),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Resume from this JSON file if it exists, and save to it. Batches that it knows are skipped.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            "--fail-on-drift",
            metavar="ALPHA",
            parser=read_level,
            help="End with exit code 1 if p was ever at most ALPHA, the level, .05 if it is not written.",
        ),
    ] = None
    average_run_length: Annotated[
        float | None,
        typer.Option(
            metavar="ROWS",
            help="Instead of a level: end with exit code 1 at an alarm. A false alarm comes after ROWS on average, or "
            "later.",
        ),
    ] = None

    @property
    def fails(self) -> bool:
        """Whether drift gives exit code 1."""
        return self.alpha is not None or self.average_run_length is not None
