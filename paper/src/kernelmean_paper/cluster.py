"""A monitored connection to a Dask cluster, so that no run waits for a scheduler that is gone."""

from __future__ import annotations

import _thread
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from joblib import parallel_config

_REFUSED, _LOOK, _PATIENCE = 10.0, 0.5, 15.0


@contextmanager
def connected(scheduler: str) -> Iterator[None]:
    """Let joblib run its tasks on a cluster.

    Parameters
    ----------
    scheduler : str
        The address of the scheduler, such as tcp://10.0.0.1:8786.

    Raises
    ------
    ConnectionError
        When there is no scheduler, or it went away. Only the main thread notices the latter: joblib waits forever.
    ImportError
        When Dask is not installed.
    """
    lost, ended = threading.Event(), threading.Event()
    with _client(scheduler) as client, parallel_config("dask"), _interruptible(lost):
        if threading.current_thread() is threading.main_thread():
            threading.Thread(target=_watch, args=(client, lost, ended), daemon=True).start()
        try:
            yield
        except KeyboardInterrupt:
            if lost.is_set():
                raise ConnectionError(
                    f"the Dask scheduler at {scheduler} went away; when it is back, run the same again to go on"
                ) from None
            raise
        finally:
            ended.set()


@contextmanager
def _interruptible(lost: threading.Event) -> Iterator[None]:
    """Let the loss of a connection interrupt a process that ignores interrupts, such as one in the background."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        yield
        return

    def interrupted(*_: object) -> None:
        if lost.is_set():
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _watch(client: Any, lost: threading.Event, ended: threading.Event) -> None:
    """Interrupt the main thread when the connection is lost and does not come back."""
    seen = time.monotonic()
    while not ended.wait(_LOOK):
        if client.status == "running":
            seen = time.monotonic()
        elif client.status == "closed" or time.monotonic() - seen > _PATIENCE:
            lost.set()
            _thread.interrupt_main()
            return


def _client(scheduler: str) -> Any:
    """Return a connection to a cluster, or raise and give the reason."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError('the backend dask needs its extra; write: pip install "kernelmean[dask]"') from error
    try:
        client: Any = Client(scheduler, timeout=_REFUSED, set_as_default=True)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"there is no Dask scheduler at {scheduler} ({error}); check the address") from error
    return client
