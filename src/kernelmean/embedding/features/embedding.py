"""Embeddings by features: sums over rows, in memory that does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, NoReturn, cast, final

import numpy as np

from ...core.array import Array
from ...core.cached import cached_property
from ...core.frozen import sealed
from ...core.points import named_points
from ...core.validate import check_finite, check_weights, on_host
from ...core.words import count as counted
from ...expected import difference
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import Plan, RemotePlan, check_plan
from ..embedding import Embedding
from ..parts import Part
from .base import HEAD, FeatureMap, Total
from .fourier import Fourier


@final
@dataclass(frozen=True, eq=False)
class FeatureMoments:
    """Means over rows, from which estimators with a noise or a filter are computed."""

    squared_norm: float
    """The mean of k(x, x)."""
    center: Array
    variances: Array
    """The mean row, and the variance of every column, shape (d,)."""
    second: Array
    """The mean of φφᵀ, shape (m, m)."""


@final
@dataclass(frozen=True, eq=False)
class FeatureSums:
    r"""Sums of the features of rows, for their mean times c: :math:`c Σ_i w_i E φ(\tilde x_i) / Σ_i w_i`.

    Attributes
    ----------
    noise : Noise
    count : int
        The number of rows.
    sums : Total
        Σ w, Σ w², Σ w |φ|², Σ w √residual, and Σ w φ; kept to 30 digits, so that pooling loses none.
    factor : float
        c; 1 for the mean of rows, another number for a multiple of it.
    moments : Total or None
        Σ w k(x, x), Σ w (x - o), Σ w (x - o)² and Σ w φφᵀ, which estimators with a noise or a filter need; o is the
        origin of the features.
    """

    noise: Noise
    count: int
    sums: Total
    factor: float = 1.0
    moments: Total | None = None

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
        """For landmarks, a bound of the distance between the mean of the projections and μ; else 0."""
        values = self.sums.value
        return float(values[3] / values[0])

    def moments_of(self, features: FeatureMap) -> FeatureMoments:
        """Return the moments of the rows, or raise when they were not summed."""
        if self.moments is None:
            raise ValueError(
                "the sums hold only the means of features, but this needs second moments; embed the rows with "
                "features.embed(X, features, moments=True)"
            )
        parts = np.split(self.moments.value / self.weight, np.cumsum([1, features.dim, features.dim]))
        center, square = parts[1], parts[2]
        second = parts[3].reshape(features.size, features.size)
        return FeatureMoments(float(parts[0][0]), features.origin + center, np.maximum(square - center**2, 0.0), second)

    def check_fits(self, features: FeatureMap) -> None:
        """Raise unless the sums, which may come from a file, are those of a mean of features."""
        high, low = self.sums.high, self.sums.low
        if high.shape != (HEAD + features.size,) or low.shape != high.shape:
            raise ValueError(f"sums of shape {high.shape} do not fit {features!r}")
        if self.count < 1 or not self.sums.value[0] > 0 or not np.isfinite(self.factor):
            raise ValueError(
                f"{self.count} rows with the total weight {self.sums.value[0]!r} and the factor {self.factor!r} have "
                "no mean"
            )
        check_finite(self.sums.value, "the sums of features")
        if self.moments is not None:
            shape = (1 + 2 * features.dim + features.size**2,)
            if not self.moments.high.shape == self.moments.low.shape == shape:
                raise ValueError(f"moments of shape {self.moments.high.shape} do not fit {features!r}")
            check_finite(self.moments.value, "the moments of features")

    def damped(self, features: FeatureMap, noise: Noise) -> FeatureSums:
        """Return the sums under additional noise."""
        sums = (self.sums.high, self.sums.low)
        high, low = (np.concatenate([part[:HEAD], features.damped(part[HEAD:], noise)]) for part in sums)
        added = difference(self.noise, noise)
        assert isinstance(features, Fourier), "damped raises for others"
        norm = features.weights @ features.damping(added) ** 2
        high[2], low[2] = norm * high[0], norm * low[0]
        return replace(self, noise=added, sums=Total(high, low), moments=None)


@final
@dataclass(frozen=True, eq=False)
class FeaturePart(Part):
    """Rows summed as features: one vector, whatever their number.

    Attributes
    ----------
    features : FeatureMap
    terms : tuple of FeatureSums
        The terms of the sum; a single one for rows embedded at once.
    """

    features: FeatureMap
    terms: tuple[FeatureSums, ...]

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        if not self.terms:
            raise ValueError("an embedding by features lacks the sums of its rows")
        for mean in self.terms:
            mean.check_fits(self.features)

    @cached_property
    def vector(self) -> Array:
        """The embedding in feature space, shape (m,)."""
        return np.asarray(sealed(reduce(add, [term.factor * term.mean for term in self.terms])))

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return sum(term.count for term in self.terms), self.features.dim

    @property
    def like(self) -> Array:
        """No rows of as many columns."""
        return np.empty((0, self.features.dim))

    @property
    def noises(self) -> tuple[Noise, ...]:
        """The noises of the terms."""
        return tuple(term.noise for term in self.terms)

    @property
    def mass(self) -> float:
        """The sum of the factors."""
        return sum(term.factor for term in self.terms)

    @property
    def total_variation(self) -> float:
        """The sum of the absolute factors, which bounds the norm of the vector if k(x, x) = 1."""
        return sum(abs(term.factor) for term in self.terms)

    @property
    def residual(self) -> float:
        """For landmarks, a bound of the distance between the projection and the embedding; else 0."""
        return sum(abs(term.factor) * term.residual for term in self.terms)

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return the inner product from the features, in O(m)."""
        del kernel, plan
        return float(self.vector @ cast("FeaturePart", other).vector)

    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return the function's values, shape (m,)."""
        del kernel, plan
        return self.features(Y) @ self.vector

    def scaled(self, factor: float) -> FeaturePart:
        """Return the part times a factor."""
        return self.mapped(lambda term: replace(term, factor=factor * term.factor))

    def mapped(self, change: Callable[[FeatureSums], FeatureSums]) -> FeaturePart:
        """Return the part with its terms changed."""
        return FeaturePart(self.features, tuple(map(change, self.terms)))

    def joined(self, others: tuple[Part, ...]) -> tuple[FeaturePart, ...]:
        """Return one part: vectors add up."""
        return (FeaturePart(self.features, self.terms + cast("FeaturePart", others[0]).terms),)

    def here(self) -> NoReturn:
        """Raise: rows are not kept."""
        raise TypeError(
            f"the {counted(self.shape[0], 'row')} were added up as {self.features.summary} and not kept, but this "
            "needs them; embed them with their kernel, km.embed(X, kernel)"
        )

    def places(self, Y: Array) -> Array:
        """Return points with the number of columns that the features are made for, or raise."""
        return self.features.check_rows(Y)

    def embedding(self) -> Embedding:
        """Return the embedding that consists of this part."""
        return Embedding(self.features.kernel, (self,))


def embed(
    X: Any,
    features: FeatureMap,
    *,
    weights: Any = None,
    noise: Noise | None = None,
    plan: Plan | RemotePlan | None = None,
    moments: bool = False,
) -> Embedding:
    """Return the mean of the features of a noisy weighted sample.

    Parameters
    ----------
    X : array of shape (n, d)
    features : FeatureMap
        From :func:`fourier`, :func:`nystrom` or :func:`random_cholesky`.
    weights : array of shape (n,), optional
        Not negative and not all zero; 1 each by default. Only their ratios matter, also to rows that you pool later.
    noise : Noise, optional
        Shared by all rows: any additive noise for Fourier features, one with a closed form for landmarks.
    plan : Plan or DaskPlan, optional
        Threads, or a cluster.
    moments : bool
        Whether to sum second moments too (for landmarks, and rows without noise). With them, you can fit
        estimators that search no noise to the embedding, as in ``km.estimators.SKMSE().fit(mu)``. Fourier features
        do not need them.

    Returns
    -------
    Embedding
        Its part, ``mu.parts[0]``, holds the ``vector`` in feature space, and the sums that :func:`pooled` adds.

    Raises
    ------
    TypeError, ValueError
        When X is not a finite table of numbers, its columns do not fit the features, a weight is negative or all are
        zero, or the noise does not fit.

    Notes
    -----
    O(n m d) time and O(m) memory besides the rows (landmarks: O(n m (m + d)) time; moments: O(n m²) time, O(m²)
    memory). Inner products are those of the features; :func:`inner` returns their error, too.

    Examples
    --------
    >>> from kernelmean.embedding.features import fourier
    >>> from kernelmean.kernels import Gaussian
    >>> phi = fourier(Gaussian(1.0), dim=1)
    >>> mu, nu = embed(np.zeros((3, 1)), phi), embed(np.ones((1, 1)), phi)
    >>> round(mu @ nu, 1), round((mu - nu).norm() ** 2, 1)
    (0.6, 0.7)
    """
    if not isinstance(features, FeatureMap):
        raise TypeError(f"features is {features!r}; a map such as features.fourier(kernel, dim=2) is needed")
    plan = check_plan(plan)
    if isinstance(plan, RemotePlan):
        return cast("Embedding", plan.feature_embed(X, features, weights=weights, noise=noise, moments=moments))
    rows, names = named_points(on_host(X))
    rows = features.check_rows(rows)
    noise = Dirac() if noise is None else noise
    if not isinstance(noise, Noise):
        raise TypeError(f"noise is {noise!r}, None or a value such as noise.Normal(0.1) is needed")
    features.check_noise(noise)
    w = None if weights is None else check_weights(weights, len(rows))
    if w is not None and (w.min() < 0 or w.max() == 0):
        raise ValueError("a weight is negative, or all are 0; pass weights ≥ 0 that are not all 0")
    later = isinstance(features, Fourier)  # noise is cheaper after the sum
    row_noise = Dirac() if later else noise
    if moments and (later or noise != Dirac()):
        raise ValueError(
            f"features is {features!r} and noise is {noise!r}, but moments are for landmarks and rows without noise; "
            "leave moments= out"
        )
    sums = np.split(features.row_sums(rows, w, row_noise, plan, moments=moments), [HEAD + features.size])
    mean = FeatureSums(row_noise, len(rows), Total.of(sums[0]), moments=Total.of(sums[1]) if moments else None)
    mu = replace(FeaturePart(features, (mean,)).embedding(), names=names)
    return smoothed(mu, noise) if later else mu


def pooled(first: Embedding, *others: Embedding) -> Embedding:
    """Return the embedding of the rows of several samples together, from their sums alone.

    Order and grouping change only the last digits. Do not use ``mu + nu`` for this: it is the sum of two functions, as
    for all embeddings.

    Parameters
    ----------
    first, *others : Embedding
        From :func:`embed`, with the same features and the same noise.

    Raises
    ------
    TypeError, ValueError
        When one is not by features, is a sum or a multiple of others, or has other features or another noise.

    Examples
    --------
    >>> from kernelmean.embedding.features import fourier
    >>> from kernelmean.kernels import Gaussian
    >>> phi = fourier(Gaussian(1.0), dim=1)
    >>> mu = pooled(embed(np.zeros((3, 1)), phi), embed(np.ones((1, 1)), phi))
    >>> mu.shape, round(mu.norm() ** 2, 1)
    ((4, 1), 0.9)
    """
    means, names = [sums_of(mu) for mu in (first, *others)], first.names
    for mu, mean in zip(others, means[1:], strict=True):
        first.check_compatible(mu)
        if mean.noise != means[0].noise:
            raise ValueError(
                f"the rows have different noises, {means[0].noise!r} and {mean.noise!r}; embed both with the same one"
            )
        names = names or mu.names
    sums = reduce(add, [mean.sums for mean in means])
    moments = [mean.moments for mean in means if mean.moments is not None]
    known = reduce(add, moments) if len(moments) == len(means) else None
    whole = FeatureSums(means[0].noise, sum(mean.count for mean in means), sums, moments=known)
    return replace(first, parts=(FeaturePart(first.features, (whole,)),), names=names)


def smoothed(mu: Embedding, noise: Noise) -> Embedding:
    """Return an embedding by Fourier features under additional noise, computed from the sums in O(m).

    Raises
    ------
    TypeError
        For landmarks, for an embedding that is not by features, or for a noise without a characteristic function.
    """
    if noise == Dirac():
        return mu
    return replace(mu, parts=(part_of(mu).mapped(lambda term: term.damped(mu.features, noise)),))


def part_of(mu: Any) -> FeaturePart:
    """Return the part of an embedding by features; raise for any other."""
    if not (isinstance(mu, Embedding) and isinstance(mu.parts[0], FeaturePart)):
        raise TypeError(f"{mu!r} is not an embedding by features; write features.embed(X, features) first")
    return mu.parts[0]


def sums_of(mu: Embedding) -> FeatureSums:
    """Return the one mean of an embedding by features; raise when it is a sum or a multiple."""
    part = part_of(mu)
    if len(part.terms) > 1 or part.mass != 1.0:
        raise ValueError(
            f"this embedding is {counted(len(part.terms), 'mean')} times {[term.factor for term in part.terms]}, not "
            "the mean of rows that is needed; pass what features.embed or features.pooled returned"
        )
    return part.terms[0]
