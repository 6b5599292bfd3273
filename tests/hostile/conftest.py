"""What tests of several files of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from forked import Forks, forks


@pytest.fixture(scope="session")
def fork() -> Iterator[Forks]:
    """Return the process that forks, which takes seconds to start: one for all files."""
    with forks() as server:
        yield server
