"""Several samples: all rows change places, and the distances between all of their kernel means are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, final

import numpy as np

from ...core.array import Array, IntArray
from ...kernels import Kernel
from ...plan.tiles import serial_blas
from ..adaptive.combination import standardized
from ..adaptive.many_kernels import snapped
from ..engine import check_memory
from ..multiple import max_t
from ..null import Null
from ..problem import KernelSide
from ..resampling_options import Resampling
from ..result import PairOutcome
from ..statistics import StatisticForm, check_kind, named, ties
from .design import only
from .quadratic_forms import Forms, forms_bytes, gram_forms
from .restricted import within_cells


@final
@dataclass(frozen=True)
class ManySamples:
    """Several samples of these numbers of rows."""

    sizes: tuple[int, ...]

    plain_only: ClassVar[str | None] = "several samples"
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        return f"Permutation test of {len(self.sizes)} samples, maximum mean discrepancies", ""

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return the mean MMD² of all pairs of samples of the one kernel, and what every pair says."""
        check_kind(statistic)
        sizes, (pooled,), resources = self.sizes, tables, how.resources
        if statistic == "u" and min(sizes) < 2:
            raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
        labels = np.repeat(np.arange(len(sizes)), sizes)
        listed = within_cells(np.zeros_like(labels), how.n_resamples, how.rng, labels, how.scheme)
        needed = forms_bytes(len(pooled), pooled.shape[1], listed.count, 1, resources)
        check_memory(needed, resources, "the test", len(pooled))
        with serial_blas:
            between = _Between(gram_forms(KernelSide(pooled, (only(kernels),)), resources), sizes, statistic)
            values = np.concatenate([between(labels[batch.T]) for batch in listed.batches(between.batch)], axis=1)
        slack = ties(values, between.magnitude)
        name = named("mean MMD² of all pairs", statistic)
        total, tied = (between.shares @ values)[None], np.array([between.shares @ slack])
        return Null(total, tied, name, listed.scheme, needed, _outcomes(values, slack, between.pairs))


@final
class _Between:
    """MMD² of all pairs of samples as a function of the labels of the rows."""

    def __init__(self, forms: Forms, sizes: tuple[int, ...], kind: StatisticForm) -> None:
        self.forms, self.sizes, self.kind = forms, np.array(sizes, dtype=np.float64), kind
        self.pairs = list(combinations(range(len(sizes)), 2))
        products = np.array([sizes[g] * sizes[h] for g, h in self.pairs], dtype=np.float64)
        self.shares: Array = products / products.sum()
        n = forms.n
        means = forms.times(np.full((n, 1), 1 / n))[0, :, 0]
        self.diagonal = forms.diagonal[0] - 2 * means + means.mean()

    @property
    def batch(self) -> int:
        """Return how many permutations to pass at once."""
        return max(1, self.forms.batch // len(self.pairs))

    @property
    def magnitude(self) -> Array:
        """Return a size that rounding errors are relative to, shape (pairs,)."""
        inverse = 1 / self.sizes
        return np.array([(inverse[g] + inverse[h]) for g, h in self.pairs]) * np.abs(self.diagonal).sum()

    def __call__(self, labels: IntArray) -> Array:
        """Return the statistics, shape (pairs, b), of labels (n, b)."""
        means = [(labels == g) / size for g, size in enumerate(self.sizes)]
        vectors = np.concatenate([means[g] - means[h] for g, h in self.pairs], axis=1)
        values = self.forms.forms(vectors).reshape(len(self.pairs), -1)
        if self.kind == "v":
            return values
        excess = self._excess(values, means)
        return values + np.stack([excess[g] + excess[h] for g, h in self.pairs])

    def _excess(self, values: Array, means: list[Array]) -> Array:
        """Return of every sample its mean over all pairs of other rows less that over all pairs, shape (k, b).

        The distances of the kernel means from their common mean follow from those between them.
        """
        weights = self.sizes / self.sizes.sum()
        distances = np.zeros((len(weights), len(weights), values.shape[1]))
        for (g, h), value in zip(self.pairs, values, strict=True):
            distances[g, h] = distances[h, g] = value
        toward = np.einsum("h,ghb->gb", weights, distances)
        norms = toward - weights @ toward / 2
        own = np.stack([self.diagonal @ mean for mean in means])
        return np.asarray((norms - own) / (self.sizes - 1)[:, None])


def _outcomes(values: Array, slack: Array, pairs: list[tuple[int, int]]) -> tuple[PairOutcome, ...]:
    """Return what every pair says, adjusted by the largest standardized statistic."""
    rows = np.stack([snapped(row, tolerance) for row, tolerance in zip(values, slack.tolist(), strict=True)])
    own = (rows >= rows[:, :1]).mean(axis=1)
    adjusted = max_t(standardized(rows))
    numbers = zip(pairs, values[:, 0].tolist(), own.tolist(), adjusted.tolist(), strict=True)
    return tuple(PairOutcome(g, h, statistic, p, adjusted_p) for (g, h), statistic, p, adjusted_p in numbers)
