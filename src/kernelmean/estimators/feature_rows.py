r"""Leave-one-out for rows that features represent, from sums over the rows alone.

The Fourier features of a frequency have norm :math:`\sqrt{w_j}` for every row, and noise multiplies them by
d_j = φ_v(ω_j). With :math:`p_j = |\hat μ_j|^2` the power of the mean at a frequency, L and Q of the score have

.. math:: Σ_{ij} L_{ij} = n^2 Σ_j d_j p_j, \quad L_{ii} = Σ_j d_j w_j, \quad Q: d_j^2 \text{ in place of } d_j.

With landmarks, a row is :math:`P k(x_i, ·) = Σ_a α_{ia} k(s_a, ·)`, and noise and contractions act on the landmarks s.
Sums over pairs of rows i ≠ j are then sums over pairs of landmarks, with the mean α of the α_i and the mean A of
:math:`α_i α_i^⊤`:

.. math:: \frac{1}{n(n-1)} Σ_{i≠j} α_i^⊤ G α_j = \frac{n α^⊤ G α - \operatorname{tr} A G}{n-1}
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..core.array import Array
from ..embedding.embedding import Embedding
from ..embedding.features import Fourier, Landmarks
from ..embedding.features.base import tiled
from ..embedding.features.embedding import FeatureMoments, sums_of
from ..embedding.features.landmarks import ROUNDING
from ..embedding.parts import PointPart
from ..embedding.score import Means, diagonal_share
from ..expected import expected_blocks
from ..kernels.base import Stationary
from ..noise.base import Additive, Noise
from ..noise.dirac import Dirac
from ..plan.plan import Plan

_NONE = Dirac()


def leave_one_out(mu: Embedding, noise: Noise = _NONE) -> Means:
    """Return the means that make up the leave-one-out score of a noise, exact for the kernel of the features.

    Raises
    ------
    ValueError
        When rows are weighted, have noise already, or are fewer than two, or ``mu`` is a sum or a multiple of others.
    """
    rows, features = sums_of(mu), mu.features
    weight, squares = rows.sums.value[:2]
    if not weight == squares == rows.count:
        raise ValueError("the rows are weighted, but leave-one-out needs equal weights; embed them without weights")
    if rows.noise != _NONE:
        raise ValueError(f"the rows have the noise {rows.noise!r} already; embed them without noise first")
    if isinstance(features, Landmarks) and noise != _NONE:
        return LandmarkRows.of(mu, features).means(noise)
    n, mean, squared_norm = rows.count, rows.mean, rows.sums.value[2] / weight
    alpha = diagonal_share(n, "loocv")
    once = features.damped(mean, noise)
    diagonal, diagonal_twice = squared_norm, squared_norm
    if isinstance(features, Fourier):
        damping = features.damping(noise)
        diagonal, diagonal_twice = float(features.weights @ damping), float(features.weights @ damping**2)
    cross, square = (
        float((n * total - one) / (n - 1)) for total, one in ((mean @ once, diagonal), (once @ once, diagonal_twice))
    )
    return Means(squared_norm, cross, (1 - alpha) * square + alpha * diagonal_twice)


@dataclass(frozen=True, eq=False)
class LandmarkRows:
    """The rows of an embedding by landmarks."""

    features: Landmarks
    n: int
    weights: Array
    """α, shape (r,)."""
    second: Array
    """A, shape (r, r)."""
    squared_norm: float
    """The mean of |P k(x_i, ·)|²."""
    moments: FeatureMoments

    @classmethod
    def of(cls, mu: Embedding, features: Landmarks) -> LandmarkRows:
        """Return the rows of an embedding with moments."""
        sums = sums_of(mu)
        moments = sums.moments_of(features)
        second = features.weights(features.weights(moments.second).T)
        return cls(features, sums.count, features.weights(sums.mean), second, float(np.trace(moments.second)), moments)

    @property
    def pairs(self) -> tuple[Array, Array]:
        """The weights of pairs of landmarks in L̄, and those in Q̄ minus these, shape (r, r)."""
        outer, n = np.outer(self.weights, self.weights), self.n
        return (n * outer - self.second) / (n - 1.0), n * (self.second - outer) / (n - 1.0) ** 2

    def moved(self, factor: float) -> Array:
        """Return the landmarks moved towards the mean row by a factor, shape (r, d)."""
        center = self.moments.center
        return self.features.points if factor == 1.0 else center + factor * (self.features.points - center)

    def means(self, noise: Noise, contraction: float = 1.0) -> Means:
        """Return L̄ and Q̄ under a noise, with points contracted to the mean of the others; O(r² d)."""
        kernel = self.features.kernel
        if not (isinstance(kernel, Stationary) and isinstance(noise, Additive | Dirac)) or noise.per_point is not None:
            raise TypeError(
                f"{noise!r} under {kernel!r} does not act on landmarks alone: this needs a kernel of x - y and an "
                "additive noise that all rows share; pass it to features.embed(X, features, noise=...)"
            )
        targets, points = (self.moved(factor) for factor in (1.0 + (1.0 - contraction) / (self.n - 1.0), contraction))
        everything = slice(None)
        cross = expected_blocks(kernel, targets, Dirac(), points, noise)(everything, everything)
        square = expected_blocks(kernel, points, noise, points, noise)(everything, everything)
        first, more = self.pairs
        return Means(self.squared_norm, float(np.vdot(first, cross)), float(np.vdot(first + more, square)))

    def embedding(self, noise: Noise, scale: float = 1.0, contraction: float = 1.0) -> Embedding:
        """Return the estimate, an embedding of the landmarks."""
        part = PointPart(self.moved(contraction), scale * self.weights, noise)
        return Embedding(self.features.kernel, (part,))

    def distance(
        self,
        batches: Iterator[Array],
        plan: Plan,
        noise: Noise = _NONE,
        contraction: float = 1.0,
        direction: Array | None = None,
    ) -> float:
        r"""Return a bound of the norm of :math:`Σ_i w_i E (I-P) k(\tilde x_i, ·)`; this reads the rows again.

        The points are moved towards the mean row by ``contraction``; w is 1, or the value at a row of the function with
        coordinates ``direction`` (m,) in feature space. The norms of tiles of rows are added: O(n r (r + d)) time.
        """
        features, center = self.features, self.moments.center
        kernel, points, everything = features.kernel, self.moved(contraction), slice(None)
        inner = expected_blocks(kernel, points, noise, points, noise)(everything, everything)

        def run(X: Array) -> float:
            vectors, Z = np.empty((len(X), features.size)), center + contraction * (X - center)
            features.fill(X, Dirac(), vectors)
            w = np.ones(len(X)) if direction is None else vectors @ direction
            weights = features.weights(w @ vectors)
            squared = float(w @ expected_blocks(kernel, Z, noise, Z, noise)(everything, everything) @ w)
            mixed = float(w @ expected_blocks(kernel, Z, noise, points, noise)(everything, everything) @ weights)
            left = squared - 2.0 * mixed + float(weights @ inner @ weights)
            return math.sqrt(max(left, 0.0) + ROUNDING * abs(squared))

        return sum(plan.map(run, tiled(features, batches), self.n * features.size))
