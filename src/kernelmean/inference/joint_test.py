"""Results of studies that rest on one test of all columns together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import factorial

from .permutations import EXACT
from .result import TestResult


class JointTest(ABC):
    """The statistic and p-value of a result that rests on one test of all columns together."""

    @property
    @abstractmethod
    def joint(self) -> TestResult:
        """The test of all columns together."""

    def finest(self, n_resamples: int) -> float:
        """Return a bound: no test of these rows with so many permutations has a smaller p-value."""
        test, arrangements = self.joint, 1 + n_resamples
        alike = len({*test.sizes}) == 1  # then samples may be exchanged, and no column tells one from the other
        if test.scheme != EXACT or n_resamples != test.n_resamples or not alike:
            return 1.0 / arrangements
        return min(round(test.smallest * arrangements), factorial(len(test.sizes))) / arrangements

    @property
    def statistic(self) -> float:
        """The statistic of the joint test."""
        return self.joint.statistic

    @property
    def pvalue(self) -> float:
        """The p-value of the joint test."""
        return self.joint.pvalue
