"""Bandwidth matrices for kernel density estimation: the noise by leave-one-out, θ by the likelihood."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ..core.array import Array, slices
from ..core.validate import check_points, check_positive, check_varying
from ..kernels.bandwidth import median_bandwidth
from ..kernels.distances import squared_distance_blocks
from ..kernels.gaussian import Gaussian
from ..noise.normal import Normal
from ..plan.plan import serial_blas
from .base import NOISE_FORMS, NoiseForm
from .fitting import SEARCHES, noise_of
from .loocv.isotropic import PairDistances
from .noise_search import NoiseProblem

RATIOS = tuple(10.0 ** (k / 2) for k in range(-9, 1))
_TILE = 512


@dataclass(frozen=True)
class LikelihoodBandwidth:
    """A bandwidth θ and the bandwidth matrix Σ that it chooses, with the likelihoods by which θ was chosen.

    Attributes
    ----------
    bandwidth : float
        θ, in the units of X.
    noise : Normal
        Σ, the bandwidth matrix of the kernel density estimate (1/n) Σ_i N(x_i, Σ).
    ratios : tuple of float
        The candidates θ² in units of the median squared distance.
    log_likelihoods : tuple of float
        The mean leave-one-out log likelihood of every candidate; -inf where Σ is singular.
    """

    bandwidth: float
    noise: Normal
    ratios: tuple[float, ...]
    log_likelihoods: tuple[float, ...]


def likelihood_bandwidth(
    X: Any, *, noise: NoiseForm = "isotropic", ratios: Sequence[float] = RATIOS
) -> LikelihoodBandwidth:
    r"""Return the bandwidth matrix of a kernel density estimate, chosen by leave-one-out in the RKHS.

    For every θ, the noise N(0, Σ) minimizes the leave-one-out score in the RKHS of the Gaussian kernel with bandwidth
    θ. Of all candidates, θ is the one for which
    :math:`\frac1n Σ_i \log \frac1{n-1} Σ_{j≠i} N(x_i; x_j, Σ(θ))` is largest. So only the number θ is chosen by the
    likelihood, however many bandwidths Σ has; no test data are used.

    Parameters
    ----------
    X : array of shape (n, d)
    noise : {"isotropic", "diagonal", "full"}
        The form of Σ. One variance per column can be too much freedom for a density: on standardized data,
        "isotropic" and "full" did better.
    ratios : sequence of float
        Candidates θ² in units of the median squared distance.

    Raises
    ------
    ValueError
        When there is no candidate, a column is constant, or every candidate has a singular Σ.

    Notes
    -----
    One search per candidate (see :class:`KernelMean`), and O(n² d) for its likelihood.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 1))
    >>> found = likelihood_bandwidth(X)
    >>> bool(0.05 < found.noise.covariance < 0.5)
    True
    """
    X = check_points(X)
    if noise not in NOISE_FORMS:
        raise ValueError(f"noise is {noise!r}; write 'isotropic', 'diagonal' or 'full'")
    ratios = tuple(float(ratio) for ratio in np.atleast_1d(check_positive(ratios, "ratios")))
    check_varying(X, "there is no density along it")
    median = median_bandwidth(X)
    thetas = [median * math.sqrt(ratio) for ratio in ratios]
    pairs = PairDistances(X, min(thetas))
    with serial_blas:
        noises = [_noise(X, theta, noise, pairs) for theta in thetas]
        values = [leave_one_out_likelihood(X, each) for each in noises]
    best = int(np.argmax(values))
    if values[best] == -math.inf:
        raise ValueError(
            "every candidate has a singular bandwidth matrix; drop columns that others determine, or pass a bandwidth"
        )
    return LikelihoodBandwidth(float(thetas[best]), noises[best], ratios, tuple(values))


def _noise(X: Array, theta: float, form: NoiseForm, pairs: PairDistances) -> Normal:
    problem = NoiseProblem(X, Gaussian(theta), pairs=pairs)
    noise = noise_of(problem, SEARCHES[form](problem), form)
    assert isinstance(noise, Normal)
    return noise


def leave_one_out_likelihood(X: Array, noise: Normal) -> float:
    r"""Return the mean of :math:`\log \frac1{n-1} Σ_{j≠i} N(x_i; x_j, Σ)`, in O(n² d) time; -inf for a singular Σ."""
    values, vectors = np.linalg.eigh(noise.matrices(X.shape[1]))
    if values.min() <= 1e-14 * values.max():
        return -math.inf
    blocks = squared_distance_blocks(*[(X - X.mean(axis=0)) @ (vectors / np.sqrt(2 * values))] * 2, floor=1.0)
    rows = slices(len(X), _TILE)
    logs = np.concatenate([_log_row_sums(blocks, i, rows) for i in rows])
    log_factor = 0.5 * float(np.log(2 * np.pi * values).sum()) + math.log(len(X) - 1)
    return float(logs.mean()) - log_factor


def _log_row_sums(blocks: Any, i: slice, columns: list[slice]) -> Array:
    """Return log Σ_{j≠i} exp(-|x_i - x_j|²) for the rows of one slice."""
    parts = []
    for j in columns:
        exponents = -blocks(i, j)
        if i == j:
            np.fill_diagonal(exponents, -np.inf)
        parts.append(logsumexp(exponents, axis=1))
    return np.asarray(logsumexp(np.stack(parts), axis=0))
