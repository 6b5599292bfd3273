"""The data of public benchmarks, drawn anew from the definitions in their papers.

None of these settings took part in the design of the default tests; what did is in
``benchmarks/power/design_cases.py``.

- Biggs, Schrab & Gretton (2023), MMD-FUSE, section 5: a mixture of four normal distributions in the plane at
  (±20, ±20), of which one has another deviation in the second sample; a uniform distribution against one that is
  perturbed as in Schrab et al. (2023), eq. (17), by two bumps an axis with signs that are drawn anew in every trial.
- Likelihood ratio tests by kernel Gaussian embedding (arXiv 2508.07982): n = 100 and 100 rows, d = 500 columns.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

Rng = np.random.Generator
Data = tuple[np.ndarray, np.ndarray]
BUMPS = 2
FAR = 20.0


@dataclass(frozen=True)
class Setting:
    """A data set, where it is from, the powers that were published, and what we ask of ourselves."""

    source: str
    draw: Callable[[Rng], Data]
    published: dict[str, float]
    asked: float

    def data(self, name: str, trial: int) -> Data:
        return self.draw(np.random.default_rng([zlib.crc32(name.encode()), trial]))


def mixture(sd: float, n: int = 500) -> Callable[[Rng], Data]:
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


def perturbation(points: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return Σ_j θ_j Π_r e G(2 x_r - j_r) over the cells j: between -1 and 1."""
    axes = [np.e * bump(points * BUMPS - j) for j in range(1, BUMPS + 1)]
    cells = product(range(BUMPS), repeat=points.shape[1])
    return sum(
        sign * np.prod([axes[j][:, r] for r, j in enumerate(cell)], axis=0)
        for sign, cell in zip(signs, cells, strict=True)
    )


def perturbed_uniform(d: int, scale: float, n: int = 500) -> Callable[[Rng], Data]:
    """A perturbed uniform distribution on the unit cube against the uniform one."""

    def draw(rng: Rng) -> Data:
        signs = rng.choice([-1.0, 1.0], BUMPS**d)
        kept = np.empty((0, d))
        while len(kept) < n:
            points = rng.random((2 * n, d))
            heights = 1 + scale * perturbation(points, signs)
            kept = np.concatenate([kept, points[rng.random(2 * n) * (1 + scale) <= heights]])
        return kept[:n], rng.random((n, d))

    return draw


def normal_with(covariance: Callable[[float], np.ndarray], first: float, second: float) -> Callable[[Rng], Data]:
    """Normal distributions with two covariances, 100 rows each."""
    roots = [np.linalg.cholesky(covariance(rho)) for rho in (first, second)]

    def draw(rng: Rng) -> Data:
        X, Y = (rng.standard_normal((100, len(root))) @ root.T for root in roots)
        return X, Y

    return draw


def autoregressive(rho: float, d: int = 500) -> np.ndarray:
    return rho ** np.abs(np.subtract.outer(range(d), range(d)))


def equicorrelated(rho: float, d: int = 500) -> np.ndarray:
    return (1 - rho) * np.eye(d) + rho


_FUSE, _KLR = "MMD-FUSE", "arXiv 2508.07982"
SETTINGS: dict[str, Setting] = {
    "mixture sd .6": Setting(_FUSE, mixture(0.6), {"MMD-FUSE": 0.945, "MMDAgg": 0.915, "ACTT": 0.835}, 0.945),
    "mixture sd .7": Setting(_FUSE, mixture(0.7), {"MMD-FUSE": 0.51, "MMDAgg": 0.46, "ACTT": 0.30}, 0.60),
    "mixture sd 1.6": Setting(_FUSE, mixture(1.6), {"MMD-FUSE": 0.635, "MMDAgg": 0.675, "ACTT": 0.415}, 0.675),
    "perturbed uniform d=1": Setting(
        _FUSE, perturbed_uniform(1, 0.3), {"MMD-FUSE": 0.505, "MMDAgg": 0.605, "ACTT": 0.415}, 0.605
    ),
    "perturbed uniform d=2": Setting(
        _FUSE, perturbed_uniform(2, 0.6), {"MMD-FUSE": 0.485, "MMDAgg": 0.395, "ACTT": 0.305}, 0.485
    ),
    "AR correlation .5, .6": Setting(
        _KLR, normal_with(autoregressive, 0.5, 0.6), {"kernel likelihood ratio": 0.955, "MMDAgg": 0.04}, 0.80
    ),
    "equicorrelation .5, .525": Setting(
        _KLR, normal_with(equicorrelated, 0.5, 0.525), {"kernel likelihood ratio": 0.925, "MMDAgg": 0.035}, 0.85
    ),
}
