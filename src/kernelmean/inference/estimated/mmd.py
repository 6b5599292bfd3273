"""MMD² between estimates with weights of their own: how it is computed for which estimate.

A test is exact if what it fits is a symmetric function of the pooled rows, or is fitted again by the same rule to both
samples under every permutation. The weights of S-KMSE and F-KMSE are found in each sample; a noise beside a filter, and
the strength of other filters, in the pooled rows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
from sklearn.base import clone

from ...core.array import Array, IntArray, as_host, joined
from ...estimators import KernelMean
from ...estimators.base import as_filter
from ...estimators.filters import Ridge, Scale
from ...kernels import Kernel
from ...noise import Dirac
from ..null import Null
from ..permuted_pairs import CustomStatistic
from ..request import Chosen, base_kernel, fitted, is_constant, median_rows, settled, with_noise
from ..resampling import Resampling
from ..statistics import MMD, StatisticForm
from .shrinkage import ShrunkMMD
from .weighted_mmd import FilterWeights, WeightedMMD

Plain = Callable[[tuple[Array, ...], Sequence[Kernel], Any, Resampling], Any]
"""Returns MMD² of plain kernels from the pooled rows, the kernels, the statistic and a resampling."""

WEIGHTED_ROWS, SOLVED_ROWS = 1000, 3000
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
        if self._batched and min(n, m) < 2:
            raise ValueError(
                f"samples of {n} and {m} rows: leaving one out needs two rows in each; pass estimator='kme', or a "
                "number as strength"
            )
        if is_constant(pooled if self._batched else pooled[rows]):  # nothing to fit
            alone = replace(made, estimator=KernelMean(made.kernel, noise=Dirac()))
            return self.plain((joined([X, Y]),), [made.kernel], self.kind, self.how), alone
        return self._each(X, Y, made) if self._batched else self._pooled(X, Y, made, rows)

    @property
    def _batched(self) -> bool:
        """Say whether a closed form or a stack of decompositions finds the weights of every permutation."""
        e = self.estimator
        free = e.strength == "loocv" and e.criterion == "loocv"
        exact = e.noise is None or isinstance(e.noise, Dirac)
        return free and exact and isinstance(as_filter(e.filter), Scale | Ridge)

    # -- fitted once -------------------------------------------------------------------------------------------------

    def _pooled(self, X: Array, Y: Array, made: Chosen, rows: IntArray) -> tuple[Any, Chosen]:
        pooled = as_host(joined([X, Y]))
        fit = fitted(self.estimator, made.kernel, pooled[rows])
        filter_ = as_filter(self.estimator.filter)
        assert filter_ is not None, "what has no filter is another kernel"
        assert fit.strength_ is not None, "a filter has a strength"
        chosen = with_noise(made, fit.noise_, pooled, rows, _POOLED)
        strength = min(fit.strength_, sys.float_info.max)  # an infinite one, of a mean that is 0, cannot be passed
        estimator = settled(self.estimator, made.kernel, noise=fit.noise_, strength=strength)
        note = f"λ = {fit.strength_:.4g}: fitted to {_POOLED}"
        note += f", to {len(rows)} of {len(pooled)} rows" if len(rows) < len(pooled) else ""
        chosen = replace(chosen, notes=(*chosen.notes, note), estimator=estimator)
        if isinstance(filter_, Scale):
            scaled = (1.0 / (1.0 + fit.strength_)) ** 2 * chosen.kernel
            return self.plain((joined([X, Y]),), [scaled], self.kind, self.how), chosen
        return self._weighted(X, Y, chosen.kernel, FilterWeights(filter_, fit.strength_)), chosen

    # -- refitted --------------------------------------------------------------------------------------------------

    def _each(self, X: Array, Y: Array, made: Chosen) -> tuple[Any, Chosen]:
        note = "parameters of both samples: refitted under every permutation"
        chosen = replace(made, notes=(*made.notes, note), estimator=settled(self.estimator, made.kernel))
        filter_ = as_filter(self.estimator.filter)
        if isinstance(filter_, Scale):
            statistic = ShrunkMMD(X.shape[0], Y.shape[0], self.kind)
            return self.plain((joined([X, Y]),), [made.kernel], statistic, self.how), chosen
        assert isinstance(filter_, Ridge), "no other filter is found for a stack of matrices"
        return self._weighted(X, Y, made.kernel, FilterWeights(filter_, None)), chosen

    # -- the nulls ---------------------------------------------------------------------------------------------------

    def _weighted(self, X: Array, Y: Array, kernel: Kernel, weights: FilterWeights) -> Null:
        X, Y = as_host(X), as_host(Y)
        pooled, largest = np.concatenate([X, Y]), max(len(X), len(Y))
        check_rows(largest, SOLVED_ROWS if weights.solves else WEIGHTED_ROWS, self.estimator)
        gram = kernel(pooled, pooled)
        np.fill_diagonal(gram, kernel.diag(pooled))
        statistic = WeightedMMD(gram, len(X), weights, self.kind)
        magnitude = float(np.diagonal(gram).mean())
        return self._listed(statistic, (len(X), len(Y)), batch=weights.batch(largest), magnitude=magnitude)

    def _listed(self, statistic: Callable[[IntArray], Array], sizes: tuple[int, int], **takes: Any) -> Null:
        default = type(self.estimator)().kernel  # the result tells the kernel that was used
        estimator = clone(self.estimator).set_params(kernel=default)
        name = f"MMD² of {estimator!r}" + (" (without diagonal)" if self.kind == "u" else "")
        return CustomStatistic(statistic, name, **takes).null(sizes, self.how)


def check_rows(rows: int, limit: int, estimator: KernelMean) -> None:
    """Raise when permutations would take too long, and say what works for samples of this size."""
    if rows > limit:
        raise ValueError(
            f"{estimator!r} is computed again for both samples per permutation, in O(n²) or O(n³) each, for at most "
            f"{limit} rows a sample; {rows} were passed; pass estimator='s-kmse', 'mkme' or 'mmkme' (any number of "
            "rows), or a random subsample"
        )
