"""The tests of Table 4: all estimators of the paper as tests of independence, and ours, all with exact p-values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from kernelmean import hsic_test
from kernelmean.inference import Adaptive, CustomStatistic, Resampling
from kernelmean.inference.adaptive.member import Member, PairMember
from kernelmean.kernels import Gaussian

from .arrays import Array, IntArray
from .paper import ESTIMATORS

PERMUTATIONS = 2000
PRINTED = "F-KMSE, printed score"
TIED, FREE = "MKME, one σ² for x and y", "MMKME, σ² of x and y from the pairs"
ADAPTIVE, UNBIASED, GRID = "adaptive", "adaptive, unbiased", "grid of bandwidths, unbiased"

WIDTHS = (1.0, 0.5, 0.25, 0.125)
"""θ of the grid in units of the median distance: θ² from the median squared distance down to 1/64 of it."""
STRENGTHS = np.logspace(-6, 2, 65)
"""λ of the printed score, in units of the mean of the diagonal of the Gram matrix."""
VARIANCES = np.concatenate([[0.0], np.logspace(-2.5, 1.5, 21)])
"""The candidates for σ² in leave-one-out on pairs, in units of θ²."""

_BATCH = 256


def paper_tests(x: Array, y: Array, bandwidths: tuple[float, float], seed: int) -> dict[str, float]:
    """Return the p-values of the paper's estimators on pairs, by method, in every reading.

    Uses all permutations if there are at most 2,001, otherwise 2000 random ones and the observed one.
    """
    found = {}
    for name, make in ESTIMATORS.items():
        sides = tuple(make(bandwidth=theta) for theta in bandwidths)
        found[name] = hsic_test(x, y, estimator=sides, n_resamples=PERMUTATIONS, rng=seed).pvalue
    pairs = Pairs.of(x, y, bandwidths)
    for names, statistic in (((PRINTED,), pairs.shrunk), ((TIED, FREE), pairs.refitted)):
        how = Resampling.of("auto", PERMUTATIONS, seed)
        null = CustomStatistic(statistic, names[0], batch=_BATCH).null((len(x),), how)
        found |= dict(zip(names, map(float, null.pvalues), strict=True))
    return found


def own_tests(x: Array, y: Array, seed: int) -> dict[str, float]:
    """Return the p-values of our tests, which choose no bandwidth, by name."""
    grid = tuple(PairMember(Member("data", Gaussian(a)), Member("data", Gaussian(b))) for a in WIDTHS for b in WIDTHS)
    chosen: dict[str, Any] = {
        ADAPTIVE: {"estimator": "adaptive"},
        UNBIASED: {"estimator": "adaptive", "statistic": "u"},
        GRID: {"estimator": Adaptive("mean", grid), "statistic": "u"},
    }
    return {
        name: hsic_test(x, y, n_resamples=PERMUTATIONS, rng=seed, **options).pvalue for name, options in chosen.items()
    }


@final
@dataclass(frozen=True)
class Pairs:
    """Squared distances of x and of y, (n, n) each, in units of θ²."""

    left: Array
    right: Array

    @classmethod
    def of(cls, x: Array, y: Array, bandwidths: tuple[float, float]) -> Pairs:
        """Return the squared distances of n pairs of numbers, shapes (n, 1)."""
        left, right = (np.square((side - side.T) / theta) for side, theta in zip((x, y), bandwidths, strict=True))
        return cls(left, right)

    def shrunk(self, orders: IntArray) -> Array:
        """Return FCOSE of permutations (b, n) with the λ of the smallest score as printed by Muandet et al. (2014).

        With the eigenvalues γ of M = K̄∘Z̄ and s = Vᵀ1, the score of Theorem 4 is, up to the factor (n-1)²,
        Σ_k γ/(γ+λ)² [γ²s² - 2 γ s² (nγ+(n-1)λ)/n + (nγ+(n-1)λ)²/n]; the statistic is Σ_k γ (γ s/n)² / (γ+λ)².
        """
        n = len(self.left)
        left, right = (_centered(np.exp(-side / 2.0)) for side in (self.left, self.right))
        values, vectors = np.linalg.eigh(left * right[orders[:, :, None], orders[:, None, :]])
        gamma, sums = np.maximum(values, 0.0)[:, None], np.square(vectors.sum(axis=1))[:, None]
        strengths = gamma.mean(axis=2, keepdims=True) * STRENGTHS[:, None]
        shape, own = gamma / np.square(gamma + strengths), n * gamma + (n - 1) * strengths
        scores = (shape * (gamma**2 * sums - 2.0 * gamma * sums * own / n + own**2 / n)).sum(axis=2)
        best = scores.argmin(axis=1)[:, None]
        return np.take_along_axis((shape * gamma**2 * sums / n**2).sum(axis=2), best, axis=1).T

    def refitted(self, orders: IntArray) -> Array:
        """Return HSIC (2, b) with the variances that leave-one-out chooses for permuted pairs: one for both, and two.

        The pairs are points in two columns, in units of the bandwidths, under the product of both kernels.
        """
        scores, statistics = (np.stack(part) for part in zip(*self._by_right_variance(orders), strict=True))
        tied = np.arange(len(VARIANCES))
        best = scores[tied, tied].argmin(axis=0), scores.reshape(-1, len(orders)).argmin(axis=0)
        one = np.take_along_axis(statistics[tied, tied], best[0][None], axis=0)[0]
        two = np.take_along_axis(statistics.reshape(-1, len(orders)), best[1][None], axis=0)[0]
        return np.stack([one, two])

    def _by_right_variance(self, orders: IntArray) -> Iterator[tuple[Array, Array]]:
        """Yield leave-one-out scores and statistics, (variances of x, b) each, for every variance of y."""
        n = len(self.left)
        half = np.stack([_smoothed(self.left, a) for a in VARIANCES])
        full = np.stack([_smoothed(self.left, 2.0 * a) for a in VARIANCES])
        centered = np.stack([_centered(gram) for gram in full])
        for b in VARIANCES:
            one, two = (_smoothed(self.right, c)[orders[:, :, None], orders[:, None, :]] for c in (b, 2.0 * b))
            lone, both = _products(half, one), _products(full, two)
            off = lone - n * (half[:, :1, 0] * one[:1, 0, 0])
            own = n * (full[:, :1, 0] * two[:1, 0, 0])
            score = -2.0 / (n * (n - 1)) * off + ((n - 2) * both + own) / (n * (n - 1) ** 2)
            yield score, _products(centered, two) / n**2


def _smoothed(squares: Array, variance: float) -> Array:
    """Return E k for one column when the noise of a difference has this variance, all in units of θ²."""
    return np.asarray(np.exp(-squares / (2.0 * (1.0 + variance))) / np.sqrt(1.0 + variance))


def _centered(gram: Array) -> Array:
    """Return HKH."""
    means = gram.mean(axis=0)
    return np.asarray(gram - means - (means - means.mean())[:, None])


def _products(grams: Array, others: Array) -> Array:
    """Return Σ_ij A_ij B_ij of every pair of two stacks of matrices."""
    return np.asarray(grams.reshape(len(grams), -1) @ others.reshape(len(others), -1).T)
