r"""MMD² of weighted kernel means whose weights are found anew for both samples of every permutation.

:math:`b_X^⊤ K_{XX} b_X + b_Y^⊤ K_{YY} b_Y - 2 b_X^⊤ K_{XY} b_Y`, where the weights of a sample are a symmetric function
of its own rows: what is fitted once is a function of the pooled rows, all else is fitted under every permutation, so
that the observed arrangement differs from the others in nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from ...embedding.embedding import Embedding
from ...estimators.filters import Filter, Ridge
from ...expected import expected_diag
from ..statistics import StatisticForm
from .ridge_stack import ridge_weights, stack_bytes

_STACK_BYTES = 2**24

GramWeights = Callable[[Array], Array]
"""From a stack of Gram matrices (b, n, n), which it may overwrite, to weights (b, n)."""

Estimate = Callable[[Array], Embedding]
"""From the rows of one sample to its kernel mean: a symmetric function of them."""


@final
@dataclass(frozen=True)
class FilterWeights:
    """The weights of a spectral filter, for a strength that is given or (ridge only) left out of every sample."""

    filter: Filter
    strength: float | None

    def __call__(self, grams: Array) -> Array:
        """Return β = g_λ(K) K 1_n of every matrix, in O(n³) each."""
        if isinstance(self.filter, Ridge):
            return ridge_weights(grams, self.strength)
        assert self.strength is not None, "only the ridge chooses its strength for a stack of matrices"
        if self.strength == np.inf:
            return np.zeros(grams.shape[:2])
        return np.stack([self.filter.weights(gram, self.strength) for gram in grams])

    @property
    def solves(self) -> bool:
        """Whether one linear system a sample gives the weights, rather than an eigendecomposition."""
        return isinstance(self.filter, Ridge) and self.strength is not None

    def batch(self, n: int) -> int:
        """Return for how many samples of n rows the arrays stay in a cache."""
        return int(np.clip(_STACK_BYTES / self.bytes(n), 1, 256))

    def bytes(self, n: int) -> float:
        """Return the memory of one sample of n rows."""
        return stack_bytes(n, self.strength)


@final
@dataclass(frozen=True)
class WeightedMMD:
    """The statistic of weights that are functions of the Gram matrix of a sample."""

    gram: Array
    """That of the pooled rows, the first sample first, shape (N, N)."""
    n_first: int
    weights: GramWeights
    kind: StatisticForm
    """"u" leaves out the diagonal of K_XX and K_YY and multiplies the rest by n/(n-1)."""

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, N), shape (1, b)."""
        placed = [self._placed(index) for index in split(batch, self.n_first)]
        products = [weights @ self.gram for weights in placed]
        norms = [self._norm(index, placed[index], products[index]) for index in (0, 1)]
        return (norms[0] + norms[1] - 2 * _row_sums(products[0], placed[1]))[None]

    def _placed(self, index: IntArray) -> Array:
        """Return the weights of the rows ``index`` (b, n), at their places among all rows."""
        weights = self.weights(self.gram[index[:, :, None], index[:, None, :]])
        placed = np.zeros((len(index), len(self.gram)))
        np.put_along_axis(placed, index, weights, axis=1)
        return placed

    def _norm(self, sample: int, placed: Array, products: Array) -> Array:
        norm = _row_sums(products, placed)
        if self.kind == "v":
            return norm
        n = self.n_first if sample == 0 else len(self.gram) - self.n_first
        return (norm - placed**2 @ np.diagonal(self.gram)) * (n / (n - 1))


@final
@dataclass(frozen=True)
class RefittedMMD:
    """The statistic of kernel means that are estimated anew, one permutation after the other."""

    points: Array
    """Shape (N, d)."""
    n_first: int
    estimate: Estimate
    kind: StatisticForm
    """As in :class:`WeightedMMD`."""

    def __call__(self, batch: IntArray) -> Array:
        """Return the statistics of permutations (b, N) and the values k(x, x) under the noise in them, shape (2, b)."""
        return np.array([self._between(*pair) for pair in zip(*split(batch, self.n_first), strict=True)]).T

    def _between(self, first: IntArray, second: IntArray) -> tuple[float, float]:
        means = [self.estimate(self.points[index]) for index in (first, second)]
        norms, diagonals = zip(*(self._norm(mean) for mean in means), strict=True)
        return sum(norms) - 2 * (means[0] @ means[1]), max(diagonals)

    def _norm(self, mean: Embedding) -> tuple[float, float]:
        """Return the squared norm of a mean, and the mean of k(x, x) under its noise."""
        norm, n = mean @ mean, len(mean.points)
        diagonal = np.broadcast_to(expected_diag(mean.kernel, mean.points, mean.noise, mean.noise), n)
        if self.kind == "u":
            norm = float((norm - mean.weights**2 @ diagonal) * n / (n - 1))
        return norm, float(diagonal.mean())


def split(batch: IntArray, n_first: int) -> tuple[IntArray, IntArray]:
    """Return the rows of either sample under permutations (b, N), in ascending order, (b, n) and (b, m)."""
    first = batch < n_first
    return tuple(np.nonzero(side)[1].reshape(len(batch), -1) for side in (first, ~first))  # type: ignore[return-value]


def _row_sums(left: Array, right: Array) -> Array:
    return np.asarray(np.einsum("bi,bi->b", left, right))
