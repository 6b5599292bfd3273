"""Statistics that are no quadratic form: any function of a batch of relabelings, over the same lists and p-values.

Weights that are fitted anew under every relabeling belong here: ``statistic`` sees permutations, takes the labels or
the pairs from them, and returns one row per variant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.array import Array, IntArray, RngLike, as_rng
from ..plan.tiles import serial_blas
from .engine import check_memory, check_n_resamples, check_resources
from .null import Null
from .permutations import AllLabelings, AllPermutations, RandomPermutations, Relabelings
from .schemes import SCHEMES, count_all
from .schemes.base import in_order
from .sizes import MIB, Shape
from .statistics import ROUNDING, ties

_AT_LEAST = 2.0 * MIB  # a thread: what does not grow with the rows
REFITTING = ("auto", "exact", "random")
"""The schemes of statistics that are evaluated one relabeling at a time."""


def null_with_options(
    statistic: Callable[[IntArray], Array], sizes: tuple[int, ...], name: str, options: dict[str, Any], **how: Any
) -> Null:
    """Return :func:`custom_null` over the :func:`relabelings` that a test's options ask for.

    ``options`` holds ``scheme``, ``n_resamples``, ``rng``, ``n_jobs`` and ``memory``; ``how`` is passed on.
    """
    listed = relabelings(sizes, options["n_resamples"], options["rng"], scheme=options["scheme"])
    return custom_null(statistic, listed, name, n_jobs=options["n_jobs"], memory=options["memory"], **how)


def for_sums(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a test for an equal statistic that is a function of sums: "random" is no scheme of these.

    On constant data all estimators are alike, and so are all relabelings.
    """
    return {**options, "scheme": "auto"} if options["scheme"] == "random" else options


def relabelings(sizes: tuple[int, ...], n_resamples: int, rng: RngLike = None, *, scheme: str = "auto") -> Relabelings:
    """Return the list of relabelings of samples (n, m) or pairs (n,) that are looked at.

    Parameters
    ----------
    sizes : (n, m) or (n,)
    n_resamples : int
        How many besides the observed one.
    rng : int, Generator, or None
    scheme : {"auto", "exact", "random"}
        All of them, random ones, or all if they are at most n_resamples + 1.

    Raises
    ------
    ValueError
        When the scheme is another one, or all relabelings would be more than two million.
    """
    if scheme not in REFITTING:
        raise ValueError(
            f"scheme is {scheme!r}, which sums over a Gram matrix; a statistic that is fitted anew under every "
            f"relabeling takes one of {', '.join(map(repr, REFITTING))}"
        )
    count = check_n_resamples(n_resamples) + 1
    n, first = sum(sizes), sizes[0] if len(sizes) == 2 else None
    shape = Shape(n, 0, n_resamples, first)
    if scheme == "random" or (scheme == "auto" and count_all(shape, count) > count):
        return RandomPermutations(n, count, as_rng(rng))
    obstacle = SCHEMES["exact"].obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {scheme!r} does not fit: {obstacle}")
    return AllPermutations(n) if first is None else AllLabelings(first, n - first)


def custom_null(
    statistic: Callable[[IntArray], Array],
    listed: Relabelings,
    name: str,
    *,
    batch: int = 256,
    n_jobs: int | None = None,
    memory: float | None = None,
    needed: tuple[float, float] = (0.0, 0.0),
    magnitude: float = 0.0,
    sized: bool = False,
    precision: tuple[float, float] = ROUNDING,
) -> Null:
    """Return the values of ``statistic`` over a list of relabelings.

    Parameters
    ----------
    statistic : callable
        From permutations π of shape (b, n) to values of shape (m, b); ``labels[π]`` are the labels of two samples.
        When ``sized``, the last row is the size of the numbers whose differences the others are.
    listed : Relabelings
        As :func:`relabelings` returns them; the observed one is first.
    name : str
        What the values are.
    batch : int
        How many permutations ``statistic`` gets at once.
    n_jobs : int, optional
        Threads; None is one, -1 all cores. No value depends on them.
    memory : float, optional
        The limit in bytes, 1 GiB by default.
    needed : (float, float)
        The bytes that ``statistic`` takes at all times, and for every permutation of a batch.
    magnitude : float
        That size, where it is the same for all relabelings and known beforehand.
    precision : (float, float)
        Shares of the range and of the magnitude below which values are tied.

    Raises
    ------
    MemoryError
        When more than ``memory`` is needed.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0, 7.0])
    >>> null = custom_null(lambda p: x[p][:, 2:].sum(1)[None], relabelings((2, 2), 99), "sum of the second sample")
    >>> float(null.pvalues[0] * 6)
    1.0
    """
    resources = check_resources(n_jobs, memory)
    total = needed[0] + resources.n_jobs * (_AT_LEAST + batch * (needed[1] + 8.0 * listed.n))
    check_memory(total, resources, name, listed.n)
    with serial_blas:
        parts = list(in_order(statistic, listed.batches(batch), resources.n_jobs))
    values = np.concatenate([np.atleast_2d(part) for part in parts], axis=1)
    if sized:
        values, magnitude = values[:-1], float(values[-1].max())
    scheme = "random" if isinstance(listed, RandomPermutations) else "exact"
    largest = np.maximum(np.abs(values).max(axis=1), magnitude)
    return Null(values, ties(values, largest, precision), name, scheme, total)
