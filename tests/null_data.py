"""Data sets in which a null hypothesis holds: rows of many distributions, plain and in designs, with their tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from kernelmean import Design
from kernelmean.inference import dhsic_test, hsic_test, k_sample_test, mmd_test

Array = np.ndarray[Any, Any]
Law = Callable[[np.random.Generator, int, int], Array]


def _autoregressive(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Neighboring columns with correlation .7."""
    return rng.standard_normal((n, dim)) @ np.linalg.cholesky(0.7 ** np.abs(np.subtract.outer(*[np.arange(dim)] * 2))).T


def _idle(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Normal columns, one that is 0 but for rare rows, and one that is constant."""
    normal = rng.standard_normal((n, max(1, dim - 2)))
    return np.column_stack([normal, 0.1 * (rng.random(n) < 0.04), np.full(n, 0.1)])


LAWS: dict[str, Law] = {
    "normal": lambda rng, n, dim: rng.standard_normal((n, dim)),
    "heavy tails": lambda rng, n, dim: rng.standard_t(1.0, (n, dim)),
    "skewed": lambda rng, n, dim: np.exp(1.5 * rng.standard_normal((n, dim))),
    "autoregressive": _autoregressive,
    "mixed scales": lambda rng, n, dim: rng.standard_normal((n, dim)) * np.resize([1e-6, 1.0, 1e9], dim),
    "a constant column": lambda rng, n, dim: np.column_stack([rng.standard_normal((n, dim - 1)), np.full(n, 7.0)]),
    "idle columns": _idle,
    "far clusters": lambda rng, n, dim: 20.0 * rng.integers(0, 4, (n, 1)) + rng.standard_normal((n, dim)),
    "clusters": lambda rng, n, dim: 5.0 * rng.choice([-1, 1], (n, dim)) + rng.standard_normal((n, dim)),
    "ties": lambda rng, n, dim: rng.poisson(1.0, (n, dim)).astype(float),
    "binary": lambda rng, n, dim: rng.integers(0, 2, (n, dim)).astype(float),
    "mostly zero": lambda rng, n, dim: rng.standard_normal((n, dim)) * (rng.random((n, dim)) < 0.15),
    "repeated rows": lambda rng, n, dim: np.random.default_rng(0).normal(size=(12, dim))[rng.integers(0, 12, n)],
}
DISCRETE = "ties", "binary", "repeated rows"
"""Distributions whose rows may be equal."""

LEVELS = (0.05, 0.1, 0.25)


def check_level(draw: Callable[[], NullData], trials: int, *, tied: bool, **options: Any) -> None:
    """Hold the number of p-values up to the levels to exact binomial bounds; where arrangements tie to upper ones.

    Without ties a test over P permutations rejects with probability floor(α P) / P, with ties with that at most.
    """
    pvalues = np.array([draw().result(**options).pvalue for _ in range(trials)])
    for level in LEVELS:
        rejected, total = (pvalues <= level + 1e-12).sum(), options["n_resamples"] + 1
        low, high = binom.ppf([0.0005, 0.9995], trials, np.floor(level * total + 1e-9) / total)
        assert rejected <= high
        assert tied or rejected >= low
    assert pvalues.min() > 0


def points(law: str, n: int, rng: np.random.Generator, dim: int = 1) -> Array:
    """Independent rows of a distribution."""
    return LAWS[law](rng, n, dim)


@dataclass(frozen=True)
class NullData:
    """Tables, the test of a hypothesis that is true of them, and the design."""

    test: Callable[..., Any]
    tables: tuple[Array, ...]
    design: Design | None = None

    def result(self, **options: Any) -> Any:
        """Test."""
        return self.test(*self.tables, **({"design": self.design} if self.design else {}), **options)


Drawn = Callable[..., NullData]


def strata(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Two strata of unlike composition, the rows of the second far off."""
    gx, gy = np.repeat([0, 1], [9 * times, 3 * times]), np.repeat([0, 1], [4 * times, 10 * times])
    X, Y = (points(law, len(g), rng) + 3.0 * g[:, None] for g in (gx, gy))
    return NullData(mmd_test, (X, Y), Design(strata=(gx, gy)))


def clusters(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Rows that are nearly their cluster's center; of sizes 1 to 3, in 2000 different arrangements."""
    cluster = np.repeat(np.arange(16 * times), [1, 2, 3, 1, 2, 3, 2, 1, 2, 3, 1, 2, 3, 1, 2, 3] * times)
    rows = points(law, 16 * times, rng)[cluster]
    rows[:, :1] += (0.0 if law in DISCRETE else 0.1) * rng.standard_normal((len(cluster), 1))
    first = cluster % 16 < 7
    return NullData(mmd_test, (rows[first], rows[~first]), Design(clusters=(cluster[first], cluster[~first])))


def weights(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Weights that depend on the rows, by one rule for both samples."""
    X, Y = points(law, 8 * times, rng), points(law, 14 * times, rng)
    return NullData(mmd_test, (X, Y), Design(weights=tuple(1.0 / (1.0 + np.abs(own[:, 0])) for own in (X, Y))))


def strata_of_clusters(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Two strata of clusters of two rows, with weights; clusters and strata shift the rows."""
    cluster = np.repeat(np.arange(20 * times), 2)
    group, first = cluster % 2, cluster % 5 < 2
    rows = points(law, 20 * times, rng)[cluster] + 0.1 * points(law, len(cluster), rng) + 3.0 * group[:, None]
    weight = 0.5 + rng.random(len(cluster))
    parts = ((column[first], column[~first]) for column in (group, cluster, weight))
    return NullData(mmd_test, (rows[first], rows[~first]), Design(*parts))


def paired(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Halves that share most of what they are."""
    common = points(law, 12 * times, rng)
    X, Y = (common + points(law, 12 * times, rng) for _ in range(2))
    return NullData(mmd_test, (X, Y), Design(paired=True))


def k_samples(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Three samples of unequal sizes."""
    return NullData(k_sample_test, tuple(points(law, n * times, rng) for n in (5, 9, 7)))


def k_strata(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Three samples in two strata of unlike composition."""
    group = [np.repeat([0, 1], [a * times, b * times]) for a, b in ((4, 2), (3, 5), (2, 4))]
    tables = tuple(points(law, len(own), rng) + 3.0 * own[:, None] for own in group)
    return NullData(k_sample_test, tables, Design(strata=tuple(group)))


def unequal_shares(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Three strata: of one nearly all rows are in the first sample, of one in the second, and one is small."""
    gx, gy = (np.repeat([0, 1, 2], [n * times for n in counts]) for counts in ((19, 1, 2), (1, 25, 2)))
    X, Y = (points(law, len(g), rng) + 3.0 * g[:, None] for g in (gx, gy))
    return NullData(mmd_test, (X, Y), Design(strata=(gx, gy)))


def many_strata(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Strata of equal size and composition, each with a place of its own; of more than 64 they are joined in bins."""
    gx, gy = np.repeat(np.arange(25 * times), 16), np.repeat(np.arange(25 * times), 24)
    places = 2.0 * rng.standard_normal((25 * times, 1))
    X, Y = (points(law, len(g), rng) + places[g] for g in (gx, gy))
    return NullData(mmd_test, (X, Y), Design(strata=(gx, gy)))


def wide_weights(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Weights from 1 to 100 that grow with the rows, by one rule for both samples."""
    X, Y = points(law, 10 * times, rng), points(law, 20 * times, rng)
    return NullData(mmd_test, (X, Y), Design(weights=tuple(100.0 ** (1 / (1 + np.exp(-own[:, 0]))) for own in (X, Y))))


def unequal_clusters(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Rows that are nearly their cluster's center, of sizes 1 to 32, assigned to samples whatever their sizes."""
    cluster = np.repeat(np.arange(12 * times), [1, 1, 1, 2, 2, 4, 8, 16, 32, 1, 1, 3] * times)
    rows = points(law, 12 * times, rng)[cluster] + 0.1 * points(law, len(cluster), rng)
    first = (rng.permutation(12 * times) < 5 * times)[cluster]
    return NullData(mmd_test, (rows[first], rows[~first]), Design(clusters=(cluster[first], cluster[~first])))


def pair_strata(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Both variables depend on the center."""
    center = np.repeat([0, 1, 2], [5 * times, 8 * times, 4 * times])
    X, Y = (points(law, len(center), rng) + 3.0 * center[:, None] for _ in range(2))
    return NullData(hsic_test, (X, Y), Design(strata=center))


def pair_clusters(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Eight independent series of three equal rows."""
    X, Y = (np.repeat(points(law, 8 * times, rng), 3, axis=0) for _ in range(2))
    return NullData(hsic_test, (X, Y), Design(clusters=np.repeat(np.arange(8 * times), 3)))


def pair_weights(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Weights that depend on X."""
    X, Y = points(law, 14 * times, rng), points(law, 14 * times, rng)
    return NullData(hsic_test, (X, Y), Design(weights=np.exp(-np.abs(X[:, 0]))))


def joint(law: str, rng: np.random.Generator, times: int = 1) -> NullData:
    """Three variables, of which one has two columns."""
    return NullData(dhsic_test, tuple(points(law, 12 * times, rng, dim) for dim in (1, 2, 1)))
