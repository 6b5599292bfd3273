"""MMD² between estimates with weights or parameters of their own: how it is computed for which estimate.

A test is exact if what it fits is a symmetric function of the pooled rows (``fit_on="pooled"``), or is fitted again by
the same rule to both samples under every permutation (``fit_on="each"``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import clone

from ...core.array import Array, IntArray, as_host, centered, joined
from ...core.validate import check_spread
from ...embedding.embedding import Embedding, embed
from ...estimators import KernelMean
from ...estimators.base import as_filter
from ...estimators.filters import Ridge, Scale
from ...kernels import Gaussian, Kernel
from ...noise import Dirac, Normal
from ..engine import CustomStatistic
from ..null import Null
from ..request import Chosen, base_kernel, fitted, is_constant, median_rows, settled, with_noise
from ..resampling_options import Resampling
from ..statistics import MMD, SEARCHED, StatisticForm
from .contracted_mmd import ContractedMMD
from .refitted_noise import RefittedNoiseMMD, batch_of, is_common_noise, squared_distances
from .shrinkage import ShrunkMMD
from .weighted_mmd import Estimate, FilterWeights, RefittedMMD, WeightedMMD

Plain = Callable[[tuple[Array, ...], Sequence[Kernel], Any, Resampling], Any]
"""Returns MMD² of plain kernels from the pooled rows, the kernels, the statistic and a resampling."""

WEIGHTED_ROWS, SOLVED_ROWS, REFITTED_ROWS = 1000, 3000, 500
_REFIT_BATCH = 8
_POOLED = "the pooled sample"


@final
@dataclass(frozen=True)
class EstimatedMMD:
    """A two-sample test between estimates that need more than another kernel."""

    estimator: KernelMean
    kind: StatisticForm
    how: Resampling
    plain: Plain
    """For statistics that are functions of sums over one Gram matrix."""

    def null(self, X: Array, Y: Array) -> tuple[Any, Chosen]:
        """Return the null of the samples, and the kernel and the noise in it."""
        pooled = as_host(joined([X, Y]))
        rows = median_rows(len(pooled), self.how.rng)
        made = base_kernel(pooled, self.estimator.kernel, self.estimator.bandwidth, rows, _POOLED)
        n, m = X.shape[0], Y.shape[0]
        MMD(n, m, self.kind)  # checks that they are large enough
        if self.way == "each" and min(n, m) < 2:
            raise ValueError(
                f"samples of {n} and {m} rows: leaving one out needs two rows in each; pass fit_on='pooled'"
            )
        if is_constant(pooled if self.way == "each" else pooled[rows]):  # nothing to fit
            alone = replace(made, estimator=KernelMean(made.kernel, noise=Dirac()))
            return self.plain((joined([X, Y]),), [made.kernel], self.kind, self.how), alone
        return self._each(X, Y, made) if self.way == "each" else self._pooled(X, Y, made, rows)

    @property
    def way(self) -> str:
        """Return how parameters are fitted: as asked; by default in each sample if this has a batched form."""
        if self.estimator.fit_on != "auto":
            return str(self.estimator.fit_on)
        return "each" if self._batched else "pooled"

    @property
    def _batched(self) -> bool:
        """Say whether a closed form or a stack of decompositions finds the weights of every permutation."""
        e = self.estimator
        free = e.strength == "loocv" and e.criterion == "loocv" and e.contraction is None
        exact = e.noise is None or isinstance(e.noise, Dirac)
        return free and exact and isinstance(as_filter(e.filter), Scale | Ridge)

    # -- fitted once -------------------------------------------------------------------------------------------------

    def _pooled(self, X: Array, Y: Array, made: Chosen, rows: IntArray) -> tuple[Any, Chosen]:
        pooled = as_host(joined([X, Y]))
        found = fitted(self.estimator, made.kernel, pooled[rows])
        filter_, words = as_filter(self.estimator.filter), _parameters(found, len(rows), len(pooled))
        if self.estimator.contraction is not None:
            assert isinstance(made.kernel, Gaussian), "a contraction is refused for other kernels"
            chosen = replace(made, noise=found.noise_, notes=(*made.notes, words), estimator=found)
            return self._contracted(pooled, X.shape[0], found, made.kernel), chosen
        chosen = with_noise(made, found.noise_, pooled, rows, _POOLED)
        assert filter_ is not None, "what has neither filter nor contraction is another kernel"
        assert found.strength_ is not None, "a filter has a strength"
        strength = min(found.strength_, sys.float_info.max)  # an infinite one, of a mean that is 0, cannot be passed
        own = settled(self.estimator, made.kernel, noise=found.noise_, strength=strength)
        chosen = replace(chosen, notes=(*chosen.notes, words), estimator=own)
        if isinstance(filter_, Scale):
            scaled = _scale(found) ** 2 * chosen.kernel
            return self.plain((joined([X, Y]),), [scaled], self.kind, self.how), chosen
        return self._weighted(X, Y, chosen.kernel, FilterWeights(filter_, found.strength_)), chosen

    # -- refitted --------------------------------------------------------------------------------------------------

    def _each(self, X: Array, Y: Array, made: Chosen) -> tuple[Any, Chosen]:
        told = "parameters of both samples: refitted under every permutation"
        chosen = replace(made, notes=(*made.notes, told), estimator=settled(self.estimator, made.kernel))
        filter_ = as_filter(self.estimator.filter)
        if self._batched and isinstance(filter_, Scale):
            statistic = ShrunkMMD(X.shape[0], Y.shape[0], self.kind)
            return self.plain((joined([X, Y]),), [made.kernel], statistic, self.how), chosen
        if self._batched and isinstance(filter_, Ridge):
            return self._weighted(X, Y, made.kernel, FilterWeights(filter_, None)), chosen
        estimate = refitted(self.estimator, made.kernel)
        X, Y = as_host(X), as_host(Y)
        pooled = np.concatenate([X, Y])
        check_spread(pooled)
        chosen = replace(chosen, noise=(estimate(X).noise, estimate(Y).noise))
        return self._refitted(pooled, (len(X), len(Y)), estimate, made.kernel), chosen

    # -- the nulls ---------------------------------------------------------------------------------------------------

    def _weighted(self, X: Array, Y: Array, kernel: Kernel, weights: FilterWeights) -> Null:
        X, Y = as_host(X), as_host(Y)
        pooled, largest = np.concatenate([X, Y]), max(len(X), len(Y))
        check_rows(largest, SOLVED_ROWS if weights.solves else WEIGHTED_ROWS, self.estimator, self.way)
        gram = kernel(pooled, pooled)
        np.fill_diagonal(gram, kernel.diag(pooled))
        statistic = WeightedMMD(gram, len(X), weights, self.kind)
        magnitude = float(np.diagonal(gram).mean())
        return self._listed(statistic, (len(X), len(Y)), batch=weights.batch(largest), magnitude=magnitude)

    def _contracted(self, pooled: Array, n_first: int, found: KernelMean, kernel: Gaussian) -> Null:
        sizes, dim = (n_first, len(pooled) - n_first), pooled.shape[1]
        check_rows(max(sizes), SOLVED_ROWS, self.estimator, self.way)
        variance = float(found.noise_.covariance) if isinstance(found.noise_, Normal) else 0.0
        spread = 1.0 + 2.0 * variance / kernel.bandwidth**2
        points = centered(pooled)[0] / (kernel.bandwidth * math.sqrt(spread))
        height = _scale(found) ** 2 * spread ** (-dim / 2)
        statistic = ContractedMMD(points, n_first, found.contraction_, height, self.kind)
        return self._listed(statistic, sizes, magnitude=height)

    def _refitted(self, pooled: Array, sizes: tuple[int, int], estimate: Estimate, kernel: Kernel) -> Null:
        """Refit one by one, but a common noise with a Gaussian kernel for many permutations at once."""
        n, takes = len(pooled), {"sized": True, "precision": SEARCHED}
        check_rows(max(sizes), REFITTED_ROWS, self.estimator, self.way)
        statistic: Callable[[IntArray], Array]
        if is_common_noise(self.estimator) and isinstance(kernel, Gaussian) and np.ndim(kernel.bandwidth) == 0:
            distances = squared_distances(pooled, kernel.bandwidth)
            statistic = RefittedNoiseMMD(distances, sizes[0], pooled.shape[1], self.estimator.criterion, self.kind)
            return self._listed(statistic, sizes, batch=batch_of(n), **takes)
        statistic = RefittedMMD(pooled, sizes[0], estimate, self.kind)
        return self._listed(statistic, sizes, batch=_REFIT_BATCH, **takes)

    def _listed(self, statistic: Callable[[IntArray], Array], sizes: tuple[int, int], **takes: Any) -> Null:
        default = type(self.estimator)().kernel  # the result tells the kernel that was used
        estimator = clone(self.estimator).set_params(kernel=default, fit_on="auto")
        name = f"MMD² of {estimator!r}" + (" (without diagonal)" if self.kind == "u" else "")
        return CustomStatistic(statistic, name, **takes).null(sizes, self.how)


def check_rows(rows: int, limit: int, estimator: KernelMean, way: str) -> None:
    """Raise when permutations would take too long, and say what works for samples of this size."""
    if rows > limit:
        instead = f"fit_on='pooled' (up to {SOLVED_ROWS} rows for filter='ridge'), " if way == "each" else ""
        raise ValueError(
            f"{estimator!r} with fit_on={way!r} is computed again for both samples per permutation, in O(n²) or "
            f"O(n³) each, for at most {limit} rows a sample; {rows} were passed; pass {instead}estimator='s-kmse', "
            "'mkme' or 'mmkme' (any number of rows), or a random subsample"
        )


def _scale(found: KernelMean) -> float:
    return 1.0 if found.strength_ is None else 1.0 / (1.0 + found.strength_)


def _parameters(found: KernelMean, some: int, n: int) -> str:
    """Say which parameters were found, and on which rows."""
    values = {"λ": found.strength_, "r": found.contraction_ if found.contraction is not None else None}
    told = " and ".join(f"{name} = {value:.4g}" for name, value in values.items() if value is not None)
    return f"{told}: fitted to {_POOLED}" + (f", to {some} of {n} rows" if some < n else "")


def refitted(estimator: KernelMean, kernel: Kernel) -> Estimate:
    """Return the function that estimates the mean of any rows; equal rows are their own best estimate."""

    def estimate(points: Array) -> Embedding:
        return embed(points, kernel) if is_constant(points) else fitted(estimator, kernel, points).embedding_

    return estimate
