"""kernelmean compare: two tables, held in memory or read batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.words import listed
from .options import AUTO, LongTables, MixedTable, ReportOutput, TwoSampleTest, TwoTables
from .parameters import RUNNING, takes_options

if TYPE_CHECKING:
    from ..core.array import Progress
    from ..studies.comparison import Comparison
    from .inputs import Reading

EXAMPLES = (
    "kernelmean compare before.csv after.csv",
    "kernelmean compare trial.parquet --by arm --groups placebo,drug --drop id",
    "kernelmean compare before.csv after.csv --html report.html",
    "kernelmean compare wine --by target --groups 0,1 --json result.json",
    "kernelmean compare last-week.parquet today.parquet --fail-on-drift 0.01 --quiet",
    "kernelmean compare huge-1.parquet huge-2.parquet --estimator mkme --checkpoint sums.npz",
)
_PANELS = 6


@dataclass(frozen=True)
class Drift:
    """The exit code of automatic checks."""

    fail_on_drift: Annotated[
        float | None,
        typer.Option(
            metavar="ALPHA",
            help="End with exit code 1 when the tables differ, p at most ALPHA; for automatic checks.",
            rich_help_panel=RUNNING,
        ),
    ] = None


@takes_options
def compare(
    tables: TwoTables, test: TwoSampleTest, table: MixedTable, long: LongTables, drift: Drift, report: ReportOutput
) -> int:
    """Test whether two tables come from the same law, and show which columns tell.

    Long tables are read batch by batch, all rows of them (--stream). The exit code is 0; 2 for bad input; with
    --fail-on-drift 1 when the tables differ; 70 when kernelmean itself failed; 130 when a stream was stopped.
    """
    from ..studies.pages import comparison_page, gather  # slow to import, which help can do without
    from ..studies.pages.comparison import FIGURES
    from . import show, tidy
    from .drift import LEVEL, check_drift, check_power, drifted
    from .inputs import check_pair, reading, row_limit
    from .outputs import drawing
    from .progress import progress
    from .streams import check_stream_options, is_streamed

    check_pair(tables)
    check_drift(drift.fail_on_drift, test.resamples)
    level = LEVEL if drift.fail_on_drift is None else drift.fail_on_drift
    output = report.output
    output.check(tables.a, tables.b, figures=FIGURES, plot=report.plot_path, checkpoint=long.checkpoint)
    plots = drawing(report.plot_path)
    rows = reading(table, test.seed, *row_limit(test.estimator, "takes all rows of two files"))
    streams = is_streamed(long.stream, test.estimator, rows, tables.a, tables.b)
    check_stream_options(streams, long)
    with progress(report.quiet) as told:
        if streams:
            notes, result = _streamed(tables, rows, test, table, long, told)
        else:
            notes, result = _in_memory(tables, rows, test, table, told)
        found = gather(result, level=level, rng=test.seed, progress=told) if output.page else None
    check_power(drift.fail_on_drift, result.test)
    notes, drawn = [*notes, *result.notes], []
    if plots is not None and report.plot_path is not None:
        drawn.append(_draw_witnesses(plots, report.plot_path, result, test.seed))
    content = {**result.as_dict(), "verdict": result.verdict(level), "level": level, "seed": test.seed}
    page = None if found is None else comparison_page(result, found, level=level, notes=notes, seed=test.seed)
    output.put(show.comparison(result, level), [*notes, *drawn], content, tidy.comparison(result), page)
    return drifted(drift.fail_on_drift, result.test)


def _in_memory(
    tables: TwoTables, rows: Reading, test: TwoSampleTest, table: MixedTable, told: Progress
) -> tuple[list[str], Comparison]:
    """Return notes on the way there, and what was found."""
    from ..studies.comparison import compare as compare_tables  # slow to import
    from .inputs import read_pair

    first, second = read_pair(tables, rows)
    result = compare_tables(
        first.frame,
        second.frame,
        names=(first.name, second.name),
        estimator="adaptive" if test.estimator == AUTO else test.estimator,
        bandwidth=test.theta,
        encoding=table.kinds(first.frame.names, scale=test.scale),
        n_resamples=test.resamples,
        rng=test.seed,
        n_jobs=-1,
        progress=told,
    )
    return [*first.notes, *second.notes], result


def _streamed(
    tables: TwoTables, rows: Reading, test: TwoSampleTest, table: MixedTable, long: LongTables, told: Progress
) -> tuple[list[str], Comparison]:
    """Return notes on the test, and what was found in all rows."""
    from ..studies.long_tables import compare_stream  # slow to import
    from .streams import ONE_KERNEL, long_tables, stoppable

    first, second = long_tables(tables.a, str(tables.b), rows)
    with stoppable(told, long.checkpoint) as watched:
        result = compare_stream(
            first,
            second,
            estimator="mkme" if test.estimator == AUTO else test.estimator,
            bandwidth=test.theta,
            encoding=table.kinds(first.names, scale=test.scale),
            n_resamples=test.resamples,
            seed=test.seed,
            n_frequencies=long.frequencies or 512,
            passes=long.passes,
            checkpoint=long.checkpoint,
            progress=watched,
        )
    return [ONE_KERNEL] if test.estimator == AUTO else [], result


def _draw_witnesses(plots: ModuleType, path: str, result: Comparison, seed: int) -> str:
    """Draw the columns of numbers that differ most, and say so."""
    from .outputs import write_picture

    names = result.numbers[:_PANELS]
    if not names:
        return "no picture drawn: it would show columns of numbers, and none of the columns that vary is one"
    write_picture(plots, result.plot(names, rng=seed), path)
    return f"witness of {listed(names)} drawn in {path}"
