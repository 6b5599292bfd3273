"""MMD² and HSIC as functions of two sums over a permutation.

``questions/`` choose one of them. A design has a statistic of its own, in its file in ``designs/``; weights that are
found again under every permutation have theirs in ``estimated/``. What is no function of these sums is a
``CustomStatistic`` (``permuted_pairs.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np

from ..core.array import Array
from ..core.words import passed

StatisticForm = Literal["u", "v"]
"""Unbiased, or the V-statistic: the values of ``statistic=``."""

ROUNDING = 1e-9, 2.0**-42
SINGLE = 6e-7, 2.0**-28
"""Shares of a range and of a magnitude below which values are tied: for sums, and for sums of float32 numbers."""


@final
@dataclass(frozen=True)
class RemovedMeans:
    """What centering removes from K, for two samples: with it the block sums of K itself are known."""

    rows: Array
    """Σ_i r_i a_π(i), with r the row means of K, shape (m, P)."""
    mean: Array
    """The mean of K, shape (m,)."""


@final
@dataclass(frozen=True)
class Sums:
    r"""The sums that every scheme delivers, one row per pair of kernels and one column per permutation π.

    With K̄ = HKH, H = I - 11ᵀ/n, and Z̄ likewise; for two samples Z = aaᵀ, a the 0/1 labels.
    """

    pairs: Array
    """Shape (m, P). :math:`Σ_{ij} K̄_{ij} Z̄_{π(i)π(j)}`; for two samples that is :math:`a_π^⊤ K̄ a_π`."""
    diagonal: Array
    """Shape (m, P). :math:`Σ_i K̄_{ii} Z̄_{π(i)π(i)}`; for two samples :math:`Σ_i K̄_{ii} a_{π(i)}`.

    Shape (m, 0) where the statistic does not need it."""
    left_trace: Array
    right_trace: Array
    """tr K̄ and tr Z̄, shape (m,)."""
    level: RemovedMeans | None = None
    """For two samples: what centering removes from K."""
    rounding: tuple[float, float] = ROUNDING
    """Shares of a range and of a magnitude below which values are tied."""

    @staticmethod
    def placed(parts: Sequence[Sums], numbers: Sequence[Sequence[int]]) -> Sums:
        """Put groups of pairs of variables, given their numbers among all, in the order of these."""
        if len(parts) == 1:
            return parts[0]
        fields: dict[str, Any] = {}
        for name in ("pairs", "diagonal", "left_trace", "right_trace"):
            groups = [getattr(part, name) for part in parts]
            fields[name] = np.empty((sum(map(len, groups)), *groups[0].shape[1:]))
            for places, group in zip(numbers, groups, strict=True):
                fields[name][places] = group
        return replace(parts[0], **fields)


class Statistic(ABC):
    """A function of :class:`Sums`, applied to all kernels and permutations at once."""

    of_uncentered: ClassVar[bool] = False
    """Whether it needs what centering removes from K, for two samples."""

    @property
    def of_diagonal(self) -> bool:
        """Whether it needs the sums of the diagonals."""
        return True

    @property
    @abstractmethod
    def name(self) -> str:
        """Say in words what the number is."""

    @abstractmethod
    def __call__(self, sums: Sums) -> Array:
        """Return the statistic, shape (m, P)."""

    @abstractmethod
    def tolerance(self, values: Array, sums: Sums) -> Array:
        """Return what counts as a tie, shape (m,)."""


class LinearStatistic(Statistic):
    """A statistic that is linear in :class:`Sums`."""

    kind: StatisticForm

    @property
    def of_diagonal(self) -> bool:
        """Whether it is unbiased, and so leaves out the diagonals."""
        return self.kind == "u"

    @property
    @abstractmethod
    def sensitivity(self) -> float:
        """Return the coefficient of ``Sums.pairs``, which multiplies a rounding error there."""

    def tolerance(self, values: Array, sums: Sums) -> Array:
        """Return what counts as a tie, shape (m,)."""
        return ties(values, np.abs(self.sensitivity * sums.left_trace * sums.right_trace), sums.rounding)


def check_kind(kind: StatisticForm) -> None:
    """Raise when the statistic is neither unbiased nor the V-statistic."""
    if kind not in ("u", "v"):
        raise ValueError(f"statistic is {kind!r}; pass 'u' (unbiased) or 'v'")


def named(what: str, kind: StatisticForm) -> str:
    """Name an estimate, such as "MMD² (unbiased)"."""
    return f"{what} (unbiased)" if kind == "u" else f"{what} (V-statistic)"


def ties(values: Array, magnitude: Array, precision: tuple[float, float] = ROUNDING) -> Array:
    """Return the tolerance of ties among rows of ``values``: shares of their range and of a magnitude.

    Values that are equal in exact arithmetic differ by a few rounding units of their sums; different values are hardly
    ever so close. A tie counts against the observed value, so the p-value errs on the safe side.
    """
    return np.asarray(precision[0] * np.ptp(values, axis=-1) + precision[1] * magnitude)


@final
@dataclass(frozen=True)
class MMD(LinearStatistic):
    r"""The squared maximum mean discrepancy of two samples, Gretton et al. (2012), eq. (3) and (5).

    V: :math:`\overline{K_{XX}} + \overline{K_{YY}} - 2 \overline{K_{XY}}`, plain means, never negative.
    U: the first two means leave out the diagonal; unbiased, of either sign.
    Centering K changes neither, and makes its rows sum to 0: the three block sums are one number.
    """

    n_first: int
    n_second: int
    kind: StatisticForm = "u"

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.kind == "u" and min(self.n_first, self.n_second) < 2:
            raise ValueError(
                f"samples of {self.n_first} and {self.n_second} rows: the unbiased statistic needs two rows in each; "
                "pass statistic='v'"
            )

    @property
    def name(self) -> str:
        """Name the statistic."""
        return named("MMD²", self.kind)

    @property
    def _counts(self) -> tuple[int, int, int]:
        """Return the number of terms of each of the three means."""
        unbiased = 1 if self.kind == "u" else 0
        n, m = self.n_first, self.n_second
        return n * (n - unbiased), m * (m - unbiased), n * m

    @property
    def sensitivity(self) -> float:
        """Return d MMD² / d pairs."""
        first, second, cross = self._counts
        return 1 / first + 1 / second + 2 / cross

    def __call__(self, sums: Sums) -> Array:
        """Return MMD², shape (m, P)."""
        values = self.sensitivity * sums.pairs
        if self.kind == "u":  # within the samples, the diagonals are left out
            first, second, _ = self._counts
            values += (1 / second - 1 / first) * sums.diagonal
            values -= sums.left_trace[:, None] / second
        return values


@final
@dataclass(frozen=True)
class HSIC(LinearStatistic):
    r"""The Hilbert-Schmidt independence criterion of n pairs.

    V: :math:`\mathrm{tr}(HKHZ)/n^2` (Gretton et al. 2005, eq. 9; Xia et al. 2021, which calls it unbiased: it is not).
    U: the unbiased estimate of Song et al. (2012), eq. (5), here for centered matrices, whose rows sum to 0:
    :math:`[Σ_{i≠j} K̄Z̄ - \tfrac{2}{n-2} Σ_i K̄_{ii}Z̄_{ii} + \tfrac{\mathrm{tr}K̄ \mathrm{tr}Z̄}{(n-1)(n-2)}] /
    (n(n-3))`.
    """

    n: int
    kind: StatisticForm = "v"

    def __post_init__(self) -> None:
        check_kind(self.kind)
        least = 4 if self.kind == "u" else 2
        if self.n < least:
            advice = "; pass statistic='v'" if self.n >= 2 else ""
            raise ValueError(f"{passed(self.n, 'pair')}, the {self.name} needs at least {least}{advice}")

    @property
    def name(self) -> str:
        """Name the statistic."""
        return named("HSIC", self.kind)

    @property
    def sensitivity(self) -> float:
        """Return d HSIC / d pairs."""
        return 1 / (self.n * (self.n - 3)) if self.kind == "u" else 1 / self.n**2

    def __call__(self, sums: Sums) -> Array:
        """Return HSIC, shape (m, P)."""
        n = self.n
        if self.kind == "v":
            return np.asarray(sums.pairs / n**2)
        traces = (sums.left_trace * sums.right_trace)[:, None] / ((n - 1) * (n - 2))
        return np.asarray((sums.pairs - n / (n - 2) * sums.diagonal + traces) / (n * (n - 3)))
