"""kernelmean compare: two tables, held in memory or read batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from ..core.words import listed
from .options import AUTO, LongTables, MixedTable, ReportOutput, RowsOfTwo, TwoSampleTest, TwoTables
from .parameters import command, read_level, running_option

if TYPE_CHECKING:
    from ..core.array import Progress
    from ..core.table import Frame
    from ..studies.comparison import Comparison
    from ..studies.designs import TableDesign
    from ..studies.groups import GroupComparison
    from .inputs import ReadOptions

    Pair: TypeAlias = tuple[Any, Any]

_PANELS = 6


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


@command(
    "kernelmean compare before.csv after.csv",
    "kernelmean compare trial.parquet --by arm --groups placebo,drug --drop id",
    "kernelmean compare before.csv after.csv --html report.html",
    "kernelmean compare wine --by target --groups 0,1 --json result.json",
    "kernelmean compare trial.parquet --by arm --strata center",
    "kernelmean compare before.csv after.csv --paired --drop id",
    "kernelmean compare last-week.parquet today.parquet --fail-on-drift 0.01 --quiet",
    "kernelmean compare huge-1.parquet huge-2.parquet --estimator mkme",
    "kernelmean compare big/*.parquet other/*.parquet --scheduler tcp://10.0.0.1:8786",
)
def compare(
    tables: TwoTables,
    design: RowsOfTwo,
    test: TwoSampleTest,
    table: MixedTable,
    long: LongTables,
    drift: Drift,
    report: ReportOutput,
) -> int:
    """Test whether two tables come from the same distribution, and show which columns differ.

    Long tables are read batch by batch, and all their rows are used (--stream).

    The exit code is 0; with --fail-on-drift 1 when the tables differ; 2 for bad
    input; 70 when kernelmean itself failed; 130 when you stopped it.
    """
    from ..studies.comparison import Comparison  # slow to import, which help can do without
    from ..studies.groups import GroupComparison
    from .drift import LEVEL, check_drift, check_power, drifted
    from .inputs import check_for_cluster, is_streamed, reading, row_limit
    from .named_tables import named_tables
    from .outputs import check_picture
    from .progress import progress

    pair = first, second = named_tables(tables)
    check_drift(drift.fail_on_drift, test.resamples)
    level = LEVEL if drift.fail_on_drift is None else drift.fail_on_drift
    output = report.output
    read = [file for named in pair if named is not None for file in named.files]
    figures = dict.fromkeys([*Comparison.figures, *GroupComparison.figures])
    output.check(*read, figures=[*figures], plot=report.plot_path)
    check_picture(report.plot_path)
    _check_design(design.of_rows, tables, report)
    limit = row_limit(test.estimator, "takes all rows of two files", in_memory=design.of_rows or tables.by is not None)
    rows = reading(table, test.seed, *limit, design.of_rows)
    asked = _Asked(test, table, design.of_rows, level)
    result: Comparison | GroupComparison
    with progress(report.quiet) as step:
        if long.scheduler is not None:
            check_for_cluster(second, long, rows)
            notes, result = _on_cluster(pair, long.scheduler, rows, asked, step)
        elif is_streamed(first, second, long, test.estimator, rows):
            notes, result = _in_batches(pair, rows, asked, step)
        else:
            notes, result = _in_memory(pair, tables, rows, asked, step)
        result = replace(result, notes=tuple(dict.fromkeys((*notes, *result.notes))), seed=test.seed)
        page = result.document(progress=step) if output.page else None
    check_power(drift.fail_on_drift, result.test)
    drawn = []
    if report.plot_path is not None:
        drawn.append(_draw(report.plot_path, result, test.seed))
    output.put(result, page, drawn)
    return drifted(drift.fail_on_drift, result.test)


def _check_design(design: TableDesign, tables: TwoTables, report: ReportOutput) -> None:
    """Raise for a design that names the column of the groups, or has no picture."""
    if tables.by is not None and tables.by in design.columns:
        raise ValueError(f"--by and {design.options()} both name {tables.by!r}; name different columns")
    if report.plot_path is not None:
        design.refuse_witness("--plot")


def _in_memory(
    pair: Pair, tables: TwoTables, rows: ReadOptions, asked: _Asked, told: Progress
) -> tuple[tuple[str, ...], Comparison | GroupComparison]:
    """Return notes, and the comparison of two tables or of several groups."""
    from ..core.words import comma_separated, worded
    from ..inference.wording import short
    from .inputs import read_tables  # slow to import

    read = read_tables(*pair, tables, rows)
    if len(read) > 2:
        found = asked.of_groups([own.frame for own in read], str(tables.by), told)
        most_different = (found.differing() or found.pairs)[0]
        named = worded("--groups", comma_separated((most_different.first, most_different.second)))
        hint = f"to see in which columns two groups differ, add {named}"
        return (), replace(found, name=short(pair[0].name), notes=(*found.notes, hint))
    first, second = read
    result = asked.compared(first.frame, second.frame, names=(first.name, second.name), progress=told)
    return (*first.notes, *second.notes), result


def _in_batches(pair: Pair, rows: ReadOptions, asked: _Asked, told: Progress) -> tuple[tuple[str, ...], Comparison]:
    """Return no notes, and the comparison of all rows."""
    from .inputs import long_tables  # slow to import

    first, second = long_tables(*pair, rows)
    return (), asked.compared(first, second, progress=told)


def _on_cluster(
    pair: Pair, address: str, rows: ReadOptions, asked: _Asked, told: Progress
) -> tuple[tuple[str, ...], Comparison]:
    """Return no notes, and the comparison of all rows by the workers."""
    import logging

    from ..inference.cluster import DaskPlan  # slow to import
    from ..inference.cluster.running import connected
    from .inputs import on_cluster

    logging.disable(logging.CRITICAL)  # Dask logs many lines for what we say in one
    try:
        with connected(address) as client:
            plan = DaskPlan(client)
            first, second = (on_cluster(plan, named, rows) for named in pair)
            return (), asked.compared(
                first, second, names=tuple(named.name for named in pair), progress=told, plan=plan
            )
    finally:
        logging.disable(logging.NOTSET)


@dataclass(frozen=True)
class _Asked:
    """The test that the options describe."""

    test: TwoSampleTest
    table: MixedTable
    design: TableDesign
    level: float

    def compared(self, first: Any, second: Any, **how: Any) -> Comparison:
        """Compare two tables."""
        from ..studies.comparison import compare as compare_tables

        test = self.test
        return compare_tables(
            first,
            second,
            estimator=test.estimator,
            bandwidth=test.theta,
            encoding=self.table.kinds(first.names, scale=test.scale),
            n_resamples=test.resamples,
            rng=test.seed,
            screen=test.screen,
            level=self.level,
            adjustment=test.adjust,
            strata=self.design.strata,
            clusters=self.design.clusters,
            weights=self.design.weights,
            paired=self.design.paired,
            **({"plan": test.plan} | how),
        )

    def of_groups(self, groups: Sequence[Frame], by: str, told: Progress) -> GroupComparison:
        """Compare several groups."""
        from ..core.words import comma_separated, worded
        from ..studies.comparison.request import Testing
        from ..studies.groups.comparing import compare_frames

        test = self.test
        if self.design.paired:
            names = [group.source.removeprefix(f"{by}=") for group in groups]
            raise ValueError(
                f"--paired is for two groups, and {by!r} has {len(names)}: {listed(map(repr, names))}; name two with "
                f"{worded('--groups', comma_separated(names[:2]))}, or leave --paired out and name the column of the "
                "pairs with --strata"
            )
        how = Testing(
            estimator="adaptive" if test.estimator == AUTO else test.estimator,
            bandwidth=test.theta,
            encoding=self.table.kinds(groups[0].names, scale=test.scale),
            n_resamples=test.resamples,
            rng=test.seed,
            plan=test.plan,
            progress=told,
            screen=test.screen,
            level=self.level,
            adjustment=test.adjust,
        )
        return compare_frames(groups, by, how, self.design)


def _draw(path: str, result: Comparison | GroupComparison, seed: int) -> str:
    """Draw the columns of numbers that differ most, or the map of all pairs of groups; return a note."""
    from ..studies.comparison import Comparison  # slow to import
    from .outputs import write_picture

    if not isinstance(result, Comparison):
        write_picture(result.plot(), path)
        return f"map of all pairs of groups drawn in {path}"
    names = result.numbers[:_PANELS]
    if not names:
        return "no picture drawn: it shows columns of numbers, and no column that varies holds numbers"
    write_picture(result.plot(names, rng=seed), path)
    return f"witness of {listed(names)} drawn in {path}"
