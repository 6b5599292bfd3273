"""kernelmean compare: two tables, held in memory or read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from ..core.words import listed, refuse
from .option_texts import margins_from, split_names
from .options import (
    AUTO,
    Cluster,
    GivenOption,
    MixedTable,
    ReportOutput,
    RowsOfTwo,
    TwoSampleTest,
    TwoTables,
)
from .parameters import command, read_level, running_option, test_option
from .spelling import comma_separated, worded

if TYPE_CHECKING:
    from ..core.array import Progress
    from ..core.table import Frame
    from ..studies.comparison import Comparison
    from ..studies.designs import TableDesign
    from ..studies.groups import GroupComparison
    from ..tables.columns import Encoding
    from .inputs import Input, ReadOptions
    from .outputs import Output

    Pair: TypeAlias = tuple[Any, Any]

_PANELS = 6
_NAME_TWO = "name two with --groups"


@dataclass(frozen=True)
class Drift:
    """The exit code of automatic checks."""

    fail_on_drift: Annotated[
        float | None,
        running_option(
            metavar="ALPHA",
            parser=read_level,
            help="End with exit code 1 if the tables differ (p at most ALPHA); for automatic checks.",
        ),
    ] = None


@dataclass(frozen=True)
class ComparedTables(TwoTables):
    """Two tables, and which of their columns are known."""

    given: GivenOption = None


@dataclass(frozen=True)
class ComparedTest(TwoSampleTest):
    """The test of two tables, and which differences of means do not matter."""

    equivalence: Annotated[
        str | None,
        test_option(
            metavar="MARGIN",
            help="Show which means are closer than a margin, in the units of the columns (of times, seconds): 0.5 for "
            "all columns of numbers, or age=2,income=100.",
        ),
    ] = None

    @property
    def margins(self) -> Any:
        """One margin, or margins by column; None without any."""
        return None if self.equivalence is None else margins_from(self.equivalence)


@command(
    "kernelmean compare before.csv after.csv",
    "kernelmean compare trial.parquet --by arm --groups placebo,drug --drop id",
    "kernelmean compare before.csv after.csv --html report.html",
    "kernelmean compare wine --by target --groups 0,1 --json result.json",
    "kernelmean compare trial.parquet --by arm --strata center",
    "kernelmean compare patients.csv --by drug --given age,center",
    "kernelmean compare before.csv after.csv --paired --drop id",
    "kernelmean compare before.csv after.csv --equivalence age=2,income=100",
    "kernelmean compare last-week.parquet today.parquet --fail-on-drift 0.01 --quiet",
    "kernelmean compare huge-1.parquet huge-2.parquet --estimator mkme",
    "kernelmean compare big/*.parquet other/*.parquet --scheduler tcp://10.0.0.1:8786",
)
def compare(
    tables: ComparedTables,
    design: RowsOfTwo,
    test: ComparedTest,
    table: MixedTable,
    cluster: Cluster,
    drift: Drift,
    report: ReportOutput,
) -> int:
    """Test whether two tables come from the same distribution, and show which columns differ.

    Long tables are read batch by batch, and all their rows are used.

    The exit code is 0; with --fail-on-drift 1 when the tables differ; 2 for bad
    input; 70 when kernelmean itself failed; 130 when you stopped it.
    """
    from ..inference.wording import short  # slow to import, which help can do without
    from ..studies.comparison import compare as compare_tables
    from .drift import LEVEL, check_drift, check_power, drifted
    from .inputs import read_tables, reading, row_limit
    from .named_tables import named_tables
    from .progress import progress

    pair = first, _ = named_tables(tables)
    alpha, output = drift.fail_on_drift, report.output
    if alpha is not None:
        check_drift(alpha, test.n_resamples)
    margins = test.margins
    output.check(*(file for named in pair if named is not None for file in named.files))
    rows_are = design.of_rows
    if tables.by is not None and tables.by in rows_are.columns:
        raise ValueError(f"--by and {rows_are.options()} both name {tables.by!r}; name different columns")
    if output.plot is not None:
        rows_are.refuse_witness("--plot")
    limit = row_limit(test.estimator, "takes all rows of two files", in_memory=tables.by is not None)
    rows = reading(table, test.seed, *limit, rows_are, tables.given or ())
    if tables.given:
        _check_given(design, test, cluster, drift)
        return _given(tables.given, test, table, read_tables(*pair, tables, rows), output)
    result: Comparison | GroupComparison
    with progress(report.quiet) as step, _opened(pair, tables, cluster, rows, test.estimator) as read:
        encoding = table.kinds(read.tables[0].names, scale=test.scale)
        how = _how(test, encoding, LEVEL if alpha is None else alpha, step, read.plan)
        if len(read.tables) == 2:
            one, other = read.tables
            result = compare_tables(one, other, names=read.names, equivalence=margins, **asdict(design), **how)
        elif margins is None:
            result = replace(_of_groups(read.tables, str(tables.by), rows_are, how), name=short(first.name))
        else:
            raise ValueError(f"--equivalence is for two groups, and there are {len(read.tables)}; {_NAME_TWO}")
        result = replace(result, notes=tuple(dict.fromkeys((*read.notes, *result.notes))), seed=test.seed)
        page = None if output.html is None else result.document(progress=step)
    if alpha is not None:
        check_power(alpha, result.test)
    output.put(result, [] if output.plot is None else _drawn(output, result, test.seed), page)
    return 0 if alpha is None else drifted(alpha, result.test)


def _check_given(design: RowsOfTwo, test: ComparedTest, cluster: Cluster, drift: Drift) -> None:
    """Raise if options are passed that a comparison given columns does not have."""
    plain = ComparedTest()
    refuse(
        "--given compares two tables in memory; categories that it names are strata, and there is no other design",
        **{name: (getattr(design, name), getattr(RowsOfTwo(), name)) for name in ("strata", "clusters", "weights")},
        paired=(design.paired, False),
        scheduler=(cluster.scheduler, None),
        fail_on_drift=(drift.fail_on_drift, None),
        **{name: (getattr(test, name), getattr(plain, name)) for name in ("estimator", "bandwidth", "equivalence")},
    )


def _given(given: list[str], test: TwoSampleTest, table: MixedTable, read: Sequence[Input], output: Output) -> int:
    """Compare two tables beyond what some of their columns explain, and show the result."""
    from ..studies.given import compare_given  # slow to import

    if len(read) > 2:
        raise ValueError(f"--given compares two groups, and there are {len(read)}; {_NAME_TWO}")
    first, second = read
    result = compare_given(
        first.frame,
        second.frame,
        split_names(given, first.frame.names),
        encoding=table.kinds(first.frame.names, scale=test.scale),
        n_resamples=test.n_resamples,
        rng=test.seed,
        adjustment=test.adjustment,
    )
    notes = tuple(dict.fromkeys((*first.notes, *second.notes, *result.test.notes)))
    result = replace(result, test=replace(result.test, notes=notes))
    output.put(result, output.drawn("differences", result.plot))
    return 0


@dataclass(frozen=True)
class _Read:
    """Two tables, or several groups in memory: what to call them, notes, and the plan of workers that hold them."""

    tables: Sequence[Any]
    names: Any = None
    notes: tuple[str, ...] = ()
    plan: Any = None


@contextmanager
def _opened(pair: Pair, tables: TwoTables, cluster: Cluster, rows: ReadOptions, estimator: str) -> Iterator[_Read]:
    """Yield the tables: those of a cluster, batch by batch, or in memory."""
    from .inputs import are_streamed, check_for_cluster, long_tables, on_cluster, read_tables  # slow to import

    first, second = pair
    if cluster.scheduler is not None:
        check_for_cluster(second, rows)
        with _workers(cluster.scheduler) as plan:
            held = [on_cluster(plan, named, rows) for named in pair]
            yield _Read(held, (first.name, second.name), plan=plan)
    elif are_streamed(first, second, estimator, rows):
        yield _Read(long_tables(first, second, rows))
    else:
        read = read_tables(first, second, tables, rows)
        notes = tuple(note for one in read for note in one.notes) if len(read) == 2 else ()
        yield _Read([one.frame for one in read], tuple(one.name for one in read), notes)


@contextmanager
def _workers(address: str) -> Iterator[Any]:
    """Yield the plan of a Dask cluster, which logs nothing."""
    import logging

    from ..inference.cluster import DaskPlan  # slow to import
    from ..inference.cluster.running import connected

    logging.disable(logging.CRITICAL)  # Dask logs many lines for what we say in one
    try:
        with connected(address) as client:
            yield DaskPlan(client)
    finally:
        logging.disable(logging.NOTSET)


def _how(test: TwoSampleTest, encoding: Encoding, level: float, progress: Progress, plan: Any) -> dict[str, Any]:
    """Return the test that the options describe, in keywords of ``Testing`` and of :func:`kernelmean.compare`."""
    return {
        "estimator": "adaptive" if test.estimator == AUTO else test.estimator,
        "bandwidth": test.theta,
        "encoding": encoding,
        "n_resamples": test.n_resamples,
        "rng": test.seed,
        "plan": plan or test.plan,
        "progress": progress,
        "level": level,
        "adjustment": test.adjustment,
    }


def _of_groups(groups: Sequence[Frame], by: str, design: TableDesign, how: dict[str, Any]) -> GroupComparison:
    """Compare several groups."""
    from ..studies.comparison.request import Testing  # slow to import
    from ..studies.groups.comparing import compare_frames

    if design.paired:
        names = [group.source.removeprefix(f"{by}=") for group in groups]
        raise ValueError(
            f"--paired is for two groups, and {by!r} has {len(names)}: {listed(map(repr, names))}; name two with "
            f"{worded('--groups', comma_separated(names[:2]))}, or leave --paired out and name the column of the "
            "pairs with --strata"
        )
    result = compare_frames(groups, by, Testing(**how), design)
    pair = (result.differing() or result.pairs)[0]
    named = worded("--groups", comma_separated((pair.first, pair.second)))
    return replace(result, notes=(*result.notes, f"to see in which columns two groups differ, add {named}"))


def _drawn(output: Output, result: Comparison | GroupComparison, seed: int) -> list[str]:
    """Draw the columns of numbers that differ most, or the map of all pairs of groups; return a note."""
    from ..studies.comparison import Comparison  # slow to import

    if not isinstance(result, Comparison):
        return output.drawn("map of all pairs of groups", result.plot)
    names = result.numbers[:_PANELS]
    if not names:
        return ["no picture drawn: it shows columns of numbers, and no column that varies holds numbers"]
    return output.drawn(f"witness of {listed(names)}", lambda: result.plot(names, rng=seed))
