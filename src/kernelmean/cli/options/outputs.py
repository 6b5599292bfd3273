"""The options for output files, and for messages while a command runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from ..parameters import output_option, running_option

if TYPE_CHECKING:
    from ..outputs import Output

Quiet = Annotated[
    bool,
    running_option("--quiet/--no-quiet", "-q", help="Print the verdict only, and no progress."),
]


@dataclass(frozen=True)
class Running:
    """Messages while a command runs."""

    quiet: Quiet = False


@dataclass(frozen=True)
class RowsOutput(Running):
    """Numbers, also as rows of a table, and details."""

    json_path: Annotated[
        str | None, output_option("--json", metavar="FILE", help="Write all numbers as JSON; - means the screen.")
    ] = None
    csv_path: Annotated[
        str | None,
        output_option("--csv", metavar="FILE", help="Write the numbers as a CSV table; - means the screen."),
    ] = None
    verbose: Annotated[
        bool,
        running_option(
            "--verbose/--no-verbose",
            "-v",
            help="Also print details: the statistic, how rows were permuted, the kernels and the scale; why columns "
            "are taken as they are; and the version.",
        ),
    ] = False

    @property
    def output(self) -> Output:
        """What goes where."""
        from ..outputs import Output  # slow to import

        return Output(None, self.csv_path, self.json_path, self.quiet, self.verbose)


@dataclass(frozen=True)
class ReportOutput(RowsOutput):
    """What is written: a picture, a report, and numbers."""

    plot_path: Annotated[
        str | None,
        output_option("--plot", metavar="FILE", help="Draw a picture: .png, .svg or .pdf. Needs matplotlib."),
    ] = None
    html_path: Annotated[
        str | None,
        output_option("--html", metavar="FILE", help="Write a report as one page for a browser; - means the screen."),
    ] = None

    @property
    def output(self) -> Output:
        """What goes where."""
        return replace(super().output, html=self.html_path)
