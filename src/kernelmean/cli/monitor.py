"""kernelmean monitor: batch after batch against a reference, with p-values that hold at any time."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict

from .options import BatchTable, ReportOutput, Seed, Watched
from .parameters import command


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
    from ..studies.pages.monitor import monitor_page, wealth_panel
    from . import show
    from .drift import drift_found
    from .inputs import check_once
    from .progress import progress, stoppable
    from .watching import UNITS, watch

    output = report.output
    output.check(watched.reference, *watched.news, checkpoint=watched.checkpoint)
    if watched.every is not None and (watched.by is None or watched.every not in UNITS):
        raise ValueError(f"--every is {watched.every!r}; write --by COLUMN --every hour, day, week or month")
    check_once(watched.reference, *watched.news)
    checkpoint = None if watched.checkpoint is None else str(watched.checkpoint)
    with (
        progress(report.quiet) as callback,
        nullcontext(callback) if checkpoint is None else stoppable(callback) as step,
    ):
        result = watch(watched, seed, table, step)
    content = {**result.state.as_dict(), "verdict": result.verdict, "reference": watched.reference}
    content |= {"changed_between": result.changed, "batches": result.batches, "seed": seed.seed}
    content["notes"] = result.notes
    content["alarm"] = None if result.alarm is None else asdict(result.alarm)
    summary = show.monitoring(result, watched.reference)
    drawn = output.drawn("the evidence", lambda: pictures.show(wealth_panel(result.state, result.path)))
    page = None
    if output.html is not None:
        page = monitor_page(
            result.state, summary, result.batches, result.position, seed.seed, path=result.path, earlier=result.earlier
        )
    output.write(summary, lambda: content, lambda: result.batches or [result.numbers], drawn, page)
    return drift_found(result.state, result.place) if watched.fails else 0
