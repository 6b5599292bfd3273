"""Comparisons whose rows are read batch by batch, however few they are."""

from __future__ import annotations

from typing import Any

import kernelmean as km
from kernelmean.studies import Comparison


def in_batches(A: Any, B: Any, **options: Any) -> Comparison:
    """Compare two tables batch by batch."""
    options = {"rng": options.pop("seed"), **options} if "seed" in options else options
    return km.compare(km.read(A, in_memory=False), km.read(B, in_memory=False), **options)
