"""Which scheme serves a call, what memory it needs, and the permutation distribution that comes out.

The rule of ``scheme="auto"``, by sizes alone, so that neither units nor installed extras change an answer:

1. All relabelings are enumerated when there are at most n_resamples + 1.
2. Two samples of at most 100 rows together take random labelings ("gemm"), at most 32 pairs random permutations
   ("gather"): the textbook test, within milliseconds.
3. Otherwise "cyclic": rotations of shuffled blocks, evaluated on low-rank factors where a pivoted Cholesky finds a
   rank at which that costs less, else on tiles. Both give the same p-value: they sum over the same relabelings.
4. Two samples of more than 8000 rows together: "blocks", one pass over the Gram matrix, or "cyclic-low-rank" where
   factors are found that fit the memory limit and cost less.

Arrays of other libraries take tiles, never factors: a device makes them faster than it finds pivots.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, final

import numpy as np
from joblib import cpu_count

from ..core.array import RngLike, as_rng, precision
from ..core.validate import check_integer, check_positive
from ..plan.tiles import serial_blas
from .factored import LowRankError
from .null import Null
from .problem import Problem
from .schemes import SCHEMES, Cyclic, Scheme, count_all
from .schemes.device import check_scheme, on_device
from .schemes.tiling import TiledScheme, Tiling
from .sizes import MIB, Resources, Shape
from .statistics import SINGLE, Statistic, Sums

_UNITS = (MIB, "MiB"), (1024, "KiB"), (1, "bytes")
_GEMM_ROWS = 100
_GATHER_PAIRS = 32
_BLOCKS_ROWS = 8000
_FIRST_TRIED = Cyclic("cyclic-low-rank", tiles=False)


def choose(shape: Shape, name: str) -> Scheme:
    """Return the scheme of that name, or the one that the rule picks; raise when it cannot serve the call."""
    scheme = SCHEMES.get(automatic(shape) if name == "auto" else name)
    if scheme is None:
        raise ValueError(f"scheme is {name!r}; pass 'auto' or one of {', '.join(map(repr, SCHEMES))}")
    obstacle = scheme.obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {name!r} does not fit: {obstacle}")
    return scheme


def automatic(shape: Shape) -> str:
    """Return the name that the rule in this module's docstring picks."""
    if count_all(shape, shape.n_resamples + 1) <= shape.n_resamples + 1:
        return "exact"
    if shape.n <= (_GATHER_PAIRS if shape.first is None else _GEMM_ROWS):
        return "gather" if shape.first is None else "gemm"
    return "blocks" if shape.n > _BLOCKS_ROWS and SCHEMES["blocks"].obstacle(shape) is None else "cyclic"


def permutation_null(
    problem: Problem,
    n_resamples: int,
    *,
    scheme: str = "auto",
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null:
    """Return the statistics of all pairs of kernels under one set of relabelings.

    Parameters
    ----------
    problem : Problem
        Two sides, the pairs of their Gram matrices, and the statistic.
    n_resamples : int
        How many relabelings besides the observed one, at least; all there are when these are not more.
    scheme : str
        "auto" or a name of ``SCHEMES``; one that is named is taken even where all relabelings could be enumerated.
    rng : int, Generator, or None
        The seed; equal seeds, sizes and schemes give equal relabelings, whatever the kernels and the threads.
    n_jobs : int, optional
        Threads; None is one, -1 all cores.
    memory : float, optional
        The limit in bytes, 1 GiB by default.

    Raises
    ------
    ValueError
        When an option is bad, the scheme does not fit, or (``LowRankError``) a factor does not.
    MemoryError
        When the scheme needs more than ``memory``.
    """
    with serial_blas:
        begun = begin(problem, n_resamples, scheme=scheme, rng=rng, n_jobs=n_jobs, memory=memory)
        if isinstance(begun, Null):
            return begun
        tiling = begun.tiling
        return begun.null(tiling.sums(tiling.part(tiling.tiles(), check_resources(n_jobs, memory).n_jobs)))


@final
@dataclass(frozen=True, eq=False)
class Begun:
    """A null of which the relabelings are chosen, and tiles are left to evaluate; whoever does, the values are equal.

    Attributes
    ----------
    tiling : Tiling
    statistic : Statistic
    scheme : str
    memory : float
        The estimate in bytes.
    """

    tiling: Tiling
    statistic: Statistic
    scheme: str
    memory: float

    def null(self, sums: Sums) -> Null:
        """Return the null from the sums of the tiling."""
        return _null(sums, self.statistic, self.scheme, self.memory)


def begin(
    problem: Problem,
    n_resamples: int,
    *,
    scheme: str = "auto",
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> Null | Begun:
    """Return the null, or what is left of it where a scheme goes by tiles; parameters as :func:`permutation_null`."""
    shape, resources = problem.shape(check_n_resamples(n_resamples)), check_resources(n_jobs, memory)
    generator = as_rng(rng)
    chosen = choose(shape, scheme)
    check_scheme(chosen.name, problem.left)
    if scheme == "auto" and chosen.name == "blocks" and not on_device(problem.left):
        before = generator.bit_generator.state
        with suppress(LowRankError):
            return _begin(_FIRST_TRIED, problem, shape, generator, resources)
        generator.bit_generator.state = before  # so that scheme="blocks" gives the same p-value
    return _begin(chosen, problem, shape, generator, resources)


def _begin(
    scheme: Scheme, problem: Problem, shape: Shape, rng: np.random.Generator, resources: Resources
) -> Null | Begun:
    needed = scheme.memory(shape, resources)
    check_memory(needed, resources, f"scheme {scheme.name!r}", shape.n)
    way = scheme.begin if isinstance(scheme, TiledScheme) else scheme.sums
    found = way(problem, shape.n_resamples, rng, resources)
    if isinstance(found, Tiling):
        return Begun(found, problem.statistic, scheme.name, needed)
    if precision(problem.left.points) == "float32":
        found = replace(found, rounding=SINGLE)
    return _null(found, problem.statistic, scheme.name, needed)


def _null(sums: Sums, statistic: Statistic, scheme: str, needed: float) -> Null:
    values = statistic(sums)
    return Null(values, statistic.tolerance(values, sums), statistic.name, scheme, needed)


def check_n_resamples(n_resamples: Any, least: int = 1) -> int:
    """Return a whole number of relabelings or draws."""
    whole = isinstance(n_resamples, Integral) or (isinstance(n_resamples, float) and n_resamples.is_integer())
    if not whole or isinstance(n_resamples, bool) or n_resamples < least:
        raise ValueError(f"n_resamples is {n_resamples!r}; a whole number from {least} is needed, such as 999")
    return int(n_resamples)


def check_memory(needed: float, resources: Resources, what: str, n: int) -> None:
    """Raise when something may need more bytes than there are."""
    if needed > resources.memory:
        raise MemoryError(
            f"{what} may need {in_units(needed, np.ceil)} for {n} rows, the limit is "
            f"{in_units(resources.memory, np.floor)}; "
            f"pass memory={int(np.ceil(needed))}, or fewer threads or kernels"
        )


def in_units(amount: float, rounded: Callable[[float], float]) -> str:
    """Return bytes in MiB, KiB or bytes, the largest of these that is not more than the amount."""
    unit, name = next((unit, name) for unit, name in _UNITS if amount >= unit or unit == 1)
    return f"{rounded(amount / unit):.0f} {name}"


def check_resources(n_jobs: int | None, memory: float | None) -> Resources:
    """Return threads (None is one, a negative number counts from all cores) and bytes (None is 1 GiB)."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}; pass 1 for one thread, -1 for all cores")
    if memory is not None and not isinstance(memory, Real):
        raise ValueError(f"memory is {memory!r}; pass a number of bytes, such as memory=2**30")
    jobs = 1 if n_jobs is None else n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)
    return Resources(jobs) if memory is None else Resources(jobs, float(check_positive(memory, "memory")))


def memory_estimate(
    sizes: tuple[int, ...],
    dim: int,
    *,
    n_resamples: int = 999,
    kernels: tuple[int, int] = (1, 1),
    scheme: str = "auto",
    n_jobs: int | None = None,
    memory: float | None = None,
) -> tuple[str, float]:
    """Return the scheme that a call will use, and the bytes it will need at most, without running it.

    Where the rule first tries low-rank factors, whose rank only the data tell, the bytes are those of the highest
    rank within the limit.

    Parameters
    ----------
    sizes : (n, m) or (n,)
        The rows of two samples, or the number of pairs.
    dim : int
        Columns; for independence those of X and Y together.
    n_resamples, kernels, scheme, n_jobs, memory
        As in the tests; ``kernels`` says how many are on the left and on the right.

    Raises
    ------
    ValueError
        When a number of rows, columns, kernels or rearrangements is no positive integer, ``sizes`` has neither one
        entry nor two, or the scheme does not fit.

    Examples
    --------
    >>> name, needed = memory_estimate((3000,), 4)
    >>> name, needed < 2**30
    ('cyclic', True)
    """
    shape = _shape(sizes, dim, n_resamples, kernels)
    resources = check_resources(n_jobs, memory)
    chosen = choose(shape, scheme)
    tried = [chosen, _FIRST_TRIED] if scheme == "auto" and chosen.name == "blocks" else [chosen]
    return chosen.name, max(each.memory(shape, resources) for each in tried)


def _shape(sizes: tuple[int, ...], dim: int, n_resamples: int, kernels: tuple[int, int]) -> Shape:
    """Return the sizes of a call that passes no data, all of them checked."""
    if not isinstance(sizes, tuple | list) or len(sizes) not in (1, 2):
        raise ValueError(f"sizes is {sizes!r}; pass (n, m) for two samples, (n,) for n pairs")
    if not isinstance(kernels, tuple | list) or len(kernels) != 2:
        raise ValueError(f"kernels is {kernels!r}; pass how many are on the left and on the right, such as (1, 1)")
    rows = [check_integer(size, "an entry of sizes", 3 - len(sizes)) for size in sizes]
    left, right = (check_integer(many, "an entry of kernels", 1) for many in kernels)
    first = rows[0] if len(rows) == 2 else None
    return Shape(sum(rows), check_integer(dim, "dim", 1), check_n_resamples(n_resamples), first, (left, right))
