"""kernelmean dependence: which columns of a table depend on which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from .complete import columns as columns_of
from .options import DetailedOutput, MixedTable, OneTable, PairTest, split_names
from .parameters import command


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
)
def dependence(groups: TwoGroups, test: PairTest, table: MixedTable, report: DetailedOutput) -> None:
    """Test which columns depend on which: two groups of columns, or all pairs."""
    from ..plan.plan import Plan  # slow to import, which help can do without
    from ..studies.dependence import Dependence
    from ..studies.dependence import dependence as test_dependence
    from .inputs import read_one, reading, row_limit
    from .outputs import check_picture, write_picture
    from .progress import progress

    output = report.output
    output.check(groups.data, figures=Dependence.figures, plot=report.plot_path)
    check_picture(report.plot_path)
    source = read_one(groups.data, reading(table, test.seed, *row_limit(test.estimator)))
    names = source.frame.names
    with progress(report.quiet) as told:
        result = test_dependence(
            source.frame,
            *(split_names(texts or (), names) for texts in (groups.x, groups.y)),
            estimator=test.estimator,
            encoding=table.kinds(names, scale=test.scale),
            n_resamples=test.resamples,
            rng=test.seed,
            screen=test.screen,
            plan=Plan(),
            progress=told,
        )
    result = source.told(result, test.seed)
    drawn = []
    if report.plot_path is not None:
        write_picture(result.plot(), report.plot_path)
        drawn.append(f"map of all pairs drawn in {report.plot_path}")
    output.put(result, result.document() if output.page else None, drawn)
