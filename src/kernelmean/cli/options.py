"""The options of the commands: their types, what help says of them, and what their texts mean."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..core.table import LARGEST, SMALLEST
from .complete import PAIRS, TWO_SAMPLES, columns, one_of
from .inputs import ADAPTIVE_LIMIT, FIT_LIMIT, TEST_LIMIT

DATA, TEST, OUTPUT, RUNNING = "Columns and rows", "What is computed", "Output", "Running"
STREAM = "Long tables"
Source = (
    "A file (.csv, .tsv, .jsonl, all also with .gz; .parquet, .feather), - for CSV text from standard input, or a "
    "built-in table: wine, wbdc, iris, diabetes, digits, eckerle4."
)
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Use only these columns: a,b.", autocompletion=columns, rich_help_panel=DATA),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAMES",
        help="Leave these columns out, of --columns too: a,b.",
        autocompletion=columns,
        rich_help_panel=DATA,
    ),
]
Missing = Annotated[
    str, typer.Option(metavar="error|drop", help="What to do with rows that have a blank cell.", rich_help_panel=DATA)
]
MissingRule = Annotated[
    str,
    typer.Option(
        "--missing",
        metavar="RULE",
        help="What a blank cell is: error; drop (leave the row out); category (a value of its own); noise (a number "
        "known with noise only, for --estimator kme); or a rule for each column: age=noise,city=category.",
        rich_help_panel=DATA,
    ),
]
Ordinal = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=LEVELS",
        help="A column with ordered levels, lowest first: size=low,mid,high.",
        rich_help_panel=DATA,
    ),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="NAMES",
        help="Columns that hold categories although their cells are numbers or dates, or nearly all different: a,b.",
        autocompletion=columns,
        rich_help_panel=DATA,
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="NAMES",
        help="Columns of integers to use although they look like identifiers: a,b.",
        autocompletion=columns,
        rich_help_panel=DATA,
    ),
]
MaxRows = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=2,
        help="Use at most N random rows of a table. Needed for estimate and density above "
        f"{FIT_LIMIT:,} rows, for tests in memory above {ADAPTIVE_LIMIT:,}, with one kernel above {TEST_LIMIT:,}; "
        "compare A B reads longer files batch by batch.",
        rich_help_panel=DATA,
    ),
]
Seed = Annotated[
    int, typer.Option(metavar="N", min=0, help="The same seed gives the same output.", rich_help_panel=TEST)
]
Bandwidth = Annotated[
    str,
    typer.Option(
        metavar="RULE|NUMBER",
        help="Of the kernel: median, median-unsquared, silverman, scott, or a number.",
        rich_help_panel=TEST,
    ),
]
Scale = Annotated[
    bool,
    typer.Option(
        "--scale/--no-scale",
        help="Divide every column by its standard deviation, or leave it as it is.",
        rich_help_panel=TEST,
    ),
]
Resamples = Annotated[int, typer.Option(metavar="N", min=1, help="Permutations of a test.", rich_help_panel=TEST)]
_ADAPTIVE = "adaptive (many kernels, one p-value), log-mean-exp, aggregate, kme, mkme, mmkme"
TwoSampleEstimator = Annotated[
    str,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help=f"{_ADAPTIVE}, s-kmse, f-kmse or vpmkme; auto: adaptive, of streams mkme.",
        autocompletion=one_of(*TWO_SAMPLES),
        rich_help_panel=TEST,
    ),
]
Stream = Annotated[
    bool | None,
    typer.Option(
        "--stream/--no-stream",
        help="Read the tables batch by batch and use all rows, or hold them in memory; by default above "
        f"{ADAPTIVE_LIMIT:,} rows, {TEST_LIMIT:,} where --estimator names one kernel, without --max-rows.",
        show_default=False,
        rich_help_panel=STREAM,
    ),
]
Passes = Annotated[
    int | None,
    typer.Option(
        metavar="1|2",
        min=1,
        max=2,
        help="2 reads the tables twice, first for scale and categories; 1 takes the scale from a pilot. By default 1 "
        "for Parquet files of numbers without missing cells.",
        show_default=False,
        rich_help_panel=STREAM,
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Save the sums now and then, and go on from there when FILE is there already.",
        rich_help_panel=STREAM,
    ),
]
Frequencies = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Fourier frequencies of the kernel of all columns; 512 by default.",
        rich_help_panel=STREAM,
    ),
]
PairEstimator = Annotated[
    str,
    typer.Option(
        "--estimator",
        metavar="NAME",
        help=f"{_ADAPTIVE}, scose or fcose.",
        autocompletion=one_of(*PAIRS),
        rich_help_panel=TEST,
    ),
]
Picture = Annotated[
    str | None,
    typer.Option(
        "--plot", metavar="FILE", help="Draw a picture, .png, .svg or .pdf; needs matplotlib.", rich_help_panel=OUTPUT
    ),
]
Page = Annotated[
    str | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a report as one page for a browser; - is the screen.",
        rich_help_panel=OUTPUT,
    ),
]
Text = Annotated[
    str | None,
    typer.Option(
        "--markdown",
        metavar="FILE",
        help="Write the report as Markdown, its figures beside it: of report.md report-columns.svg and so on.",
        rich_help_panel=OUTPUT,
    ),
]
Csv = Annotated[
    str | None,
    typer.Option(
        "--csv", metavar="FILE", help="Write a table of the numbers as CSV; - is the screen.", rich_help_panel=OUTPUT
    ),
]
Drift = Annotated[
    float | None,
    typer.Option(
        metavar="ALPHA",
        help="End with exit code 1 when the tables differ, p at most ALPHA; for automatic checks.",
        rich_help_panel=RUNNING,
    ),
]
Json = Annotated[
    str | None,
    typer.Option("--json", metavar="FILE", help="Write all numbers as JSON; - is the screen.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet/--no-quiet", "-q", help="Print one line only, and no progress.", rich_help_panel=RUNNING),
]


def counts(text: str | None) -> list[int]:
    """Return numbers separated by commas."""
    try:
        found = [int(part) for part in (text or "").split(",") if part.strip()]
    except ValueError:
        found = [0]
    if any(number < 1 for number in found):
        raise ValueError(f"--components is {text!r}; write whole numbers from 1, such as 2,5,10")
    return found


def bandwidth_from(text: str) -> Any:
    """Return a number, or the name of a rule as it is."""
    try:
        number = float(text)
    except ValueError:
        return text
    if not SMALLEST <= number <= LARGEST:
        raise ValueError(f"--bandwidth is {text}; a number from {SMALLEST:g} to {LARGEST:g} is needed, or a rule")
    return number
