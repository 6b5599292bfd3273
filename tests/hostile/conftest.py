"""What tests of several files of this folder share."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
from forked import Forks, forks


@pytest.fixture(scope="session")
def fork() -> Iterator[Forks]:
    """Return the process that forks, which takes seconds to start: one for all files."""
    if sys.platform != "linux":
        pytest.skip("its sockets and descriptors are those of Linux")
    with forks() as server:
        yield server
