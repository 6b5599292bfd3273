"""The options that say what is computed, for tables in memory and for long ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from ..parameters import cluster_option, design_option, test_option

if TYPE_CHECKING:
    from ...plan.plan import Plan
    from ...studies.designs import TableDesign

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
        int, test_option("--resamples", metavar="N", min=1, help="The number of permutations of each test.")
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
        from ...plan.plan import Plan  # slow to import

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
        from ...studies.designs import TableDesign  # slow to import

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


def bandwidth_from(text: str) -> Any:
    """Return a number, or the name of a rule unchanged."""
    from ...core.table import LARGEST, SMALLEST  # slow to import

    try:
        number = float(text)
    except ValueError:
        return text
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"--bandwidth is {text}; a number from {SMALLEST:g} to {LARGEST:g} is needed, or a rule")
    return number
