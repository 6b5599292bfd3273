r"""The distribution of an estimated distance in feature space, at any true distance: one simulation for every interval.

MMD and √HSIC are norms of a vector D of the feature space: a difference of two means, or a mean of products of
centered features. The estimate is D + E, where E is nearly normal with the covariance C of means, and so

.. math:: T = |D + E|^2 = δ^2 + 2 δ ⟨u, E⟩ + |E|^2, \qquad D = δ u, |u| = 1.

The first random term is what the usual normal approximation keeps, the second is all there is when δ = 0: no regime
has to be chosen. E is drawn with Gaussian multipliers. For every draw the largest δ with T = T_observed is found; the
quantiles of these are the limits of the interval that inverts the tests of all δ.

The direction u is estimated. Of the observed |D + E|² only the share ρ = δ²/T is signal, so ⟨u, E⟩ gets the variance
ρ ⟨û, Cû⟩ + (1 - ρ) λ₁, where λ₁, the largest eigenvalue of C, bounds what an unknown direction can have. For a fixed D
ρ tends to 1 and the interval to the normal one; near δ = 0 it is wider than needed.

The covariance is estimated too, from units that borrow from each other (:mod:`.feature_mean`).

A variance may depend on δ, as that of a share does. So the draws for a lower limit are those of distributions at that
distance: the weight of the lender grows until |D| is δ. Wilson's interval for a share differs from that of Agresti &
Coull in the same way. This needs the limit that it computes, so it takes two steps from the observed distributions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ...core.array import Array, slices
from ..resampling import check_n_resamples
from .feature_mean import FeatureMean

LEAST_DRAWS = 99  # fewer have no quantile at .01, and miss the estimate
_BATCH_BYTES = 2**25
_SKETCH = 64
_CUT = 1e-10
_STEPS = 2


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
class Fluctuations:
    """Draws of what chance does to an estimate."""

    total: float
    """T as observed, but not below its expectation for δ = 0: samples more alike than by chance show no small δ."""
    along: Array
    squared: Array
    relative: Array
    """⟨u, E⟩, |E|², and the relative error of the number that |D|² is divided by, shape (B,)."""
    near: Fluctuations | None = None
    """The draws for a lower limit, from distributions as near to each other as this limit."""

    def distances(self, *, scaled: bool) -> tuple[Array, Array]:
        """Return the δ at which every draw gives the observed T, for lower and for upper limits, shape (B,) each.

        With ``scaled`` the number that |D|² is divided by has an error as well, as in Fieller's method: δ² is in its
        units. Lower and upper δ differ if noise alone exceeds T: the lower one is then 0.
        """
        slope = np.maximum(1.0 - self.relative, 0.1) if scaled else 1.0
        left = self.total - self.squared
        root = np.square(self.along) + slope * left
        upper = np.where(root >= 0.0, np.maximum((np.sqrt(np.maximum(root, 0.0)) - self.along) / slope, 0.0), 0.0)
        return np.where(left <= 0.0, 0.0, upper), upper

    def interval(self, level: float, *, scaled: bool) -> tuple[float, float]:
        """Return the limits of δ, with (1 - level)/2 beyond each."""
        tail = (1.0 - level) / 2
        lower, upper = self.distances(scaled=scaled)
        if self.near is not None:
            lower, _ = self.near.distances(scaled=scaled)
        return (
            float(np.quantile(lower, tail, method="lower")),
            float(np.quantile(upper, 1.0 - tail, method="higher")),
        )


def fluctuations(
    mean: FeatureMean, n_resamples: int, rng: np.random.Generator, level: float | None = None
) -> Fluctuations:
    """Draw ``n_resamples`` times: O(n² B) time, or O(n r B) where ``product`` is of rank r; O(n · batch) memory.

    With a ``level`` the draws for lower limits of intervals are added, from the same multipliers twice more.
    """
    seed = int(rng.integers(2**63))
    drawn = _fluctuations(mean, n_resamples, np.random.default_rng(seed))
    most = float(np.sqrt(max(mean.squared, 0.0)))
    if level is None or most == 0.0:
        return drawn
    near = drawn
    for _ in range(_STEPS):
        low, _ = near.interval(level, scaled=False)
        nearer = replace(mean, nearness=min(low / most, 1.0))
        near = _fluctuations(nearer, n_resamples, np.random.default_rng(seed))
    return replace(drawn, near=near)


def _fluctuations(mean: FeatureMean, n_resamples: int, rng: np.random.Generator) -> Fluctuations:
    check_n_resamples(n_resamples, LEAST_DRAWS)
    cells, signs = mean.cells, mean.unit_signs[:, None]
    sketch = rng.standard_normal((mean.features.n, _SKETCH))
    image = mean.features.product(signs * cells.as_draws(sketch))
    image = cells.centered(signs * image) * cells.scales[:, None]
    top = largest_eigenvalue(sketch, image)  # the largest variance that E has in any direction, from its own rows
    unit = _unit(mean, top)
    size = max(16, _BATCH_BYTES // (8 * mean.features.n))
    parts = [_drawn(mean, part.stop - part.start, rng) for part in slices(n_resamples, size)]
    along, squared, relative = np.concatenate(parts, axis=1)
    along = along * unit if unit > 0.0 else np.sqrt(top) * rng.standard_normal(n_resamples)
    return Fluctuations(max(mean.squared, 0.0) + float(mean.spreads.sum()), along, squared, relative)


def _drawn(mean: FeatureMean, count: int, rng: np.random.Generator) -> Array:
    """Return ⟨D + E, E'⟩, |E'|² and the relative error of the scale for draws of E', shape (3, count).

    In each draw the multipliers of a group share a factor f = √(d/χ²_d), d its degrees of freedom, for an estimated
    variance as in Student's t. The change by f² and borrowed rows in the expectation of |E|² is subtracted, as tr C is
    in T.
    """
    together, relative, excess = np.zeros((mean.features.n, count)), np.zeros(count), np.zeros(count)
    for g, spread in zip(mean.active, mean.spreads, strict=True):
        freedom = mean.freedom(g)
        factor = np.sqrt(freedom / rng.chisquare(freedom, count))
        drawn = mean.multipliers(g, count, rng)
        drawn *= factor
        together += mean.signs[g] * drawn
        relative += mean.scale_influence[:, g] @ drawn
        excess += np.square(factor) * mean.noise(g) - spread
    squared = np.einsum("ib,ib->b", together, mean.features.product(together)) - excess
    return np.stack([mean.projections @ together, squared, relative])


def _unit(mean: FeatureMean, top: float) -> float:
    """Return what turns ⟨D + E, E'⟩ into a draw of ⟨u, E⟩ of the right variance: 1/√T, and more in doubt."""
    if mean.total <= _CUT * float(mean.spreads.sum()):
        return 0.0
    estimated = mean.direction_variance()
    signal = min(max(mean.squared / mean.total, 0.0), 1.0)
    variance = max(estimated, signal * estimated + (1.0 - signal) * top)
    return float(np.sqrt(variance / estimated / mean.total)) if estimated > 0.0 else 0.0


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
