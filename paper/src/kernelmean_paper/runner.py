"""Runs the missing trials and stores each one when it ends; findings do not depend on how often a run was killed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from filelock import FileLock, Timeout

from kernelmean import __version__

from .experiment import Columns, Experiment, Finding, Findings, Scalar, Setting, Size
from .pace import Pace, in_words
from .store import Log, Trial, open_log, read_log
from .trial_code import trial_digest
from .versions import maker
from .wording import count
from .workers import Result, Task, WorkerKilledError, Workers

TRIALS, LOCK = "trials", ".lock"
Load = Callable[[str], Columns]
"""Returns a data set by its name, or raises FileNotFoundError with the reason."""
Progress = Callable[[str, int, int], None]
"""Called with the next step, the number of trials done, and the total."""


@final
@dataclass
class Outcome:
    """The outcome of a run.

    Parameters
    ----------
    findings : dict from str to Findings
        The findings of every experiment, by its name.
    ran : int
        The number of trials run now; the others were stored before.
    missing : dict from str to str
        Why data sets are missing, by their names.
    skipped : int
        The number of trials that need those data sets.
    failed : list of Result
        The trials that ended with an error; the next run tries them again.
    warnings : Counter of (str, str)
        The number of trials with a warning, by the name of the experiment and the warning.
    notes : list of str
        Repairs, and other notes for the user.
    makers : dict from str to tuple
        The states of the code that made the trials of an experiment.
    """

    findings: dict[str, Findings] = field(default_factory=dict)
    ran: int = 0
    missing: dict[str, str] = field(default_factory=dict)
    skipped: int = 0
    failed: list[Result] = field(default_factory=list)
    warnings: Counter[tuple[str, str]] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    makers: dict[str, tuple[Mapping[str, str], ...]] = field(default_factory=dict)


def run(
    experiments: Sequence[Experiment],
    size: Size,
    folder: Path,
    *,
    load: Load,
    seed: int = 0,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the missing trials of some experiments, storing each when it ends; return the findings of all trials.

    If a run is killed at any time, the same call continues it. A full run also continues a quick one.

    Parameters
    ----------
    experiments, size : sequence of Experiment, Size
        What to run, and how many trials.
    folder : Path
        Where to store the trials; created if it does not exist.
    load : callable
        Returns a data set by its name, or raises FileNotFoundError; the trials that need it are then left out.
    seed : int
        The same seed gives the same findings with any workers.
    workers, progress : Workers, Progress, optional
        Where to run the trials, by default in this process; and what to call after each.

    Raises
    ------
    BlockingIOError
        When another run uses the folder.
    ValueError
        When the folder holds trials of another seed or version, or one of its files is damaged beyond repair.
    RuntimeError
        When processes that run trials are killed again and again.
    """
    outcome = Outcome()
    with _opened(experiments, folder, seed, outcome) as logs:
        tasks = _tasks(experiments, size, seed, logs, load, outcome)
        _run_all(tasks, logs, workers or Workers(), outcome, progress or (lambda *_: None))
    outcome.findings = {each.name: collect(each.settings(size), logs[each.name].trials) for each in experiments}
    outcome.makers = {name: log.makers for name, log in logs.items()}
    return outcome


def stored(experiment: Experiment, size: Size, folder: Path) -> tuple[int, int]:
    """Return how many trials of an experiment are stored, and how many are requested; changes nothing."""
    path = folder / TRIALS / f"{experiment.name}.jsonl"
    known = read_log(path).trials if path.exists() else {}
    wanted = [(setting.key, number) for setting, number in experiment.tasks(size)]
    return sum(each in known for each in wanted), len(wanted)


def collect(settings: Sequence[Setting], trials: Mapping[tuple[str, int], Trial]) -> Findings:
    """Return the findings of trials in the order of the settings and of the trials' numbers."""
    found: dict[str, list[Sequence[Finding]]] = {}
    for setting in settings:
        known = [number for number in range(setting.trials) if (setting.key, number) in trials]
        span = range(max(known) + 1) if known else range(0)
        found[setting.key] = [trials[setting.key, n].findings if (setting.key, n) in trials else () for n in span]
    return Findings(tuple(settings), found)


@contextmanager
def _opened(experiments: Sequence[Experiment], folder: Path, seed: int, outcome: Outcome) -> Iterator[dict[str, Log]]:
    """Yield the logs of experiments by name, in a folder that no other run uses meanwhile."""
    trials = folder / TRIALS
    trials.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.enter_context(_alone(trials / LOCK, folder))
        yield {each.name: stack.enter_context(_open(each, trials, seed, outcome)) for each in experiments}


@contextmanager
def _alone(path: Path, folder: Path) -> Iterator[None]:
    """Hold a lock, which the system releases when this process ends in any way; the file stays."""
    try:
        held = FileLock(path, blocking=False).acquire()
    except Timeout:
        holder = path.read_text(encoding="utf-8", errors="replace").strip() if os.name != "nt" else ""
        raise BlockingIOError(
            f"another run works in {folder} (process {holder or 'unknown'}); wait for its end, or stop it"
        ) from None
    with held:
        if os.name != "nt":  # where a locked file cannot be read
            path.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield


def _open(experiment: Experiment, folder: Path, seed: int, outcome: Outcome) -> Log:
    origin: dict[str, Scalar] = {"experiment": experiment.name, "seed": seed, "version": __version__}
    now = maker(trial_digest(type(experiment)))
    log, notes = open_log(folder / f"{experiment.name}.jsonl", origin, now)
    outcome.notes += notes
    if log.makers and log.makers[-1] != now:
        changed = [name for name, value in now.items() if log.makers[-1].get(name) != value]
        outcome.notes.append(
            f"{experiment.name}: {count(len(log.trials), 'stored trial')} made with another state of "
            f"{', '.join(changed)}; to run them again remove {log.path}"
        )
    return log


def _tasks(
    experiments: Iterable[Experiment], size: Size, seed: int, logs: Mapping[str, Log], load: Load, outcome: Outcome
) -> list[Task]:
    """Return the missing trials whose data are available."""
    frames: dict[str, Columns] = {}
    tasks = []
    for experiment in experiments:
        for setting, number in experiment.tasks(size):
            if (setting.key, number) in logs[experiment.name].trials:
                continue
            needs = experiment.needs(setting)
            for name in needs:
                _fetch(name, load, frames, outcome.missing)
            if all(name in frames for name in needs):
                tasks.append(Task(experiment, setting, number, seed, {name: frames[name] for name in needs}))
            else:
                outcome.skipped += 1
    return tasks


def _fetch(name: str, load: Load, frames: dict[str, Columns], missing: dict[str, str]) -> None:
    if name in frames or name in missing:
        return
    try:
        frames[name] = load(name)
    except FileNotFoundError as error:
        missing[name] = str(error)


def _run_all(
    tasks: Sequence[Task], logs: Mapping[str, Log], workers: Workers, outcome: Outcome, progress: Progress
) -> None:
    """Run tasks; when a process is killed, continue with the rest as long as trials succeed."""
    pace = Pace((task.experiment.name, task.setting.key) for task in tasks)
    for name, log in logs.items():
        for trial in log.trials.values():
            pace.know((name, trial.setting), trial.seconds)
    left = {(task.experiment.name, task.setting.key, task.number): task for task in tasks}
    while left:
        before = len(left)
        try:
            for result in workers.run(list(left.values())):
                if left.pop((result.experiment, result.setting, result.number), None) is None:
                    continue  # a cluster that lost a worker may run a trial twice
                _take(result, logs, outcome, pace)
                label = f"{result.experiment}, {in_words(pace.left())}"
                progress(label, len(tasks) - len(left), len(tasks))
        except WorkerKilledError:
            if len(left) == before:
                raise


def _take(result: Result, logs: Mapping[str, Log], outcome: Outcome, pace: Pace) -> None:
    outcome.warnings.update((result.experiment, text) for text in result.warnings)
    if result.trial is None:
        outcome.failed.append(result)
        return
    logs[result.experiment].append(result.trial)
    outcome.ran += 1
    pace.done((result.experiment, result.setting), result.trial.seconds)
