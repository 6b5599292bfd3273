"""Data sets with strata, clusters, weights and pairs, and what is true of them: part of ``explain_coverage.py``.

Within a stratum all values are normal with variance 1, whatever makes them alike. What is true is of the strata and
weights that were drawn, as the tests count them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelmean import Design, embed, kernels, noise

KERNEL = kernels.Gaussian(1.0)
ALIKE = 0.5
"""The correlation within clusters, and within strata that hold one row of a sample."""
CORRELATION = 0.7
"""Of the two values of a pair."""
WIDE = 1.3
"""The deviation of the distribution that weighted rows are drawn from, by the weights of which it is 1."""

Truth = tuple[float, float]
Two = tuple[np.ndarray, np.ndarray, Design, Truth]


@dataclass(frozen=True)
class Cell:
    """How data sets are drawn."""

    design: str
    distributions: str
    units: str
    draw: Callable[[np.random.Generator], Any]


def size_of_shift(shift: float, places: Any = (0.0,), shares: Any = (1.0,)) -> Truth:
    """The MMD of normal values around some places and the same with a shift, and the share that it explains."""
    if shift == 0.0:
        return 0.0, 0.0
    at = np.asarray(places, dtype=float)[:, None]
    first, second = (embed(own, KERNEL, weights=shares, noise=noise.Normal(1.0)) for own in (at, at + shift))
    squared = (first - second).norm() ** 2
    return float(np.sqrt(squared)), float(squared / (4 * (1 - 1 / np.sqrt(3)) + squared))


def shares_of(strata: Any, weights: Any = (None, None)) -> np.ndarray:
    """The shares of strata in the proportions of Cochran, Mantel and Haenszel."""
    many = 1 + max(own.max() for own in strata)
    first, second = (np.bincount(own, weight, many) for own, weight in zip(strata, weights, strict=True))
    both = np.where(first + second > 0.0, first + second, 1.0)
    return first * second / both / (first * second / both).sum()


def strata(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Three strata at 0, 3 and 6, which the samples have in different shares."""
    labels = rng.choice(3, n, p=[0.6, 0.3, 0.1]), rng.choice(3, m, p=[0.2, 0.3, 0.5])
    X, Y = (3.0 * own + k * shift + rng.normal(size=len(own)) for k, own in enumerate(labels))
    return X, Y, Design(strata=labels), size_of_shift(shift, 3.0 * np.arange(3), shares_of(labels))


def small_strata(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Strata of two rows of X and three of Y, at places that vary with deviation 2."""
    places = rng.normal(0.0, 2.0, n // 2)
    labels = np.repeat(np.arange(n // 2), 2), np.repeat(np.arange(n // 2), m // (n // 2))
    X, Y = (places[own] + k * shift + rng.normal(size=len(own)) for k, own in enumerate(labels))
    return X, Y, Design(strata=labels), size_of_shift(shift, places, shares_of(labels))


def lone_rows(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Strata of one row of X and one to three of Y, such as patients with controls."""
    labels = np.arange(n), np.append(np.arange(n), rng.integers(0, n, m - n))
    places = np.sqrt(ALIKE) * rng.normal(size=n)
    X, Y = (places[own] + k * shift + np.sqrt(1 - ALIKE) * rng.normal(size=len(own)) for k, own in enumerate(labels))
    return X, Y, Design(strata=labels), size_of_shift(shift)


def clusters(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Clusters of one to seven rows."""
    labels = [np.repeat(np.arange(many), rng.integers(1, 8, many)) for many in (n, m)]
    X, Y = (k * shift + alike(rng, own) for k, own in enumerate(labels))
    return X, Y, Design(clusters=(labels[0], labels[1] + n)), size_of_shift(shift)


def alike(rng: np.random.Generator, labels: np.ndarray) -> np.ndarray:
    """Normal values that are alike in clusters."""
    common = rng.normal(size=labels.max() + 1)[labels]
    return np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * rng.normal(size=len(labels))


def weight_of(values: np.ndarray) -> np.ndarray:
    """The weights by which values drawn with a larger deviation have deviation 1."""
    return np.exp((1 / WIDE**2 - 1) * values**2 / 2)


def weights(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Rows that are drawn from a wider distribution than the one that their weights make of it."""
    X, Y = (WIDE * rng.normal(size=many) for many in (n, m))
    return X, Y + shift, Design(weights=(weight_of(X), weight_of(Y))), size_of_shift(shift)


def uneven_weights(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Weights of 1 or 10, whatever the values."""
    drawn = [rng.choice([1.0, 10.0], many, p=[0.8, 0.2]) for many in (n, m)]
    return rng.normal(size=n), rng.normal(shift, size=m), Design(weights=tuple(drawn)), size_of_shift(shift)


def pairs(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Correlated values of pairs."""
    del m
    common = np.sqrt(CORRELATION) * rng.normal(size=n)
    X, Y = (common + k * shift + np.sqrt(1 - CORRELATION) * rng.normal(size=n) for k in (0, 1))
    return X, Y, Design(paired=True), size_of_shift(shift)


def coins(rng: np.random.Generator, n: int, up: float, down: float) -> Two:
    """A coin of probability .3 before, and after some have turned up or down."""
    first, turned = rng.random(n) < 0.3, rng.random(n)
    second = np.where(first, turned >= down, turned < up)
    after, apart = 0.3 * (1 - down) + 0.7 * up, 1 - np.exp(-0.5)
    squared = 2 * apart * (after - 0.3) ** 2
    variance = apart * (0.3 * 0.7 + after * (1 - after))
    exact = float(np.sqrt(squared)), float(squared / (4 * variance + squared))
    return first.astype(float), second.astype(float), Design(paired=True), exact


def everything(rng: np.random.Generator, n: int, m: int, shift: float) -> Two:
    """Clusters of one to four weighted rows in three strata."""
    labels = [np.repeat(np.arange(many), rng.integers(1, 5, many)) for many in (n, m)]
    shares = [0.5, 0.3, 0.2], [0.2, 0.3, 0.5]
    within = [rng.choice(3, many, p=p)[own] for many, p, own in zip((n, m), shares, labels, strict=True)]
    drawn = [rng.uniform(0.5, 3.0, len(own)) for own in labels]
    X, Y = (3.0 * s + k * shift + alike(rng, own) for k, (s, own) in enumerate(zip(within, labels, strict=True)))
    design = Design(strata=tuple(within), clusters=(labels[0], labels[1] + n), weights=tuple(drawn))
    return X, Y, design, size_of_shift(shift, 3.0 * np.arange(3), shares_of(within, drawn))


Drawn = Callable[[np.random.Generator, int, int, Any], Two]
OF_SAMPLES: list[tuple[str, Drawn, str, list[tuple[int, int]]]] = [
    ("3 strata", strata, "rows", [(60, 40)]),
    ("strata of 2 and 3 rows", small_strata, "rows", [(24, 36)]),
    ("strata of 1 and a few rows", lone_rows, "rows", [(30, 60)]),
    ("clusters", clusters, "clusters", [(6, 6), (15, 30)]),
    ("weights of a wider sample", weights, "rows", [(40, 40)]),
    ("weights 1 or 10", uneven_weights, "rows", [(60, 60)]),
    ("pairs", pairs, "pairs", [(12, 12), (50, 50)]),
    ("strata, clusters and weights", everything, "clusters", [(40, 40)]),
]


def cells_of_samples() -> Iterator[Cell]:
    """Every design with three shifts, then pairs of coins."""
    for design, drawn, noun, sizes in OF_SAMPLES:
        for n, m in sizes:
            units = f"{n} {noun}" if noun == "pairs" else f"{n}, {m} {noun}"
            for shift in (0.0, 0.5, 1.5):
                told = f"normal(0), normal({shift:g})"
                yield Cell(design, told, units, lambda rng, d=drawn, a=(n, m, shift): d(rng, *a))
    for n in (20, 100):
        for up, down in ((0.2, 0.2 * 0.7 / 0.3), (0.3, 0.1), (0.1, 0.0)):
            told = f"coin(.3), {up:.2g} of tails and {down:.2g} of heads turned"
            yield Cell("pairs", told, f"{n} pairs", lambda rng, a=(n, up, down): coins(rng, *a))


# -- two variables -----------------------------------------------------------------------------------------------------

Pairs = tuple[np.ndarray, Design, Truth]


def size_of_dependence(correlation: float, places: Any = ((0.0, 0.0),), shares: Any = (1.0,)) -> Truth:
    """√HSIC of the mean covariance within strata of binormal pairs around some places, and the alignment."""

    def norm(own: float, at: np.ndarray) -> float:
        joint, apart = (embed(at, KERNEL, weights=shares, noise=noise.Normal([[1.0, r], [r, 1.0]])) for r in (own, 0.0))
        return float((joint - apart).norm())

    at = np.asarray(places, dtype=float)
    scale = np.sqrt(np.prod([norm(1.0, at[:, [side, side]]) for side in (0, 1)]))
    found = norm(correlation, at) if correlation else 0.0
    return found, (found / float(scale)) ** 2


def binormal(rng: np.random.Generator, n: int, correlation: float) -> np.ndarray:
    return rng.multivariate_normal([0.0, 0.0], [[1.0, correlation], [correlation, 1.0]], size=n)


def pairs_in_strata(rng: np.random.Generator, n: int, correlation: float) -> Pairs:
    """Three strata, both variables 3 larger from one to the next."""
    own, places = rng.choice(3, n, p=[0.5, 0.3, 0.2]), 3.0 * np.arange(3)[:, None] * [1.0, 1.0]
    exact = size_of_dependence(correlation, places, np.bincount(own, minlength=3) / n)
    return binormal(rng, n, correlation) + places[own], Design(strata=own), exact


def pairs_in_small_strata(rng: np.random.Generator, n: int, correlation: float) -> Pairs:
    """Strata of two pairs, at places that vary with deviation 2."""
    own, places = np.arange(n) // 2, rng.normal(0.0, 2.0, (n // 2, 2))
    exact = size_of_dependence(correlation, places, np.full(n // 2, 2.0 / n))
    return binormal(rng, n, correlation) + places[own], Design(strata=own), exact


def pairs_in_clusters(rng: np.random.Generator, n: int, correlation: float) -> Pairs:
    """Clusters of one to five pairs."""
    own = np.repeat(np.arange(n), rng.integers(1, 6, n))
    common, alone = binormal(rng, n, correlation)[own], binormal(rng, len(own), correlation)
    rows = np.sqrt(ALIKE) * common + np.sqrt(1 - ALIKE) * alone
    return rows, Design(clusters=own), size_of_dependence(correlation)


def weighted_pairs(rng: np.random.Generator, n: int, correlation: float) -> Pairs:
    """Pairs whose first value is drawn from a wider distribution than the one that weights make of it."""
    x = WIDE * rng.normal(size=n)
    y = correlation * x + np.sqrt(1 - correlation**2) * rng.normal(size=n)
    return np.stack([x, y], axis=1), Design(weights=weight_of(x)), size_of_dependence(correlation)


OF_VARIABLES: list[tuple[str, Callable[[np.random.Generator, int, float], Pairs], str, list[int]]] = [
    ("3 strata", pairs_in_strata, "pairs", [60]),
    ("strata of 2 pairs", pairs_in_small_strata, "pairs", [60]),
    ("clusters", pairs_in_clusters, "clusters", [25]),
    ("weights of a wider sample", weighted_pairs, "pairs", [60]),
]


def cells_of_variables() -> Iterator[Cell]:
    """Every design with three correlations."""
    for design, drawn, noun, sizes in OF_VARIABLES:
        for n in sizes:
            for correlation in (0.0, 0.4, 0.9):
                told = f"binormal, ρ = {correlation:g}"
                yield Cell(design, told, f"{n} {noun}", lambda rng, d=drawn, a=(n, correlation): d(rng, *a))
