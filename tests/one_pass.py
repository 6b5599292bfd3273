"""Tests in one pass, with the options of the pass beside those of the test."""

from __future__ import annotations

import os
from dataclasses import fields
from functools import partial
from typing import Any

import kernelmean as km

OPTIONS = {field.name for field in fields(km.streaming.OnePass)}


def one_pass(
    test: Any, X: Any, Y: Any, *, seed: Any = 0, checkpoint: str | os.PathLike[str] | None = None, **options: Any
) -> Any:
    """Test two samples or two variables in one pass; ``design`` is that of the frequencies."""
    scheme = km.streaming.OnePass(**{name: options.pop(name) for name in OPTIONS & options.keys()})
    X = X if checkpoint is None else km.read(X, checkpoint=checkpoint)
    return test(X, Y, scheme=scheme, rng=seed, **options)


mmd = partial(one_pass, km.mmd_test)
hsic = partial(one_pass, km.hsic_test)
