"""The options that say what is written where, and what is said while a command runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import Config
from ..parameters import OUTPUT, RUNNING

if TYPE_CHECKING:
    from ..outputs import Output

Quiet = Annotated[
    bool,
    typer.Option("--quiet/--no-quiet", "-q", help="Print one line only, and no progress.", rich_help_panel=RUNNING),
]


@dataclass(frozen=True)
class Running:
    """What is said while a command runs, and where options come from."""

    quiet: Quiet = False
    config: Config = None


@dataclass(frozen=True)
class JsonFile:
    """Where numbers go as JSON."""

    json_path: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE", help="Write all numbers as JSON; - is the screen.", rich_help_panel=OUTPUT
        ),
    ] = None


@dataclass(frozen=True)
class CsvFile:
    """Where a table of numbers goes."""

    csv_path: Annotated[
        str | None,
        typer.Option(
            "--csv",
            metavar="FILE",
            help="Write a table of the numbers as CSV; - is the screen.",
            rich_help_panel=OUTPUT,
        ),
    ] = None


@dataclass(frozen=True)
class JsonOutput(JsonFile, Running):
    """What is written of numbers alone."""

    @property
    def output(self) -> Output:
        """What goes where."""
        from ..outputs import Output  # slow to import

        return Output(json=self.json_path, quiet=self.quiet, config=self.config)


@dataclass(frozen=True)
class RowsOutput(CsvFile, JsonFile, Running):
    """What is written of numbers that are rows of a table."""

    @property
    def output(self) -> Output:
        """What goes where."""
        from ..outputs import Output  # slow to import

        return Output(csv=self.csv_path, json=self.json_path, quiet=self.quiet, config=self.config)


@dataclass(frozen=True)
class ReportOutput(CsvFile, JsonFile, Running):
    """What is written: a picture, a report, and numbers."""

    plot_path: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw a picture, .png, .svg or .pdf; needs matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    html_path: Annotated[
        str | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write a report as one page for a browser; - is the screen.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    markdown_path: Annotated[
        str | None,
        typer.Option(
            "--markdown",
            metavar="FILE",
            help="Write the report as Markdown, its figures beside it: of report.md report-columns.svg and so on.",
            rich_help_panel=OUTPUT,
        ),
    ] = None

    @property
    def output(self) -> Output:
        """What goes where."""
        from ..outputs import Output  # slow to import

        return Output(self.html_path, self.markdown_path, self.csv_path, self.json_path, self.quiet, self.config)
