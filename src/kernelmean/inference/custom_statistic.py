"""Statistics that are no quadratic form: any function of a batch of permutations, over the same lists and p-values.

Weights that are fitted anew under every permutation belong here: ``statistic`` sees permutations, takes the labels or
the pairs from them, and returns one row per variant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array, IntArray
from ..plan.plan import serial_blas
from .engine import check_memory
from .null import Null
from .permutations import WITHOUT_GRAM, AllLabelings, AllPermutations, Permutations, RandomPermutations
from .resampling_options import MIB, Resampling, Shape
from .schemes import SCHEMES
from .schemes.base import in_order
from .statistics import ROUNDING, ties

_AT_LEAST = 2.0 * MIB  # a thread: what does not grow with the rows


@final
@dataclass(frozen=True)
class CustomStatistic:
    """A function of permutations, and what evaluating it takes.

    Parameters
    ----------
    function : callable
        From permutations π of shape (b, n) to values of shape (m, b); ``labels[π]`` are the labels of two samples.
        When ``sized``, the last row is the size of the numbers whose differences the others are.
    name : str
        What the values are.
    batch : int
        How many permutations ``function`` gets at once.
    needed : (float, float)
        The bytes that ``function`` takes at all times, and for every permutation of a batch.
    magnitude : float
        The size of those numbers, where it is the same for all permutations and known beforehand.
    sized : bool
        Whether ``function`` returns that size.
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
            When the scheme is none of "auto", "exact" and "random", or all permutations are more than two million.
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
    """Return the permutations of samples (n, m) or pairs (n,) for a statistic that sums over no matrix."""
    if how.scheme not in WITHOUT_GRAM:
        raise ValueError(
            f"scheme is {how.scheme!r}, which sums over a Gram matrix; a statistic that is fitted anew under every "
            f"permutation takes one of {', '.join(map(repr, WITHOUT_GRAM))}"
        )
    count = how.n_resamples + 1
    n, first = sum(sizes), sizes[0] if len(sizes) == 2 else None
    shape = Shape(n, 0, how.n_resamples, first)
    if how.scheme == "random" or (how.scheme == "auto" and shape.count_all(count) > count):
        return RandomPermutations(n, count, how.rng)
    obstacle = SCHEMES["exact"].obstacle(shape)
    if obstacle:
        raise ValueError(f"scheme {how.scheme!r} does not fit: {obstacle}")
    return AllPermutations(n) if first is None else AllLabelings(first, n - first)
