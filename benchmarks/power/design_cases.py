"""The cases on which the default tests are designed: members and weights may be chosen on these, and on no others.

Beside those below: the cases of ``cases.py`` that are not marked as held out, on trials from 60000 on, which the power
study never looks at. **Held out** from the design are the marked cases of ``cases.py``, all of ``benchmarks/public``
(whose settings none of the cases below repeats), and cases that are written after the weights were fixed.

Sizes and strengths were set before anything was tuned, so that some test should find about half of them. The large
ones were added after a first look at ``benchmarks/public`` (60 trials a setting, of numbers from 900000 on) had shown
that the weights for few rows do not serve many.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from cases import CASES, Case
from scipy.special import ndtri, stdtr

Rng = np.random.Generator
Sample = Callable[[Rng, int], np.ndarray]
Pairs = Callable[[Rng, int], tuple[np.ndarray, np.ndarray]]
FIRST_TRIAL = 40_000
FIRST_TRIAL_OF_CASES = 60_000


def normal(rng: Rng, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


def normals(d: int, shift: float = 0.0, scale: float = 1.0) -> Sample:
    return lambda rng, n: normal(rng, n, d) * scale + shift


def autoregressive(rho: float, d: int) -> Sample:
    root = np.linalg.cholesky(rho ** np.abs(np.subtract.outer(range(d), range(d))))
    return lambda rng, n: normal(rng, n, d) @ root.T


def equicorrelated(rho: float, d: int) -> Sample:
    return lambda rng, n: np.sqrt(1 - rho) * normal(rng, n, d) + np.sqrt(rho) * normal(rng, n, 1)


def moving_average(c: float, d: int) -> Sample:
    def draw(rng: Rng, n: int) -> np.ndarray:
        noise = normal(rng, n, d + 1)
        return (noise[:, 1:] + c * noise[:, :-1]) / np.sqrt(1 + c * c)

    return draw


def three_clusters(sd: float) -> Sample:
    centers = np.array([[15.0, 0, 0], [-15.0, 10, 0], [0, -15.0, 10.0]])

    def draw(rng: Rng, n: int) -> np.ndarray:
        label = rng.integers(0, 3, n)
        return centers[label] + np.where(label == 0, sd, 1.0)[:, None] * normal(rng, n, 3)

    return draw


def clusters_on_a_line(sd: float) -> Sample:
    def draw(rng: Rng, n: int) -> np.ndarray:
        label = rng.integers(0, 5, n)
        return (30.0 * label + np.where(label == 1, sd, 1.0) * rng.standard_normal(n))[:, None]

    return draw


def clusters_on_a_square(sd: float) -> Sample:
    def draw(rng: Rng, n: int) -> np.ndarray:
        label = rng.integers(0, 2, (n, 2))
        return 12.0 * label + np.where(label.sum(1) == 0, sd, 1.0)[:, None] * normal(rng, n, 2)

    return draw


def uniforms(d: int) -> Sample:
    return lambda rng, n: rng.random((n, d))


def perturbed(d: int, k: int, amplitude: float) -> Sample:
    """Return a distribution of density 1 + a Π_j sin(2πk x_j) on the unit cube."""

    def draw(rng: Rng, n: int) -> np.ndarray:
        kept = np.empty((0, d))
        while len(kept) < n:
            points = rng.random((4 * n, d))
            height = 1 + amplitude * np.sin(2 * np.pi * k * points).prod(1)
            kept = np.concatenate([kept, points[rng.random(4 * n) * (1 + amplitude) <= height]])
        return kept[:n]

    return draw


def with_a_lump(d: int, width: float, share: float) -> Sample:
    def draw(rng: Rng, n: int) -> np.ndarray:
        points = normal(rng, n, d)
        inside = rng.random(n) < share
        points[inside] = 0.8 + width * points[inside]
        return points

    return draw


def random_radius(d: int, spread: float) -> Sample:
    return lambda rng, n: normal(rng, n, d) * np.sqrt(np.maximum(rng.normal(1, spread, (n, 1)), 0.01))


def uniform_columns(d: int) -> Sample:
    return lambda rng, n: rng.uniform(-(3**0.5), 3**0.5, (n, d))


def laplace_columns(d: int) -> Sample:
    return lambda rng, n: rng.laplace(0, 0.5**0.5, (n, d))


def some_shifted(d: int, k: int, shift: float) -> Sample:
    return lambda rng, n: normal(rng, n, d) + shift * (np.arange(d) < k)


def two_sided(d: int, a: float) -> Sample:
    return lambda rng, n: (rng.choice([-a, a], (n, d)) + normal(rng, n, d)) / np.sqrt(1 + a * a)


def categories(shares: list[float]) -> Sample:
    return lambda rng, n: rng.choice(len(shares), (n, 1), p=shares).astype(float)


def annulus(rng: Rng, n: int) -> np.ndarray:
    angle, radius = rng.uniform(0, 2 * np.pi, n), 1.25 + 0.45 * rng.standard_normal(n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)]


def student_copula(d: int) -> Sample:
    return lambda rng, n: ndtri(stdtr(2, normal(rng, n, d) / np.sqrt(rng.chisquare(2, (n, 1)) / 2)))


def students(df: float, d: int, shift: float = 0.0, scale: float = 1.0) -> Sample:
    return lambda rng, n: rng.standard_t(df, (n, d)) * scale + shift


def exponentials(rate: float) -> Sample:
    return lambda rng, n: rng.exponential(rate, (n, 1))


def paretos(scale: float) -> Sample:
    return lambda rng, n: rng.pareto(2, (n, 2)) * scale


def two_modes(rng: Rng, n: int) -> np.ndarray:
    return rng.choice([-1.3, 1.3], (n, 1)) + 0.6 * normal(rng, n, 1)


TWO_SAMPLES: dict[str, tuple[int, int, Sample, Sample]] = {
    "far3 d3": (150, 150, three_clusters(1.0), three_clusters(0.55)),
    "far1 narrow": (200, 200, clusters_on_a_line(1.0), clusters_on_a_line(0.55)),
    "far2 wide": (150, 150, clusters_on_a_square(1.0), clusters_on_a_square(1.7)),
    "pu1 k5": (200, 200, uniforms(1), perturbed(1, 5, 0.7)),
    "pu1 k2": (100, 100, uniforms(1), perturbed(1, 2, 0.65)),
    "pu2 k3": (300, 300, uniforms(2), perturbed(2, 3, 1.0)),
    "pu2 k1": (100, 100, uniforms(2), perturbed(2, 1, 0.9)),
    "local d2": (120, 120, normals(2), with_a_lump(2, 0.1, 0.08)),
    "local d5": (100, 100, normals(5), with_a_lump(5, 0.25, 0.12)),
    "t4 d1": (150, 150, normals(1), students(4, 1, scale=0.5**0.5)),
    "laplace d4": (80, 80, normals(4), laplace_columns(4)),
    "uniform d1": (80, 80, normals(1), uniform_columns(1)),
    "ar d60": (50, 50, autoregressive(0.4, 60), autoregressive(0.55, 60)),
    "equi d80": (60, 60, equicorrelated(0.4, 80), equicorrelated(0.47, 80)),
    "band d100": (60, 60, normals(100), moving_average(0.35, 100)),
    "ar d200": (80, 80, autoregressive(0.5, 200), autoregressive(0.6, 200)),
    "ar d20": (60, 60, autoregressive(0.3, 20), autoregressive(0.55, 20)),
    "unb ar d80": (40, 100, autoregressive(0.45, 80), autoregressive(0.6, 80)),
    "sphere d100": (50, 50, normals(100), random_radius(100, 0.3)),
    "cube d100": (60, 60, normals(100), two_sided(100, 1.2)),
    "sparse d150 k2": (60, 60, normals(150), some_shifted(150, 2, 0.75)),
    "shift all d60": (40, 40, normals(60), normals(60, 0.13)),
    "shift d3": (40, 40, normals(3), normals(3, 0.4)),
    "shift d1 n15": (15, 15, normals(1), normals(1, 0.95)),
    "shift d4 n12": (12, 12, normals(4), normals(4, 0.65)),
    "scale d3 n20": (20, 20, normals(3), normals(3, scale=1.8)),
    "t3 shift d2": (60, 60, students(3, 2), students(3, 2, 0.5)),
    "exp rates": (50, 50, exponentials(1.0), exponentials(1.6)),
    "cats": (60, 90, categories([0.2, 0.2, 0.2, 0.2, 0.1, 0.1]), categories([0.32, 0.08, 0.2, 0.2, 0.02, 0.18])),
    "pareto d2": (60, 60, paretos(1.0), paretos(1.6)),
    "unb wide d4": (25, 120, normals(4, scale=1.35), normals(4)),
    "unb local": (40, 200, normals(2), with_a_lump(2, 0.15, 0.2)),
    "bimodal": (80, 80, normals(1, scale=1.25**0.5 * 1.3), two_modes),
    "annulus": (100, 100, normals(2), annulus),
    "tcopula d4": (150, 150, normals(4), student_copula(4)),
}


LARGE: dict[str, tuple[int, int, Sample, Sample]] = {
    "shift d2 n300": (300, 300, normals(2), normals(2, 0.17)),
    "shift d1 n500": (500, 500, normals(1), normals(1, 0.17)),
    "shift d10 n300": (300, 300, normals(10), normals(10, 0.105)),
    "sparse d20 n300": (300, 300, normals(20), some_shifted(20, 1, 0.37)),
    "scale d3 n300": (300, 300, normals(3), normals(3, scale=1.11)),
    "scale d1 n400": (400, 400, normals(1), normals(1, scale=1.16)),
    "corr d3 n300": (300, 300, normals(3), autoregressive(0.23, 3)),
    "exp n300": (300, 300, exponentials(1.0), exponentials(1.2)),
    "pu1 k3 n500": (500, 500, uniforms(1), perturbed(1, 3, 0.35)),
    "pu2 k2 n500": (500, 500, uniforms(2), perturbed(2, 2, 0.65)),
    "pu3 k1 n400": (400, 400, uniforms(3), perturbed(3, 1, 0.9)),
    "local d2 n400": (400, 400, normals(2), with_a_lump(2, 0.12, 0.03)),
    "t5 n500": (500, 500, normals(1), students(5, 1, scale=0.6**0.5)),
    "skew n400": (400, 400, normals(1), lambda rng, n: (rng.gamma(12, 1, (n, 1)) - 12) / 12**0.5),
}
"""Added when weights for 300 rows and more were set: of the others hardly any was as large."""
TWO_SAMPLES |= LARGE


def function(f: Callable[[np.ndarray], np.ndarray], noise: float) -> Pairs:
    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = rng.uniform(-1, 1, (n, 1))
        return x, f(x) + noise * normal(rng, n, 1)

    return draw


def jointly_perturbed(k: int, d: int) -> Pairs:
    law = perturbed(1 + d, k, 1.0)

    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        points = law(rng, n)
        return points[:, :1], points[:, 1:]

    return draw


def correlated(rho: float, d: int, e: int, k: int) -> Pairs:
    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        x, y = normal(rng, n, d), normal(rng, n, e)
        y[:, :k] = rho * x[:, :k] + np.sqrt(1 - rho**2) * y[:, :k]
        return x, y

    return draw


def slope(b: float) -> Pairs:
    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        x = normal(rng, n, 1)
        return x, b * x + normal(rng, n, 1)

    return draw


def common_factor(rho: float, d: int) -> Pairs:
    def draw(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
        factor = normal(rng, n, 1)
        x, y = (np.sqrt(1 - rho) * normal(rng, n, d) + np.sqrt(rho) * factor for _ in range(2))
        return x, y

    return draw


def log_of_heavy(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.standard_cauchy((n, 1))
    return x, 0.3 * np.sign(x) * np.log1p(np.abs(x)) + 0.4 * rng.standard_t(2, (n, 1))


def product(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = normal(rng, n, 3)
    return x, x[:, :1] * x[:, 1:2] + 0.8 * normal(rng, n, 1)


def lissajous(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    t = rng.uniform(0, 2 * np.pi, (n, 1))
    return np.sin(2 * t) + 0.2 * normal(rng, n, 1), np.sin(3 * t) + 0.2 * normal(rng, n, 1)


def rings(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    t, radius = rng.uniform(0, 2 * np.pi, (n, 1)), rng.choice([1.0, 2.5], (n, 1))
    return radius * np.cos(t) + 0.25 * normal(rng, n, 1), radius * np.sin(t) + 0.25 * normal(rng, n, 1)


def permuted_clusters(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    label = rng.integers(0, 4, n)
    x = label + 0.3 * rng.standard_normal(n)
    return x[:, None], (np.array([2, 0, 3, 1])[label] + 0.9 * rng.standard_normal(n))[:, None]


def sometimes_linear(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x, some = normal(rng, n, 1), rng.random((n, 1)) < 0.3
    return x, np.where(some, 0.9 * x, 0) + np.where(some, 0.44, 1) * normal(rng, n, 1)


def common_scale(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    scale = 1 / np.sqrt(rng.chisquare(3, (n, 1)) / 3)
    return scale * normal(rng, n, 2), scale * normal(rng, n, 2)


def related_categories(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = rng.integers(0, 5, (n, 1)).astype(float)
    related = rng.random((n, 1)) < 0.3
    return x, np.where(related, (x * 2) % 5, rng.integers(0, 5, (n, 1))).astype(float)


def local_dependence(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y, inside = normal(rng, n, 1), normal(rng, n, 1), rng.random(n) < 0.12
    x[inside], y[inside] = 1 + 0.15 * x[inside], -1 + 0.15 * y[inside]
    return x, y


def sum_of_squares(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = normal(rng, n, 20)
    return x, 0.5 * (x**2 - 1).sum(1, keepdims=True) / 20**0.5 + 0.8 * normal(rng, n, 1)


def one_of_many(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x, y = normal(rng, n, 20), normal(rng, n, 5)
    y[:, 0] = np.sin(2 * x[:, 0]) + 0.6 * y[:, 0]
    return x, y


def growing_spread(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = normal(rng, n, 1)
    return x, np.exp(0.5 * x) * normal(rng, n, 1)


def bowl(rng: Rng, n: int) -> tuple[np.ndarray, np.ndarray]:
    x = normal(rng, n, 2)
    return x, (x**2).sum(1, keepdims=True) / 2 + 1.6 * normal(rng, n, 1)


INDEPENDENCE: dict[str, tuple[int, Pairs]] = {
    "lin n100": (100, slope(0.27)),
    "lin n15": (15, slope(0.75)),
    "lin d3": (70, correlated(0.27, 3, 3, 3)),
    "lin one of 8": (80, correlated(0.5, 8, 4, 1)),
    "common d20": (60, common_factor(0.05, 20)),
    "monotone": (60, function(lambda x: np.exp(2 * x), 3.0)),
    "cubic": (50, function(lambda x: 4 * x**3, 1.7)),
    "log heavy": (50, log_of_heavy),
    "sine 3": (70, function(lambda x: np.sin(3 * np.pi * x), 1.0)),
    "sine 6": (90, function(lambda x: np.sin(6 * np.pi * x), 0.8)),
    "sine 12": (120, function(lambda x: np.sin(12 * np.pi * x), 0.5)),
    "saw 5": (90, function(lambda x: (5 * x) % 1 - 0.5, 0.28)),
    "parabola n60": (60, function(lambda x: x**2, 0.6)),
    "parabola n10": (10, function(lambda x: x**2, 0.1)),
    "W": (60, function(lambda x: 4 * (x**2 - 0.5) ** 2, 0.55)),
    "pu 1 1 k3": (250, jointly_perturbed(3, 1)),
    "pu 1 2 k1": (150, jointly_perturbed(1, 2)),
    "pu 1 1 k2": (120, jointly_perturbed(2, 1)),
    "pu 1 2 k2": (500, jointly_perturbed(2, 2)),
    "product d3": (80, product),
    "lissajous": (60, lissajous),
    "rings": (90, rings),
    "clusters": (60, permuted_clusters),
    "mixlin": (80, sometimes_linear),
    "t scale": (60, common_scale),
    "cats": (100, related_categories),
    "local": (100, local_dependence),
    "highd quad": (80, sum_of_squares),
    "one of 20": (100, one_of_many),
    "hetero lin": (60, growing_spread),
    "bowl d2": (70, bowl),
}


def design_cases(kind: str) -> dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]]:
    """Return a function from the number of a trial to its data, for every case of one kind."""
    own = _two_samples() if kind == "two samples" else _independence()
    return own | {case.name: _later(case) for case in CASES.values() if _takes_part(case, kind)}


def _takes_part(case: Case, kind: str) -> bool:
    return case.kind == kind and not (case.held_out or case.null)


def _later(case: Case) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    return lambda trial: case.data(FIRST_TRIAL_OF_CASES + trial)


def _rng(name: str, trial: int) -> Rng:
    return np.random.default_rng([zlib.crc32(name.encode()), FIRST_TRIAL + trial])


def _two_samples() -> dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]]:
    def drawn(name: str) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
        n, m, first, second = TWO_SAMPLES[name]

        def data(trial: int) -> tuple[np.ndarray, np.ndarray]:
            rng = _rng(name, trial)
            return first(rng, n), second(rng, m)

        return data

    return {name: drawn(name) for name in TWO_SAMPLES}


def _independence() -> dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]]:
    def drawn(name: str) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
        n, draw = INDEPENDENCE[name]
        return lambda trial: draw(_rng(name, trial), n)

    return {name: drawn(name) for name in INDEPENDENCE}
