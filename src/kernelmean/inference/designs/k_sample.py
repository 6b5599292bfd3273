"""Several samples: all rows change places, and the distances between all kernel means are evaluated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, final

import numpy as np

from ...core.array import Array, IntArray
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..null import Null
from ..permutations import within_cells
from ..problem import KernelSide
from ..resampling_options import Resampling
from ..statistics import StatisticForm, check_kind, named, ties
from .quadratic_forms import Forms, gram_forms


@final
@dataclass(frozen=True)
class ManySamples:
    """Several samples of given sizes."""

    sizes: tuple[int, ...]

    plain_only: ClassVar[str | None] = "several samples"
    notes: ClassVar[tuple[str, ...]] = ()

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        what = f"test of {len(self.sizes)} samples, maximum mean discrepancies"
        return f"Permutation {what}", f"Adaptive permutation {what}"

    def null(
        self, tables: tuple[Array, ...], kernels: Sequence[Kernel], statistic: StatisticForm, how: Resampling
    ) -> Null:
        """Return the mean MMD² over all pairs of samples for every kernel, and the MMD² of the pairs."""
        check_kind(statistic)
        sizes, (pooled,), resources = self.sizes, tables, how.resources
        if statistic == "u" and min(sizes) < 2:
            raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
        labels = np.repeat(np.arange(len(sizes)), sizes)
        listed = within_cells(np.zeros_like(labels), how.n_resamples, how.rng, labels, how.scheme)
        side = KernelSide(pooled, tuple(kernels))
        with serial_blas:
            between = _Between(gram_forms(side, resources), sizes, statistic)
            values = np.concatenate([between(labels[batch.T]) for batch in listed.batches(between.batch)], axis=-1)
        slack = ties(values, between.magnitude)
        scheme, name = listed.scheme, named("MMD²", statistic)
        parts = {
            pair: Null(values[:, place], slack[:, place], name, scheme) for place, pair in enumerate(between.pairs)
        }
        mean = np.einsum("p,mpb->mb", between.shares, values)
        name = named("mean MMD² of all pairs", statistic)
        return Null(mean, slack @ between.shares, name, scheme, parts)


@final
class _Between:
    """MMD² of all pairs of samples, of m kernels, as a function of the labels of the rows."""

    def __init__(self, forms: Forms, sizes: tuple[int, ...], kind: StatisticForm) -> None:
        self.forms, self.sizes, self.kind = forms, np.array(sizes, dtype=np.float64), kind
        self.pairs = list(combinations(range(len(sizes)), 2))
        products = np.array([sizes[g] * sizes[h] for g, h in self.pairs], dtype=np.float64)
        self.shares: Array = products / products.sum()
        n = forms.n
        means = forms.times(np.full((n, 1), 1 / n))[:, :, 0]
        self.diagonal = forms.diagonal - 2 * means + means.mean(axis=1, keepdims=True)

    @property
    def batch(self) -> int:
        """Return how many permutations to pass at once."""
        return max(1, self.forms.batch // len(self.pairs))

    @property
    def magnitude(self) -> Array:
        """Return the magnitude for rounding errors, shape (m, pairs)."""
        inverse = 1 / self.sizes
        sizes = np.array([(inverse[g] + inverse[h]) for g, h in self.pairs])
        return np.asarray(np.abs(self.diagonal).sum(axis=1)[:, None] * sizes)

    def __call__(self, labels: IntArray) -> Array:
        """Return the statistics, shape (m, pairs, b), of labels (n, b)."""
        means = [(labels == g) / size for g, size in enumerate(self.sizes)]
        vectors = np.concatenate([means[g] - means[h] for g, h in self.pairs], axis=1)
        values = self.forms.forms(vectors).reshape(-1, len(self.pairs), labels.shape[1])
        if self.kind == "v":
            return values
        excess = self._excess(values, means)
        return values + np.stack([excess[:, g] + excess[:, h] for g, h in self.pairs], axis=1)

    def _excess(self, values: Array, means: list[Array]) -> Array:
        """Return for every sample its mean over pairs of different rows minus that over all pairs, shape (m, k, b).

        The distances of the kernel means from their common mean follow from those between them.
        """
        weights = self.sizes / self.sizes.sum()
        distances = np.zeros((len(values), len(weights), len(weights), values.shape[-1]))
        for place, (g, h) in enumerate(self.pairs):
            distances[:, g, h] = distances[:, h, g] = values[:, place]
        toward = np.einsum("h,mghb->mgb", weights, distances)
        norms = toward - np.einsum("g,mgb->mb", weights, toward)[:, None] / 2
        own = np.stack([self.diagonal @ mean for mean in means], axis=1)
        return np.asarray((norms - own) / (self.sizes - 1)[:, None])
