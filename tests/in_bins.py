"""Tests of rows that are added up in bins, however many there are."""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import kernelmean as km


def in_bins(
    test: Any, X: Any, Y: Any, *, seed: Any = 0, checkpoint: str | os.PathLike[str] | None = None, **options: Any
) -> Any:
    """Test two samples or two variables in bins."""
    X = X if checkpoint is None else km.read(X, checkpoint=checkpoint)
    return test(X, Y, scheme="bins", rng=seed, **options)


mmd = partial(in_bins, km.mmd_test)
hsic = partial(in_bins, km.hsic_test)
