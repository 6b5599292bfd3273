"""Which scheme serves a call, and the permutation distribution that results.

The rule of ``scheme="auto"``, by sizes alone, so that neither units nor installed extras change an answer:

1. All permutations are enumerated when there are at most n_resamples + 1.
2. Two samples of at most 100 rows together take random labelings ("gemm"), at most 32 pairs random permutations
   ("gather"): the textbook test, within milliseconds.
3. Otherwise "cyclic": rotations of shuffled blocks, evaluated on low-rank factors if a pivoted Cholesky finds a
   rank at which they cost less, otherwise on tiles. Both give the same p-value: they sum over the same permutations.
4. Two samples of more than 8000 rows together: "cyclic-low-rank" if a factor is found whose rank is small for that
   many rows, otherwise "blocks", one pass over the Gram matrix.

Arrays of other libraries take tiles, never factors: a device makes them faster than it finds pivots.

A ``CustomStatistic`` need not be a quadratic form: it is any function of a batch of permutations, with the same lists
and p-values. Use it for weights that are refitted under every permutation: it gets permutations, takes the labels or
the pairs from them, and returns one row per variant.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core.array import Array, IntArray, precision
from ..plan.plan import serial_blas
from .low_rank_problem import LowRankError
from .null import Null
from .permutations import AllLabelings, AllPermutations, Permutations, RandomPermutations, check_scheme
from .problem import Problem
from .resampling_options import Resampling, Shape
from .schemes import SCHEMES, Scheme
from .schemes.base import in_order
from .statistics import SINGLE, ties

_GEMM_ROWS = 100
_GATHER_PAIRS = 32
_BLOCKS_ROWS = 8000
_FIRST_TRIED = SCHEMES["cyclic-low-rank"]


def choose(shape: Shape, name: str) -> Scheme:
    """Return the scheme of that name, or the one that the rule picks; raise when it cannot serve the call."""
    rule = {"auto": automatic, "random": at_random}.get(name)
    if rule is None and name not in SCHEMES:
        check_scheme(name)
    scheme = SCHEMES[name if rule is None else rule(shape)]
    obstacle = scheme.obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {name!r} does not fit: {obstacle}")
    return scheme


def automatic(shape: Shape) -> str:
    """Return the name that the rule in this module's docstring picks."""
    if shape.count_all(shape.n_resamples + 1) <= shape.n_resamples + 1:
        return "exact"
    if shape.n <= (_GATHER_PAIRS if shape.first is None else _GEMM_ROWS):
        return "gather" if shape.first is None else "gemm"
    return "blocks" if shape.n > _BLOCKS_ROWS and SCHEMES["blocks"].obstacle(shape) is None else "cyclic"


def at_random(shape: Shape) -> str:
    """Return the name of the scheme that draws every permutation independently of the others."""
    return "gather" if shape.first is None else "gemm"


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
        When the scheme does not fit, or (``LowRankError``) a factor does not.
    """
    shape, generator = problem.shape(how.n_resamples), how.rng
    chosen = choose(shape, how.scheme)
    with serial_blas:
        if how.scheme == "auto" and chosen.name == "blocks" and not problem.left.on_device:
            before = generator.bit_generator.state
            with suppress(LowRankError):
                return _null(_FIRST_TRIED, problem, shape, how)
            generator.bit_generator.state = before  # as if nothing had been tried
        return _null(chosen, problem, shape, how)


def _null(scheme: Scheme, problem: Problem, shape: Shape, how: Resampling) -> Null:
    statistic = problem.statistic
    sums = scheme.sums(problem, shape.n_resamples, how.rng, how.resources)
    if precision(problem.left.points) == "float32":
        sums = replace(sums, rounding=SINGLE)
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, scheme.name)


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
    check_scheme(how.scheme)
    count = how.n_resamples + 1
    n, first = sum(sizes), sizes[0] if len(sizes) == 2 else None
    shape = Shape(n, how.n_resamples, first)
    if how.scheme == "random" or (how.scheme == "auto" and shape.count_all(count) > count):
        return RandomPermutations(n, count, how.rng)
    obstacle = SCHEMES["exact"].obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {how.scheme!r} does not fit: {obstacle}")
    return AllPermutations(n) if first is None else AllLabelings(first, n - first)
