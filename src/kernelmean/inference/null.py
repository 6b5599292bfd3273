"""The permutation distribution of one or several statistics, and their p-values, also adjusted to be read together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

import numpy as np
from scipy.stats import false_discovery_control

from ..core.array import Array

_ROUNDING = 1e-9
ROOM_FOR_HOLM = 2.5
"""An adjusted p-value can be as small as the level divided by this."""
HOLM = "holm"
WILD = "wild bootstrap"
"""The scheme of tests for time series, whose p-value is not exact."""


@final
@dataclass(frozen=True)
class PairOutcome:
    """The outcome of one pair of several samples.

    Attributes
    ----------
    first, second : int
        Positions of the samples.
    statistic : float
        Their MMD²; for an adaptive test, the combined statistic of its kernels.
    pvalue : float
        The share of the permutations of all samples that reach it, not adjusted for the other pairs.
    adjusted : float
        The p-value adjusted for all pairs, by the largest standardized statistic, stepping down.
    """

    first: int
    second: int
    statistic: float
    pvalue: float
    adjusted: float


def holm(pvalues: Sequence[float]) -> Array:
    """Return p-values adjusted by Holm's method for the family-wise error rate, in the given order.

    Valid whatever the dependence between the tests. O(m log m) for m tests; Holm (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _benjamini_hochberg(pvalues: Sequence[float]) -> Array:
    """Return p-values adjusted for the false discovery rate; Benjamini & Hochberg (1995)."""
    return np.asarray(false_discovery_control(pvalues, method="bh"))


ADJUSTMENTS: dict[str, tuple[str, Callable[[Sequence[float]], Array]]] = {
    HOLM: ("Holm's method", holm),
    "bh": ("the Benjamini-Hochberg method", _benjamini_hochberg),
}
"""How many p-values are adjusted to be read together: what to call it, and how."""


def adjusted(pvalues: Iterable[float], adjustment: str = HOLM) -> list[float]:
    """Return p-values adjusted by one of `ADJUSTMENTS`, in the given order.

    Examples
    --------
    >>> adjusted([0.01, 0.04, 0.03]), adjusted([0.01, 0.04, 0.03], "bh")
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    return ADJUSTMENTS[check_adjustment(adjustment)][1](list(pvalues)).tolist()


def check_adjustment(adjustment: str) -> str:
    """Return the name of an adjustment, or raise if there is none of this name."""
    if adjustment not in ADJUSTMENTS:
        raise ValueError(
            f"adjustment is {adjustment!r}; write 'holm', or 'bh' for the false discovery rate (Benjamini and Hochberg)"
        )
    return adjustment


def enough_for_holm(n_resamples: int, tests: int, level: float = 0.05, room: float = ROOM_FOR_HOLM) -> int:
    """Return how many permutations each of so many tests needs at a level, at least ``n_resamples``."""
    return max(n_resamples, int(np.ceil(room * tests / level - 1e-9)) - 1)


def standardized(values: Array) -> Array:
    """Return (T - mean) / deviation over the permutations of every row; rows of equal values become 0.

    Values that differ only by rounding must be made equal beforehand, see :func:`snapped`. The mean of equal numbers
    may differ from them in the last digit, so rows of these are recognized by their range, not by their deviation.

    Examples
    --------
    >>> standardized(np.full((1, 60), 0.1)).any()
    np.False_
    """
    scores = values - values.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(np.einsum("...p,...p->...", scores, scores) / values.shape[-1])[..., None]
    varies = (np.ptp(values, axis=-1, keepdims=True) > 0.0) & (deviation > 0.0)
    np.divide(scores, deviation, out=scores, where=varies)
    scores[~varies[..., 0]] = 0.0
    return scores


def max_t(values: Array) -> Array:
    r"""Return step-down p-values, adjusted for the family-wise error rate by the largest statistic.

    With the statistics ordered by their observed value, the k-th adjusted p-value is the share of permutations π,
    the observed one counted, under which :math:`\max_{l \ge k} T_l(π) \ge T_k`, made monotone in k.

    Parameters
    ----------
    values : array of shape (d, P)
        Statistics of comparable scale, one row each; the first column is the observed arrangement.

    Returns
    -------
    array of shape (d,)
        At least 1/P; ties count.

    Notes
    -----
    O(d P) time and memory. Westfall & Young (1993), algorithm 4.1.

    Examples
    --------
    >>> max_t(np.array([[9.0, 1.0, 2.0, 0.0], [2.0, 1.0, 3.0, 0.0]]))
    array([0.25, 0.5 ])
    """
    order = np.argsort(-values[:, 0], kind="stable")
    ordered = values[order]
    largest = np.maximum.accumulate(ordered[::-1], axis=0)[::-1]
    slack = _ROUNDING * (1.0 + np.abs(ordered[:, :1]))
    stepped = np.maximum.accumulate((largest >= ordered[:, :1] - slack).mean(axis=1))
    adjusted = np.empty(len(values))
    adjusted[order] = stepped
    return adjusted


def pair_outcomes(values: Mapping[tuple[int, int], Array]) -> tuple[PairOutcome, ...]:
    """Return the outcome of every pair of samples, from its statistics (P,) under the same permutations.

    The observed statistic comes first. P-values are adjusted by the largest standardized statistic.
    """
    rows = np.stack(list(values.values()))
    pvalues = (rows >= rows[:, :1]).mean(axis=1).tolist()
    numbers = zip(values, rows[:, 0].tolist(), pvalues, max_t(standardized(rows)).tolist(), strict=True)
    return tuple(PairOutcome(*pair, statistic, p, adjusted) for pair, statistic, p, adjusted in numbers)


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
        Values that differ by no more than this are ties.
    statistic_name : str
        What the values are.
    scheme : str
        Which permutations, and how they were evaluated.
    parts : mapping from (g, h) to Null
        Of several samples: the same of every pair of them, under the same permutations.
    """

    values: Array
    tolerance: Array
    statistic_name: str
    scheme: str
    parts: Mapping[tuple[int, int], Null] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all():
            raise ValueError(
                f"{self.statistic_name} is not a finite number: the kernels' values are too large to be summed; divide "
                "the columns by their standard deviations"
            )

    def beside(self, other: Null) -> Null:
        """Return this null with the rows of another, under the same permutations, appended."""
        values, tolerance = (np.concatenate([getattr(null, name) for null in (self, other)]) for name in _PER_KERNEL)
        parts = {pair: part.beside(other.parts[pair]) for pair, part in self.parts.items()}
        return replace(self, values=values, tolerance=tolerance, parts=parts)

    @property
    def snapped(self) -> Array:
        """Return the values; those of a row that differ only by rounding are made equal."""
        rows = np.empty_like(self.values)
        for row, values, tolerance in zip(rows, self.values, self.tolerance.tolist(), strict=True):
            row[:] = snapped(values, tolerance)
        return rows

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
            "pairs": pair_outcomes({pair: part.snapped[0] for pair, part in self.parts.items()}) if self.parts else (),
        }


def snapped(values: Array, tolerance: float) -> Array:
    """Make values equal that differ only by rounding: those connected by a chain of steps up to the tolerance."""
    order = np.argsort(values)
    ascending = values[order]
    tied = np.flatnonzero(np.diff(ascending) <= tolerance)
    first = np.maximum.accumulate(np.where(np.diff(tied, prepend=-2) > 1, tied, 0))  # where each chain begins
    equal = values.copy()
    equal[order[tied + 1]] = ascending[first]
    return equal
