"""For all tests: connections stay on this machine, none waits for the disk, workers get tests that stand together.

Thousands of tests are collected before the first one runs, and none of them is ever garbage. What a test draws does not
depend on which tests ran before it, so a worker that gets other tests has other data in none of them.
"""

from __future__ import annotations

import functools
import gc
import os
import socket
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import numpy as np
import pytest

OWN = {None, "", "localhost", socket.gethostname()}


def is_own(host: Any) -> bool:
    """Return whether a host is this machine; a number that is looked up asks nobody."""
    if host in OWN:
        return True
    try:
        return ip_address(host.decode() if isinstance(host, bytes) else host).is_loopback
    except ValueError:
        return False


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """Raise where a connection to another machine begins; datagrams, which Dask asks for its own address, may pass."""
    if event == "socket.connect":
        connection, address = arguments
        if connection.type == socket.SOCK_STREAM and isinstance(address, tuple) and not is_own(address[0]):
            raise PermissionError(f"a test asked for the network: {address}")


sys.addaudithook(refuse)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Iterator[Any]:
    """Look for no garbage while tests are collected, and afterwards only among what comes after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker tests that stand together, so that what a module makes once is made once."""
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log) if config.getoption("dist") == "load" else None


@functools.cache
def states(module: Any) -> list[tuple[Any, Any]]:
    """Return the random generators of a module and their states, as its import leaves them."""
    generators = [each.bit_generator for each in vars(module).values() if isinstance(each, np.random.Generator)]
    return [(generator, generator.state) for generator in generators]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Take down the generators of a module before any of its tests or fixtures draws from them."""
    if isinstance(item, pytest.Function):
        states(item.module)


@pytest.fixture(autouse=True)
def _same_draws(request: pytest.FixtureRequest) -> None:
    """Wind the generators of a module back before each of its tests."""
    if isinstance(request.node, pytest.Function):
        for generator, state in states(request.node.module):
            generator.state = state


@pytest.fixture(scope="session", autouse=True)
def _quick() -> Iterator[None]:
    """Build the parser of the command line once, not for every command; files need not reach the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        try:
            import typer.main
        except ImportError:
            pass
        else:
            patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


@pytest.fixture
def fresh_parser() -> Iterator[None]:
    """Build the parser anew for a test that is about what it is built from: the environment, installed packages."""
    typer_main = pytest.importorskip("typer.main")
    forget = getattr(typer_main.get_command, "cache_clear", lambda: None)
    forget()
    yield
    forget()
