"""The data of public benchmarks, drawn anew from the definitions in their papers; ``settings.py`` says which are asked.

- Biggs, Schrab & Gretton (2023), MMD-FUSE, section 5: a mixture of four normal distributions in the plane at
  (±20, ±20), of which one has another deviation in the second sample; a uniform distribution against one that is
  perturbed as in Schrab et al. (2023), eq. (17), by two bumps an axis with signs that are drawn anew in every trial.
- Kernel likelihood ratio (arXiv 2508.07982), section 5: n = 100 and 100 rows, d = 500 columns.
- Schrab, Kim, Guedj & Gretton (2022), Efficient aggregated kernel tests, section 5: the first coordinate of a
  perturbed uniform distribution against the others, with signs that are the same in every trial.
- Liu et al. (2020), MMD-D, section 5: blobs, and two normal clusters in high dimension (HDGM).
- CSIC, simulation of pairs: what follows x is the mean of y, or its spread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

Rng = np.random.Generator
Data = tuple[np.ndarray, np.ndarray]
Draw = Callable[[Rng], Data]
Sample = Callable[[Rng], np.ndarray]
FAR = 20.0


def two(first: Sample, second: Sample) -> Draw:
    """Draw the first sample, then the second."""
    return lambda rng: (first(rng), second(rng))


def mixture(sd: float, n: int = 500) -> Draw:
    """Four clusters; the one at (-20, -20) has deviation ``sd`` in the second sample, all others 1."""

    def sample(rng: Rng, last: float) -> np.ndarray:
        corner = rng.integers(0, 4, n)
        centers = FAR * np.array([[1, 1], [-1, 1], [1, -1], [-1, -1]])[corner]
        return centers + np.where(corner == 3, last, 1.0)[:, None] * rng.standard_normal((n, 2))

    return lambda rng: (sample(rng, 1.0), sample(rng, sd))


def bump(t: np.ndarray) -> np.ndarray:
    """Return the smooth bump of Schrab et al. (2023) on (-1, 0): up in one half, down in the other."""
    height = np.zeros_like(t)
    up, down = (t > -1) & (t < -0.5), (t > -0.5) & (t < 0)
    height[up] = np.exp(-1 / (1 - (4 * t[up] + 3) ** 2))
    height[down] = -np.exp(-1 / (1 - (4 * t[down] + 1) ** 2))
    return height


def perturbation(points: np.ndarray, signs: Sequence[float], bumps: int) -> np.ndarray:
    """Return Σ_j θ_j Π_r e G(p x_r - j_r) over the cells j of p = ``bumps`` an axis: between -1 and 1."""
    axes = [np.e * bump(points * bumps - j) for j in range(1, bumps + 1)]
    cells = product(range(bumps), repeat=points.shape[1])
    return sum(
        sign * np.prod([axes[j][:, r] for r, j in enumerate(cell)], axis=0)
        for sign, cell in zip(signs, cells, strict=True)
    )


def perturbed(rng: Rng, shape: tuple[int, int], signs: Sequence[float], bumps: int, scale: float) -> np.ndarray:
    """Draw rows of density 1 + scale · perturbation on the unit cube, by rejection."""
    n, d = shape
    kept = np.empty((0, d))
    while len(kept) < n:
        points = rng.random((2 * n, d))
        heights = 1 + scale * perturbation(points, signs, bumps)
        kept = np.concatenate([kept, points[rng.random(2 * n) * (1 + scale) <= heights]])
    return kept[:n]


def perturbed_uniform(d: int, scale: float, n: int = 500, bumps: int = 2) -> Draw:
    """A perturbed uniform distribution on the unit cube against the uniform one."""

    def draw(rng: Rng) -> Data:
        signs = rng.choice([-1.0, 1.0], bumps**d)
        return perturbed(rng, (n, d), signs, bumps, scale), rng.random((n, d))

    return draw


def perturbed_pairs(n: int, signs: Sequence[float], d: int, scale: float) -> Draw:
    """The first coordinate of a perturbed uniform distribution against the d - 1 others; both are uniform alone."""
    bumps = round(len(signs) ** (1 / d))

    def draw(rng: Rng) -> Data:
        rows = perturbed(rng, (n, d), signs, bumps, scale)
        return rows[:, :1], rows[:, 1:]

    return draw


def normal(mean: object = 0.0, shape: tuple[int, int] = (100, 500)) -> Sample:
    return lambda rng: mean + rng.standard_normal(shape)


def leading(value: float, columns: int, d: int = 500) -> np.ndarray:
    """Return ``value`` in the first columns and 0 in the others."""
    return value * (np.arange(d) < columns)


def laplace(mean: object = 0.0, shape: tuple[int, int] = (100, 500)) -> Sample:
    return lambda rng: mean + rng.laplace(size=shape)


def sphere(radius: float, noise: float = 0.02, shape: tuple[int, int] = (100, 500)) -> Sample:
    """The uniform distribution on a sphere, with normal noise in every column."""

    def draw(rng: Rng) -> np.ndarray:
        points = rng.standard_normal(shape)
        points *= radius / np.linalg.norm(points, axis=1, keepdims=True)
        return points + noise * rng.standard_normal(shape)

    return draw


def spiked(variance: float, columns: int, shape: tuple[int, int] = (100, 500)) -> Sample:
    """Normal; the last columns are one and the same variable, of this variance: every entry of their block is."""

    def draw(rng: Rng) -> np.ndarray:
        rows = rng.standard_normal(shape)
        rows[:, -columns:] = variance**0.5 * rng.standard_normal((shape[0], 1))
        return rows

    return draw


def thin_cube(margin: float, columns: int, shape: tuple[int, int] = (100, 500)) -> Sample:
    """Uniform on [margin, 1 - margin] in the first columns and on [0, 1] in the others."""
    low = leading(margin, columns, shape[1])
    return lambda rng: low + (1 - 2 * low) * rng.random(shape)


def two_halves(distance: float, shape: tuple[int, int] = (100, 500)) -> Sample:
    """Normal; the first column of one half of the rows is moved by ``distance``, of the other half by minus that."""
    signs = np.repeat([-1.0, 1.0], shape[0] // 2)
    return lambda rng: rng.standard_normal(shape) + signs[:, None] * leading(distance, 1, shape[1])


def normal_with(covariance: Callable[[float], np.ndarray], first: float, second: float, n: int = 100) -> Draw:
    """Normal distributions with two covariances, n rows each."""
    roots = [np.linalg.cholesky(covariance(rho)) for rho in (first, second)]

    def draw(rng: Rng) -> Data:
        X, Y = (rng.standard_normal((n, len(root))) @ root.T for root in roots)
        return X, Y

    return draw


def autoregressive(rho: float, d: int = 500) -> np.ndarray:
    return rho ** np.abs(np.subtract.outer(range(d), range(d)))


def equicorrelated(rho: float, d: int = 500) -> np.ndarray:
    return (1 - rho) * np.eye(d) + rho


def blobs(n: int) -> Draw:
    """Nine clusters of variance .03 at (0, 1, 2)²; in the second sample their covariances are -.02 to .026."""
    covariances = [-0.02, -0.022, -0.024, -0.026, 0.0, 0.02, 0.022, 0.024, 0.026]
    roots = np.array([np.linalg.cholesky([[0.03, value], [value, 0.03]]) for value in covariances])

    def sample(rng: Rng, which: np.ndarray) -> np.ndarray:
        cell = rng.integers(0, 9, n)
        within = np.einsum("nij,nj->ni", which[cell], rng.standard_normal((n, 2)))
        return np.stack(np.divmod(cell, 3), axis=1) + within

    round_ones = np.array([0.03**0.5 * np.eye(2)] * 9)
    return lambda rng: (sample(rng, round_ones), sample(rng, roots))


def hdgm(n: int, d: int, rho: float = 0.5) -> Draw:
    """Two normal clusters at 0 and .5; in the second sample two columns are correlated, by ρ in one and -ρ in one."""
    roots = [np.linalg.cholesky([[1, r], [r, 1]]) for r in (rho, -rho)]

    def sample(rng: Rng, bent: bool) -> np.ndarray:
        rows = rng.standard_normal((n, d))
        half = n // 2
        if bent:
            rows[:half, :2], rows[half:, :2] = rows[:half, :2] @ roots[0].T, rows[half:, :2] @ roots[1].T
        rows[half:] += 0.5
        return rows

    return lambda rng: (sample(rng, False), sample(rng, True))


def step(rng: Rng, n: int) -> Data:
    """The mean of y moves beyond a step of x (U1 of CSIC)."""
    x, noise = rng.normal(size=(2, n))
    return x[:, None], (16.0 / np.sqrt(n) * (x > 0.5) + noise)[:, None]


def spread(rng: Rng, n: int) -> Data:
    """The spread of y rises with the size of x (U2 of CSIC)."""
    x, noise = rng.normal(size=(2, n))
    return x[:, None], (np.sqrt(1.0 + 20.0 / np.sqrt(n) * np.abs(x)) * noise)[:, None]
