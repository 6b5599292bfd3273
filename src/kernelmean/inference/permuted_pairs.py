"""The permutation distribution of a test of independence, and that of any function of permutations.

Which permutations is decided by sizes alone, so that neither units nor installed extras change an answer:

1. All are enumerated when there are at most n_resamples + 1.
2. At most 32 pairs take random permutations: the textbook test, within milliseconds.
3. Otherwise rotations of shuffled blocks, evaluated on low-rank factors if these are given or a pivoted Cholesky finds
   them, and they cost less, otherwise on tiles. Both give the same p-value: they sum over the same permutations.

Arrays of other libraries take tiles, never factors: a device makes them faster than it finds pivots. Samples have an
engine of their own, :mod:`~kernelmean.inference.units`.

A ``CustomStatistic`` need not be a quadratic form: it is any function of a batch of permutations, with the same lists
and p-values. Use it for weights that are refitted under every permutation: it gets permutations, takes the labels or
the pairs from them, and returns one row per variant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import final

import numpy as np
from scipy.special import gammaln

from ..core.array import Array, IntArray, precision
from ..plan.plan import serial_blas
from .low_rank_problem import split
from .null import Null
from .permutation_groups import Rotations
from .permutations import (
    EXACT,
    RANDOM,
    ROTATIONS,
    AllLabelings,
    AllPermutations,
    Permutations,
    RandomPermutations,
    takes_all,
)
from .problem import Problem
from .resampling import Resampling
from .rotations.factors import by_factors, factor_sums, paying_rank
from .rotations.gathered import DENSE_LIMIT, permutation_sums
from .rotations.tiles import tile_sums
from .statistics import SINGLE, Sums, ties
from .tiling import in_order

_GATHERED = 32


def permutation_null(problem: Problem, how: Resampling) -> Null:
    """Return the statistics of all pairs of kernels under one set of permutations.

    Equal seeds, sizes and schemes give equal permutations, whatever the kernels and the threads. A scheme that you name
    is used even if all permutations could be enumerated.

    Parameters
    ----------
    problem : Problem
        Two sides, the pairs of their Gram matrices, and the statistic.
    how : Resampling
        The permutations.

    Raises
    ------
    ValueError
        When there are too many permutations to enumerate, or too many pairs for random ones.
    """
    with serial_blas:
        scheme, sums = _sums(problem, how)
    statistic = problem.statistic
    if precision(problem.left.points) == "float32":
        sums = replace(sums, rounding=SINGLE)
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, scheme)


def _sums(problem: Problem, how: Resampling) -> tuple[str, Sums]:
    """Return the permutations in a word, and the sums over all of them."""
    n, everything = problem.n, AllPermutations(problem.n)
    if takes_all(float(gammaln(n + 1)), lambda: everything.count, how.n_resamples, how.scheme):
        return EXACT, permutation_sums(problem, everything, how.resources)
    if how.scheme == RANDOM or (how.scheme == "auto" and n <= _GATHERED):
        if n > DENSE_LIMIT:
            raise ValueError(
                f"scheme {how.scheme!r} does not fit: it holds n × n matrices, for at most {DENSE_LIMIT} rows; use "
                "scheme='auto'"
            )
        drawn = RandomPermutations(n, how.n_resamples + 1, how.rng)
        return RANDOM, permutation_sums(problem, drawn, how.resources)
    return ROTATIONS, _rotated(problem, how)


def _rotated(problem: Problem, how: Resampling) -> Sums:
    """Draw the group and its cosets, and add up factors, or tiles where a rank is too high for these."""
    rotations = Rotations.draw(problem.n, how.n_resamples + 1, how.rng)
    problem = problem.shuffled(rotations.shuffle)
    rank = 0 if problem.left.on_device else paying_rank(problem.shape(how.n_resamples))
    factored, low, others = split(problem, rank) if rank else (None, [], list(range(len(problem.pairs))))
    if factored is not None and problem.left.explicit and problem.right.explicit:
        kept = by_factors(factored, rotations)
        factored, low = factored.only(kept) if kept else None, [low[pair] for pair in kept]
        others = [pair for pair in range(len(problem.pairs)) if pair not in low]
    parts = [] if factored is None else [factor_sums(factored, rotations)]
    if others:
        parts.append(tile_sums(problem.restricted(others), rotations, how.resources))
    return Sums.placed(parts, [low, others])


@final
@dataclass(frozen=True)
class CustomStatistic:
    """A function of permutations as a test statistic, and what its evaluation needs.

    Parameters
    ----------
    function : callable
        From permutations π of shape (b, n) to values of shape (m, b); ``labels[π]`` are the labels of two samples.
    name : str
        The name of the values.
    batch : int
        How many permutations ``function`` gets at once.
    magnitude : float
        The magnitude of those numbers, if it is the same for all permutations and known beforehand.
    """

    function: Callable[[IntArray], Array]
    name: str
    batch: int = 256
    magnitude: float = 0.0

    def null(self, sizes: tuple[int, ...], how: Resampling) -> Null:
        """Return the values under the permutations of samples (n, m) or of pairs (n,), the observed one first.

        Raises
        ------
        ValueError
            When the scheme is not "auto", "exact" or "random", or there are more than two million permutations to
            enumerate.

        Examples
        --------
        >>> from kernelmean.inference import Resampling
        >>> x = np.array([0.0, 1.0, 5.0, 7.0])
        >>> statistic = CustomStatistic(lambda p: x[p][:, 2:].sum(1)[None], "sum of the second sample")
        >>> float(statistic.null((2, 2), Resampling.of(n_resamples=99)).pvalues[0] * 6)
        1.0
        """
        listed = permutations_of(sizes, how)
        with serial_blas:
            parts = list(in_order(self.function, listed.batches(self.batch), how.resources.n_jobs))
        values = np.concatenate([np.atleast_2d(part) for part in parts], axis=1)
        largest = np.maximum(np.abs(values).max(axis=1), self.magnitude)
        return Null(values, ties(values, largest), self.name, listed.scheme)


def permutations_of(sizes: tuple[int, ...], how: Resampling) -> Permutations:
    """Return the permutations of samples (n, m) or pairs (n,) for a statistic that does not sum over a matrix."""
    n = sum(sizes)
    everything = AllLabelings(*sizes) if len(sizes) == 2 else AllPermutations(n)
    logarithm = gammaln(n + 1) - (sum(gammaln(size + 1) for size in sizes) if len(sizes) == 2 else 0.0)
    if takes_all(logarithm, lambda: everything.count, how.n_resamples, how.scheme):
        return everything
    return RandomPermutations(n, how.n_resamples + 1, how.rng)
