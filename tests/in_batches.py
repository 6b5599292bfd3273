"""Tables that are read batch by batch, however few rows they have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import kernelmean as km
from kernelmean.studies import Comparison
from kernelmean.tables import limits


@contextmanager
def every_table_is_long(limit: int | None = 0) -> Iterator[None]:
    """Read tables of more rows than a limit batch by batch; None leaves the limits as they are."""
    with pytest.MonkeyPatch.context() as patch:
        for name in () if limit is None else ("ADAPTIVE_LIMIT", "TEST_LIMIT"):
            patch.setattr(limits, name, limit)
        yield


def in_batches(A: Any, B: Any, **options: Any) -> Comparison:
    """Compare two tables batch by batch."""
    options = {"rng": options.pop("seed"), **options} if "seed" in options else options
    with every_table_is_long():
        return km.compare(A, B, **options)
