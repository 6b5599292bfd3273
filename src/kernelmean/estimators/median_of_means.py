"""A robust kernel mean: the geometric median of the means of blocks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, final

import numpy as np
from sklearn.utils import check_random_state

from ..core.array import Array
from ..core.validate import check_integer
from ..embedding.embedding import embed
from ..expected import expected_blocks
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import running
from .base import KernelLike, MeanEstimator, make_kernel, no_density_without_noise

_TOLERANCE, _MOST = 1e-12, 1000


@final
@dataclass(eq=False, repr=False)
class MedianOfMeans(MeanEstimator):
    r"""Estimate a kernel mean robustly, as the geometric median of the empirical means of random blocks.

    :math:`\hat μ = \arg\min_g Σ_b |μ_b - g|` lies in the convex hull of the block means,
    :math:`\hat μ = Σ_b p_b μ_b`, so it is an embedding with weights p_b / |b|. Fewer than half of the
    blocks can be spoiled without moving it far.

    Parameters
    ----------
    kernel : {"gaussian"}, Kernel, or a class of kernels
    n_blocks : int
        At most n. For robustness, pass more than twice the number of outliers; 1 is the empirical mean.
    bandwidth : rule, float or array
        θ, as in :class:`KernelMean`; the median heuristic is itself robust.
    noise : Noise, optional
        A fixed noise for all points.
    random_state : int, RandomState or None
        Seeds the assignment of points to blocks.

    Attributes
    ----------
    embedding_, kernel_, noise_, weights_, bandwidth_
        As in :class:`KernelMean`.
    block_weights_ : array of shape (n_blocks,)
        p; blocks with outliers get small weights.
    blocks_ : array of shape (n,)
        The block of every point.

    Notes
    -----
    Minsker (2015), "Geometric median and robust estimation in Banach spaces"; Lerasle, Szabó, Mathieu & Lecué (2019)
    for kernel means. Weiszfeld's iteration on the Gram matrix of the block means, O(n²) kernel values.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> X[0] = 100.0
    >>> estimate = MedianOfMeans(n_blocks=6, random_state=0).fit(X)
    >>> bool(estimate.weights_[0] < 1 / 60)
    True
    """

    kernel: KernelLike = "gaussian"
    _: KW_ONLY
    n_blocks: int = 10
    bandwidth: Any = "median"
    noise: Noise | None = None
    random_state: Any = None

    def _estimate(self, X: Array) -> None:
        n = len(X)
        n_blocks = min(check_integer(self.n_blocks, "n_blocks", 1), n)
        kernel, noise = make_kernel(self.kernel, self.bandwidth, X), Dirac() if self.noise is None else self.noise
        self.blocks_ = check_random_state(self.random_state).permutation(n) % n_blocks
        sizes = np.bincount(self.blocks_, minlength=n_blocks)
        averages = (self.blocks_[:, None] == np.arange(n_blocks)) / sizes
        blocks = expected_blocks(kernel, X, noise, X, noise)
        gram = averages.T @ running().matmul(blocks, n, n, averages, symmetric=True)
        self.block_weights_ = geometric_median(gram)
        self.embedding_ = embed(X, kernel, weights=averages @ self.block_weights_, noise=noise)
        self.bandwidth_ = getattr(kernel, "bandwidth", None)

    def _no_density(self) -> str:
        return no_density_without_noise(self.noise)


def geometric_median(gram: Array) -> Array:
    r"""Return p with :math:`Σ_b p_b μ_b` the geometric median of elements with the Gram matrix ``gram`` (B, B).

    Weiszfeld's iteration p_b ∝ 1/|μ_b - Σ p μ|. Distances are kept above 1e-8 of the largest, to avoid division by 0
    when the median is one of the elements.
    """
    norms = np.diagonal(gram)
    weights = np.full(len(gram), 1.0 / len(gram))
    floor = 1e-8 * np.sqrt(max(norms.max(), np.finfo(np.float64).tiny))
    for _ in range(_MOST):
        products = gram @ weights
        squared = norms - 2 * products + weights @ products
        inverse = 1.0 / np.maximum(np.sqrt(np.maximum(squared, 0.0)), floor)
        updated = inverse / inverse.sum()
        if np.abs(updated - weights).max() < _TOLERANCE:
            break
        weights = updated
    return weights
