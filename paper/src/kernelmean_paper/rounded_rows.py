"""Rows in units of their own, rounded to 32 binary digits of the standard deviation of their column.

Hundreds of quasi-Newton steps turn a difference in the last digit of a row into one in the third digit of a mean. The
stored trials of joint fits were made with rows so rounded, and only so are they repeated to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from kernelmean.density import GaussianMixture

from .arrays import Array

_DIGITS = 32


@dataclass(frozen=True)
class RoundedRows:
    """The origin of rows, the root of the mean variance of the columns, and the smallest step of every column.

    Examples
    --------
    >>> units = RoundedRows.of(np.array([[1.0], [3.0]]))
    >>> units.rows(np.array([[1.0], [3.0]])).tolist(), units.unit
    ([[-1.0], [1.0]], 1.0)
    """

    origin: Array
    unit: float
    steps: Array

    @classmethod
    def of(cls, rows: Array) -> Self:
        """Return the units of rows that are not all equal."""
        shares = np.full(len(rows), 1.0 / len(rows))
        origin = shares @ rows
        gaps = rows - origin
        largest = float(np.abs(gaps).max())
        variances = shares @ (gaps / largest) ** 2
        unit = float(np.sqrt(variances.mean()))
        exponents = np.frexp(np.sqrt(variances) / unit)[1]
        return cls(origin, unit * largest, 2.0 ** (exponents - _DIGITS))

    def rows(self, rows: Array) -> Array:
        """Return rows in these units, rounded."""
        scaled = (rows - self.origin) / self.unit / self.steps
        return np.asarray(np.rint(scaled) * self.steps)

    def length(self, length: float) -> float:
        """Return a bandwidth in these units, rounded."""
        digits, exponent = np.frexp(length / self.unit)
        return float(np.ldexp(np.rint(np.ldexp(digits, _DIGITS)), exponent - _DIGITS))

    def mixture_back(self, mixture: GaussianMixture) -> GaussianMixture:
        """Return a mixture in the units of the rows."""
        covariances = mixture.covariances * self.unit * self.unit
        return GaussianMixture(mixture.weights, self.origin + self.unit * mixture.means, covariances)
