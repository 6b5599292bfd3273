"""Do several samples come from one law? The permutation test on the distances between all of their kernel means."""

from __future__ import annotations

from itertools import combinations
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, RngLike
from ...core.words import passed
from ...estimators import KernelMean
from ...estimators.options import KernelLike
from ...plan.plan import Plan
from ...plan.tiles import serial_blas
from ..adaptive import snapped
from ..asked import asked, check_fit_on
from ..combine import standardized
from ..engine import check_memory
from ..kernel_choice import ESTIMATORS, KernelOf, choose_kernel, median_rows
from ..null import Null
from ..problem import KernelSide
from ..resampling import Resampling
from ..result import PairOutcome, TestResult
from ..samples import check_samples
from ..statistics import Kind, check_kind, ties
from ..step_down import max_t
from ..units import units_notes
from .forms import Forms, forms_bytes, gram_forms
from .relabelings import WithinCells, within_cells


def k_sample_test(
    *samples: Any,
    kernel: KernelLike | None = None,
    estimator: str | KernelMean | KernelOf | None = None,
    statistic: Kind = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    plan: Plan | None = None,
) -> TestResult:
    r"""Test whether several samples come from one law, by MMD² between all pairs of them and exact permutations.

    .. math:: T = \frac{\sum_{g<h} n_g n_h \mathrm{MMD}^2_{gh}}{\sum_{g<h} n_g n_h}

    For the V-statistic the numerator is :math:`n \sum_g n_g |μ_g - \bar μ|^2`, the scatter between the samples, which
    is HSIC with the label kernel 1{g = h} / n_g up to a factor. Two samples have T = MMD².

    Parameters
    ----------
    *samples : array of shape (n_g, d), or data frame
        Two or more samples of the same columns; sizes may differ.
    kernel, estimator
        As in :func:`kernelmean.mmd_test`, found from all rows together.
    statistic : {"u", "v"}
        Unbiased, or the V-statistic, which is never negative.
    scheme : {"auto", "exact", "random"}
        All n! / Π n_g! labelings, or random permutations; "auto" enumerates when there are at most n_resamples + 1.
    n_resamples, rng, plan
        As in :func:`kernelmean.mmd_test`.

    Returns
    -------
    TestResult
        ``pairs`` tells of every pair of samples its MMD² and its p-values under the same relabelings.

    Raises
    ------
    ValueError
        When there are fewer than two samples, columns differ, or a sample is too small for the statistic.
    MemoryError
        When more memory is needed than the plan allows.

    Notes
    -----
    The p-value is exact. The adjusted p-values of the pairs step down from the largest standardized statistic
    (Westfall & Young 1993); as all samples are permuted together, they bound the probability of any false finding
    when **all** samples come from one law. To single out pairs where some samples are known to differ, test these by
    :func:`kernelmean.mmd_test`, which permutes two samples only, and adjust by Holm's method.
    O(n² (d + k² P)) time for P relabelings, O(n r k² P) on factors of rank r; memory never O(n²).
    Gretton et al. (2012), eq. (3) and (5); Székely & Rizzo (2004) for the sum over pairs.

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> result = k_sample_test(x[:2], x[2:4], x[4:] + 10)
    >>> result.scheme, result.n_resamples + 1, result.pvalue * 90
    ('exact', 90, 6.0)
    >>> [(pair.first, pair.second) for pair in result.pairs]
    [(0, 1), (0, 2), (1, 2)]
    """
    tables = _check(samples)
    wanted = asked(kernel, estimator, ESTIMATORS, adaptive=False)
    check_fit_on(wanted.one, ("auto", "pooled"))
    notes = units_notes(*samples, adaptive=False) if wanted.default else ()
    check_kind(statistic)
    sizes = tuple(map(len, tables))
    if statistic == "u" and min(sizes) < 2:
        raise ValueError(f"samples of {sizes} rows: the unbiased statistic needs two in each; pass statistic='v'")
    how, pooled = Resampling.of(scheme, n_resamples, rng, plan), np.concatenate(tables)
    chosen = choose_kernel(pooled, wanted.one, median_rows(len(pooled), how.rng), "all samples")
    resources, labels = how.resources, np.repeat(np.arange(len(sizes)), sizes)
    listed = within_cells(np.zeros_like(labels), how.n_resamples, how.rng, labels, scheme)
    needed = forms_bytes(len(pooled), pooled.shape[1], listed.count, 1, resources)
    check_memory(needed, resources, "the test", len(pooled))
    with serial_blas:
        between = _Between(gram_forms(KernelSide(pooled, (chosen.kernel,)), resources), sizes, statistic)
        values = np.concatenate([between(labels[batch.T]) for batch in listed.batches(between.batch)], axis=1)
    slack = ties(values, between.magnitude)
    name = "mean MMD² of all pairs " + ("(unbiased)" if statistic == "u" else "(V-statistic)")
    null = Null(
        (between.shares @ values)[None],
        np.array([between.shares @ slack]),
        name,
        "random" if isinstance(listed, WithinCells) else "exact",
        needed,
    )
    return TestResult(
        method=f"Permutation test of {len(sizes)} samples, maximum mean discrepancies",
        kernel=chosen.kernel,
        noise=chosen.noise,
        sizes=sizes,
        notes=chosen.notes + notes,
        pairs=_outcomes(values, slack, between.pairs),
        **null.outcome(0),
    )


@final
class _Between:
    """MMD² of all pairs of samples as a function of the labels of the rows."""

    def __init__(self, forms: Forms, sizes: tuple[int, ...], kind: Kind) -> None:
        self.forms, self.sizes, self.kind = forms, np.array(sizes, dtype=np.float64), kind
        self.pairs = list(combinations(range(len(sizes)), 2))
        products = np.array([sizes[g] * sizes[h] for g, h in self.pairs], dtype=np.float64)
        self.shares: Array = products / products.sum()
        n = forms.n
        means = forms.times(np.full((n, 1), 1 / n))[0, :, 0]
        self.diagonal = forms.diagonal[0] - 2 * means + means.mean()

    @property
    def batch(self) -> int:
        """Return how many relabelings to pass at once."""
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


def _check(samples: tuple[Any, ...]) -> list[Array]:
    """Return the samples as tables with the columns of the first."""
    if len(samples) < 2:
        raise ValueError(f"{passed(len(samples), 'sample')}, two at least are needed: k_sample_test(X, Y, Z)")
    pairs = [check_samples(samples[0], other) for other in samples[1:]]
    return [pairs[0][0], *(other for _, other in pairs)]
