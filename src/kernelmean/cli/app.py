"""All commands, and the one that the paper's package adds."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import copy_context
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from . import changes, compare, density, dependence, describe, estimate, info, monitor
from .errors import Stopped, guarded
from .parameters import DESIGN_PANEL
from .spelling import OPTIONS

ENTRY_POINTS = "kernelmean.commands"
"""The entry-point group through which the paper's package, ``paper/``, adds ``reproduce``."""


class Commands(TyperGroup):
    """All commands; Ctrl-C ends them with a message.

    Entry points are read only for a name that is not ours, or to list all names, as help does.
    """

    panel = "Files and the paper"

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("stopped; nothing was written") from None

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names."""
        self._add_paper()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None if there is none of this name."""
        if cmd_name not in self.commands:
            self._add_paper()
        return super().get_command(ctx, cmd_name)

    def _add_paper(self) -> None:
        for entry in metadata.entry_points(group=ENTRY_POINTS, name="reproduce"):
            command: Any = typer.main.get_command(entry.load())
            command.name, command.rich_help_panel = entry.name, self.panel
            self.commands[entry.name] = command


class Command(TyperCommand):
    """A command that refuses a column of a design twice, of which the second would silently replace the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Look at what was passed, and parse it."""
        _, _, passed = self.make_parser(ctx).parse_args(args=list(args))
        for option in passed:
            if getattr(option, "rich_help_panel", None) == DESIGN_PANEL and passed.count(option) > 1:
                raise ValueError(
                    f"--{option.name} was passed twice, and takes one column; to cross several, make one column of "
                    "them beforehand"
                )
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command, so that texts name its options; groups of rows are called as the column of --by is."""
        options = {each.name: each for each in self.params if each.opts[0].startswith("--")}
        OPTIONS.set({name: option for name, option in options.items() if name != ctx.params.get("by")})
        return super().invoke(ctx)


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
    "A table is a file (.csv, .tsv or .jsonl, also as .gz; .parquet; .feather), - for CSV text from standard input, "
    "or a built-in table (wine, wbdc, iris, diabetes, digits, eckerle4). The verdict comes first, in one sentence; "
    "numbers, notes and the names of written files follow. Tests are exact permutation tests, and the same seed gives "
    "the same output.\n\n"
    "The exit code is 0, or 2 for bad input, which one line explains. With --fail-on-drift, compare and monitor end "
    "with 1 when the data differ. An error of kernelmean itself gives 70, never 0 or 1."
)


def _examples(*lines: str) -> str:
    """Return an epilog that keeps its lines apart."""
    return "\n\n".join(("For example:", *lines))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    words = None if arguments is None else list(arguments)
    return copy_context().run(guarded, lambda: app(args=words, prog_name="kernelmean", standalone_mode=False))


def _print_version(context: typer.Context, value: bool) -> None:
    if not value:
        return
    if context.params.get("verbose"):  # which is eager, so it is known by now
        from ..report.description import as_text
        from .versions import description

        print(as_text(description()))
    else:
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
    version: Annotated[bool, typer.Option("--version", callback=_print_version, help="Print the version.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", is_eager=True, help="With --version: also print what a bug report should say.")
    ] = False,
) -> None:
    """Hold what all commands share."""
    del version  # its callback has printed it
    if verbose:
        raise ValueError("--verbose before a command belongs to --version; write it after the command")


for _command in (
    compare.compare,
    changes.changes,
    dependence.dependence,
    describe.describe,
    info.info,
    estimate.estimate,
    density.density,
    monitor.monitor,
):
    _panel = FILES if _command is info.info else QUESTIONS
    app.command(cls=Command, epilog=_examples(*_command.examples), rich_help_panel=_panel)(_command)  # type: ignore[attr-defined]
