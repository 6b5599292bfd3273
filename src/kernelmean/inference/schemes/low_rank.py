"""Random permutations on factors K ≈ AᵀA, Z ≈ CᵀC: all sums are squared norms of A C_πᵀ."""

from __future__ import annotations

from typing import final

import numpy as np

from ...core.array import Array, IntArray
from ..low_rank_problem import Factored, LowRankError, SharedRows, most_rank, split
from ..permutations import Permutations
from ..problem import Problem
from ..resampling_options import MIB, Resources
from ..statistics import Sums
from .base import Scheme, in_order

_BATCH_BYTES = 32 * MIB


@final
class LowRank(Scheme):
    """Pivoted Cholesky with a residual trace of at most 1e-10 tr K; raises if the rank is not low."""

    name = "low-rank"
    summary = "random permutations, on verified low-rank factors"

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Evaluate random permutations."""
        rank = most_rank(problem.shape(n_resamples))
        factored, _, others = split(problem, rank)
        if factored is None or others:
            raise LowRankError(problem.n, rank)
        return factor_sums(factored, problem.some(n_resamples, rng), resources)


def _batch_bytes(resources: Resources) -> float:
    return min(_BATCH_BYTES, resources.memory / (16 * resources.n_jobs))


def factor_sums(factored: Factored, permutations: Permutations, resources: Resources) -> Sums:
    """Return the sums over the permutations in the list; O(n r² P) time, for two samples O(n r P)."""
    problem, (own, other), groups = factored.problem, factored.coupled, factored.shared

    def evaluate(batch: IntArray) -> tuple[Array, Array]:
        pairs = np.empty((len(problem.pairs), len(batch)))
        for group in groups:
            pairs[group.pairs] = _squared_norms(group, batch)
        return pairs, np.einsum("ki,kbi->kb", own, other[:, batch]) if len(other) > 1 else own @ other[0, batch].T

    widest = max(factor.rank for factor in factored.right)
    batches = permutations.batches(max(1, int(_batch_bytes(resources) / (8 * problem.n * max(1, widest)))))
    pairs, coupled = zip(*in_order(evaluate, batches, resources.n_jobs), strict=True)
    return factored.sums(np.concatenate(pairs, axis=1), np.concatenate(coupled, axis=1))


def _squared_norms(group: SharedRows, batch: IntArray) -> Array:
    """Return |A C_πᵀ|² of permutations (b, n), for all weights, shape (k, b)."""
    columns = group.right[:, batch]
    products = group.left @ columns.reshape(-1, columns.shape[-1]).T
    return group.weighted_norms(products.reshape(len(group.left), *columns.shape[:2]), slice(None))
