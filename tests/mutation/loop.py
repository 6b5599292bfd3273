"""A pytest plugin that collects once and then tries mutants, each in a process forked from there.

``MUTANTS`` names a file with the jobs, one a line: the mutant, its tests, and after how many seconds it is stopped.
``<file>.done`` gets a line for every mutant: its name and its exit code, 1 when a test fails, 0 when none does, and -27
or -14 when it was stopped: after so many seconds of the processor, or after many more on the clock.
"""

from __future__ import annotations

import gc
import json
import os
import signal
from collections import Counter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "mutants",
    phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),  # nothing is told of a failure: none is shrunk
    database=None,
    derandomize=True,
)
hypothesis.settings.load_profile("mutants")
LATE = (
    "numba",
    "kernelmean.plan.compiled",
    "kernelmean.estimators.loocv.compiled",
    "kernelmean.inference.schemes.compiled",
)
"""What is imported on first use: here once, not in the process of every mutant."""
_PATIENCE = 20.0
"""So many times as long a mutant may take on the clock; one that waits for a lock takes no time of the processor."""


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant, none of which sees what a test of another left; first the tests that killed its neighbours."""
    jobs = Path(os.environ["MUTANTS"])
    items = {item.nodeid: item for item in session.items}
    killers: Counter[tuple[str, str]] = Counter()
    for module in LATE if find_spec("numba") else ():
        import_module(module)
    gc.collect()
    gc.freeze()
    with jobs.with_suffix(".done").open("a") as done:
        for line in jobs.read_text().splitlines():
            mutant, tests, seconds = json.loads(line)
            function = mutant.partition("__mutmut_")[0]
            tests.sort(key=lambda test, function=function: -killers[function, test])
            code, killer = _tried(mutant, [items[test] for test in tests], seconds)
            killers[function, killer] += 1
            done.write(json.dumps([mutant, code]) + "\n")
            done.flush()
    return True


def _tried(mutant: str, tests: list[pytest.Item], seconds: float) -> tuple[int, str]:
    """Return the exit code of a mutant's process, and the test that failed."""
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        with os.fdopen(read) as said:
            killer = said.read()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), killer
    signal.setitimer(signal.ITIMER_PROF, seconds)  # other work on the machine does not count
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE * seconds)
    os.environ |= {"MUTANT_UNDER_TEST": mutant, "MUTANT_KILLER": str(write)}
    code = 1
    try:
        for test, following in zip(tests, [*tests[1:], None], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        code = 0
    finally:
        os._exit(code)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Stop at the first failure."""
    if report.failed:
        os.write(int(os.environ["MUTANT_KILLER"]), report.nodeid.encode())
        os._exit(1)
