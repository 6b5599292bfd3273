r"""The law of an estimated distance in feature space, at any true distance: one simulation gives every interval.

MMD and √HSIC are norms of a vector D of the feature space: a difference of two means, or a mean of products of
centered features. The estimate is D + E, where E is nearly normal with the covariance C of means, and so

.. math:: T = |D + E|^2 = δ^2 + 2 δ ⟨u, E⟩ + |E|^2, \qquad D = δ u, |u| = 1.

The first random term is what the usual normal approximation keeps, the second is all there is when δ = 0: no regime
has to be chosen. E is drawn with Gaussian multipliers. For every draw the largest δ with T = T_observed is found; the
quantiles of these are the limits of the interval that inverts the tests of all δ.

The direction u is estimated. Of the observed |D + E|² only the share ρ = δ²/T is signal, so ⟨u, E⟩ gets the variance
ρ ⟨û, Cû⟩ + (1 - ρ) λ₁, where λ₁, the largest eigenvalue of C, bounds what an unknown direction can have. For a fixed D
ρ tends to 1 and the interval to the normal one; near δ = 0 it is wider than needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np

from .._array import Array, slices

Operator = Callable[[Array], Array]

_BATCH_BYTES = 2**25
_SKETCH = 64
_CUT = 1e-10


@final
@dataclass(frozen=True)
class Estimate:
    """A number with a confidence interval.

    Attributes
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float


@final
@dataclass(frozen=True, eq=False)
class FeatureMean:
    """A vector D of the feature space, estimated by signed means of the features of groups of rows.

    Attributes
    ----------
    product : callable
        W ↦ K W, K the Gram matrix of all features, (n, n) times (n, b).
    sizes, signs : tuple
        The rows of every group, and the sign of its mean.
    projections : array of shape (n,)
        Every feature's inner product with the estimate of D.
    squared : float
        The unbiased estimate of |D|².
    spreads : tuple of float
        What every group adds to tr C, unbiased: |D + E|² exceeds |D|² by their sum on average.
    scale_influence : array of shape (n,)
        The relative influence of every row on the number that |D|² is divided by.
    """

    product: Operator
    sizes: tuple[int, ...]
    signs: tuple[float, ...]
    projections: Array
    squared: float
    spreads: tuple[float, ...]
    scale_influence: Array

    @property
    def total(self) -> float:
        """Return T, the squared length of the estimate with all its noise."""
        return self.squared + sum(self.spreads)

    @property
    def groups(self) -> list[slice]:
        """Return the rows of every group."""
        ends = np.cumsum([0, *self.sizes])
        return [slice(a, b) for a, b in pairwise(ends)]

    @property
    def row_scale(self) -> Array:
        """Return ±1/√(n(n-1)) of every row's group: multipliers of this size give E the unbiased covariance."""
        sizes = np.array(self.sizes, dtype=np.float64)
        return np.repeat(np.array(self.signs) / np.sqrt(sizes * (sizes - 1)), self.sizes)

    def centered(self, columns: Array) -> Array:
        """Subtract the mean of every group from its rows."""
        return np.concatenate([columns[group] - columns[group].mean(axis=0) for group in self.groups])

    def direction_variance(self) -> float:
        """Return ⟨û, Cû⟩, the variance of E along the estimated direction."""
        shares = [self.projections[group].var() / (len(self.projections[group]) - 1) for group in self.groups]
        return float(sum(shares)) / self.total


@final
@dataclass(frozen=True, eq=False)
class Fluctuations:
    """Draws of what chance does to an estimate.

    Attributes
    ----------
    total : float
        T, as observed.
    along, squared, relative : array of shape (B,)
        ⟨u, E⟩, |E|², and the relative error of the number that |D|² is divided by.
    """

    total: float
    along: Array
    squared: Array
    relative: Array

    def distances(self, *, scaled: bool) -> tuple[Array, Array]:
        """Return the δ at which every draw gives the observed T, for lower and for upper limits, shape (B,) each.

        With ``scaled`` the number that |D|² is divided by errs as well, as in Fieller's method: δ² is in its units.
        They differ where noise alone exceeds T: then δ = 0 is not too small already.
        """
        slope = np.maximum(1.0 - self.relative, 0.1) if scaled else 1.0
        left = self.total - self.squared
        root = np.square(self.along) + slope * left
        upper = np.where(root >= 0.0, np.maximum((np.sqrt(np.maximum(root, 0.0)) - self.along) / slope, 0.0), 0.0)
        return np.where(left <= 0.0, 0.0, upper), upper

    def interval(self, level: float, *, scaled: bool) -> tuple[float, float]:
        """Return the limits of δ, with (1 - level)/2 beyond either."""
        lower, upper = self.distances(scaled=scaled)
        tail = (1.0 - level) / 2
        return (
            float(np.quantile(lower, tail, method="lower")),
            float(np.quantile(upper, 1.0 - tail, method="higher")),
        )


def fluctuations(mean: FeatureMean, n_resamples: int, rng: np.random.Generator) -> Fluctuations:
    """Draw ``n_resamples`` times: O(n² B) time, or O(n r B) where ``product`` is of rank r; O(n · batch) memory."""
    parts: list[Array] = []
    top = 0.0
    for normal, excess in _normals(mean, n_resamples, rng):
        multipliers = normal * mean.row_scale[:, None]
        products = mean.product(multipliers)
        if not parts:
            sketched = mean.centered(products[:, :_SKETCH]) * mean.row_scale[:, None]
            top = largest_eigenvalue(normal[:, :_SKETCH], sketched)
        along, relative = mean.projections @ multipliers, mean.scale_influence @ multipliers
        parts.append(np.stack([along, np.einsum("ib,ib->b", multipliers, products) - excess, relative]))
    along, squared, relative = np.concatenate(parts, axis=1)
    return Fluctuations(mean.total, along * _unit(mean, top), squared, relative)


def _normals(mean: FeatureMean, n_resamples: int, rng: np.random.Generator) -> Iterator[tuple[Array, Array]]:
    """Yield multipliers in batches of columns: normal, centered in every group, of random size; and their excess.

    The multipliers of a group share a factor f = √((n-1)/χ²_{n-1}) a draw, which is to variances what Student's t is.
    The excess is what f² changes in the expectation of |E|², shape (b,): tr C is taken out of T without such an error.
    """
    n = sum(mean.sizes)
    for part in slices(n_resamples, max(_SKETCH, _BATCH_BYTES // (8 * n))):
        count = part.stop - part.start
        normal = mean.centered(rng.standard_normal((n, count)))
        factors = [np.sqrt((size - 1) / rng.chisquare(size - 1, count)) for size in mean.sizes]
        excess = mean.spreads @ (np.square(factors) - 1.0)
        yield normal * np.repeat(factors, mean.sizes, axis=0), excess


def _unit(mean: FeatureMean, top: float) -> float:
    """Return what turns ⟨D + E, E'⟩ into a draw of ⟨u, E⟩ of the right variance: 1/√T, and more in doubt."""
    if mean.total <= 0.0:
        return 0.0
    estimated = mean.direction_variance()
    signal = min(max(mean.squared / mean.total, 0.0), 1.0)
    wanted = max(estimated, signal * estimated + (1.0 - signal) * top)
    return float(np.sqrt(wanted / estimated / mean.total)) if estimated > 0.0 else 0.0


def largest_eigenvalue(sketch: Array, image: Array) -> float:
    """Return λ₁ of a positive semi-definite A from Ω and AΩ, by Nyström's approximation AΩ (ΩᵀAΩ)⁻¹ (AΩ)ᵀ ≤ A.

    Examples
    --------
    >>> A = np.diag([3.0, 1.0, 0.0])
    >>> omega = np.random.default_rng(0).normal(size=(3, 2))
    >>> round(largest_eigenvalue(omega, A @ omega), 6)
    3.0
    """
    values, vectors = np.linalg.eigh(sketch.T @ image)
    kept = values > _CUT * values[-1]
    if values[-1] <= 0.0:
        return 0.0
    root = image @ (vectors[:, kept] / np.sqrt(values[kept]))
    return float(np.linalg.eigvalsh(root.T @ root)[-1])
