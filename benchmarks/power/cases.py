"""The data sets of the power study: where two distributions differ, and how two variables depend.

Sizes are set so that the best methods reject in half to nine tenths of the trials. Cases that are held out took no part
in the design of the adaptive tests.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Rng = np.random.Generator
Data = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Case:
    """A name, what it is, the sizes, and how to draw a data set."""

    name: str
    kind: str  # "two samples" or "independence"
    text: str
    draw: Callable[[Rng], Data]
    null: bool = False
    held_out: bool = False

    def data(self, trial: int) -> Data:
        return self.draw(np.random.default_rng([zlib.crc32(self.name.encode()), trial]))


CASES: dict[str, Case] = {}


def two(name: str, n: int, m: int, first: Callable, second: Callable, text: str, **flags: bool) -> None:
    CASES[name] = Case(
        name, "two samples", f"{text}; {n} and {m} rows", lambda rng: (first(rng, n), second(rng, m)), **flags
    )


def pair(name: str, n: int, draw: Callable, text: str, **flags: bool) -> None:
    CASES[name] = Case(name, "independence", f"{text}; {n} pairs", lambda rng: draw(rng, n), **flags)


def normal(d: int, shift: object = 0.0, scale: object = 1.0) -> Callable:
    return lambda rng, n: rng.standard_normal((n, d)) * scale + shift


def correlated(d: int, rho: float) -> Callable:
    root = np.linalg.cholesky(rho ** np.abs(np.subtract.outer(range(d), range(d))))
    return lambda rng, n: rng.standard_normal((n, d)) @ root.T


def uniform(d: int) -> Callable:
    return lambda rng, n: rng.random((n, d))


def density(d: int, height: Callable, top: float) -> Callable:
    """A distribution on the unit cube by rejection."""

    def draw(rng: Rng, n: int) -> np.ndarray:
        kept = np.empty((0, d))
        while len(kept) < n:
            points = rng.random((4 * n, d))
            kept = np.vstack([kept, points[rng.random(4 * n) * top < height(points)]])
        return kept[:n]

    return draw


def waves(k: int, size: float) -> Callable:
    return lambda points: 1 + size * np.prod(np.sin(2 * np.pi * k * points), axis=1)


def blobs(rho: float) -> Callable:
    root = np.linalg.cholesky([[1, rho], [rho, 1]])
    return lambda rng, n: 5.0 * rng.integers(0, 3, (n, 2)) + rng.standard_normal((n, 2)) @ root.T


def axis(d: int, value: float) -> np.ndarray:
    return np.concatenate([[value], np.zeros(d - 1)])


def mixed(rng: Rng, n: int) -> np.ndarray:
    x = rng.standard_normal((n, 3))
    inside = rng.random(n) < 0.15
    x[inside] = 1 + 0.15 * x[inside]
    return x


def outliers(rng: Rng, n: int) -> np.ndarray:
    return rng.standard_normal((n, 2)) + (rng.random((n, 1)) < 0.09) * np.array([4.0, 0.0])


def clusters(k: int) -> Callable:
    centers = 2.5 * np.eye(10)[:k]
    return lambda rng, n: centers[rng.integers(0, k, n)] - centers.mean(0) + rng.standard_normal((n, 10))


def counts(rate: float) -> Callable:
    return lambda rng, n: rng.poisson(rate, (n, 1)).astype(float)


UNITS = np.array([1.0, 30.0, 1000.0])

two("shift d=1", 50, 50, normal(1), normal(1, 0.55), "normal, means differ")
two("shift d=2", 50, 50, normal(2), normal(2, 0.42), "normal, means differ")
two("shift d=10", 50, 50, normal(10), normal(10, 0.25), "normal, all ten means differ")
two("scale d=1", 50, 50, normal(1), normal(1, scale=1.8), "normal, deviations 1 and 1.8")
two("scale d=2", 50, 50, normal(2), normal(2, scale=1.5), "normal, deviations 1 and 1.5")
two("scale d=10", 50, 50, normal(10), normal(10, scale=1.2), "normal, deviations 1 and 1.2")
two("waves d=1 k=2", 100, 100, uniform(1), density(1, waves(2, 0.65), 2), "uniform, and with two waves")
two("waves d=1 k=4", 150, 150, uniform(1), density(1, waves(4, 0.65), 2), "uniform, and with four waves")
two("waves d=2 k=1", 120, 120, uniform(2), density(2, waves(1, 1.0), 2), "uniform, and with waves on both axes")
two("blobs", 150, 150, blobs(0.0), blobs(0.85), "nine clusters, round or slanted")
two("correlation d=2", 100, 100, normal(2), correlated(2, 0.6), "normal, uncorrelated or 0.6")
two("correlation d=5", 60, 60, normal(5), correlated(5, 0.5), "normal, uncorrelated or autoregressive 0.5")
two("sparse d=20", 50, 50, normal(20), normal(20, axis(20, 0.95)), "normal, one mean of 20 differs")
two("sparse d=50", 50, 50, normal(50), normal(50, axis(50, 1.1)), "normal, one mean of 50 differs")
two(
    "Cauchy", 60, 60, lambda r, n: r.standard_cauchy((n, 1)), lambda r, n: r.standard_cauchy((n, 1)) + 1, "shifted by 1"
)
two("tails", 150, 150, normal(1), lambda r, n: r.standard_t(2, (n, 1)) / 1.3, "normal, and Student's t with 2 degrees")
two("skewness", 60, 60, normal(1), lambda r, n: r.exponential(1, (n, 1)) - 1, "normal and exponential, equal moments")
two("counts", 60, 60, counts(2.0), counts(2.9), "Poisson, 2 and 2.9: many ties")
two("contamination", 80, 80, normal(2), outliers, "normal, and with 9 % outliers")
two("local d=3", 80, 80, normal(3), mixed, "normal, and with 15 % in a small ball")
two("units d=3", 50, 50, normal(3, scale=UNITS), normal(3, axis(3, 0.75), UNITS), "columns in units of 1, 30 and 1000")
two("unbalanced shift", 20, 150, normal(2), normal(2, 0.55), "normal, means differ")
two("unbalanced wide", 20, 150, normal(2, scale=1.5), normal(2), "the small sample is wider")
two("unbalanced narrow", 20, 150, normal(2, scale=0.6), normal(2), "the small sample is narrower")
two("tiny", 8, 8, normal(2), normal(2, 1.1), "normal, means differ")
two("null normal", 50, 50, normal(2), normal(2), "one distribution", null=True)
two("null ties", 15, 15, *[lambda r, n: r.integers(0, 2, (n, 2)).astype(float)] * 2, "binary columns", null=True)
two("null heavy", 10, 60, *[lambda r, n: r.standard_cauchy((n, 1))] * 2, "Cauchy", null=True)
two("Laplace", 200, 200, normal(1), lambda r, n: r.laplace(0, 0.5**0.5, (n, 1)), "normal and Laplace", held_out=True)
two(
    "uniform d=2",
    80,
    80,
    normal(2),
    lambda r, n: r.uniform(-(3**0.5), 3**0.5, (n, 2)),
    "normal and uniform",
    held_out=True,
)
two("clusters d=10", 80, 80, clusters(2), clusters(6), "two or six clusters", held_out=True)
two(
    "gamma",
    100,
    100,
    lambda r, n: r.gamma(2, 1, (n, 1)),
    lambda r, n: r.gamma(3, 0.667, (n, 1)),
    "shapes 2 and 3",
    held_out=True,
)
two(
    "lognormal d=3",
    50,
    50,
    lambda r, n: r.lognormal(0, 1, (n, 3)),
    lambda r, n: r.lognormal(0.35, 1, (n, 3)),
    "scales differ",
    held_out=True,
)
two("one variance of 8", 70, 70, normal(8), normal(8, scale=1 + axis(8, 0.8)), "one deviation is 1.8", held_out=True)


def function(f: Callable, noise: float, low: float = -1.0) -> Callable:
    def draw(rng: Rng, n: int) -> Data:
        x = rng.uniform(low, 1, (n, 1))
        return x, f(x) + noise * rng.standard_normal((n, 1))

    return draw


def linear(rho: float, d: int = 1) -> Callable:
    def draw(rng: Rng, n: int) -> Data:
        x = rng.standard_normal((n, d))
        return x, rho * x + (1 - rho**2) ** 0.5 * rng.standard_normal((n, d))

    return draw


def joint(k: int) -> Callable:
    law = density(2, waves(k, 1.0), 2)

    def draw(rng: Rng, n: int) -> Data:
        points = law(rng, n)
        return points[:, :1], points[:, 1:]

    return draw


def circle(rng: Rng, n: int) -> Data:
    angle = rng.uniform(0, 2 * np.pi, (n, 1))
    return np.cos(angle) + 0.3 * rng.standard_normal((n, 1)), np.sin(angle) + 0.3 * rng.standard_normal((n, 1))


def heteroscedastic(rng: Rng, n: int) -> Data:
    x = rng.standard_normal((n, 1))
    return x, (0.4 + np.abs(x)) * rng.standard_normal((n, 1))


def xor(rng: Rng, n: int) -> Data:
    x = rng.integers(0, 2, (n, 2))
    y = x.sum(1, keepdims=True) % 2
    return x + 0.3 * rng.standard_normal((n, 2)), y + 0.6 * rng.standard_normal((n, 1))


def signs(rng: Rng, n: int) -> Data:
    x = rng.standard_normal((n, 2))
    y = np.sign(x[:, :1] * x[:, 1:]) * np.abs(rng.standard_normal((n, 1)))
    return x, y + rng.standard_normal((n, 1))


def checkerboard(k: int) -> Callable:
    def draw(rng: Rng, n: int) -> Data:
        a, b = rng.integers(0, k, (2, 20 * n))
        kept = np.flatnonzero(((a + b) % 2 == 0) | (rng.random(20 * n) < 0.25))[:n]
        return (a[kept] + rng.random(n))[:, None], (b[kept] + rng.random(n))[:, None]

    return draw


def sparse(rng: Rng, n: int) -> Data:
    x, y = rng.standard_normal((2, n, 10))
    y[:, 0] = 0.68 * x[:, 0] + (1 - 0.68**2) ** 0.5 * y[:, 0]
    return x, y


def heavy(rng: Rng, n: int) -> Data:
    x = rng.standard_cauchy((n, 1))
    return x, 0.3 * x + rng.standard_cauchy((n, 1))


def volatility(rng: Rng, n: int) -> Data:
    s = np.exp(0.8 * rng.standard_normal((n, 1)))
    return s * rng.standard_normal((n, 1)), s * rng.standard_normal((n, 1))


def spiral(rng: Rng, n: int) -> Data:
    t = 1 + 3.5 * np.pi * rng.random((n, 1))
    return t * np.cos(t) + rng.standard_normal((n, 1)), t * np.sin(t) + rng.standard_normal((n, 1))


def cross(rng: Rng, n: int) -> Data:
    x = rng.uniform(-1, 1, (n, 1))
    return x, rng.choice([-1, 1], (n, 1)) * x + 0.4 * rng.standard_normal((n, 1))


def rates(rng: Rng, n: int) -> Data:
    x = rng.integers(0, 4, (n, 1)).astype(float)
    return x, rng.poisson(1 + 0.45 * x).astype(float)


def diamond(rng: Rng, n: int) -> Data:
    u, v = rng.uniform(-1, 1, (2, n, 1))
    return u + v, u - v


def noise_only(rng: Rng, n: int) -> Data:
    return rng.standard_normal((n, 1)), rng.standard_normal((n, 1))


def coins(rng: Rng, n: int) -> Data:
    return rng.integers(0, 2, (n, 1)).astype(float), rng.integers(0, 2, (n, 1)).astype(float)


def sphere(rng: Rng, n: int) -> Data:
    z = rng.standard_normal((n, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    z += 0.2 * rng.standard_normal((n, 3))
    return z[:, :2], z[:, 2:]


pair("linear", 60, linear(0.35), "normal, correlation 0.35")
pair("linear d=5", 60, linear(0.2, 5), "five correlations of 0.2")
pair("sine 1", 40, function(lambda x: np.sin(np.pi * x), 1.3), "one period")
pair("sine 2", 60, function(lambda x: np.sin(2 * np.pi * x), 1.1), "two periods")
pair("sine 4", 80, function(lambda x: np.sin(4 * np.pi * x), 0.9), "four periods")
pair("sine 8", 80, function(lambda x: np.sin(8 * np.pi * x), 0.5), "eight periods")
pair("joint waves 1", 60, joint(1), "density 1 + sin(2πx) sin(2πy)")
pair("joint waves 2", 120, joint(2), "density 1 + sin(4πx) sin(4πy)")
pair("circle", 50, circle, "noisy circle")
pair("heteroscedastic", 60, heteroscedastic, "the deviation of y grows with |x|")
pair("XOR clouds", 60, xor, "y is the exclusive or of two coins, with noise")
pair("XOR signs", 60, signs, "the sign of y is that of a product")
pair("checkerboard 3", 60, checkerboard(3), "three by three fields")
pair("checkerboard 4", 80, checkerboard(4), "four by four fields")
pair("parabola", 50, function(lambda x: x**2, 0.5), "y = x² with noise")
pair("tiny linear", 12, linear(0.7), "normal, correlation 0.7")
pair("tiny parabola", 12, function(lambda x: x**2, 0.1), "y = x² with little noise")
pair("sparse d=10", 80, sparse, "one of ten columns is correlated 0.68")
pair("Cauchy slope", 60, heavy, "Cauchy regression")
pair("volatility", 80, volatility, "a common random scale")
pair("counts slope", 60, rates, "Poisson rates that rise: many ties")
pair("spiral", 80, spiral, "noisy spiral")
pair("step", 60, function(lambda x: 0.9 * (x > 0.6), 0.6), "a step")
pair("cross", 60, cross, "y = x or y = -x")
pair("null pairs", 60, noise_only, "independent normal", null=True)
pair("null coins", 30, coins, "independent coins", null=True)
pair("W", 60, function(lambda x: 4 * (x**2 - 0.5) ** 2, 0.6), "a curve like a W", held_out=True)
pair("bump", 60, function(lambda x: np.exp(-0.5 * (x / 0.1) ** 2), 0.35), "a narrow peak", held_out=True)
pair("diamond", 80, diamond, "uniform on a diamond", held_out=True)
pair("sphere", 60, sphere, "two coordinates against the third", held_out=True)
pair("exponential", 30, function(lambda x: np.exp(4 * x), 22.0), "a curve that rises late", held_out=True)
pair("cubic", 40, function(lambda x: 4 * x**3 - 3 * x, 1.0), "a Chebyshev cubic", held_out=True)
