"""Which scheme serves a call, what memory it needs, and the permutation distribution that comes out.

The rule of ``scheme="auto"``, by sizes alone, so that neither units nor installed extras change an answer:

1. All relabelings are enumerated when there are at most n_resamples + 1.
2. Two samples of at most 400 rows together take random labelings ("gemm"), at most 32 pairs random permutations
   ("gather"): the textbook test, within milliseconds.
3. Otherwise "cyclic": rotations of shuffled blocks, evaluated on low-rank factors where a pivoted Cholesky finds a
   rank at which that costs less, else on tiles. Both give the same p-value: they sum over the same relabelings.
4. Two samples of more than 8000 rows take "blocks" instead, one pass over the Gram matrix, unless 1000 scattered rows
   show that the rank of every kernel is low.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from joblib import cpu_count

from .._array import Array, RngLike, as_rng
from .._tiles import serial_blas
from .problem import Problem
from .schemes import SCHEMES, Resources, Scheme, Shape, count_all

GIB = 2**30
_GEMM_ROWS = 400
_GATHER_PAIRS = 32
_BLOCKS_ROWS = 8000


@final
@dataclass(frozen=True)
class Null:
    """The statistics of all kernels under the same relabelings.

    Attributes
    ----------
    values : array of shape (m, P)
        One row per pair of kernels; the first column is the observed arrangement.
    tolerance : array of shape (m,)
        What counts as a tie.
    statistic_name : str
        What the values are.
    scheme : str
        Which relabelings, and how they were evaluated.
    memory : float
        The estimate in bytes that was made beforehand.
    """

    values: Array
    tolerance: Array
    statistic_name: str
    scheme: str
    memory: float

    @property
    def pvalues(self) -> Array:
        """Return #{T_π ≥ T_observed - tolerance} / P for every pair, the observed arrangement counted."""
        return np.asarray((self.values >= self.values[:, :1] - self.tolerance[:, None]).mean(axis=1))

    def outcome(self, pair: int) -> dict[str, Any]:
        """Return what a result holds of one pair of kernels, as keyword arguments of ``TestResult``."""
        return {
            "statistic": float(self.values[pair, 0]),
            "pvalue": float(self.pvalues[pair]),
            "null_distribution": self.values[pair, 1:],
            "tolerance": float(self.tolerance[pair]),
            "statistic_name": self.statistic_name,
            "scheme": self.scheme,
            "memory": self.memory,
        }


def choose(shape: Shape, name: str = "auto", memory: float = GIB, n_jobs: int = 1) -> Scheme:
    """Return the scheme of that name, or the one that the rule picks; raise when it cannot serve the call."""
    scheme = SCHEMES.get(_automatic(shape) if name == "auto" else name)
    if scheme is None:
        raise ValueError(f"scheme is {name!r}; pass 'auto' or one of {', '.join(map(repr, SCHEMES))}")
    obstacle = scheme.obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {name!r} does not fit: {obstacle}")
    needed = scheme.memory(shape, n_jobs)
    if needed > memory:
        raise MemoryError(
            f"scheme {scheme.name!r} needs about {needed / 2**20:.0f} MiB for {shape.n} rows, the limit is "
            f"{memory / 2**20:.0f} MiB; pass memory={int(np.ceil(needed))}, or fewer threads, kernels or resamples"
        )
    return scheme


def _automatic(shape: Shape) -> str:
    """Return the name that the rule in this module's docstring picks."""
    if count_all(shape) <= shape.n_resamples + 1:
        return "exact"
    if shape.n <= (_GATHER_PAIRS if shape.first is None else _GEMM_ROWS):
        return "gather" if shape.first is None else "gemm"
    return "cyclic"


def _is_large(shape: Shape) -> bool:
    return shape.n > _BLOCKS_ROWS and SCHEMES["blocks"].obstacle(shape) is None


def permutation_null(
    problem: Problem,
    shape: Shape,
    *,
    scheme: str = "auto",
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null:
    """Return the statistics of all pairs of kernels under one set of relabelings."""
    if shape.n_resamples < 1 or shape.n_resamples != int(shape.n_resamples):
        raise ValueError(f"n_resamples is {shape.n_resamples!r}; a whole number from 1 is needed, such as 999")
    limit, jobs = GIB if memory is None else memory, count_jobs(n_jobs)
    chosen = choose(shape, scheme, limit, jobs)
    with serial_blas:
        if scheme == "auto" and chosen.name == "cyclic" and _is_large(shape) and not problem.left.is_low_rank():
            chosen = choose(shape, "blocks", limit, jobs)
        sums = chosen.sums(problem, Resources(shape.n_resamples, as_rng(rng), jobs, limit))
    values = problem.statistic(sums)
    tolerance = problem.statistic.tolerance(values, sums)
    return Null(values, tolerance, problem.statistic.name, chosen.name, chosen.memory(shape, jobs))


def count_jobs(n_jobs: int | None) -> int:
    """Return the number of threads: None is one, a negative number counts from all cores."""
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; pass 1 for one thread, -1 for all cores")
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return max(1, cpu_count() + 1 + n_jobs)


def memory_estimate(
    sizes: tuple[int, ...],
    dim: int,
    *,
    n_resamples: int = 999,
    kernels: tuple[int, int] = (1, 1),
    scheme: str = "auto",
    n_jobs: int | None = None,
) -> tuple[str, float]:
    """Return the scheme that a call will use, and the bytes it will need, without running it.

    Parameters
    ----------
    sizes : (n, m) or (n,)
        The rows of two samples, or the number of pairs.
    dim : int
        Columns; for independence those of X and Y together.
    n_resamples, kernels, scheme, n_jobs
        As in the tests; ``kernels`` says how many are on the left and on the right.

    Examples
    --------
    >>> name, needed = memory_estimate((100_000, 100_000), 20)
    >>> name, needed < 2**30
    ('cyclic', True)
    """
    first = sizes[0] if len(sizes) == 2 else None
    shape = Shape(sum(sizes), dim, n_resamples, first, kernels)
    jobs = count_jobs(n_jobs)
    chosen = choose(shape, scheme, float("inf"), jobs)
    return chosen.name, chosen.memory(shape, jobs)
