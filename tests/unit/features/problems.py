"""Random problems on which features are held to the kernel itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean import features
from kernelmean.kernels import Gaussian, Laplacian, Matern
from kernelmean.noise import Laplace, Normal, Uniform

NOISES = (None, Normal(0.3), Laplace(0.2), Uniform(0.5))


@dataclass(frozen=True)
class Pair:
    """Two feature embeddings, and the inner products that their kernel gives."""

    mu: km.embedding.Embedding
    nu: km.embedding.Embedding
    inner: float
    squared_norm: float
    squared_distance: float


def draw_data(rng: np.random.Generator) -> tuple[Any, ...]:
    """Return a kernel, two samples, weights of the first and a noise, of many kinds."""
    d, n, m = int(rng.integers(1, 6)), int(rng.integers(3, 40)), int(rng.integers(3, 40))
    theta = float(np.exp(0.7 * rng.normal()))
    kernels = (Gaussian(theta), Laplacian(theta), Matern(1.5, theta), Matern(2.5, theta))
    kernel = (*kernels, Gaussian(theta) + 0.5 * Laplacian(theta))[rng.integers(5)]
    X = rng.standard_t(2, size=(n, d)) if rng.random() < 0.3 else rng.normal(size=(n, d))
    Y = rng.normal(size=(m, d)) * rng.choice([1, 2]) + rng.choice([0.0, 0.3, 3.0])
    return kernel, X, Y, rng.random(n), NOISES[rng.integers(4)]


def with_truth(phi: Any, kernel: Any, X: Any, Y: Any, weights: Any, noise: Any) -> Pair:
    """Embed by features and by the kernel."""
    P = km.embed(X, kernel, weights=weights / weights.sum(), noise=noise)
    Q = km.embed(Y, kernel, noise=noise)
    PP, QQ, PQ = P @ P, Q @ Q, P @ Q
    mu, nu = features.embed(X, phi, weights=weights, noise=noise), features.embed(Y, phi, noise=noise)
    return Pair(mu, nu, PQ, PP, PP + QQ - 2 * PQ)


def fourier_pair(rng: np.random.Generator, design: Any) -> Pair:
    """Return one random problem with Fourier features."""
    kernel, X, Y, weights, noise = draw_data(rng)
    count = int(rng.choice([64, 128, 512]))
    phi = features.fourier(kernel, X.shape[1], count, design=design, rng=rng)
    return with_truth(phi, kernel, X, Y, weights, noise)


def within(pair: Pair, **options: Any) -> list[bool]:
    """Say which of the three errors are within their bounds."""
    gap = pair.mu - pair.nu
    found = (
        (features.inner(pair.mu, pair.nu, **options), pair.inner),
        (features.inner(pair.mu, pair.mu, **options), pair.squared_norm),
        (features.inner(gap, gap, **options), pair.squared_distance),
    )
    return [abs(estimate.value - exact) <= estimate.bound for estimate, exact in found]
