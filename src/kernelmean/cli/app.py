"""The commands: what they take, whom they call, and where the output goes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from .. import __version__
from .._table import Frame, count, listed
from ..comparison import Comparison
from ..comparison import compare as compare_tables
from ..densities import fit_densities
from ..dependence import dependence as test_dependence
from ..fits import ESTIMATORS, fit_all
from ..inference.adaptive import NAMED
from ..io import load, read_columns, save
from ..pages import comparison_page, density_page, dependence_page, gather
from ..pages.facts import short
from . import show, tidy
from .complete import columns as columns_of
from .config import Config
from .drift import LEVEL, check_drift, check_power, drifted
from .errors import guarded
from .inputs import (
    ADAPTIVE_LIMIT,
    FIT_LIMIT,
    TEST_LIMIT,
    Reading,
    level_orders,
    missing_rule,
    read_numbers,
    read_one,
    read_pair,
    split_names,
)
from .monitor import EXAMPLES as MONITORING
from .monitor import monitor
from .options import (
    Bandwidth,
    Category,
    Columns,
    Csv,
    Drift,
    Drop,
    Json,
    MaxRows,
    Missing,
    MissingRule,
    Ordinal,
    Page,
    PairEstimator,
    Picture,
    Quiet,
    Resamples,
    Scale,
    Seed,
    Source,
    Text,
    TwoSampleEstimator,
    bandwidth_from,
    counts,
)
from .outputs import Output, check_target, write_picture, write_rows
from .progress import progress
from .reproduce import EXAMPLES as REPRODUCTIONS
from .reproduce import reproduce

app = typer.Typer(
    name="kernelmean",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PANELS = 6
QUESTIONS, FILES = "Questions about tables", "Files and the paper"
_HELP = (
    "Compare tables by their kernel means: do two data sets differ, and in which columns.\n\n"
    "Every command takes a table: a CSV or Parquet file with a header, or a built-in one (wine, wbdc, iris, diabetes, "
    "digits, eckerle4). The verdict comes first, in a sentence; numbers, notes and files follow. Tests are exact "
    "permutation tests, and the same seed gives the same output.\n\n"
    "The exit code is 0, or 2 for bad input, which one line explains; compare --fail-on-drift ends with 1 when the "
    "tables differ. Options of repeated runs may stand in a file, see --config of a command."
)


def _examples(*lines: str) -> str:
    """Return an epilog whose lines stay lines."""
    return "\n\n".join(("For example:", *lines))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = None if arguments is None else list(arguments)
    return guarded(lambda: app(args=words, prog_name="kernelmean", standalone_mode=False))


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"kernelmean {__version__}")
        raise typer.Exit


@app.callback(
    help=_HELP,
    epilog=_examples(
        "kernelmean compare wine --by target --groups 0,1     a built-in table, split by one of its columns",
        "kernelmean compare before.csv after.csv --html report.html     a report with pictures",
        "kernelmean dependence iris --drop target     all pairs of columns",
        "kernelmean COMMAND --help     what a command takes, with more examples",
    ),
)
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Hold what all commands share."""


@app.command(
    rich_help_panel=QUESTIONS,
    epilog=_examples(
        "kernelmean compare before.csv after.csv",
        "kernelmean compare trial.parquet --by arm --groups placebo,drug --drop id",
        "kernelmean compare before.csv after.csv --html report.html",
        "kernelmean compare wine --by target --groups 0,1 --json result.json",
        "kernelmean compare last-week.parquet today.parquet --fail-on-drift 0.01 --quiet",
    ),
)
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help=Source)],
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="The other table; or split A with --by.")] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Split A into groups by this column.", autocompletion=columns_of),
    ] = None,
    groups: Annotated[str | None, typer.Option(metavar="X,Y", help="The two groups, when there are more.")] = None,
    estimator: TwoSampleEstimator = "adaptive",
    bandwidth: Bandwidth = "median",
    scale: Scale = True,
    resamples: Resamples = 999,
    columns: Columns = None,
    drop: Drop = None,
    missing: MissingRule = "error",
    ordinal: Ordinal = None,
    categorical: Category = None,
    max_rows: MaxRows = None,
    seed: Seed = 0,
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

    The exit code is 0; 2 for bad input; with --fail-on-drift 1 when the tables differ.
    """
    check_drift(fail_on_drift, resamples)
    level = LEVEL if fail_on_drift is None else fail_on_drift
    output = Output(html_path, markdown_path, csv_path, json_path, quiet, config)
    output.check(a, b, plot_path)
    plots = _plots(plot_path)
    first, second = read_pair(a, b, by, groups, _reading(columns, drop, max_rows, seed, *_limit(estimator)))
    with progress(quiet) as report:
        result = compare_tables(
            first.frame,
            second.frame,
            names=(first.name, second.name),
            estimator=estimator,
            bandwidth=bandwidth_from(bandwidth),
            scale=scale,
            n_resamples=resamples,
            rng=seed,
            n_jobs=-1,
            progress=report,
            missing=missing_rule(missing),
            ordinal=level_orders(ordinal or ()),
            categorical=split_names(categorical or (), first.frame.names),
        )
        found = gather(result, level=level, rng=seed, progress=report) if output.page else None
    check_power(fail_on_drift, result.test)
    notes, drawn = [*first.notes, *second.notes, *result.notes], []
    if plots is not None and plot_path is not None:
        drawn.append(_draw_witnesses(plots, plot_path, result, (first.frame, second.frame), seed))
    content = {**result.as_dict(), "verdict": result.verdict(level), "level": level, "seed": seed}
    page = None if found is None else comparison_page(result, found, level=level, notes=notes, seed=seed)
    output.put(show.comparison(result, level), [*notes, *drawn], content, tidy.comparison(result), page)
    return drifted(fail_on_drift, result.test)


@app.command(
    rich_help_panel=QUESTIONS,
    epilog=_examples(
        "kernelmean dependence wine --drop target --plot map.png",
        "kernelmean dependence data.csv --x dose,age --y response",
    ),
)
def dependence(
    data: Annotated[str, typer.Argument(metavar="DATA", help=Source)],
    x: Annotated[
        list[str] | None,
        typer.Option("--x", metavar="NAMES", help="A group of columns: a,b.", autocompletion=columns_of),
    ] = None,
    y: Annotated[
        list[str] | None,
        typer.Option("--y", metavar="NAMES", help="The other group; else all others.", autocompletion=columns_of),
    ] = None,
    estimator: PairEstimator = "adaptive",
    scale: Scale = True,
    resamples: Resamples = 999,
    columns: Columns = None,
    drop: Drop = None,
    missing: MissingRule = "error",
    ordinal: Ordinal = None,
    categorical: Category = None,
    max_rows: MaxRows = None,
    seed: Seed = 0,
    plot_path: Picture = None,
    html_path: Page = None,
    markdown_path: Text = None,
    csv_path: Csv = None,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Test which columns depend on which: two groups of columns, or all pairs."""
    output = Output(html_path, markdown_path, csv_path, json_path, quiet, config)
    output.check(data, plot_path)
    plots = _plots(plot_path)
    source = read_one(data, _reading(columns, drop, max_rows, seed, *_limit(estimator)))
    groups = [split_names(texts or (), source.frame.names) for texts in (x, y)]
    with progress(quiet) as report:
        result = test_dependence(
            source.frame,
            *groups,
            estimator=estimator,
            scale=scale,
            n_resamples=resamples,
            rng=seed,
            n_jobs=-1,
            progress=report,
            missing=missing_rule(missing),
            ordinal=level_orders(ordinal or ()),
            categorical=split_names(categorical or (), source.frame.names),
        )
    notes, drawn = [*source.notes, *result.notes], []
    if plots is not None and plot_path is not None:
        write_picture(plots, plots.dependence_map(result), plot_path)
        drawn.append(f"map of all pairs drawn in {plot_path}")
    page = dependence_page(result, name=short(source.name), notes=notes, seed=seed) if output.page else None
    content = {**result.as_dict(), "seed": seed}
    output.put(show.dependence(result), [*notes, *drawn], content, tidy.dependence(result), page)


@app.command(
    rich_help_panel=QUESTIONS,
    epilog=_examples(
        "kernelmean estimate wine --drop target",
        "kernelmean estimate data.csv --save mean.npz --estimator mmkme",
    ),
)
def estimate(
    data: Annotated[str, typer.Argument(metavar="DATA", help=Source)],
    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save an estimate, in the units of DATA.")
    ] = None,
    estimator: Annotated[
        str | None, typer.Option(metavar="NAME", help="The estimate to save: by default that of the lowest score.")
    ] = None,
    bandwidth: Bandwidth = "median",
    scale: Scale = True,
    columns: Columns = None,
    drop: Drop = None,
    missing: Missing = "error",
    max_rows: MaxRows = None,
    seed: Seed = 0,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Fit all estimators to a table: leave-one-out scores and chosen parameters side by side."""
    output = Output(json=json_path, quiet=quiet, config=config)
    output.check(data, save_path)
    check_target(save_path)
    if estimator is not None and estimator not in ESTIMATORS:
        raise ValueError(f"estimator is {estimator!r}; write one of {listed(ESTIMATORS)}")
    source = read_numbers(data, _reading(columns, drop, max_rows, seed, FIT_LIMIT), missing)
    with progress(quiet) as report:
        fits = fit_all(source.table, bandwidth=bandwidth_from(bandwidth), scale=scale, progress=report)
    notes = [*source.notes, *fits.notes]
    if save_path is not None:
        name = estimator or fits.best
        save(fits.embedding(name), save_path, columns=fits.table.names)
        notes.append(f"{name} saved to {save_path}")
    output.put(show.fits(fits, source.name), notes, {**fits.as_dict(), "seed": seed})


@app.command(
    rich_help_panel=QUESTIONS,
    epilog=_examples(
        "kernelmean density wine --drop target --plot pairs.png",
        "kernelmean density data.csv --components 2,5,10 --estimator mkme --sample 1000 --sample-to new.csv",
    ),
)
def density(
    data: Annotated[str, typer.Argument(metavar="DATA", help=Source)],
    estimator: Annotated[
        str | None, typer.Option(metavar="NAME", help="What is matched: kme, s-kmse, f-kmse, mkme, mmkme or vpmkme.")
    ] = None,
    components: Annotated[str | None, typer.Option(metavar="N,M", help="Numbers of components to try.")] = None,
    covariance: Annotated[str | None, typer.Option(metavar="KIND", help="spherical, diag, tied or full.")] = None,
    held_out: Annotated[float, typer.Option(metavar="SHARE", help="Share of the rows to judge by.")] = 0.3,
    save_path: Annotated[
        Path | None, typer.Option("--save", metavar="FILE", help="Save the mixture as an embedding.")
    ] = None,
    sample: Annotated[int | None, typer.Option(metavar="N", min=1, help="Draw N rows from the mixture.")] = None,
    sample_to: Annotated[Path | None, typer.Option(metavar="FILE", help="Write them to this CSV file.")] = None,
    scale: Scale = True,
    columns: Columns = None,
    drop: Drop = None,
    missing: Missing = "error",
    max_rows: MaxRows = None,
    seed: Seed = 0,
    plot_path: Picture = None,
    html_path: Page = None,
    markdown_path: Text = None,
    csv_path: Csv = None,
    json_path: Json = None,
    quiet: Quiet = False,
    config: Config = None,
) -> None:
    """Fit a mixture density by kernel mean matching, and compare it with others on rows held out."""
    if (sample is None) != (sample_to is None):
        raise ValueError("--sample N and --sample-to FILE belong together; write both or none")
    output = Output(html_path, markdown_path, csv_path, json_path, quiet, config)
    output.check(data, plot_path, save_path, sample_to)
    plots = _plots(plot_path)
    for path in (save_path, sample_to):
        check_target(path)
    source = read_numbers(data, _reading(columns, drop, max_rows, seed, FIT_LIMIT), missing)
    with progress(quiet) as report:
        result = fit_densities(
            source.table,
            estimator=estimator,
            n_components=counts(components),
            covariance_type=covariance,
            held_out=held_out,
            scale=scale,
            rng=seed,
            progress=report,
        )
    notes = [*source.notes, *result.notes]
    page = density_page(result, name=short(source.name), notes=notes, seed=seed) if output.page else None
    if save_path is not None:
        save(result.embedding(), save_path, columns=result.table.names)
        notes.append(f"the mixture saved to {save_path}")
    if sample is not None and sample_to is not None:
        write_rows(result.sample(sample, seed), result.table.names, sample_to)
        notes.append(f"{count(sample, 'row')} drawn from the mixture written to {sample_to}")
    if plots is not None and plot_path is not None:
        write_picture(plots, plots.density_pairs(result), plot_path)
        notes.append(f"marginals and pairs drawn in {plot_path}")
    content = {**result.as_dict(), "seed": seed}
    output.put(show.densities(result, source.name), notes, content, tidy.densities(result), page)


@app.command(epilog=_examples("kernelmean info mean.npz"), rich_help_panel=FILES)
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What estimate --save wrote.")], quiet: Quiet = False
) -> None:
    """Show what is in a saved embedding."""
    lines = show.saved(load(file), read_columns(file))
    print("\n".join(lines[:1] if quiet else lines))


app.command(epilog=_examples(*MONITORING), rich_help_panel=QUESTIONS)(monitor)
app.command(epilog=_examples(*REPRODUCTIONS), rich_help_panel=FILES)(reproduce)


def _plots(path: str | None) -> ModuleType | None:
    """Return the module that draws when a picture is wanted; a bad ending or a missing extra ends work early."""
    if path is None:
        return None
    from .. import plots

    plots.check_format(path)
    check_target(path)
    return plots


def _draw_witnesses(plots: ModuleType, path: str, result: Comparison, frames: tuple[Frame, Frame], seed: int) -> str:
    """Draw the columns of numbers that differ most, and say so."""
    names = [column.name for column in result.columns if column.kind in ("numeric", "boolean")][:_PANELS]
    if not names:
        return "no picture drawn: it would show columns of numbers, and none of the columns that vary is one"
    tables = (frame.select(names).to_table("drop") for frame in frames)
    write_picture(plots, plots.column_witnesses(*tables, names, names=result.names, rng=seed), path)
    return f"witness of {listed(names)} drawn in {path}"


def _reading(
    columns: list[str] | None, drop: list[str] | None, max_rows: int | None, seed: int, *limit: Any
) -> Reading:
    return Reading(tuple(columns or ()), tuple(drop or ()), max_rows, seed, *limit)


def _limit(estimator: str) -> tuple[int, str]:
    """Return how many rows a test takes without being asked for it, and what takes more."""
    if estimator not in NAMED:
        return TEST_LIMIT, ""
    return ADAPTIVE_LIMIT, f"; a test of one kernel, such as --estimator mmkme, takes up to {TEST_LIMIT:,} rows"
