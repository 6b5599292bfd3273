"""MMDAgg: Schrab, Kim, Albert, Laurent, Guedj & Gretton (2023), MMD aggregated two-sample test.

Ten Laplace and ten Gaussian kernels. Equal samples are calibrated by the wild bootstrap, which exchanges the rows x_i
and y_i at random; the statistic is then without the products of i with itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rebuilt.level import rejects
from rebuilt.sums import distances, labels, unbiased

BANDWIDTHS = 10
LOOKED_AT = 500
"""Rows of each sample whose distances set the bandwidths."""


def bandwidths(gaps: np.ndarray) -> np.ndarray:
    """Return half the least distance between the samples to twice the largest, in a geometric progression.

    Where the least is below .1, the 5 % quantile stands for it, or .1; and for the largest .3 at least.
    """
    gaps = np.sort(gaps, axis=None)
    least = gaps[0] if gaps[0] >= 0.1 else max(gaps[int(0.05 * len(gaps))], 0.1)
    return np.geomspace(least / 2, 2 * max(gaps[-1], 0.3), BANDWIDTHS)


def kernels(x: np.ndarray, y: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the Gram matrices of the pooled rows: exp(-|·|₁ / λ), then exp(-|·|₂² / λ²)."""
    pooled = np.vstack([x, y])
    for order in (1, 2):
        gaps = distances(pooled, pooled, order)
        for width in bandwidths(gaps[: len(x), len(x) :][:LOOKED_AT, :LOOKED_AT]):
            yield np.exp(-((gaps / width) ** order))


def exchanged(gram: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return Σ_{i≠j} s_i s_j (k(x_i, x_j) - k(x_i, y_j) - k(y_i, x_j) + k(y_i, y_j)) for every column of signs s."""
    n = len(signs)
    core = gram[:n, :n] - gram[:n, n:] - gram[n:, :n] + gram[n:, n:]
    np.fill_diagonal(core, 0)
    return np.einsum("ij,ij->j", signs, core @ signs)


def permuted(gram: np.ndarray, ones: np.ndarray) -> np.ndarray:
    np.fill_diagonal(gram, 0)
    return unbiased(gram, ones)


def random_signs(n: int, copies: int, rng: np.random.Generator) -> np.ndarray:
    """Return columns of signs, of which the first is all ones: as observed."""
    signs = rng.choice([-1.0, 1.0], (n, 1 + copies))
    signs[:, 0] = 1
    return signs


def mmd_agg(x: np.ndarray, y: np.ndarray, copies: int = 1000, spare: int = 500, seed: int = 0) -> float:
    """Return 0 where the test rejects at .05, else 1; ``spare`` copies find the level (2000 and 2000 in the paper)."""
    rng, n, m = np.random.default_rng(seed), len(x), len(y)
    if n == m:
        statistic, how = exchanged, random_signs(n, copies + spare, rng)
    else:
        statistic, how = permuted, labels(n, m, copies + spare, rng)
    values = np.array([statistic(gram, how) for gram in kernels(x, y)])
    return float(not rejects(values[:, : 1 + copies], values[:, 1 + copies :]))
