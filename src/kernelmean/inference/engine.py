"""Which scheme serves a call, how much memory it needs, and the permutation distribution that results.

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
from ..core.validate import check_integer
from ..core.words import written
from ..plan.plan import Plan, serial_blas
from .low_rank_problem import LowRankError
from .null import Null
from .permutations import AllLabelings, AllPermutations, Permutations, RandomPermutations, check_scheme
from .problem import Problem
from .resampling_options import MIB, Resampling, Resources, Shape, check_n_resamples, resources_of
from .schemes import SCHEMES, Scheme
from .schemes.base import in_order
from .statistics import ROUNDING, SINGLE, ties

_UNITS = (MIB, "MiB"), (1024, "KiB"), (1, "bytes")
_GEMM_ROWS = 100
_GATHER_PAIRS = 32
_BLOCKS_ROWS = 8000
_HALVINGS = 64  # of what is still lacking, where a share of the memory is for factors
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
    MemoryError
        When the scheme needs more than the plan allows.
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
    needed, statistic = scheme.memory(shape, how.resources), problem.statistic
    check_memory(needed, how.resources, f"scheme {scheme.name!r}", shape.n)
    sums = scheme.sums(problem, shape.n_resamples, how.rng, how.resources)
    if precision(problem.left.points) == "float32":
        sums = replace(sums, rounding=SINGLE)
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, scheme.name, needed)


def check_memory(
    needed: float, resources: Resources, what: str, n: int, at: Callable[[Resources], float] | None = None
) -> None:
    """Raise when something may need more bytes than are available; ``at`` gives those of others, if more take more."""
    if needed > resources.memory:
        enough = needed
        for _ in range(_HALVINGS):
            enough = needed if at is None else at(replace(resources, memory=enough))
        instead = written(
            f"pass plan=Plan(memory={int(np.ceil(enough))}), or fewer threads or kernels",
            f"add --memory {np.ceil(100 * enough / 2**30) / 100:g} (GiB), or --max-rows N with a smaller N",
        )
        raise MemoryError(
            f"{what} may need {in_units(needed, np.ceil)} for {n} rows, the limit is "
            f"{in_units(resources.memory, np.floor)}; {instead}"
        )


def in_units(amount: float, rounded: Callable[[float], float]) -> str:
    """Return bytes in MiB, KiB or bytes, the largest of these that is not more than the amount."""
    unit, name = next((unit, name) for unit, name in _UNITS if amount >= unit or unit == 1)
    return f"{rounded(amount / unit):.0f} {name}"


def memory_estimate(
    sizes: tuple[int, ...],
    dim: int,
    *,
    n_resamples: int = 999,
    kernels: tuple[int, int] = (1, 1),
    scheme: str = "auto",
    plan: Plan | None = None,
) -> tuple[str, float]:
    """Return the scheme that a call will use, and the bytes it will need at most, without running it.

    If the rule first tries low-rank factors, whose rank depends on the data, the bytes are those of the highest rank
    within the limit.

    Parameters
    ----------
    sizes : (n, m) or (n,)
        The rows of two samples, or the number of pairs.
    dim : int
        The number of columns; for independence of X and Y together.
    n_resamples, kernels, scheme, plan
        As in the tests; ``kernels`` has the numbers of kernels on the left and on the right.

    Raises
    ------
    ValueError
        When a number of rows, columns, kernels or permutations is not a positive integer, ``sizes`` has neither one
        entry nor two, or the scheme does not fit.

    Examples
    --------
    >>> name, needed = memory_estimate((3000,), 4)
    >>> name, needed < 2**30
    ('cyclic', True)
    """
    if not isinstance(sizes, tuple | list) or len(sizes) not in (1, 2):
        raise ValueError(f"sizes is {sizes!r}; pass (n, m) for two samples, (n,) for n pairs")
    if not isinstance(kernels, tuple | list) or len(kernels) != 2:
        raise ValueError(f"kernels is {kernels!r}; pass how many are on the left and on the right, such as (1, 1)")
    rows = [check_integer(size, "an entry of sizes", 3 - len(sizes)) for size in sizes]
    left, right = (check_integer(many, "an entry of kernels", 1) for many in kernels)
    first = rows[0] if len(rows) == 2 else None
    shape = Shape(sum(rows), check_integer(dim, "dim", 1), check_n_resamples(n_resamples), first, (left, right))
    resources = resources_of(plan)
    chosen = choose(shape, scheme)
    tried = [chosen, _FIRST_TRIED] if scheme == "auto" and chosen.name == "blocks" else [chosen]
    return chosen.name, max(each.memory(shape, resources) for each in tried)


_AT_LEAST = 2.0 * MIB  # a thread: what does not grow with the rows


@final
@dataclass(frozen=True)
class CustomStatistic:
    """A function of permutations as a test statistic, and what its evaluation needs.

    Parameters
    ----------
    function : callable
        From permutations π of shape (b, n) to values of shape (m, b); ``labels[π]`` are the labels of two samples.
        If ``sized``, the last row is the magnitude of the numbers whose differences are in the other rows.
    name : str
        The name of the values.
    batch : int
        How many permutations ``function`` gets at once.
    needed : (float, float)
        The bytes that ``function`` needs at all times, and for every permutation of a batch.
    magnitude : float
        The magnitude of those numbers, if it is the same for all permutations and known beforehand.
    sized : bool
        Whether ``function`` returns that magnitude.
    precision : (float, float)
        Shares of the range and of the magnitude below which values are tied.
    """

    function: Callable[[IntArray], Array]
    name: str
    batch: int = 256
    needed: tuple[float, float] = (0.0, 0.0)
    magnitude: float = 0.0
    sized: bool = False
    precision: tuple[float, float] = ROUNDING

    def null(self, sizes: tuple[int, ...], how: Resampling) -> Null:
        """Return the values under the permutations of samples (n, m) or of pairs (n,), the observed one first.

        Raises
        ------
        ValueError
            When the scheme is not "auto", "exact" or "random", or there are more than two million permutations to
            enumerate.
        MemoryError
            When more memory is needed than the plan allows.

        Examples
        --------
        >>> from kernelmean.inference import Resampling
        >>> x = np.array([0.0, 1.0, 5.0, 7.0])
        >>> statistic = CustomStatistic(lambda p: x[p][:, 2:].sum(1)[None], "sum of the second sample")
        >>> float(statistic.null((2, 2), Resampling.of(n_resamples=99)).pvalues[0] * 6)
        1.0
        """
        listed, resources = permutations_of(sizes, how), how.resources
        total = self.needed[0] + resources.n_jobs * (_AT_LEAST + self.batch * (self.needed[1] + 8.0 * listed.n))
        check_memory(total, resources, self.name, listed.n)
        with serial_blas:
            parts = list(in_order(self.function, listed.batches(self.batch), resources.n_jobs))
        values, magnitude = np.concatenate([np.atleast_2d(part) for part in parts], axis=1), self.magnitude
        if self.sized:
            values, magnitude = values[:-1], float(values[-1].max())
        largest = np.maximum(np.abs(values).max(axis=1), magnitude)
        return Null(values, ties(values, largest, self.precision), self.name, listed.scheme, total)


def permutations_of(sizes: tuple[int, ...], how: Resampling) -> Permutations:
    """Return the permutations of samples (n, m) or pairs (n,) for a statistic that does not sum over a matrix."""
    check_scheme(how.scheme)
    count = how.n_resamples + 1
    n, first = sum(sizes), sizes[0] if len(sizes) == 2 else None
    shape = Shape(n, 0, how.n_resamples, first)
    if how.scheme == "random" or (how.scheme == "auto" and shape.count_all(count) > count):
        return RandomPermutations(n, count, how.rng)
    obstacle = SCHEMES["exact"].obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {how.scheme!r} does not fit: {obstacle}")
    return AllPermutations(n) if first is None else AllLabelings(first, n - first)
