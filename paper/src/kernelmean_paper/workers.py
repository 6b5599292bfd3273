"""Where trials run: in this process, in other processes, or on a Dask cluster."""

from __future__ import annotations

import os
import threading
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal, final

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from .cluster import connected
from .experiment import Columns, Context, Experiment, Setting
from .store import Trial
from .versions import code_digest
from .wording import listed

BACKENDS = ("loky", "dask")
_QUIET = "ignore:resource_tracker:UserWarning"  # after a stop, it reports what it cleaned up or found cleaned up
_LOOK = 0.5
_KILLED = ("TerminatedWorkerError", "KilledWorker")  # of joblib's own processes, and of Dask


@final
@dataclass(frozen=True)
class Task:
    """A trial to run, with everything that it needs, so that any process on any machine can run it."""

    experiment: Experiment
    setting: Setting
    number: int
    seed: int
    frames: Mapping[str, Columns]

    def load(self, name: str) -> Columns:
        """Return the data of a trial."""
        if name not in self.frames:
            raise FileNotFoundError(
                f"a trial of {self.experiment.name} loads {name!r}, needs() names {listed(self.frames) or 'none'}"
            )
        return self.frames[name]


@final
@dataclass(frozen=True)
class Result:
    """The result of a task: a trial, or the error that ended it."""

    experiment: str
    setting: str
    number: int
    trial: Trial | None = None
    error: str = ""
    trace: str = ""
    warnings: tuple[str, ...] = ()


@final
@dataclass(frozen=True)
class Workers:
    """Where tasks run.

    Parameters
    ----------
    jobs : int
        The number of processes on this machine; 1 is this process itself, -1 is one per usable core.
    backend : {"loky", "dask"}
        Processes on this machine, or all workers of a Dask cluster.
    scheduler : str, optional
        The address of the cluster's scheduler, such as tcp://10.0.0.1:8786.

    Raises
    ------
    ValueError
        When the backend is unknown, there are no jobs, or a scheduler is missing or superfluous.
    """

    jobs: int = 1
    backend: Literal["loky", "dask"] = "loky"
    scheduler: str | None = None

    def __post_init__(self) -> None:
        if self.backend not in BACKENDS:
            raise ValueError(f"backend is {self.backend!r}; write one of {listed(BACKENDS)}")
        if (self.backend == "dask") != (self.scheduler is not None):
            raise ValueError(
                "the backend dask and the address of its scheduler belong together; write: --backend dask --scheduler "
                "tcp://HOST:8786"
            )
        if self.jobs == 0 or self.jobs < -1:
            raise ValueError(f"jobs is {self.jobs}; write a number from 1, or -1 for all cores")

    def run(self, tasks: Iterable[Task]) -> Iterator[Result]:
        """Yield results as they arrive; they do not depend on where a task runs.

        Raises
        ------
        RuntimeError
            When a process was killed, which nearly always means that memory ran out.
        ConnectionError
            When there is no scheduler at the address, or it went away.
        ImportError
            When Dask is requested but not installed.
        """
        if self.backend == "loky" and self.jobs == 1:
            with threadpool_limits(1), _quiet_ends():
                yield from map(measured, tasks)
            return
        with _quiet_ends(), self._place():
            run = partial(_measured_afar, code=code_digest()) if self.backend == "dask" else measured
            results = Parallel(return_as="generator_unordered")(delayed(run)(task) for task in tasks)
            try:
                yield from results
            except Exception as error:
                if type(error).__name__ in _KILLED:
                    raise WorkerKilledError from error
                raise
            finally:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # when this run is stopped: that tasks are abandoned
                    results.close()

    @contextmanager
    def _place(self) -> Iterator[None]:
        if self.backend == "dask":
            with connected(str(self.scheduler)):
                yield
        else:
            begin = {"initializer": _begin_beside, "initargs": (os.getpid(),)}
            with parallel_config("loky", n_jobs=self.jobs, inner_max_num_threads=1, **begin):
                yield


class WorkerKilledError(RuntimeError):
    """A process that ran trials was killed."""

    def __init__(self) -> None:
        super().__init__("a process that ran trials was killed, nearly always because memory ran out; use fewer --jobs")


def measured(task: Task) -> Result:
    """Run one trial; any error in it becomes part of the result."""
    experiment, setting = task.experiment, task.setting
    where = (experiment.name, setting.key, task.number)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            rng = experiment.generator(setting, task.number, task.seed)
            findings = tuple(experiment.trial(setting, rng, Context(task.load)))
    except Exception as error:  # reported at the end, after the other trials
        return Result(*where, error=f"{type(error).__name__}: {error}", trace=traceback.format_exc())
    trial = Trial(setting.key, task.number, findings, time.perf_counter() - start)
    return Result(*where, trial=trial, warnings=tuple(dict.fromkeys(str(each.message) for each in caught)))


def _measured_afar(task: Task, code: str) -> Result:
    """Run one trial on a machine that must have the same code."""
    if code != code_digest():
        error = f"a worker has another state of kernelmean ({code_digest()}, not {code}); install the same one there"
        return Result(task.experiment.name, task.setting.key, task.number, error=error)
    with threadpool_limits(1):
        return measured(task)


def _begin_beside(parent: int) -> None:
    """Prepare a process of this machine before its first trial; it ends soon after its parent, however that ends."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


@contextmanager
def _quiet_ends() -> Iterator[None]:
    """Silence processes started meanwhile, such as joblib's resource tracker, about what they clean up."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, _QUIET)))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
