"""Scores of any kernel with a closed form under the noise: sums of the matrices L and Q."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.array import Array, mean_of, slices, tile_shape, total, without_diagonal
from ..expected import expected_blocks, expected_diag
from ..kernels.base import Kernel
from ..kernels.blocks import Blocks
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import running
from .score import Score

_TILE = 512


@dataclass(frozen=True)
class Means:
    r"""The three means of which a score with a common noise consists, for kernels of any sign.

    Notes
    -----
    Without noise L̄ = U, the mean of k(x_i, x_j) over i ≠ j, and the best scale of the leave-one-out score is
    a = (n-1)U / ((n-2)U + ϱ), which is 1/(1+λ*) with λ* = n(ϱ-ρ)/((n-1)(nρ-ϱ)), ρ = mean(K): Muandet et al. (2014),
    Theorem 3 (S-KMSE). When U ≤ 0 no positive multiple of the empirical mean helps, and a = 0.
    """

    constant: float
    """ϱ = mean k(x_i, x_i)."""
    cross: float
    """L̄, the mean over i ≠ j of E k(x_i, x̃_j)."""
    square: float
    """Q̄, the mean squared norm of the leave-one-out estimates (or of the estimate: the risk criterion)."""

    def score(self, scale: float | None = 1.0) -> Score:
        """Return the score ϱ - 2 a L̄ + a² Q̄ at a = ``scale``, or at the best a in [0, 1] when it is None."""
        a = self.best_scale(scale)
        return Score.of(a * (a * self.square - 2 * self.cross), self.constant)

    def best_scale(self, scale: float | None = None) -> float:
        """Return the scale a = L̄/Q̄, clipped to [0, 1], that minimizes the score, or the ``scale`` that was set."""
        if scale is not None:
            return scale
        return min(self.cross / self.square, 1.0) if self.cross > 0 else 0.0


def means(kernel: Kernel, X: Array, noise: Noise, alpha: float) -> Means:
    """Return the means of a common ``noise`` in O(n² d) time and O(block²) memory, α as ``diagonal_share`` gives it."""
    cross = _off_diagonal_mean(expected_blocks(kernel, X, Dirac(), X, noise), X)
    off = _off_diagonal_mean(expected_blocks(kernel, X, noise, X, noise), X)
    diag = mean_of(expected_diag(kernel, X, noise, noise))
    return Means(mean_of(kernel.diag(X)), cross, (1 - alpha) * off + alpha * diag)


def _off_diagonal_mean(blocks: Blocks, X: Array) -> float:
    """Return the mean over i ≠ j; the diagonal is left out, not subtracted, so that small sums keep their digits."""
    n, (size, _) = X.shape[0], tile_shape(X, (_TILE, _TILE), running().device_memory)
    whole: Any = 0.0
    for i in slices(n, size):
        for j in slices(n, size):
            whole += total(without_diagonal(blocks(i, j)) if i == j else blocks(i, j))
    return float(whole) / (n * (n - 1.0))
