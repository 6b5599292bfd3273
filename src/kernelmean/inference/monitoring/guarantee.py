"""The two promises that a monitor can make, and what they cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.validate import check_fraction

_LEVEL = 0.05
_AT_ONCE, _SCALE = 0.2, 100.0


@final
@dataclass(frozen=True)
class Guarantee:
    r"""A level that holds at any time, or an average run length; never both.

    All gamblers together are paid m(n) until row n. None of them can expect to own more than it was paid, so that
    P(one of them ever owns c by row n) ≤ m(n)/c. With m ≤ 1 and c = 1/α the bound is α at all times. With m(n) = n and
    c = 2 A it is n/(2A), and the expected row of the first alarm, :math:`\sum_{n≥0} P(\text{none by row } n)`, is at
    least :math:`\sum_n \max(1 - n/(2A), 0) ≥ A`.
    """

    alpha: float | None
    average_run_length: float | None

    @classmethod
    def of(cls, alpha: float | None, average_run_length: float | None) -> Guarantee:
        """Check what the caller asked for; the default is the level .05."""
        if average_run_length is None:
            return cls(check_fraction(_LEVEL if alpha is None else alpha, "alpha", 0.01), None)
        if alpha is not None:
            raise ValueError(
                "alpha= is a level at all times, average_run_length= a mean number of rows to a false alarm; write one"
            )
        return cls(None, _run_length(average_run_length))

    @property
    def log_threshold(self) -> float:
        """The logarithm of the wealth c of an alarm."""
        return -math.log(self.alpha) if self.alpha is not None else math.log(2.0 * (self.average_run_length or 1.0))

    def paid(self, rows: IntArray) -> Array:
        """Return m(n) for numbers of rows n."""
        return np.asarray(rows, dtype=np.float64) if self.alpha is None else paid_at_level(rows)

    def __str__(self) -> str:
        if self.alpha is not None:
            return f"level {self.alpha:g}"
        return f"at least {self.average_run_length:,.10g} rows to a false alarm on average"


def _run_length(rows: Any) -> float:
    if not (isinstance(rows, Real) and 1.0 <= float(rows) < math.inf):
        raise ValueError(f"average_run_length is {rows!r}; a number of rows is needed, such as 10000")
    return float(rows)


def paid_at_level(rows: IntArray) -> Array:
    """Return the part of 1 that is paid until rows n: .2 before the first, and 1 - (1 + n/100)^(-1/2) of the rest."""
    n = np.asarray(rows, dtype=np.float64)
    return np.asarray(_AT_ONCE * (n >= 1.0) + (1.0 - _AT_ONCE) * (1.0 - 1.0 / np.sqrt(1.0 + n / _SCALE)))
