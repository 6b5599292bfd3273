"""Tasks on a cluster: how they are sent and awaited, and the errors when workers or the scheduler are lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from threading import Event, Lock
from typing import Any
from uuid import uuid4

_LOOK, _PATIENCE, _WORKERS_BACK = 0.2, 15.0, 60.0
_ANSWER, _FIRST_WORKER, _GOODBYE = 5.0, 20.0, 2.0
_FAN = 8

_MISSING = 'a cluster needs Dask; write: pip install "kernelmean[dask]"'


def check_client(client: Any) -> Any:
    """Return a client of Dask, or say how to get one.

    Raises
    ------
    ImportError
        When Dask is not installed, or a worker has no kernelmean or another version of it.
    TypeError
        When it is not a client, or an asynchronous one.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(_MISSING) from error
    if not isinstance(client, Client) or client.asynchronous:
        raise TypeError(f"client is {client!r}; pass a dask.distributed.Client(address), not an asynchronous one")
    for address, spec in client.run(find_spec, "kernelmean", on_error="return").items():
        if spec is None or isinstance(spec, Exception):
            raise ImportError(f"the worker at {address} has no kernelmean; install the version of this process there")
    for address, version in client.run(_version).items():
        if version != _version():
            raise ImportError(f"the worker at {address} has kernelmean {version}, this process {_version()}")
    return client


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Lend a client of the scheduler at an address.

    Raises
    ------
    ImportError
        When Dask is not installed.
    ConnectionError
        When no scheduler answers there within a few seconds, or it has no workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(_MISSING) from error
    try:
        client = Client(address, timeout=_ANSWER, set_as_default=False)
    except Exception as error:  # whatever is wrong with an address
        raise ConnectionError(
            f"no Dask scheduler answers at {address!r}; write the address that it printed when it was started, such as "
            "tcp://10.0.0.1:8786"
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=_FIRST_WORKER)
        except TimeoutError as error:
            raise ConnectionError(
                f"the Dask scheduler at {address} has no workers; start some, such as: dask worker {address}"
            ) from error
        yield client
    finally:
        with suppress(Exception):  # of one that is lost
            client.close(timeout=_GOODBYE)


def _version() -> str:
    """Return the version of this package."""
    return str(sys.modules[__name__.partition(".")[0]].__version__)


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return a task that is not run yet; tasks among the arguments, or in lists of these, are run before it."""
    from dask import delayed

    name = f"{getattr(function, '__name__', 'task')}-{uuid4()}"
    return delayed(function, pure=False)(*arguments, dask_key_name=name)


def folded(add: Callable[..., Any], tasks: Sequence[Any]) -> Any:
    """Return the task that adds up others in their order, eight at a time, so that no worker holds all of them."""
    while len(tasks) > 1:
        tasks = [task(add, *tasks[start : start + _FAN]) for start in range(0, len(tasks), _FAN)]
    return tasks[0]


def gathered(client: Any, tasks: Sequence[Any]) -> list[Any]:
    """Run tasks and bring their values here.

    The tasks of a lost worker run again on others.

    Raises
    ------
    ConnectionError
        When workers died repeatedly at one task, all are gone for a minute, or the scheduler is lost.
    """
    futures = client.compute(list(tasks))
    _wait(client, futures)
    for future in futures:
        if future.status == "error":
            raise _failure(future.exception())
    if any(future.status in ("cancelled", "lost") for future in futures):
        raise _lost(client)
    return list(client.gather(futures))


def _wait(client: Any, futures: list[Any]) -> None:
    """Wait until all are done or one has failed."""
    ended, left, lock = Event(), len(futures), Lock()

    def done(future: Any) -> None:
        nonlocal left
        with lock:
            left -= 1
        if not left or future.status != "finished":
            ended.set()

    for future in futures:
        future.add_done_callback(done)
    reached, worked = time.monotonic(), None
    while not ended.wait(_LOOK):
        now = time.monotonic()
        if client.status == "running":
            reached = now
            worked = now if client.scheduler_info().get("workers") else worked
        elif client.status == "closed" or now - reached > _PATIENCE:
            raise _lost(client)
        if worked is not None and now - worked > _WORKERS_BACK:  # a cluster without workers so far may be about to grow
            raise ConnectionError(
                "all workers are gone: memory ran out, or they could not import what was sent to them; functions must "
                "be importable on the workers, and the data need their libraries there"
            )


def _failure(error: BaseException) -> BaseException:
    """Return the error of a task, with Dask's own errors in plain words."""
    if type(error).__name__ != "KilledWorker":
        return error
    killed = ConnectionError(
        "workers died repeatedly at one task, nearly always because memory ran out; make partitions smaller, or "
        "give workers more memory"
    )
    killed.__cause__ = error
    return killed


def _lost(client: Any) -> ConnectionError:
    return ConnectionError(
        f"the Dask scheduler at {client.scheduler.address if client.scheduler else 'its address'} went away; when it "
        "is back, run the same again"
    )
