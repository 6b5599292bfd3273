"""kernelmean dependence: test which columns of a table depend on which."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.words import refuse
from .option_texts import split_names
from .options import GivenOption, MixedTable, OneTable, PairTest, ReportOutput, RowsOfOne
from .parameters import command, test_option

if TYPE_CHECKING:
    from ..core.array import Progress
    from ..core.table import Frame
    from ..inference import ConditionalResult
    from ..studies.dependence import Dependence
    from ..tables.source import Source
    from .inputs import Input


_QUICK = 500
"""Up to so many rows intervals take only a moment."""


@dataclass(frozen=True)
class TwoGroups(OneTable):
    """A table, and two groups of its columns."""

    x: Annotated[
        list[str] | None,
        typer.Option("--x", metavar="NAMES", help="A group of columns: a,b."),
    ] = None
    y: Annotated[
        list[str] | None,
        typer.Option(
            "--y",
            metavar="NAMES",
            help="The other group: c,d, or one target. By default all other columns.",
        ),
    ] = None
    given: GivenOption = None


@dataclass(frozen=True)
class ListedPairs:
    """Which pairs are listed, and how."""

    at_least: Annotated[
        float,
        test_option(metavar="STRENGTH", min=0.0, max=1.0, help="List and count only pairs of at least this strength."),
    ] = 0.0
    intervals: Annotated[
        bool | None,
        test_option(
            "--intervals/--no-intervals",
            help="Print approximate 95 % intervals for the strength of the first ten pairs; on by default up to "
            f"{_QUICK} rows.",
            show_default=False,
        ),
    ] = None


@command(
    "kernelmean dependence wine --drop target --plot map.png",
    "kernelmean dependence data.csv --y response",
    "kernelmean dependence data.csv --x dose,age --y response",
    "kernelmean dependence data.csv --x dose --y response --given age,center",
    "kernelmean dependence data.csv --at-least 0.2",
    "kernelmean dependence data.csv --drop id --clusters patient",
    "kernelmean dependence huge.parquet --html report.html",
)
def dependence(
    groups: TwoGroups,
    design: RowsOfOne,
    shown: ListedPairs,
    test: PairTest,
    table: MixedTable,
    report: ReportOutput,
) -> int:
    """Test which columns depend on which: two groups of columns, or all pairs.

    A long table is read batch by batch, and all its rows are used.
    Otherwise Ctrl-C stops the tests of pairs and shows those that are finished;
    the exit code is then 130.
    """
    from ..inference.wording import short  # slow to import, which help can do without
    from .errors import STOPPED
    from .inputs import is_streamed, long_table, read_one, reading, row_limit
    from .progress import progress

    output = report.output
    output.check(groups.data)
    limit = row_limit(test.estimator, "takes all rows of a file")
    also = (*(groups.x or ()), *(groups.y or ()), *(groups.given or ()))
    options = reading(table, test.seed, *limit, design.of_rows, also)
    if groups.given:
        _check_given(design, shown, test)
        conditional = _given(groups, test, table, read_one(groups.data, options))
        output.put(conditional, output.drawn("evidence of every statistic", conditional.plot))
        return 0
    with progress(report.quiet) as step:
        streamed = is_streamed(groups, test.estimator, options)
        if shown.intervals and (streamed or design.of_rows):
            other = design.of_rows.options() if design.of_rows else "a table that is read batch by batch"
            raise ValueError(
                f"--intervals is for independent rows in memory, and does not go with {other}; leave it out"
            )
        if streamed:
            result = _tested(groups, design, test, table, long_table(groups, options), step)
            result = replace(result, name=short(groups.data), seed=test.seed)
        else:
            source = read_one(groups.data, options)
            result = source.told(_tested(groups, design, test, table, source.frame, step), test.seed)
        result = _as_shown(result, shown, test.seed, step)
    output.put(result, output.drawn("map of all pairs", result.plot))
    return STOPPED if any(pair.stopped for pair in result.pairs) else 0


def _check_given(design: RowsOfOne, shown: ListedPairs, test: PairTest) -> None:
    """Raise if options are passed that one conditional test does not have."""
    plain = PairTest()
    refuse(
        "--given is one test of rows in memory; categories that it names are strata, and there is no other design",
        strata=(design.strata, None),
        clusters=(design.clusters, None),
        weights=(design.weights, None),
        at_least=(shown.at_least, 0.0),
        intervals=(shown.intervals, None),
        **{name: (getattr(test, name), getattr(plain, name)) for name in ("estimator", "screen", "adjustment")},
    )


def _given(groups: TwoGroups, test: PairTest, table: MixedTable, source: Input) -> ConditionalResult:
    """Test whether both groups depend on each other once others are known."""
    from ..studies.given import dependence_given

    names = source.frame.names
    x, y, given = (split_names(texts or (), names) for texts in (groups.x, groups.y, groups.given))
    kinds = table.kinds(names, scale=test.scale)
    result = dependence_given(source.frame, x, y, given, encoding=kinds, n_resamples=test.n_resamples, rng=test.seed)
    return replace(result, notes=(*source.notes, *result.notes))


def _as_shown(result: Dependence, shown: ListedPairs, seed: int, progress: Progress) -> Dependence:
    """Return the result with the wanted pairs, and with intervals if they are asked for or quick."""
    result = replace(result, at_least=shown.at_least)
    quick = not result.design and result.n_rows == len(result.encoded.frames[0]) <= _QUICK
    intervals = quick if shown.intervals is None else shown.intervals
    return result.with_intervals(rng=seed, progress=progress) if intervals else result


def _tested(
    groups: TwoGroups, design: RowsOfOne, test: PairTest, table: MixedTable, rows: Frame | Source, progress: Progress
) -> Dependence:
    """Test the columns of a table as the options say."""
    from ..studies.dependence import dependence as test_dependence

    return test_dependence(
        rows,
        *(split_names(texts or (), rows.names) for texts in (groups.x, groups.y)),
        estimator=test.estimator,
        encoding=table.kinds(rows.names, scale=test.scale),
        n_resamples=test.n_resamples,
        rng=test.seed,
        screen=test.screen,
        **asdict(design),
        keep_finished=True,
        adjustment=test.adjustment,
        plan=test.plan,
        progress=progress,
    )
