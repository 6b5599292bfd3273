"""kernelmean reproduce: the paper's figures and tables by one command."""

from __future__ import annotations

import os
import platform
import shlex
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, Literal, cast

import typer
from joblib import cpu_count

from kernelmean.cli.commands import FAILURE, Quiet, one_line, progress, tell

from .experiment import Experiment, Size
from .experiment_names import ALL, EXPERIMENTS, chosen, load
from .judged import Verdict
from .outputs import FILES, PAGE, write_results
from .runner import TRIALS, Outcome, run, stored
from .sources import Sources
from .wording import count, listed
from .workers import Workers

_EXAMPLES = (
    "For example:",
    "kernelmean reproduce figure2 --quick",
    "kernelmean reproduce all --full --jobs 8 --out results --data folder-of-csv-files",
    "kernelmean reproduce all --full --backend dask --scheduler tcp://10.0.0.1:8786",
    "kernelmean reproduce all --status",
)
_DEBUG = "KERNELMEAN_DEBUG"
_GIVEN_UP = r"\d+ tasks (have been successfully executed|which were still being processed)"
"""Warnings of joblib when a run is stopped, at any point."""


class Stopped(KeyboardInterrupt):
    """A request to end this process; holds the number of the signal."""


Names = Annotated[list[str], typer.Argument(metavar="NAME", help=f"{', '.join(EXPERIMENTS)}, or {ALL}.")]
Full = Annotated[
    bool,
    typer.Option(
        "--full/--quick",
        help="As many trials as the paper (hours), or a few for a first look (minutes). A full run in the same folder "
        "continues a quick one.",
    ),
]
Jobs = Annotated[int, typer.Option(metavar="N", help="Run N trials at a time; -1 is one per core.")]
Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder for the trials, tables and the report.")]
Seed = Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same tables, with any --jobs.")]
Data = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A folder with the data: glass.csv and so on. Checksums are checked.")
]
Download = Annotated[
    bool,
    typer.Option("--download/--offline", help="Download missing data once from their public sources, or do without."),
]
Backend = Annotated[
    str, typer.Option(metavar="loky|dask", help="Run in processes on this machine, or on a Dask cluster.")
]
Scheduler = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="The scheduler of the Dask cluster: tcp://HOST:8786.")
]
Status = Annotated[bool, typer.Option("--status", help="Only show how many trials are stored.")]


app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command(epilog="\n\n".join(_EXAMPLES))
def reproduce(
    names: Names,
    full: Full = False,
    jobs: Jobs = -1,
    out: Out = Path("reproduction"),
    seed: Seed = 0,
    data: Data = None,
    download: Download = True,
    backend: Backend = "loky",
    scheduler: Scheduler = None,
    status: Status = False,
    quiet: Quiet = False,
) -> int:
    """Run the paper's experiments and write a report: its numbers beside ours, judged by rules.

    Every trial is stored as it ends. A run that was stopped, or killed, is continued by the same command.
    """
    experiments = [load(name) for name in chosen(names)]
    if status:
        print("\n".join(_stored(experiments, out)))
        return 0
    _check_folder(out)
    workers = Workers(jobs, cast(Literal["loky", "dask"], backend), scheduler)
    sources = Sources(data, online=download, say=lambda text: None if quiet else tell(text))
    size = Size.FULL if full else Size.QUICK
    try:
        outcome, verdicts = _measured(experiments, size, out, sources, seed, workers, quiet)
    except KeyboardInterrupt as stop:
        return _say_how_to_go_on(experiments, size, out, stop)
    _tell(experiments, outcome, verdicts, out, quiet)
    return FAILURE if outcome.failed else 0


def _check_folder(out: Path) -> None:
    """Raise when the report would overwrite files that do not belong to a run."""
    others = [path.name for path in sorted(out.glob("*")) if path.name in FILES]
    if others and not (out / TRIALS).is_dir():
        raise FileExistsError(
            f"--out {out} holds {listed(others[:3])} already, and no trials of a run; name another folder, such as one "
            "that is not there yet"
        )


def _measured(
    experiments: Sequence[Experiment], size: Size, out: Path, sources: Sources, seed: int, workers: Workers, quiet: bool
) -> tuple[Outcome, list[Verdict]]:
    """Run the missing trials and write the report; return the outcome and the verdicts."""
    start = time.monotonic()
    with _stoppable(), progress(quiet, forecasts=False) as report:
        outcome = run(experiments, size, out, load=sources.load, seed=seed, workers=workers, progress=report)
        facts = _facts(workers, outcome, time.monotonic() - start)
        return outcome, write_results(experiments, outcome, out, size=size, seed=seed, run=facts)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Turn a request to end, from the system or the keyboard, into an exception."""

    def stop(number: int, _: FrameType | None) -> None:
        raise Stopped(number)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _GIVEN_UP, UserWarning)
            yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_how_to_go_on(experiments: Sequence[Experiment], size: Size, out: Path, stop: KeyboardInterrupt) -> int:
    """Say what is stored, and return the exit code of a process that was ended by a signal."""
    counts = [stored(each, size, out) for each in experiments]
    done, asked = (sum(column) for column in zip(*counts, strict=True))
    tell(
        f"kernelmean: stopped; {done:,} of {count(asked, 'trial')} are stored in {shlex.quote(str(out))}, run the same "
        "command to go on from there"
    )
    return 128 + int(stop.args[0] if isinstance(stop, Stopped) else signal.SIGINT)


def _stored(experiments: Sequence[Experiment], out: Path) -> Iterator[str]:
    yield f"Trials stored in {out}:"
    for experiment in experiments:
        parts = []
        for size in Size:
            done, asked = stored(experiment, size, out)
            parts.append(f"{size.value} {done:,} of {asked:,}")
        yield f"  {experiment.name:10} {', '.join(parts)}"


def _facts(workers: Workers, outcome: Outcome, seconds: float) -> dict[str, Any]:
    """Return the facts that differ from run to run."""
    return {
        "jobs": workers.jobs,
        "backend": workers.backend,
        "cores": cpu_count(),
        "platform": platform.platform(),
        "seconds": round(seconds, 1),
        "trials": outcome.ran,
        "ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _tell(
    experiments: Sequence[Experiment], outcome: Outcome, verdicts: Sequence[Verdict], out: Path, quiet: bool
) -> None:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    found = ", ".join(f"{number} {name}" for name, number in outcomes.most_common()) or "no verdicts"
    print(f"{listed(each.name for each in experiments)}: {found}; {count(outcome.ran, 'trial')} run; see {out / PAGE}")
    if not quiet:
        for verdict in verdicts:
            print(f"  {verdict.outcome}: {verdict.claim}")
    for note in _notes(outcome):
        tell(f"kernelmean: note: {note}")


def _notes(outcome: Outcome) -> Iterator[str]:
    yield from outcome.notes
    for (name, text), number in outcome.warnings.most_common():
        yield f"{name}: {count(number, 'trial')} of this run warned: {one_line(text)}"
    if outcome.missing:
        yield f"{count(outcome.skipped, 'trial')} left out for lack of data: {'; '.join(outcome.missing.values())}"
    if outcome.failed:
        first = outcome.failed[0]
        yield (
            f"{count(len(outcome.failed), 'trial')} ended with an error and run again next time; the first, "
            f"{first.experiment} {first.setting}, trial {first.number}: {one_line(first.error)}"
        )
        if os.environ.get(_DEBUG):
            yield first.trace
