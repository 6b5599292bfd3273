"""A scheduler that goes away ends the wait for it; one that comes back in time does not."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from kernelmean_paper import cluster


class Client:
    """Stands for the connection: its state at the next looks, the last one for ever."""

    def __init__(self, *states: str) -> None:
        self._states = list(states)

    @property
    def status(self) -> str:
        return self._states.pop(0) if len(self._states) > 1 else self._states[0]

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(cluster, "_LOOK", 0.005)
    monkeypatch.setattr(cluster, "_PATIENCE", 0.1)
    monkeypatch.setattr(cluster, "parallel_config", lambda _: nullcontext())
    before = threading.active_count()
    yield
    for _ in range(200):  # no watcher is left that would interrupt another test
        if threading.active_count() <= before:
            return
        time.sleep(0.01)
    pytest.fail("a thread is left")


def wait(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.001)


@pytest.fixture(params=[signal.default_int_handler, signal.SIG_IGN], ids=["foreground", "background"])
def interrupts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run a test as a shell starts a command: in the background interrupts are ignored."""
    before = signal.signal(signal.SIGINT, request.param)
    yield
    assert signal.signal(signal.SIGINT, before) == request.param


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("state", ["closed", "connecting"])
def test_a_lost_connection(monkeypatch: pytest.MonkeyPatch, state: str) -> None:
    monkeypatch.setattr(cluster, "_client", lambda _: Client("running", "running", state))
    with (
        pytest.raises(ConnectionError, match="the Dask scheduler at tcp://a:1 went away"),
        cluster.connected("tcp://a:1"),
    ):
        wait(10)


def test_a_connection_that_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_client", lambda _: Client("running", "connecting", "connecting", "running"))
    with cluster.connected("tcp://a:1"):
        wait(0.3)


def test_the_keyboard_is_not_taken_for_a_lost_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_client", lambda _: Client("running"))
    with pytest.raises(KeyboardInterrupt), cluster.connected("tcp://a:1"):
        raise KeyboardInterrupt
