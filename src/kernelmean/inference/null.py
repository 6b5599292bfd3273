"""The permutation distribution of one or several statistics, and their p-values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np

from ..core.array import Array
from .multiple import pair_outcomes

_PER_KERNEL = "values", "tolerance"


@final
@dataclass(frozen=True)
class Null:
    """The statistics of all kernels under the same permutations.

    Attributes
    ----------
    values : array of shape (m, P)
        One row per pair of kernels; the first column is the observed arrangement.
    tolerance : array of shape (m,)
        What counts as a tie.
    statistic_name : str
        What the values are.
    scheme : str
        Which permutations, and how they were evaluated.
    memory : float
        The estimate in bytes that was made beforehand.
    parts : mapping from (g, h) to Null
        Of several samples: the same of every pair of them, under the same permutations.
    """

    values: Array
    tolerance: Array
    statistic_name: str
    scheme: str
    memory: float
    parts: Mapping[tuple[int, int], Null] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all():
            raise ValueError(
                f"{self.statistic_name} is no finite number: the kernels' values are too large to be summed; divide "
                "the columns by their standard deviations"
            )

    def beside(self, other: Null) -> Null:
        """Return the rows of another null under the same permutations behind these."""
        values, tolerance = (np.concatenate([getattr(own, name) for own in (self, other)]) for name in _PER_KERNEL)
        parts = {pair: part.beside(other.parts[pair]) for pair, part in self.parts.items()}
        return replace(self, values=values, tolerance=tolerance, memory=self.memory + other.memory, parts=parts)

    @property
    def snapped(self) -> Array:
        """Return the values, those of a row that differ by rounding only made equal."""
        return np.stack([snapped(*row) for row in zip(self.values, self.tolerance, strict=True)])

    @property
    def pvalues(self) -> Array:
        """Return #{T_π ≥ T_observed - tolerance} / P for every pair, the observed arrangement counted."""
        return np.asarray((self.values >= self.values[:, :1] - self.tolerance[:, None]).mean(axis=1))

    def outcome(self, pair: int) -> dict[str, Any]:
        """Return what a result holds of one pair of kernels, as keyword arguments of ``TestResult``."""
        return {
            "statistic": float(self.values[pair, 0]),
            "pvalue": float(self.pvalues[pair]),
            "null_distribution": self.values[pair, 1:],
            "tolerance": float(self.tolerance[pair]),
            "statistic_name": self.statistic_name,
            "scheme": self.scheme,
            "memory": self.memory,
            "pairs": pair_outcomes({pair: part.snapped[0] for pair, part in self.parts.items()}),
        }


def snapped(values: Array, tolerance: float) -> Array:
    """Make values equal that differ by rounding only: those that a chain of steps up to the tolerance connects."""
    order = np.argsort(values)
    ascending = values[order]
    first = np.flatnonzero(np.concatenate([[True], np.diff(ascending) > tolerance]))
    equal = np.empty_like(values)
    equal[order] = np.repeat(ascending[first], np.diff(np.append(first, len(values))))
    return equal
