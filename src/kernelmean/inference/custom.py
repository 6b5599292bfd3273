"""Statistics that are no quadratic form: any function of a batch of relabelings, over the same lists and p-values.

Weights that are fitted anew under every relabeling belong here: ``statistic`` sees permutations, takes the labels or
the pairs from them, and returns one row per variant.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._array import Array, IntArray, RngLike, as_rng
from .null import Null
from .permutations import AllLabelings, AllPermutations, RandomPermutations, Relabelings
from .schemes import count_all
from .sizes import Shape
from .statistics import ties


def relabelings(sizes: tuple[int, ...], n_resamples: int, rng: RngLike = None) -> Relabelings:
    """Return all relabelings of samples (n, m) or pairs (n,) if they are at most n_resamples + 1, else random ones."""
    n, first = sum(sizes), sizes[0] if len(sizes) == 2 else None
    if count_all(Shape(n, 0, n_resamples, first), n_resamples + 1) > n_resamples + 1:
        return RandomPermutations(n, n_resamples + 1, as_rng(rng))
    return AllPermutations(n) if first is None else AllLabelings(first, n - first)


def custom_null(statistic: Callable[[IntArray], Array], listed: Relabelings, name: str, *, batch: int = 256) -> Null:
    """Return the values of ``statistic`` over a list of relabelings.

    Parameters
    ----------
    statistic : callable
        From permutations π of shape (b, n) to values of shape (m, b); ``labels[π]`` are the labels of two samples.
    listed : Relabelings
        As :func:`relabelings` returns them; the observed one is first.
    name : str
        What the values are.
    batch : int
        How many permutations ``statistic`` gets at once.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 5.0, 7.0])
    >>> null = custom_null(lambda p: x[p][:, 2:].sum(1)[None], relabelings((2, 2), 99), "sum of the second sample")
    >>> float(null.pvalues[0] * 6)
    1.0
    """
    values = np.concatenate([np.atleast_2d(statistic(part)) for part in listed.batches(batch)], axis=1)
    scheme = "random" if isinstance(listed, RandomPermutations) else "exact"
    return Null(values, ties(values, np.abs(values).max(axis=1)), name, scheme, 8.0 * batch * listed.n)
