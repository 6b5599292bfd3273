"""kernelmean changes: find where a table in time order changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ..tables.limits import TEST_LIMIT
from .options import SOURCE, ReportOutput, Resamples, ScaleOption, Seed, SeriesTable, Threads
from .parameters import command, test_option


@dataclass(frozen=True)
class Series:
    """A table in time order, and its time column."""

    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help=f"{SOURCE} Several files are one table, in this order; those of a folder or of a pattern in quotes "
            "are in the order of their names.",
        ),
    ]
    time: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The time column. It is not searched for changes."),
    ] = None


@dataclass(frozen=True)
class SearchOptions(ScaleOption, Resamples, Threads, Seed):
    """How change points are searched for."""

    level: Annotated[
        float, test_option(metavar="ALPHA", help="Report changes with an adjusted p-value of at most ALPHA.")
    ] = 0.05
    n_changes: Annotated[
        int | None,
        test_option("--n-changes", metavar="N", min=1, help="Return the N clearest changes, whatever their p-values."),
    ] = None
    shortest: Annotated[
        int, test_option(metavar="ROWS", min=1, help="The fewest rows that a segment may have, at least --block.")
    ] = 5
    block: Annotated[
        int,
        test_option(
            metavar="ROWS",
            min=1,
            help="How many neighboring rows permutations keep together, for series in which rows depend on the rows "
            "before them: several times as many as this lasts.",
        ),
    ] = 1


@command(
    "kernelmean changes sensor.csv --time date --html report.html",
    "kernelmean changes sensor.csv --time date --n-changes 3",
    "kernelmean changes day-1.csv day-2.csv day-3.csv --time date",
)
def changes(series: Series, test: SearchOptions, table: SeriesTable, report: ReportOutput) -> None:
    """Find where a table in time order changes: the rows, with intervals and p-values, and what changes there."""
    from ..plan.plan import Plan  # slow to import, which help can do without
    from ..studies.changes import Search  # slow to import, which help can do without
    from ..studies.changes import changes as find_changes
    from .inputs import read_in_order, reading
    from .progress import progress

    output = report.output
    output.check(*series.data)
    also = () if series.time is None else (series.time,)
    source = read_in_order(series.data, reading(table, test.seed, TEST_LIMIT, also=also))
    with progress(report.quiet) as step:
        result = find_changes(
            source.frame,
            series.time,
            search=Search(test.level, test.n_changes, test.shortest, test.block, test.n_resamples),
            rng=test.seed,
            plan=Plan(threads=test.threads),
            progress=step,
            encoding=table.kinds(source.frame.names, scale=test.scale),
        )
    result = source.told(result, test.seed)
    output.put(result, output.drawn("columns over time", result.plot))
