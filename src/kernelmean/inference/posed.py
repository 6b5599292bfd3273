"""A test before its null is known: whoever finds it, the result is put together in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from .null import Null
from .result import TestResult


@final
@dataclass(frozen=True, eq=False)
class Posed:
    """What a result says besides its null.

    Attributes
    ----------
    null : Null, or what stands for one
        What the caller's way to a null returned.
    method, kernel, noise, sizes, notes
        As of :class:`TestResult`.
    """

    null: Any
    method: str
    kernel: Any
    noise: Any
    sizes: tuple[int, ...]
    notes: tuple[str, ...]

    def result(self, null: Null, *more: str) -> TestResult:
        """Return the result with a null, and with more notes."""
        return TestResult(
            method=self.method,
            kernel=self.kernel,
            noise=self.noise,
            sizes=self.sizes,
            notes=(*self.notes, *more),
            **null.outcome(0),
        )
