"""Kernel means in feature space: sums over rows, which merge, with inner products and their errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast, final

import numpy as np

from ...core.array import Array
from ...core.validate import check_finite, check_weights
from ...expected import difference
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan, RemotePlan
from ..means import Means
from .base import HEAD, FeatureMap, Summary
from .compensated import Total
from .error import FeatureEstimate, Guarantee, from_frequencies
from .fourier import Fourier
from .loocv import leave_one_out_means


@final
@dataclass(frozen=True, eq=False, repr=False)
class FeatureEmbedding(Summary):
    r"""The mean of features :math:`μ = Σ_i w_i E φ(\tilde x_i) / Σ_i w_i` and what else a merge needs.

    Made by :func:`embed`. ``mu + nu`` is the embedding of the rows of both (**not** the sum of two functions, which
    ``+`` of :class:`kernelmean.Embedding` is), whatever the order and the grouping: sums are kept to 30 digits.

    Attributes
    ----------
    features : FeatureMap
    noise : Noise
    count : int
        The number of rows.
    sums : Total
        Σ w, Σ w², Σ w |φ|², Σ w √residual, and Σ w φ.
    """

    features: FeatureMap
    noise: Noise
    count: int
    sums: Total

    def __post_init__(self) -> None:
        """Check what files may bring: shapes, finite numbers, weights that make a mean."""
        if self.sums.high.shape != (HEAD + self.features.size,) or self.sums.low.shape != self.sums.high.shape:
            raise ValueError(f"sums of shape {self.sums.high.shape} do not fit {self.features!r}")
        if self.count < 1 or not self.sums.value[0] > 0:
            raise ValueError(f"{self.count} rows with the total weight {self.sums.value[0]!r} have no mean")
        check_finite(self.sums.value, "the sums of features")

    @property
    def kernel(self) -> Kernel:
        """The kernel that the features approximate."""
        return self.features.kernel

    @property
    def weight(self) -> float:
        """The total weight Σ w."""
        return float(self.sums.value[0])

    @property
    def mean(self) -> Array:
        """The mean of the features, shape (m,)."""
        values = self.sums.value
        return values[HEAD:] / values[0]

    @property
    def residual(self) -> float:
        """The largest distance that the mean of the projections may have from μ, for landmarks; else 0."""
        values = self.sums.value
        return float(values[3] / values[0])

    def __add__(self, other: FeatureEmbedding) -> FeatureEmbedding:
        """Return the embedding of the rows of both."""
        self._check_compatible(other)
        if self.noise != other.noise:
            raise ValueError(
                f"the rows have different noises, {self.noise!r} and {other.noise!r}; embed both with the same one"
            )
        return replace(self, count=self.count + other.count, sums=self.sums + other.sums)

    def __matmul__(self, other: FeatureEmbedding) -> float:
        """Return the inner product ⟨μ, ν⟩ as features give it, in O(m); :meth:`inner` says how far off it may be."""
        self._check_compatible(other)
        return float(self.mean @ other.mean)

    def norm(self) -> float:
        """Return |μ|."""
        return float(np.linalg.norm(self.mean))

    def distance(self, other: FeatureEmbedding) -> float:
        """Return |μ - ν|, the maximum mean discrepancy as features give it."""
        self._check_compatible(other)
        return float(np.linalg.norm(self.mean - other.mean))

    def __call__(self, Y: Any) -> Array:
        """Return μ(y_j) for the rows of ``Y`` (m, d), shape (m,)."""
        return self.features(self.features.check_rows(Y)) @ self.mean

    def inner(
        self, other: FeatureEmbedding, *, confidence: float = 0.99, guarantee: Guarantee = "auto"
    ) -> FeatureEstimate:
        """Return ⟨μ, ν⟩ with its error.

        Parameters
        ----------
        other : FeatureEmbedding
            With the same features.
        confidence : float
            The probability, over the draw of the features, with which the bound holds; in [0.5, 1).
        guarantee : {"auto", "bernstein", "student"}
            Which bound, see :func:`kernelmean.embedding.features.error.from_frequencies`; "auto" is "student" for
            quasi-random frequencies and "bernstein" for others. Landmarks have one bound, which always holds: the
            product of the mean distances of the rows from the span of the landmarks.
        """
        self._check_compatible(other)
        low = 0.0 if other is self else -1.0
        return self._estimate(self.mean, other.mean, self.residual * other.residual, (low, 1.0), confidence, guarantee)

    def squared_distance(
        self, other: FeatureEmbedding, *, confidence: float = 0.99, guarantee: Guarantee = "auto"
    ) -> FeatureEstimate:
        """Return |μ - ν|², the V-statistic of the squared maximum mean discrepancy, with its error as :meth:`inner`."""
        self._check_compatible(other)
        gap, left_out = self.mean - other.mean, (self.residual + other.residual) ** 2
        return self._estimate(gap, gap, left_out, (0.0, 4.0), confidence, guarantee)

    def _estimate(
        self,
        left: Array,
        right: Array,
        left_out: float,
        limits: tuple[float, float],
        confidence: float,
        guarantee: Guarantee,
    ) -> FeatureEstimate:
        if isinstance(self.features, Fourier):
            return from_frequencies(self.features, self.features.power(left, right), limits, confidence, guarantee)
        if guarantee != "auto":
            raise ValueError(f"guarantee is {guarantee!r}; landmarks have one bound, leave guarantee='auto'")
        return FeatureEstimate(float(left @ right), 0.0, left_out, 1.0, "projection")

    def smoothed(self, noise: Noise) -> FeatureEmbedding:
        """Return the embedding under additional noise, from the sums alone, in O(m); Fourier features only.

        Raises
        ------
        TypeError
            For landmarks, and for a noise without characteristic function.
        """
        if noise == Dirac():
            return self
        sums = self.sums
        high, low = (np.concatenate([part[:HEAD], self.features.damped(part[HEAD:], noise)]) for part in _parts(sums))
        added = difference(self.noise, noise)
        assert isinstance(self.features, Fourier), "damped raises for others"
        norm = self.features.weights @ self.features.damping(added) ** 2
        high[2], low[2] = norm * high[0], norm * low[0]
        return replace(self, noise=added, sums=Total(high, low))

    def loocv(self, noise: Noise | None = None) -> Means:
        r"""Return the means of which the leave-one-out score consists, exact for the kernel of the features.

        Parameters
        ----------
        noise : Noise, optional
            What the estimate adds to the rows; none is the empirical mean.

        Returns
        -------
        Means
            ``means.score().value`` is :math:`\frac1n Σ_i |φ(x_i) - \hat μ^{(-i)}|^2`; ``means.best_scale()`` the
            factor of S-KMSE.

        Raises
        ------
        ValueError
            When rows are weighted, have noise already, or are fewer than two.
        TypeError
            When a noise is asked for that does not damp the features.
        """
        self._check_plain()
        return leave_one_out_means(self.features, self.mean, self.sums.value[2] / self.weight, self.count, noise)

    def _check_plain(self) -> None:
        """Raise unless rows count alike and have no noise yet."""
        weight, squares = self.sums.value[:2]
        if not weight == squares == self.count:
            raise ValueError("the rows are weighted; leaving one out needs rows that count alike")
        if self.noise != Dirac():
            raise ValueError(f"the rows have the noise {self.noise!r} already; embed them without noise first")

    def _check_compatible(self, other: FeatureEmbedding) -> None:
        if not isinstance(other, FeatureEmbedding):
            raise TypeError(f"{other!r} is no FeatureEmbedding; write features.embed(X, features) first")
        if self.features is not other.features and self.features != other.features:
            raise ValueError(
                f"the embeddings have different features, {self.features!r} and {other.features!r}; make the "
                "features once and use them for both"
            )

    def __repr__(self) -> str:
        return f"FeatureEmbedding(n={self.count}, {self.features!r}, noise={self.noise!r})"


def embed(
    X: Any, features: FeatureMap, *, weights: Any = None, noise: Noise | None = None, plan: Plan | RemotePlan = DEFAULT
) -> FeatureEmbedding:
    """Return the mean of the features of a noisy weighted sample.

    Parameters
    ----------
    X : array of shape (n, d)
    features : FeatureMap
        From :func:`fourier`, :func:`nystrom` or :func:`random_cholesky`.
    weights : array of shape (n,), optional
        Not negative and not all zero; 1 each by default. Only their ratios matter, also to rows that are merged later.
    noise : Noise, optional
        Shared by all rows. For Fourier features any additive one, for landmarks one with a closed form.
    plan : Plan or DaskPlan, optional
        Threads, or a cluster.

    Raises
    ------
    TypeError, ValueError
        When X is not a finite table of numbers of as many columns as the features, a weight is negative or all are
        zero, or the noise does not fit.

    Notes
    -----
    O(n m d) time and O(m) memory besides the rows (landmarks: O(n m (m + d)) time).

    Examples
    --------
    >>> from kernelmean.embedding.features import fourier
    >>> from kernelmean.kernels import Gaussian
    >>> phi = fourier(Gaussian(1.0), dim=1)
    >>> X, Y = np.zeros((3, 1)), np.ones((1, 1))
    >>> mu = embed(X, phi) + embed(Y, phi)
    >>> mu.count, round(mu.norm() ** 2, 1)
    (4, 0.9)
    """
    if not isinstance(features, FeatureMap):
        raise TypeError(f"features is {features!r}; a map such as features.fourier(kernel, dim=2) is needed")
    if isinstance(plan, RemotePlan):
        return cast("FeatureEmbedding", plan.feature_embed(X, features, weights=weights, noise=noise))
    X = features.check_rows(X)
    noise = Dirac() if noise is None else noise
    if not isinstance(noise, Noise):
        raise TypeError(f"noise is {noise!r}, None or a value such as noise.Normal(0.1) is needed")
    features.check_noise(noise)
    w = None if weights is None else check_weights(weights, len(X))
    if w is not None and (w.min() < 0 or w.max() == 0):
        raise ValueError("a weight is negative, or all are 0; weights of a mean are not negative and not all zero")
    if isinstance(features, Fourier):  # noise is cheaper after the sum
        return FeatureEmbedding(features, Dirac(), len(X), Total.of(features.row_sums(X, w, Dirac(), plan))).smoothed(
            noise
        )
    return FeatureEmbedding(features, noise, len(X), Total.of(features.row_sums(X, w, noise, plan)))


def _parts(sums: Total) -> tuple[Array, Array]:
    return sums.high, sums.low
