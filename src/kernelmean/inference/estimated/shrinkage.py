r"""Simple shrinkage in tests: S-KMSE for two samples, SCOSE for independence.

Both multiply an empirical mean by one factor :math:`a = 1/(1+λ)`, whose leave-one-out optimum has a closed form in two
sums over the Gram matrix. So every scheme evaluates it for every permutation, at the cost of the plain test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from ...core.array import Array
from ...core.words import passed
from ..statistics import MMD, Statistic, StatisticForm, Sums, ties


def leave_one_out_factor(mean: Array, diagonal: Array, n: int) -> Array:
    r"""Return :math:`a = (n-1)U / ((n-2)U + ϱ)` in [0, 1], with U the mean off the diagonal; 0 where U ≤ 0.

    It is 1/(1+λ*) with λ* = n(ϱ-ρ)/((n-1)(nρ-ϱ)), Muandet et al. (2014), Theorem 3, and 1 - α of Ramdas & Wehbe (2015),
    α = (ϱ-ρ)/((n-2)ρ+ϱ/n).

    Parameters
    ----------
    mean, diagonal : array
        ρ, the mean of the Gram matrix, and ϱ, that of its diagonal.
    n : int
        Its number of rows.

    Examples
    --------
    >>> float(leave_one_out_factor(np.array(0.75), np.array(1.0), 2))
    0.5
    """
    off = np.maximum((n * mean - diagonal) / (n - 1), 0.0)
    above, below = (n - 1) * off, (n - 2) * off + diagonal
    return np.asarray(np.minimum(np.divide(above, below, out=np.zeros_like(above), where=above > 0), 1.0))


@final
@dataclass(frozen=True)
class BlockSums:
    """Sums of an uncentered Gram matrix over two samples, (m, P) each, and sums of its diagonal over them."""

    within: tuple[Array, Array]
    between: Array
    diagonals: tuple[Array, Array]

    @classmethod
    def of(cls, sums: Sums, n_first: int, n_second: int) -> BlockSums:
        """Undo the centering: K_ij = K̄_ij + r_i + r_j - mean."""
        assert sums.level is not None, "sums of an independence test have no level"
        n, mean, rows = n_first + n_second, sums.level.mean[:, None], sums.level.rows
        first = sums.pairs + 2 * n_first * rows - n_first**2 * mean
        between = n * rows - first
        diagonal = sums.diagonal + 2 * rows - n_first * mean
        trace = sums.left_trace[:, None] + n * mean
        return cls((first, n**2 * mean - first - 2 * between), between, (diagonal, trace - diagonal))


@final
@dataclass(frozen=True)
class ShrunkMMD(Statistic):
    r"""The squared distance of two simply shrunk kernel means, S-KMSE of Muandet et al. (2014).

    V: :math:`a_X^2 \overline{K_{XX}} + a_Y^2 \overline{K_{YY}} - 2 a_X a_Y \overline{K_{XY}}`, with each factor from
    leave-one-out in its own sample. U: the first two means leave out the diagonal.
    """

    n_first: int
    n_second: int
    kind: StatisticForm = "u"

    of_uncentered: ClassVar[bool] = True

    def __post_init__(self) -> None:
        MMD(self.n_first, self.n_second, self.kind)  # checks the kind
        if min(self.n_first, self.n_second) < 2:
            raise ValueError(
                f"samples of {self.n_first} and {self.n_second} rows: leaving one out needs two rows in each; pass "
                "estimator='kme' and statistic='v', or a KernelMean with a number as strength"
            )

    @property
    def name(self) -> str:
        """Name the statistic."""
        return "MMD² of S-KMSE" + (" (without diagonal)" if self.kind == "u" else "")

    def __call__(self, sums: Sums) -> Array:
        """Return the statistic, shape (m, P)."""
        blocks = BlockSums.of(sums, self.n_first, self.n_second)
        factors, norms = [], []
        for n, within, diagonal in zip((self.n_first, self.n_second), blocks.within, blocks.diagonals, strict=True):
            factor = leave_one_out_factor(within / n**2, diagonal / n, n)
            mean = (within - diagonal) / (n * (n - 1)) if self.kind == "u" else within / n**2
            factors.append(factor)
            norms.append(factor**2 * mean)
        cross = factors[0] * factors[1] * blocks.between / (self.n_first * self.n_second)
        return np.asarray(norms[0] + norms[1] - 2 * cross)

    def tolerance(self, values: Array, sums: Sums) -> Array:
        """Return the tolerance of ties: rounding is that of means of K, not of differences from its mean."""
        assert sums.level is not None, "sums of an independence test have no level"
        magnitude = sums.left_trace / (self.n_first + self.n_second) + np.abs(sums.level.mean)
        return ties(values, magnitude, sums.rounding)


@final
@dataclass(frozen=True)
class SCOSE(Statistic):
    r"""The simply shrunk HSIC of Ramdas & Wehbe (2015): :math:`(1-α)_+^2 h`.

    With :math:`M = \bar K ∘ \bar Z`, h = mean(M) (the V-statistic of HSIC) and δ = tr(M)/n,
    :math:`α = (δ-h)/((n-2)h+δ/n)`: S-KMSE of the cross-covariance, in the RKHS whose Gram matrix is M. It is 0 wherever
    M is negative on average off the diagonal.
    """

    n: int

    def __post_init__(self) -> None:
        if self.n < 2:
            raise ValueError(f"{passed(self.n, 'pair')}, {self.name} needs at least 2")

    @property
    def name(self) -> str:
        """Name the statistic."""
        return "shrunk HSIC (SCOSE)"

    def __call__(self, sums: Sums) -> Array:
        """Return the statistic, shape (m, P)."""
        mean = np.maximum(sums.pairs / self.n**2, 0.0)
        return np.asarray(leave_one_out_factor(mean, sums.diagonal / self.n, self.n) ** 2 * mean)

    def tolerance(self, values: Array, sums: Sums) -> Array:
        """Return what counts as a tie."""
        return ties(values, np.abs(sums.left_trace * sums.right_trace) / self.n**2, sums.rounding)
