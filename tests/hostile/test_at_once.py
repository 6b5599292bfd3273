"""Tests from threads at once and in processes of all kinds: the same p-values, and no more threads than asked for."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from threading import Event

import pytest
from at_once import answers, pvalue, pvalue_and_threads

from kernelmean.core.cached import cached_property

SEEDS = range(8)


def test_threads_at_once_change_no_p_value() -> None:
    expected = [pvalue(seed) for seed in SEEDS]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(pvalue, SEEDS)) == expected


def test_threads_at_once_change_no_comparison_and_no_estimate() -> None:
    seeds = range(4)
    expected = [answers(seed) for seed in seeds]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answers, seeds)) == expected


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of a process that has threads, from Python 3.12 on
def test_a_fork_while_a_test_runs_in_a_thread_ends_and_finds_the_same() -> None:
    """What a lock of this library would make of it is a child that waits for ever."""
    expected = pvalue(0)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(lambda: [pvalue(seed) for seed in SEEDS])
        with ProcessPoolExecutor(1, mp_context=get_context("fork")) as child:
            assert child.submit(pvalue, 0).result(timeout=120) == expected
        assert running.result(timeout=120)[0] == expected


class _Slow:
    """A value that takes as long as it should."""

    def __init__(self, started: Event, go_on: Event) -> None:
        self.started, self.go_on = started, go_on

    @cached_property
    def value(self) -> int:
        self.started.set()
        assert self.go_on.wait(60)
        return 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_that_forks_while_a_thread_computes_a_property_leaves_no_lock_behind() -> None:
    """That of functools holds one in Python 3.11, and the child would wait for it."""
    ready, started, go_on = Event(), Event(), Event()
    ready.set()
    with ThreadPoolExecutor(1) as pool:
        slow = _Slow(started, go_on)
        value = pool.submit(lambda: slow.value)
        assert started.wait(60)
        child = get_context("fork").Process(target=lambda: _Slow(Event(), ready).value)
        child.start()
        child.join(30)
        stuck = child.is_alive()
        child.kill()
        go_on.set()
        assert (stuck, value.result(timeout=60), slow.value) == (False, 1, 1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")  # of a process that has threads, from Python 3.12 on
@pytest.mark.parametrize("method", get_all_start_methods())
def test_processes_of_all_kinds_find_the_same(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    expected = [pvalue(seed) for seed in SEEDS]
    with ProcessPoolExecutor(2, mp_context=get_context(method)) as pool:
        assert list(pool.map(pvalue, SEEDS, timeout=120)) == expected


@pytest.mark.slow
def test_tests_within_workers_of_joblib_take_no_threads_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """joblib gives each worker its share of the cores; a test within one keeps BLAS at that, or below."""
    import joblib

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(pvalue_and_threads)(seed) for seed in SEEDS)
    assert [p for p, _ in found] == [pvalue(seed) for seed in SEEDS]
    assert max(threads for _, threads in found) <= max(1, joblib.cpu_count() // 2)


@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python has its lock")
def test_without_the_lock() -> None:
    test_threads_at_once_change_no_p_value()
