"""The array seam: the types that every layer shares, and a few helpers for arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.floating[Any]]
IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
RngLike: TypeAlias = np.random.Generator | np.random.SeedSequence | int | None
Progress: TypeAlias = Callable[[str, int, int], None]
"""What long work calls with the name of the next step, the steps done, and the steps in all."""


def as_rng(rng: RngLike) -> np.random.Generator:
    """Return a generator: the one given, or a new one seeded by an integer (None: from the system)."""
    return np.random.default_rng(rng)


def centered(*samples: Array) -> tuple[Array, ...]:
    """Shift all samples by the mean of the first: differences survive, rounding at large offsets does not."""
    origin = samples[0].mean(axis=0) if len(samples[0]) else 0.0
    return tuple(sample - origin for sample in samples)


def slices(n: int, size: int, *, start: int = 0) -> list[slice]:
    """Cut ``range(start, n)`` into consecutive slices of at most ``size``."""
    return [slice(first, min(first + size, n)) for first in range(start, n, size)]
