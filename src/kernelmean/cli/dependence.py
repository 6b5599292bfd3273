"""kernelmean dependence: which columns of a table depend on which."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from .complete import columns as columns_of
from .options import AllRows, DetailedOutput, MixedTable, OneTable, PairTest, split_names
from .parameters import command

if TYPE_CHECKING:
    from ..core.array import Progress
    from ..core.table import Frame
    from ..studies.dependence import Dependence
    from ..tables.source import Source


@dataclass(frozen=True)
class TwoGroups(OneTable):
    """A table, and two groups of its columns."""

    x: Annotated[
        list[str] | None,
        typer.Option("--x", metavar="NAMES", help="A group of columns: a,b.", autocompletion=columns_of),
    ] = None
    y: Annotated[
        list[str] | None,
        typer.Option("--y", metavar="NAMES", help="The other group; else all others.", autocompletion=columns_of),
    ] = None


@command(
    "kernelmean dependence wine --drop target --plot map.png",
    "kernelmean dependence data.csv --x dose,age --y response",
    "kernelmean dependence huge.parquet --html report.html",
)
def dependence(groups: TwoGroups, test: PairTest, table: MixedTable, rows: AllRows, report: DetailedOutput) -> None:
    """Test which columns depend on which: two groups of columns, or all pairs.

    A long table is read batch by batch, all rows of it (--stream).
    """
    from ..inference.wording import short  # slow to import, which help can do without
    from ..studies.dependence import Dependence
    from .inputs import is_one_streamed, long_table, read_one, reading, row_limit
    from .outputs import check_picture, write_picture
    from .progress import progress

    output = report.output
    output.check(groups.data, figures=Dependence.figures, plot=report.plot_path)
    check_picture(report.plot_path)
    wanted = reading(table, test.seed, *row_limit(test.estimator, "takes all rows of a file"))
    with progress(report.quiet) as told:
        if is_one_streamed(groups, rows, test.estimator, wanted):
            found = _tested(groups, test, table, long_table(groups, wanted), told)
            result = replace(found, name=short(groups.data), seed=test.seed)
        else:
            source = read_one(groups.data, wanted)
            result = source.told(_tested(groups, test, table, source.frame, told), test.seed)
    drawn = []
    if report.plot_path is not None:
        write_picture(result.plot(), report.plot_path)
        drawn.append(f"map of all pairs drawn in {report.plot_path}")
    output.put(result, result.document() if output.page else None, drawn)


def _tested(groups: TwoGroups, test: PairTest, table: MixedTable, rows: Frame | Source, told: Progress) -> Dependence:
    """Test the columns of a table as the options say."""
    from ..plan.plan import Plan  # slow to import
    from ..studies.dependence import dependence as test_dependence

    return test_dependence(
        rows,
        *(split_names(texts or (), rows.names) for texts in (groups.x, groups.y)),
        estimator=test.estimator,
        encoding=table.kinds(rows.names, scale=test.scale),
        n_resamples=test.resamples,
        rng=test.seed,
        screen=test.screen,
        plan=Plan(),
        progress=told,
    )
