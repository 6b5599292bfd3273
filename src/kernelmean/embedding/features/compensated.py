"""Sums that do not depend on the order and the grouping of their terms, to about 30 digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from ...core.array import Array
from ...core.frozen import Frozen


@final
@dataclass(frozen=True, eq=False)
class Total(Frozen):
    """A vector of sums as unevaluated pairs high + low of float64, so that merging loses no digits.

    Notes
    -----
    Knuth's two-sum; the relative error of a merge is 2⁻¹⁰⁰ or so of the sum of magnitudes (Dekker 1971).

    Examples
    --------
    >>> parts = [Total.of([x]) for x in (1e16, 1.0, -1e16)]
    >>> float((parts[0] + parts[1] + parts[2]).value[0])
    1.0
    """

    high: Array
    low: Array
    """The rounded sums, and what rounding left out, shape (m,)."""

    @classmethod
    def of(cls, values: Any) -> Total:
        """Return the sums that ``values`` are, exactly."""
        high = np.asarray(values, dtype=np.float64)
        return cls(high, np.zeros_like(high))

    @property
    def value(self) -> Array:
        """The sums as float64, shape (m,)."""
        return self.high + self.low

    def __add__(self, other: Total) -> Total:
        total, error = _two_sum(self.high, other.high)
        return Total(*_two_sum(total, error + (self.low + other.low)))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum and its exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
