"""kernelmean monitor: batch after batch against a reference, with p-values that hold at any time."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from .options import SOURCE, BatchTable, ReportOutput, Seed
from .parameters import command, read_level


@dataclass(frozen=True)
class Watched:
    """A reference, the tables after it, and how they are cut into batches."""

    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help=f"{SOURCE} Or a folder, or a pattern in quotes: its files are one table."
        ),
    ]
    news: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW...",
            help="Later tables, in the order of time, or a folder or a pattern in quotes: its files are batches by "
            "name. Rows of a batch are taken in random order.",
        ),
    ]
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Cut every NEW into batches by this column.")] = None
    every: Annotated[
        str | None,
        typer.Option(metavar="hour|day|week|month", help="The length of the batches, if --by is a column of times."),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Resume from this JSON file if it exists, and save to it. Batches that it knows are skipped.",
        ),
    ] = None
    fail_on_drift: Annotated[
        float | None,
        typer.Option(
            "--fail-on-drift",
            metavar="ALPHA",
            parser=read_level,
            help="End with exit code 1 if p was ever at most ALPHA.",
        ),
    ] = None
    average_run_length: Annotated[
        float | None,
        typer.Option(
            metavar="ROWS",
            help="Instead of a level: end with exit code 1 at an alarm. A false alarm comes after ROWS on average, or "
            "later.",
        ),
    ] = None

    @property
    def fails(self) -> bool:
        """Whether drift gives exit code 1."""
        return self.fail_on_drift is not None or self.average_run_length is not None

    @property
    def names(self) -> list[str]:
        """What to call the files of ``news``."""
        from .named_tables import told_apart  # slow to import, which help can do without

        return told_apart(self.news)

    def file_of(self, name: str, default: str) -> str:
        """Return the file of ``news`` with a name."""
        return dict(zip(self.names, self.news, strict=True)).get(name, default)


@command(
    "kernelmean monitor before.csv after.csv",
    "kernelmean monitor reference.csv monday.csv tuesday.csv --checkpoint state.json --fail-on-drift 0.01",
    "kernelmean monitor before.parquet visits.parquet --by day --every week --html report.html",
    "kernelmean monitor before.parquet stream.parquet --average-run-length 100000",
)
def monitor(watched: Watched, seed: Seed, table: BatchTable, report: ReportOutput) -> int:
    """Test after every batch of new rows whether they have drifted from a reference; look as often as you want.

    Rows must not depend on each other. Those of a series in time, such as hourly
    measurements, do, and give false alarms: keep rows that are far apart, such as
    one a day, or monitor means of days, in the reference too.

    The exit code is 0; with --fail-on-drift or --average-run-length 1 when drift
    was found; 2 for bad input; 70 when kernelmean itself failed.
    """
    from ..report import pictures  # slow to import, which help can do without
    from ..studies.pages.monitor import FIGURES, monitor_page, wealth_panel
    from . import show
    from .drift import drift_found
    from .outputs import check_picture, write_picture
    from .progress import progress, stoppable
    from .watching import UNITS, check_once, watch

    output = report.output
    files = {"plot": report.plot_path, "checkpoint": watched.checkpoint}
    output.check(watched.reference, *watched.news, figures=FIGURES, **files)
    check_picture(report.plot_path)
    if watched.every is not None and (watched.by is None or watched.every not in UNITS):
        raise ValueError(f"--every is {watched.every!r}; write --by COLUMN --every hour, day, week or month")
    check_once(watched.reference, *watched.news)
    checkpoint = None if watched.checkpoint is None else str(watched.checkpoint)
    with (
        progress(report.quiet) as told,
        nullcontext(told) if checkpoint is None else stoppable(told) as step,
    ):
        seen = watch(watched, seed, table, step)
    content = {**seen.state.as_dict(), "verdict": seen.verdict, "reference": watched.reference}
    content |= {"changed_between": seen.changed, "batches": seen.batches, "seed": seed.seed}
    content["notes"] = seen.notes
    content["alarm"] = None if seen.alarm is None else asdict(seen.alarm)
    said = show.monitoring(seen, watched.reference)
    drawn = []
    if report.plot_path is not None:
        write_picture(pictures.show(wealth_panel(seen.state, seen.path)), report.plot_path)
        drawn.append(f"the evidence drawn in {report.plot_path}")
    page = None
    if output.page:
        page = monitor_page(
            seen.state, said, seen.batches, seen.position, seed.seed, path=seen.path, earlier=seen.earlier
        )
    output.write(said, content, seen.batches or [seen.numbers], page, drawn)
    return drift_found(seen.state, seen.place) if watched.fails else 0
