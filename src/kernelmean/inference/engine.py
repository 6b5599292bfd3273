"""Which scheme serves a test of independence, and the permutation distribution that results.

The rule of ``scheme="auto"``, by sizes alone, so that neither units nor installed extras change an answer:

1. All permutations are enumerated when there are at most n_resamples + 1.
2. At most 32 pairs take random permutations: the textbook test, within milliseconds.
3. Otherwise rotations of shuffled blocks, evaluated on low-rank factors if a pivoted Cholesky finds a
   rank at which they cost less, otherwise on tiles. Both give the same p-value: they sum over the same permutations.

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
from .null import Null
from .permutations import AllLabelings, AllPermutations, Permutations, RandomPermutations, check_scheme, takes_all
from .problem import Problem
from .resampling_options import Resampling, Shape
from .schemes import SCHEMES, Scheme
from .schemes.base import in_order
from .statistics import SINGLE, ties

_GATHER_PAIRS = 32


def choose(shape: Shape, name: str) -> Scheme:
    """Return the scheme of that name, or the one that the rule picks; raise when it cannot serve the call."""
    if name not in SCHEMES:
        check_scheme(name)
    scheme = SCHEMES[automatic(shape) if name == "auto" else name]
    obstacle = scheme.obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {name!r} does not fit: {obstacle}")
    return scheme


def automatic(shape: Shape) -> str:
    """Return the name that the rule in this module's docstring picks."""
    if shape.count_all(shape.n_resamples + 1) <= shape.n_resamples + 1:
        return "exact"
    return "random" if shape.n <= _GATHER_PAIRS else "rotations"


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
        When the scheme does not fit.
    """
    shape = problem.shape(how.n_resamples)
    chosen = choose(shape, how.scheme)
    with serial_blas:
        sums = chosen.sums(problem, shape.n_resamples, how.rng, how.resources)
    statistic = problem.statistic
    if precision(problem.left.points) == "float32":
        sums = replace(sums, rounding=SINGLE)
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, chosen.name)


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
