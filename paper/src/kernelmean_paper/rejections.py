"""Rejections of several tests in the same trials: lines of settings, and the results of one setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .arrays import Array
from .experiment import Findings, Setting
from .verdicts import Estimate, attainable, binomial_range


@dataclass(frozen=True)
class Line:
    """A panel: which of n and d is fixed and which varies, and how far the means of the second mixture moved.

    Parameters
    ----------
    fixed : str
        "n" or "d".
    value : int
    free : tuple of int
    moved : float
        The share of the way to independent random means; with 0, both samples come from one mixture.
    """

    fixed: str
    value: int
    free: tuple[int, ...]
    moved: float

    @property
    def varies(self) -> str:
        """The one of n and d that is not fixed."""
        return "d" if self.fixed == "n" else "n"

    @property
    def cells(self) -> list[dict[str, float]]:
        """The values of the settings."""
        return [{"n": self.value, "d": self.value, self.varies: free, "moved": self.moved} for free in self.free]

    @property
    def title(self) -> str:
        """What is fixed."""
        return f"{self.fixed} = {self.value}"


@dataclass(frozen=True)
class Cell:
    """The trials of one setting.

    Parameters
    ----------
    setting : Setting
    pvalues, permutations : mapping of str to array of shape (trials,)
        By the names of the tests.
    level : float
        α.
    """

    setting: Setting
    pvalues: Mapping[str, Array]
    permutations: Mapping[str, Array]
    level: float

    @classmethod
    def of(cls, findings: Findings, setting: Setting, methods: Sequence[str], level: float) -> Cell:
        """Return the trials of a setting."""
        columns = findings.columns(setting)
        pvalues, permutations = (
            {method: columns.get((method, measure), np.array([])) for method in methods}
            for measure in ("p-value", "permutations")
        )
        return cls(setting, pvalues, permutations, level)

    @property
    def trials(self) -> int:
        """The number of trials."""
        return min(map(len, self.pvalues.values()))

    def rejected(self, method: str) -> Array:
        """Return 1.0 where the test rejects and 0.0 elsewhere, shape (trials,)."""
        return (self.pvalues[method] <= self.level + 1e-12).astype(float)

    def rate(self, method: str) -> Estimate:
        """Return the share of the trials in which the test rejects."""
        return Estimate.of(self.rejected(method))

    def gain(self, method: str, base: str) -> Estimate:
        """Return the paired difference of the rates."""
        return Estimate.change(self.rejected(method), self.rejected(base))

    def allowed(self, method: str, confidence: float) -> tuple[int, int]:
        """Return the smallest and the largest number of rejections that an exact test of the level accepts."""
        return binomial_range(self.trials, attainable(self.level, self.permutations[method]), confidence)

    def keeps_level(self, method: str, confidence: float) -> bool:
        """Return whether the number of rejections is in that range."""
        low, high = self.allowed(method, confidence)
        return low <= int(self.rejected(method).sum()) <= high


def holm(pvalues: Sequence[float]) -> Array:
    """Return p-values adjusted by Holm's method, in the given order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(pvalues, dtype=float)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted
