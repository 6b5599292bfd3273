"""MMD-FUSE: Biggs, Schrab & Gretton (2023), MMD-FUSE: learning and combining kernels without data splitting.

log mean exp(λ n (n - 1) MMD²_k / |K|) over ten Laplace and ten Gaussian kernels k, |K| the root of the sum of squares
of k over all pairs of different pooled rows, n the smaller size, λ = √(n (n - 1)): as in the program of the authors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rebuilt.sums import distances, labels, pvalue, unbiased

BANDWIDTHS = 10


def bandwidths(gaps: np.ndarray) -> np.ndarray:
    """Return half the 5 % quantile of the pooled distances to twice the 95 % quantile, evenly spaced.

    Zeros, among them those of every row from itself, count as the median.
    """
    gaps = gaps[np.triu_indices(len(gaps))]
    gaps = np.sort(np.where(gaps == 0, np.median(gaps), gaps))
    return np.linspace(gaps[int(0.05 * len(gaps))] / 2, 2 * gaps[int(0.95 * len(gaps))], BANDWIDTHS)


def kernels(pooled: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the Gram matrices exp(-√2 |·|₁ / λ), then exp(-|·|₂² / 2 λ²), zero on the diagonal."""
    for order, factor in ((1, 2**0.5), (2, 0.5)):
        gaps = distances(pooled, pooled, order)
        for width in bandwidths(gaps):
            gram = np.exp(-factor * (gaps / width) ** order)
            np.fill_diagonal(gram, 0)
            yield gram


def mmd_fuse(x: np.ndarray, y: np.ndarray, copies: int = 500, seed: int = 0) -> float:
    """Return the p-value over random permutations (2000 in the paper)."""
    ones = labels(len(x), len(y), copies, np.random.default_rng(seed))
    n = min(len(x), len(y))
    scaled = [n * (n - 1) * unbiased(gram, ones) / np.linalg.norm(gram) for gram in kernels(np.vstack([x, y]))]
    powers = (n * (n - 1)) ** 0.5 * np.array(scaled)
    top = powers.max(axis=0)
    return float(pvalue(top + np.log(np.mean(np.exp(powers - top), axis=0))))
