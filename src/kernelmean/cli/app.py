"""The commands: what they take, whom they call, and where the output goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..core.surface import command_line
from ..core.words import printable
from ..estimators.files import load, read_columns
from ..inference.facts import short
from ..report import terminal
from ..studies.dependence import Dependence
from ..studies.dependence import dependence as test_dependence
from ..tables.readers import PLAIN
from ..tables.reading import TextFormat
from . import show
from .compare import COMPARISONS, compare
from .complete import columns as columns_of
from .config import Config
from .errors import guarded
from .fitting import DENSITIES, ESTIMATES, density, estimate
from .group import Commands
from .inputs import level_orders, missing_rule, read_one, reading, row_limit, split_names
from .monitor import EXAMPLES as MONITORING
from .monitor import monitor
from .options import (
    Category,
    Columns,
    Csv,
    Drop,
    Json,
    Keep,
    MaxRows,
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
)
from .outputs import Output, drawing, write_picture
from .progress import progress
from .text import reads_text

app = typer.Typer(
    name="kernelmean",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

QUESTIONS, FILES = "Questions about tables", Commands.panel
_HELP = (
    "Compare tables by their kernel means: do two data sets differ, and in which columns.\n\n"
    "Every command takes a table: a file (.csv, .tsv, .jsonl, all also with .gz; .parquet, .feather), - for CSV text "
    "from standard input, or a built-in table (wine, wbdc, iris, diabetes, digits, eckerle4). The verdict comes first, "
    "in a sentence; numbers, notes and files follow. Tests are exact "
    "permutation tests, and the same seed gives the same output.\n\n"
    "The exit code is 0, or 2 for bad input, which one line explains; compare and monitor --fail-on-drift end with 1 "
    "when the data differ. An error of kernelmean itself is 70, never 0 or 1. Options of repeated runs may stand in a "
    "file, see --config of a command."
)


def _examples(*lines: str) -> str:
    """Return an epilog whose lines stay lines."""
    return "\n\n".join(("For example:", *lines))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = None if arguments is None else list(arguments)
    with command_line():
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


app.command(epilog=_examples(*COMPARISONS), rich_help_panel=QUESTIONS)(compare)


@app.command(
    rich_help_panel=QUESTIONS,
    epilog=_examples(
        "kernelmean dependence wine --drop target --plot map.png",
        "kernelmean dependence data.csv --x dose,age --y response",
    ),
)
@reads_text
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
    keep: Keep = None,
    text: TextFormat = PLAIN,
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
    output.check(data, figures=Dependence.figures, plot=plot_path)
    plots = drawing(plot_path)
    source = read_one(data, reading(columns, drop, max_rows, seed, text, *row_limit(estimator)))
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
            keep=split_names(keep or (), source.frame.names),
        )
    result = replace(result, notes=(*source.notes, *result.notes), name=short(source.name), seed=seed)
    drawn = []
    if plots is not None and plot_path is not None:
        write_picture(plots, result.plot(), plot_path)
        drawn.append(f"map of all pairs drawn in {plot_path}")
    output.put(result, result.document() if output.page else None, drawn)


@app.command(epilog=_examples("kernelmean info mean.npz"), rich_help_panel=FILES)
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What estimate --save wrote.")], quiet: Quiet = False
) -> None:
    """Show what is in a saved embedding."""
    said = show.saved(load(file), read_columns(file))
    print(printable(said.sentence or said.title) if quiet else terminal.render(said))


app.command(epilog=_examples(*ESTIMATES), rich_help_panel=QUESTIONS)(estimate)
app.command(epilog=_examples(*DENSITIES), rich_help_panel=QUESTIONS)(density)
app.command(epilog=_examples(*MONITORING), rich_help_panel=QUESTIONS)(monitor)
