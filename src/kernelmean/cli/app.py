"""The commands: what they take, whom they call, and where the output goes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from .. import __version__
from ..core.option_names import command_line
from . import compare, density, dependence, estimate, info, monitor
from .errors import guarded
from .group import Commands

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


for _command in (
    compare.compare,
    dependence.dependence,
    info.info,
    estimate.estimate,
    density.density,
    monitor.monitor,
):
    _panel = FILES if _command is info.info else QUESTIONS
    app.command(epilog=_examples(*_command.examples), rich_help_panel=_panel)(_command)  # type: ignore[attr-defined]
