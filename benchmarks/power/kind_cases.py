"""Known kinds of difference and of dependence, for asking whether an adaptive test names them rightly.

Every kind has settings for design, on which whatever decides about words may be fitted, and others that are **held
out**: they differ in size, dimension, strength and mostly in the distributions. Both were fixed, and committed, before
anything was fitted. The ones called strong, of both sorts, came when the rule had been fitted to the first settings
for design; no answer for a held out one had been seen then. Only trials in which the test rejects count, as in most.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from design_cases import (
    Pairs,
    Rng,
    Sample,
    autoregressive,
    equicorrelated,
    function,
    jointly_perturbed,
    normal,
    normals,
    perturbed,
    students,
    uniforms,
)

FIRST_TRIAL = 200_000
Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """Data of a known kind: the words that are right, and how to draw them."""

    kind: str
    name: str
    right: tuple[str, ...]
    draw: Callable[[Rng], Data]
    held_out: bool

    def data(self, trial: int) -> Data:
        return self.draw(np.random.default_rng([zlib.crc32(self.name.encode()), FIRST_TRIAL + trial]))


# -- two samples -------------------------------------------------------------------------------------------------------


def shifted(sample: Sample, by: object) -> Sample:
    return lambda rng, n: sample(rng, n) + by


def scaled(sample: Sample, by: object) -> Sample:
    return lambda rng, n: sample(rng, n) * by


def laplaces(d: int) -> Sample:
    return lambda rng, n: rng.laplace(0, 0.5**0.5, (n, d))


def contaminated(share: float, width: float) -> Sample:
    """Normal values, some of them wider, with variance 1."""

    def draw(rng: Rng, n: int) -> np.ndarray:
        wide = np.where(rng.random((n, 1)) < share, width, 1.0)
        return rng.standard_normal((n, 1)) * wide / np.sqrt(1 - share + share * width**2)

    return draw


def with_a_cluster(place: list[float], width: float, share: float) -> Sample:
    def draw(rng: Rng, n: int) -> np.ndarray:
        points = normal(rng, n, len(place))
        inside = rng.random(n) < share
        points[inside] = np.array(place) + width * points[inside]
        return points

    return draw


def gammas(shape: float, d: int) -> Sample:
    return lambda rng, n: (rng.gamma(shape, 1, (n, d)) - shape) / shape**0.5


def lognormals(sigma: float) -> Sample:
    mean, variance = np.exp(sigma**2 / 2), (np.exp(sigma**2) - 1) * np.exp(sigma**2)
    return lambda rng, n: (rng.lognormal(0, sigma, (n, 1)) - mean) / variance**0.5


def modes(places: list[float], width: float, d: int = 1) -> Sample:
    """Return as many modes of equal weight in the first of d columns, which all have variance 1."""
    variance = np.var(places) + width**2

    def draw(rng: Rng, n: int) -> np.ndarray:
        points = normal(rng, n, d)
        points[:, 0] = (rng.choice(places, n) - np.mean(places) + width * points[:, 0]) / variance**0.5
        return points

    return draw


Two = tuple[str, int, int, Sample, Sample]
MEANS, SPREAD, TOGETHER = ("means",), ("spread",), ("columns together",)
SHAPE, LOCAL = ("shape",), ("local",)
TWO_SAMPLES: dict[str, tuple[tuple[str, ...], list[Two], list[Two]]] = {
    "shift": (
        MEANS,
        [
            ("one column by .6", 100, 100, normals(1), normals(1, 0.6)),
            ("five columns by .3", 100, 100, normals(5), normals(5, 0.3)),
            ("strong: one column by 1.2", 400, 400, normals(1), normals(1, 1.2)),
        ],
        [
            ("one column by .4, 200 rows", 200, 200, normals(1), normals(1, 0.4)),
            ("one of five by .6", 150, 150, normals(5), shifted(normals(5), [0.6, 0, 0, 0, 0])),
            ("Laplace by .5", 120, 80, laplaces(1), shifted(laplaces(1), 0.5)),
            ("strong: four columns by .8", 300, 400, normals(4), normals(4, 0.8)),
        ],
    ),
    "scale": (
        SPREAD,
        [
            ("one column by 1.7", 100, 100, normals(1), normals(1, scale=1.7)),
            ("all of four by 1.35", 100, 100, normals(4), normals(4, scale=1.35)),
            ("one of three by 2", 120, 120, normals(3), scaled(normals(3), [2.0, 1, 1])),
            ("strong: both of two by 3", 300, 300, normals(2), normals(2, scale=3.0)),
        ],
        [
            ("one column by .65", 200, 200, normals(1), normals(1, scale=0.65)),
            ("all of six by 1.3", 80, 120, normals(6), normals(6, scale=1.3)),
            ("one of two by 1.7", 150, 150, normals(2), scaled(normals(2), [1.7, 1])),
            ("Laplace by 1.7", 150, 150, laplaces(1), scaled(laplaces(1), 1.7)),
            ("strong: one column by 2.5", 500, 400, normals(1), normals(1, scale=2.5)),
        ],
    ),
    "correlation": (
        TOGETHER,
        [
            ("two columns, 0 and .6", 150, 150, normals(2), autoregressive(0.6, 2)),
            ("ten columns, 0 and AR .5", 100, 100, normals(10), autoregressive(0.5, 10)),
            ("strong: two columns, 0 and .9", 400, 400, normals(2), autoregressive(0.9, 2)),
        ],
        [
            ("two columns, .2 and .75", 200, 200, autoregressive(0.2, 2), autoregressive(0.75, 2)),
            ("ten columns, 0 and .3 for all pairs", 150, 150, normals(10), equicorrelated(0.3, 10)),
            ("five columns, AR .6 and -.1", 100, 140, autoregressive(0.6, 5), autoregressive(-0.1, 5)),
            ("strong: five columns, 0 and .7", 300, 300, normals(5), equicorrelated(0.7, 5)),
        ],
    ),
    "tails": (
        SHAPE,
        [
            ("normal and t3", 400, 400, normals(1), students(3, 1, scale=3**-0.5)),
            ("normal and t3, three columns", 200, 200, normals(3), students(3, 3, scale=3**-0.5)),
            ("strong: normal and t3", 1500, 1500, normals(1), students(3, 1, scale=3**-0.5)),
        ],
        [
            ("normal and t4, 800 rows", 800, 800, normals(1), students(4, 1, scale=0.5**0.5)),
            ("normal and t3, two columns", 300, 200, normals(2), students(3, 2, scale=3**-0.5)),
            ("normal, and 8 % of width 4", 400, 400, normals(1), contaminated(0.08, 4.0)),
            ("strong: normal and t3, two columns", 1000, 800, normals(2), students(3, 2, scale=3**-0.5)),
        ],
    ),
    "cluster": (
        LOCAL,
        [
            ("5 % in two columns", 300, 300, normals(2), with_a_cluster([1.2, 1.2], 0.05, 0.05)),
            ("8 % in three columns", 200, 200, normals(3), with_a_cluster([1.0, 1.0, 1.0], 0.1, 0.08)),
            ("strong: 20 % in two columns", 400, 400, normals(2), with_a_cluster([1.0, -0.5], 0.1, 0.2)),
        ],
        [
            ("6 % in one column", 400, 400, normals(1), with_a_cluster([1.5], 0.02, 0.06)),
            ("6 % in two columns elsewhere", 250, 250, normals(2), with_a_cluster([-1.0, 0.5], 0.05, 0.06)),
            ("8 % in four columns", 200, 250, normals(4), with_a_cluster([1.0, -1.0, 0.5, 1.0], 0.1, 0.08)),
            ("strong: 15 % in three columns", 500, 400, normals(3), with_a_cluster([0.5, 1.0, -0.5], 0.1, 0.15)),
        ],
    ),
    "waves": (
        LOCAL,
        [
            ("three on a uniform", 250, 250, uniforms(1), perturbed(1, 3, 0.75)),
            ("two by two on a square", 400, 400, uniforms(2), perturbed(2, 2, 1.0)),
            ("strong: three on a uniform", 800, 800, uniforms(1), perturbed(1, 3, 1.0)),
        ],
        [
            ("five on a uniform", 400, 400, uniforms(1), perturbed(1, 5, 0.75)),
            ("four on a uniform", 250, 250, uniforms(1), perturbed(1, 4, 0.8)),
            ("three by three on a square", 600, 600, uniforms(2), perturbed(2, 3, 1.0)),
            ("strong: five on a uniform", 1000, 800, uniforms(1), perturbed(1, 5, 1.0)),
        ],
    ),
    "skewness": (
        SHAPE,
        [
            ("normal and gamma 2", 150, 150, normals(1), gammas(2, 1)),
            ("normal and gamma 2, three columns", 150, 150, normals(3), gammas(2, 3)),
            ("strong: normal and gamma 2", 800, 800, normals(1), gammas(2, 1)),
        ],
        [
            ("normal and lognormal", 200, 200, normals(1), lognormals(0.6)),
            ("normal and gamma 3, two columns", 250, 200, normals(2), gammas(3, 2)),
            ("normal and exponential", 120, 120, normals(1), gammas(1, 1)),
            ("strong: normal and exponential", 600, 700, normals(1), gammas(1, 1)),
        ],
    ),
    "modes": (
        SHAPE,
        [
            ("one and two", 150, 150, normals(1), modes([-1.0, 1.0], 0.5)),
            ("one and two in one of two columns", 200, 200, normals(2), modes([-1.0, 1.0], 0.4, 2)),
            ("strong: one and two", 600, 600, normals(1), modes([-1.0, 1.0], 0.3)),
        ],
        [
            ("one and two, 300 rows", 300, 300, normals(1), modes([-0.9, 0.9], 0.55)),
            ("two and four", 250, 250, modes([-1.0, 1.0], 0.4), modes([-1.5, -0.5, 0.5, 1.5], 0.2)),
            ("one and three in one of three columns", 300, 250, normals(3), modes([-1.2, 0.0, 1.2], 0.25, 3)),
            ("strong: one and three", 700, 600, normals(1), modes([-1.2, 0.0, 1.2], 0.2)),
        ],
    ),
}
"""Of every kind: the words that are right, the settings for design, and those held out."""


FRESH: dict[str, list[Two]] = {
    "shift": [("fresh: two columns by .45", 120, 120, normals(2), normals(2, 0.45))],
    "scale": [("fresh: all of three by 1.4", 150, 100, normals(3), normals(3, scale=1.4))],
    "correlation": [
        ("fresh: two columns, .3 and .8", 150, 200, autoregressive(0.3, 2), autoregressive(0.8, 2)),
        ("fresh: three columns, 0 and .4", 200, 150, normals(3), equicorrelated(0.4, 3)),
    ],
    "tails": [
        ("fresh: normal and t3, 600 rows", 600, 500, normals(1), students(3, 1, scale=3**-0.5)),
        ("fresh: normal, and 5 % of width 5, 900 rows", 900, 900, normals(1), contaminated(0.05, 5.0)),
    ],
    "cluster": [("fresh: 7 % in two columns", 350, 300, normals(2), with_a_cluster([0.5, 1.0], 0.06, 0.07))],
    "waves": [("fresh: six on a uniform", 500, 400, uniforms(1), perturbed(1, 6, 0.8))],
    "skewness": [("fresh: normal and gamma 4", 350, 300, normals(1), gammas(4, 1))],
    "modes": [
        ("fresh: one and two in one of three columns", 250, 300, normals(3), modes([-1.0, 1.0], 0.45, 3)),
        ("fresh: one and two", 200, 160, normals(1), modes([-0.95, 0.95], 0.5)),
    ],
}
"""Held out, and written after two thresholds of two samples had been set anew with the other answers known."""
for _kind, _settings in FRESH.items():
    TWO_SAMPLES[_kind][2].extend(_settings)


# -- independence ------------------------------------------------------------------------------------------------------


def line(rhos: list[float]) -> Pairs:
    """Columns of X and Y with correlations."""

    def draw(rng: Rng, n: int) -> Data:
        x, y = normal(rng, n, len(rhos)), normal(rng, n, len(rhos))
        own = np.array(rhos)
        return x, own * x + np.sqrt(1 - own**2) * y

    return draw


def heavy_slope(rng: Rng, n: int) -> Data:
    x = rng.standard_t(2, (n, 1))
    return x, np.sign(x) * np.abs(x) ** 0.5 + rng.standard_t(3, (n, 1))


def of_normal(f: Callable[[np.ndarray], np.ndarray], noise: float) -> Pairs:
    def draw(rng: Rng, n: int) -> Data:
        x = normal(rng, n, 1)
        return x, f(x) + noise * normal(rng, n, 1)

    return draw


def wide_where(scale: Callable[[np.ndarray], np.ndarray]) -> Pairs:
    def draw(rng: Rng, n: int) -> Data:
        x = normal(rng, n, 1)
        return x, scale(x) * normal(rng, n, 1)

    return draw


def common_scale(rng: Rng, n: int) -> Data:
    s = np.exp(0.8 * normal(rng, n, 1))
    return s * normal(rng, n, 1), s * normal(rng, n, 1)


def product(d: int, noise: float) -> Pairs:
    def draw(rng: Rng, n: int) -> Data:
        x = normal(rng, n, d)
        return x, x[:, :1] * x[:, 1:2] + noise * normal(rng, n, 1)

    return draw


def signs(rng: Rng, n: int) -> Data:
    x = normal(rng, n, 2)
    return x, np.sign(x[:, :1] * x[:, 1:]) * np.abs(normal(rng, n, 1)) + 0.6 * normal(rng, n, 1)


def exclusive_or(rng: Rng, n: int) -> Data:
    x = rng.integers(0, 2, (n, 2))
    return x + 0.2 * normal(rng, n, 2), x.sum(1, keepdims=True) % 2 + 0.5 * normal(rng, n, 1)


def in_a_box(share: float, width: float) -> Pairs:
    """Independent normal columns, but some rows lie close together."""

    def draw(rng: Rng, n: int) -> Data:
        points = normal(rng, n, 2)
        inside = rng.random(n) < share
        points[inside] = (
            np.array([0.7, -0.7]) * rng.choice([-1.0, 1.0], (int(inside.sum()), 2)) + width * points[inside]
        )
        return points[:, :1], points[:, 1:]

    return draw


def latin_clusters(places: list[int], width: float) -> Pairs:
    """Clusters of which there is one in every row and every column of a square."""

    def draw(rng: Rng, n: int) -> Data:
        label = rng.integers(0, len(places), n)
        points = np.c_[label, np.array(places)[label]] + width * normal(rng, n, 2)
        return points[:, :1], points[:, 1:]

    return draw


def ring(noise: float) -> Pairs:
    def draw(rng: Rng, n: int) -> Data:
        angle = rng.uniform(0, 2 * np.pi, (n, 1))
        return np.cos(angle) + noise * normal(rng, n, 1), np.sin(angle) + noise * normal(rng, n, 1)

    return draw


def diamond(rng: Rng, n: int) -> Data:
    u, v = rng.uniform(-1, 1, (2, n, 1))
    return u + v, u - v


Pair = tuple[str, int, Pairs]
TREND, CURVE, SEVERAL = ("trend",), ("curve",), ("several columns",)
GROWING = ("curve", "spread")
"""A spread that grows in one direction is, seen from the other side, a curve that turns."""
INDEPENDENCE: dict[str, tuple[tuple[str, ...], list[Pair], list[Pair]]] = {
    "linear": (
        TREND,
        [
            ("correlation .45", 80, line([0.45])),
            ("three correlations of .35", 100, line([0.35, 0.35, 0.35])),
            ("strong: correlation .95", 400, line([0.95])),
        ],
        [
            ("correlation .3, 200 pairs", 200, line([0.3])),
            ("five correlations of .3", 120, line([0.3] * 5)),
            ("one of four is .6", 100, line([0.6, 0, 0, 0])),
            ("strong: two correlations of .9", 300, line([0.9, 0.9])),
        ],
    ),
    "monotone": (
        TREND,
        [
            ("an exponential", 80, function(lambda x: np.exp(2 * x), 2.0)),
            ("a cube", 80, function(lambda x: 4 * x**3, 1.5)),
            ("strong: an exponential", 300, function(lambda x: np.exp(2 * x), 0.3)),
        ],
        [
            ("a step", 100, function(lambda x: 1.0 * (x > 0.3), 0.6)),
            ("a root, heavy tails", 100, heavy_slope),
            ("a sigmoid", 60, function(lambda x: np.tanh(4 * x), 0.9)),
            ("strong: a sigmoid", 400, function(lambda x: np.tanh(4 * x), 0.2)),
        ],
    ),
    "bowl": (
        CURVE,
        [
            ("a parabola", 80, function(lambda x: x**2, 0.35)),
            ("a V", 100, function(np.abs, 0.3)),
            ("strong: a parabola", 300, function(lambda x: x**2, 0.05)),
        ],
        [
            ("a W", 100, function(lambda x: 4 * (x**2 - 0.5) ** 2, 0.45)),
            ("a parabola of normal values", 100, of_normal(lambda x: x**2, 1.5)),
            ("a cosine", 120, function(lambda x: np.cos(np.pi * x), 0.9)),
            ("strong: a cosine", 300, function(lambda x: np.cos(np.pi * x), 0.2)),
        ],
    ),
    "sine": (
        CURVE,
        [
            ("two periods", 80, function(lambda x: np.sin(2 * np.pi * x), 0.8)),
            ("four periods", 150, function(lambda x: np.sin(4 * np.pi * x), 0.8)),
            ("strong: two periods", 300, function(lambda x: np.sin(2 * np.pi * x), 0.1)),
        ],
        [
            ("three periods", 120, function(lambda x: np.sin(3 * np.pi * x), 0.8)),
            ("five teeth of a saw", 120, function(lambda x: (5 * x) % 1 - 0.5, 0.25)),
            ("three periods of normal values", 150, of_normal(lambda x: np.sin(4 * x), 0.7)),
            ("strong: three periods", 400, function(lambda x: np.sin(3 * np.pi * x), 0.2)),
        ],
    ),
    "heteroscedastic": (
        GROWING,
        [
            ("deviation .3 + |x|", 100, wide_where(lambda x: 0.3 + np.abs(x))),
            ("deviation exp(.8 x)", 100, wide_where(lambda x: np.exp(0.8 * x))),
            ("strong: deviation exp(.8 x)", 500, wide_where(lambda x: np.exp(0.8 * x))),
        ],
        [
            ("a common random scale", 150, common_scale),
            ("deviation 1 or 2.5", 120, wide_where(lambda x: 1 + 1.5 * (x > 0))),
            ("deviation 1 / (.3 + x²)", 100, wide_where(lambda x: 1 / (0.3 + x**2))),
            ("strong: deviation .1 + |x|", 500, wide_where(lambda x: 0.1 + np.abs(x))),
        ],
    ),
    "product": (
        SEVERAL,
        [
            ("a product", 100, product(2, 0.7)),
            ("the sign of a product", 120, signs),
            ("strong: a product", 300, product(2, 0.2)),
        ],
        [
            ("a product of two of four", 150, product(4, 0.7)),
            ("a product, 200 pairs", 200, product(2, 1.2)),
            ("an exclusive or", 120, exclusive_or),
            ("strong: a product of two of three", 400, product(3, 0.3)),
        ],
    ),
    "local": (
        LOCAL,
        [
            ("joint waves, two by two", 250, jointly_perturbed(2, 1)),
            ("four dense spots", 250, in_a_box(0.25, 0.05)),
            ("strong: four dense spots", 600, in_a_box(0.4, 0.05)),
        ],
        [
            ("joint waves, three by three", 600, jointly_perturbed(3, 1)),
            ("five clusters", 60, latin_clusters([2, 4, 1, 3, 0], 0.3)),
            ("four dense spots, fewer", 300, in_a_box(0.2, 0.08)),
            ("strong: joint waves, two by two", 800, jointly_perturbed(2, 1)),
        ],
    ),
    "ring": (
        ("spread", "local"),
        [
            ("a circle", 80, ring(0.2)),
            ("a wide circle", 100, ring(0.3)),
            ("strong: a circle", 300, ring(0.1)),
        ],
        [
            ("a diamond", 120, diamond),
            ("a thin circle", 60, ring(0.1)),
            ("strong: a thin circle", 300, ring(0.03)),
        ],
    ),
}
"""Of every kind: the words that are right, the settings for design, and those held out."""


def kind_settings(question: str, *, held_out: bool) -> list[Setting]:
    """Return the settings of one question, "two samples" or "independence"."""
    return [*_two_samples(held_out)] if question == "two samples" else [*_independence(held_out)]


def _two_samples(held_out: bool) -> list[Setting]:
    def later(n: int, m: int, first: Sample, second: Sample) -> Callable[[Rng], Data]:
        return lambda rng: (first(rng, n), second(rng, m))

    return [
        Setting(kind, f"{kind}: {name}", right, later(*how), held_out)
        for kind, (right, *both) in TWO_SAMPLES.items()
        for name, *how in both[held_out]
    ]


def _independence(held_out: bool) -> list[Setting]:
    def later(n: int, draw: Pairs) -> Callable[[Rng], Data]:
        return lambda rng: draw(rng, n)

    return [
        Setting(kind, f"{kind}: {name}", right, later(*how), held_out)
        for kind, (right, *both) in INDEPENDENCE.items()
        for name, *how in both[held_out]
    ]
