"""kernelmean compare: two tables, held in memory or read batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Annotated, Any

import typer

from ..core.array import Progress
from ..core.words import listed
from ..studies.comparison import Comparison
from ..studies.comparison import compare as compare_tables
from ..studies.long_tables import compare_stream
from ..tables.readers import PLAIN
from ..tables.reading import TextFormat
from .complete import columns as columns_of
from .config import Config
from .drift import LEVEL, check_drift, check_power, drifted
from .inputs import (
    ADAPTIVE_LIMIT,
    AUTO,
    Reading,
    check_pair,
    level_orders,
    missing_rule,
    read_pair,
    reading,
    row_limit,
    split_names,
)
from .options import (
    Bandwidth,
    Category,
    Checkpoint,
    Columns,
    Csv,
    Drift,
    Drop,
    Frequencies,
    Json,
    Keep,
    MaxRows,
    MissingRule,
    Ordinal,
    Page,
    Passes,
    Picture,
    Quiet,
    Resamples,
    Scale,
    Seed,
    Source,
    Stream,
    Text,
    TwoSampleEstimator,
    bandwidth_from,
)
from .outputs import Output, drawing, write_picture
from .progress import progress
from .streams import check_stream_options, is_streamed, long_tables, stoppable
from .text import reads_text

COMPARISONS = (
    "kernelmean compare before.csv after.csv",
    "kernelmean compare trial.parquet --by arm --groups placebo,drug --drop id",
    "kernelmean compare before.csv after.csv --html report.html",
    "kernelmean compare wine --by target --groups 0,1 --json result.json",
    "kernelmean compare last-week.parquet today.parquet --fail-on-drift 0.01 --quiet",
    "kernelmean compare huge-1.parquet huge-2.parquet --estimator mkme --checkpoint sums.npz",
)
_PANELS = 6
_ONE_KERNEL = (
    "tested with one kernel (mkme) over all rows: the adaptive test, which takes its place in memory, was not run; "
    f"--max-rows {ADAPTIVE_LIMIT} runs it on random rows"
)


@reads_text
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=Source)],
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="The other table; or split A with --by.")] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Split A into groups by this column.", autocompletion=columns_of),
    ] = None,
    groups: Annotated[str | None, typer.Option(metavar="X,Y", help="The two groups, when there are more.")] = None,
    estimator: TwoSampleEstimator = AUTO,
    bandwidth: Bandwidth = "median",
    scale: Scale = True,
    resamples: Resamples = 999,
    columns: Columns = None,
    drop: Drop = None,
    missing: MissingRule = "error",
    ordinal: Ordinal = None,
    categorical: Category = None,
    keep: Keep = None,
    text: TextFormat = PLAIN,
    max_rows: MaxRows = None,
    seed: Seed = 0,
    stream: Stream = None,
    passes: Passes = None,
    checkpoint: Checkpoint = None,
    frequencies: Frequencies = None,
    fail_on_drift: Drift = None,
    plot_path: Picture = None,
    html_path: Page = None,
    markdown_path: Text = None,
    csv_path: Csv = None,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> int:
    """Test whether two tables come from the same law, and show which columns tell.

    Long tables are read batch by batch, all rows of them (--stream). The exit code is 0; 2 for bad input; with
    --fail-on-drift 1 when the tables differ; 70 when kernelmean itself failed; 130 when a stream was stopped.
    """
    check_pair(b, by, groups)
    check_drift(fail_on_drift, resamples)
    level = LEVEL if fail_on_drift is None else fail_on_drift
    output = Output(html_path, markdown_path, csv_path, json_path, quiet, config)
    output.check(a, b, figures=Comparison.figures, plot=plot_path, checkpoint=checkpoint)
    plots = drawing(plot_path)
    rows = reading(columns, drop, max_rows, seed, text, *row_limit(estimator, "takes all rows of two files"))
    options: dict[str, Any] = {
        "bandwidth": bandwidth_from(bandwidth),
        "scale": scale,
        "n_resamples": resamples,
        "missing": missing_rule(missing),
        "ordinal": level_orders(ordinal or ()),
    }
    named = {"categorical": categorical, "keep": keep}
    streams = is_streamed(stream, estimator, rows, a, b)
    check_stream_options(streams, passes, checkpoint, frequencies)
    with progress(quiet) as report:
        if streams:
            options |= {"passes": passes, "checkpoint": checkpoint, "n_frequencies": frequencies or 512}
            told, result = _streamed((a, str(b)), rows, estimator, named, report, options)
        else:
            told, result = _in_memory((a, b, by, groups), rows, estimator, named, report, options)
        result = replace(result, notes=(*told, *result.notes), level=level, seed=seed)
        page = result.document(progress=report) if output.page else None
    check_power(fail_on_drift, result.test)
    drawn = [] if plots is None or plot_path is None else [_draw_witnesses(plots, plot_path, result, seed)]
    output.put(result, page, drawn)
    return drifted(fail_on_drift, result.test)


_Found = tuple[tuple[str, ...], Comparison]


def _in_memory(
    tables: tuple[str, str | None, str | None, str | None],
    rows: Reading,
    estimator: str,
    named: Mapping[str, list[str] | None],
    report: Progress,
    options: dict[str, Any],
) -> _Found:
    """Return notes on the way there, and what was found."""
    first, second = read_pair(*tables, rows)
    result = compare_tables(
        first.frame,
        second.frame,
        names=(first.name, second.name),
        estimator="adaptive" if estimator == AUTO else estimator,
        rng=rows.seed,
        n_jobs=-1,
        progress=report,
        **_names(named, first.frame.names),
        **options,
    )
    return (*first.notes, *second.notes), result


def _streamed(
    tables: tuple[str, str],
    rows: Reading,
    estimator: str,
    named: Mapping[str, list[str] | None],
    report: Progress,
    options: dict[str, Any],
) -> _Found:
    """Return notes on the test, and what was found in all rows."""
    first, second = long_tables(*tables, rows)
    with stoppable(report, options["checkpoint"]) as watched:
        result = compare_stream(
            first,
            second,
            estimator="mkme" if estimator == AUTO else estimator,
            seed=rows.seed,
            progress=watched,
            **_names(named, first.names),
            **options,
        )
    return (_ONE_KERNEL,) if estimator == AUTO else (), result


def _names(options: Mapping[str, list[str] | None], known: Sequence[str]) -> dict[str, Any]:
    """Return the columns that options name."""
    return {option: split_names(texts or (), known) for option, texts in options.items()}


def _draw_witnesses(plots: ModuleType, path: str, result: Comparison, seed: int) -> str:
    """Draw the columns of numbers that differ most, and say so."""
    names = result.numbers[:_PANELS]
    if not names:
        return "no picture drawn: it would show columns of numbers, and none of the columns that vary is one"
    write_picture(plots, result.plot(names, rng=seed), path)
    return f"witness of {listed(names)} drawn in {path}"
