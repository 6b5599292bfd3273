"""Estimators for any number of rows, fitted to sums of features that approximate the kernel."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from typing import Any, Protocol, final

import numpy as np

from ..core.array import Array, IntArray, is_foreign
from ..core.validate import check_has_rows, check_integer, check_spread, on_host, validated
from ..core.words import count, refuse
from ..embedding.embedding import Embedding
from ..embedding.features import (
    FeatureMap,
    Fourier,
    Landmarks,
    embed,
    inner,
    pooled,
    random_cholesky,
    smoothed,
)
from ..embedding.features.base import tiled
from ..embedding.features.embedding import part_of, sums_of
from ..embedding.score import Means, Score
from ..kernels.base import Kernel, rules_of
from ..kernels.gaussian import Gaussian
from ..noise.dirac import Dirac
from ..plan.plan import Plan, serial_blas
from ..tables.batchwise import measured
from ..tables.limits import ADAPTIVE_LIMIT, TEST_LIMIT
from ..tables.read import is_in_memory, read
from ..tables.source import Source, split_rows
from .base import Options, make_kernel
from .feature_rows import LandmarkRows, leave_one_out
from .filters import Ridge
from .fitting import noise_for
from .loocv.spectral import LIMIT
from .regularization import strength_of_equal_entries

Again = Callable[[], Iterator[Array]] | None
"""Rows in batches, where they can be read once more."""
RANK, DRAWN = 512, 5000
"""The default number of landmarks, and of the rows drawn at random to find landmarks, bandwidths and noise."""


class FeatureEstimator(Protocol):
    """What a fit by features asks of a :class:`~kernelmean.KernelMean`."""

    kernel: Any
    bandwidth: Any
    noise: Any
    filter: Any
    features: Any

    def options(self, kernel: Kernel) -> Options:
        """Return the options of an estimate under a kernel."""

    def bandwidth_for(self, X: Array) -> Any:
        """Return the bandwidth, or the rule for it."""

    def name_columns(self, names: Sequence[str], *, named: bool) -> None:
        """Keep the names of the columns."""


@final
@dataclass(frozen=True)
class BatchedRows:
    """Rows in batches, and some of them to represent all."""

    batches: Callable[[], Iterator[Array]]
    again: bool
    """Whether they can be read a second time."""
    drawn: Array
    """Shape (m, d)."""
    whole: Array | None = None
    """All of them, where they are in memory."""

    @classmethod
    def of(cls, batches: Callable[[], Iterator[Array]], again: bool, whole: Array | None = None) -> BatchedRows:
        """Return the rows; those in ``drawn`` are random, or the first ones where rows can be read only once."""
        if again:
            return cls(batches, True, _drawn(batches()), whole)
        head, rest = split_rows(batches(), DRAWN)
        if head is None:
            raise ValueError("there are no rows; at least two are needed")
        return cls(lambda: chain([head], rest), False, head)

    @property
    def note(self) -> str:
        """Which rows the landmarks were found in."""
        how = f"of {len(self.drawn):,} rows drawn at random" if self.again else f"of the first {len(self.drawn):,} rows"
        return f"landmarks {how}"


def drawn_numbers(n: int) -> IntArray:
    """Return the numbers of the rows drawn from n, in the order of the draw."""
    return np.argsort(np.random.default_rng(0).random(n), kind="stable")[:DRAWN]


def _drawn(batches: Iterator[Array]) -> Array:
    """Return the rows of :func:`drawn_numbers`, drawn without replacement, whatever the batches."""
    rng, kept, keys = np.random.default_rng(0), None, np.empty(0)
    for X in batches:
        draws = rng.random(len(X))
        few = np.argsort(draws, kind="stable")[:DRAWN]
        rows, keys = X[few] if kept is None else np.concatenate([kept, X[few]]), np.concatenate([keys, draws[few]])
        best = np.argsort(keys, kind="stable")[:DRAWN]
        kept, keys = rows[best], keys[best]
    if kept is None or len(kept) < 2:
        raise ValueError(f"X has {count(len(keys), 'row')}, at least 2 are needed")
    return kept


def exact_limit(estimator: FeatureEstimator) -> int:
    """Return up to how many rows in memory an estimator is fitted exactly, if no features are asked for."""
    if estimator.features == 0:
        return sys.maxsize
    if estimator.filter is not None and estimator.options(Gaussian(1.0)).spectral is not None:
        return LIMIT
    return ADAPTIVE_LIMIT if isinstance(estimator.noise, str) else TEST_LIMIT


def rows_of(estimator: FeatureEstimator, X: Any) -> BatchedRows | Any:
    """Return rows in batches for an estimator fitted by features, else all rows, to be fitted exactly."""
    by_features, limit = estimator.features not in (None, 0), exact_limit(estimator)
    if not is_in_memory(X):
        source = read(X)
        data, long = (source, False) if source.in_memory else measured(source, limit)
        if isinstance(data, Source) and (long or by_features):
            estimator.name_columns(data.names, named=data.named)
            several = source if not source.once else data  # which goes on with the rows that were measured
            return BatchedRows.of(lambda: iter(several), not source.once)
        X = data if not isinstance(data, Source) else data.whole().to_table()
    check_has_rows(X, "X")
    X = on_host(X) if by_features else X
    if is_foreign(X) or not (by_features or np.shape(X)[0] > limit):
        return X
    points = validated(estimator, X, ensure_min_samples=2)
    check_spread(points)
    if not by_features and _refusal(estimator.options(Gaussian(1.0)), None):
        return X
    return BatchedRows.of(lambda: iter([points]), True, points)


@final
@dataclass(frozen=True)
class FeatureFit:
    """What an estimator found from features."""

    embedding: Embedding
    score: Score
    strength: float | None
    contraction: float
    error: float
    """The largest possible distance from the embedding of all rows at the same parameters; nan where unknown."""
    features: FeatureMap
    notes: tuple[str, ...]


def fit_rows(estimator: FeatureEstimator, rows: BatchedRows, plan: Plan) -> FeatureFit:
    """Fit an estimator to rows in batches: one pass for the sums, and one more for the strength of a ridge."""
    features = features_for(estimator, rows)
    moments = isinstance(features, Landmarks)
    parts = (embed(X, features, plan=plan, moments=moments) for X in rows.batches())
    again = rows.batches if rows.again else None
    fit = fit_sums(reduce(pooled, parts), estimator.options(features.kernel), rows.drawn, again, plan)
    return fit if features is estimator.features else replace(fit, notes=(*fit.notes, rows.note))


def check_same_kernel(estimator: FeatureEstimator, features: FeatureMap) -> None:
    """Raise when an estimator was given a kernel other than that of its features."""
    refuse(f"{features!r} has its kernel", bandwidth=(estimator.bandwidth, "median"))
    if estimator.kernel not in ("gaussian", features.kernel):
        raise ValueError(f"{features!r} has another kernel than kernel={estimator.kernel!r}; leave kernel= out")


def features_for(estimator: FeatureEstimator, rows: BatchedRows) -> FeatureMap:
    """Return the features that the caller passed, or landmarks found in the rows."""
    if isinstance(estimator.features, FeatureMap):
        check_same_kernel(estimator, estimator.features)
        return estimator.features
    rank = RANK if estimator.features is None else check_integer(estimator.features, "features", 1)
    some = rows.drawn if rows.whole is None else rows.whole
    kernel = make_kernel(estimator.kernel, estimator.bandwidth_for(some), some)
    if rows.whole is None:
        rules = rules_of(estimator.kernel, some.shape[1]) if isinstance(estimator.kernel, Kernel) else ()
        for rule in (*rules, estimator.bandwidth):
            if isinstance(rule, str) and not rule.startswith("median"):
                raise ValueError(
                    f"the rule {rule!r} looks at all rows, and these are read batch by batch; pass a number"
                )
    return random_cholesky(kernel, rows.drawn, rank)


def fit_embedding(estimator: FeatureEstimator, mu: Embedding, plan: Plan) -> FeatureFit:
    """Fit an estimator to sums that the caller passed."""
    check_same_kernel(estimator, part_of(mu).features)
    return fit_sums(mu, estimator.options(mu.kernel), None, None, plan)


def fit_sums(mu: Embedding, options: Options, drawn: Array | None, again: Again, plan: Plan) -> FeatureFit:
    """Fit an estimator to an embedding by features with moments, of rows of which some were drawn.

    Raises
    ------
    ValueError
        When features do not support the options, a noise is to be searched and no rows are known, or a ridge must
        choose its strength and rows cannot be read again.
    """
    reason = _refusal(options, mu.features)
    if reason:
        raise ValueError(reason)
    means = leave_one_out(mu)
    with serial_blas:
        if options.spectral is not None:
            return _ridge(mu, options, again, plan)
        noise, r = options.noise or Dirac(), 1.0
        if isinstance(noise, str):
            if drawn is None:
                raise ValueError("a noise is searched in rows, which sums do not keep; fit the rows, or pass a Noise")
            noise, r = noise_for(mu.shape[0], drawn, mu.kernel, options)
        without = means
        means = leave_one_out(mu, noise) if r == 1.0 else LandmarkRows.of(mu, mu.features).means(noise, r)
        if isinstance(options.noise, str) and without.score() < means.score():  # what was best for the rows drawn
            noise, r, means = Dirac(), 1.0, without
        scale = means.best_scale(options.scale)
        strength = None if options.filter is None else (1.0 / scale - 1.0 if scale > 0 else math.inf)
        features, score = mu.features, means.score(scale)
        if isinstance(features, Landmarks):
            estimate = LandmarkRows.of(mu, features).embedding(noise, scale, r)
            error = _distance(mu, estimate, scale, r, again, plan)
            return FeatureFit(estimate, score, strength, r, error, features, (_bound_note(features, mu, error),))
        estimate = scale * smoothed(mu, noise)
        squared = inner(estimate, estimate)
        note = (
            f"{features.summary} stand for {mu.shape[0]:,} rows: the squared norm of the estimate, "
            f"{squared.value:.3g}, has the standard error {squared.standard_error:.2g} over their draw"
        )
        return FeatureFit(estimate, score, strength, r, math.nan, features, (note,))


def _distance(mu: Embedding, estimate: Embedding, scale: float, r: float, again: Again, plan: Plan) -> float:
    """Return a bound of the distance from the estimate of all rows.

    Noise never increases a norm, and a contraction by r increases it at most r^(-d/2) times: this is the ratio of the
    spectra of Gaussian kernels. Where the rows can be read again, the factor is not needed.
    """
    sums = sums_of(mu)
    if r == 1.0:
        return scale * sums.residual
    rows = LandmarkRows.of(mu, mu.features)
    if again is not None:
        return scale * rows.distance(again(), plan, estimate.noise, r) / rows.n
    longest = scale * math.sqrt(rows.moments.squared_norm) + estimate.norm()
    return min(scale * sums.residual * r ** (-0.5 * mu.features.dim), longest)


def _bound_note(features: FeatureMap, mu: Embedding, error: float) -> str:
    return (
        f"{features.summary} stand for {mu.shape[0]:,} rows: at the same parameters the estimate of all rows is "
        f"at a distance of {error:.2g} at most"
    )


def _refusal(options: Options, features: FeatureMap | None) -> str:
    """Return why features do not support options and what to write instead; nothing where they do."""
    if options.criterion != "loocv":
        return f"features have no {options.criterion!r} score; write criterion='loocv', or fit a part of the rows"
    if options.noise == "full" or (options.filter is not None and options.noise not in (None, Dirac())):
        return (
            "features support noise='isotropic' or 'diagonal' only without a filter; drop one of the two, or fit a "
            "part of the rows"
        )
    if options.spectral is not None and not isinstance(options.spectral, Ridge):
        return f"features support filter='scale' and 'ridge', not {options.spectral!r}; fit at most {LIMIT:,} rows"
    if isinstance(features, Fourier) and (options.contraction or options.spectral):
        return "Fourier features support neither a contraction nor a ridge; pass landmarks, features=512"
    return ""


def _ridge(mu: Embedding, options: Options, again: Again, plan: Plan) -> FeatureFit:
    sums, features = sums_of(mu), mu.features
    moments = sums.moments_of(features)
    ridge = FeatureRidge.of(sums.count, sums.mean, moments.second)
    strength, score = options.strength, Score(math.nan, 0, -math.inf)
    if again is not None:
        strength, score = ridge.best(features, again(), leave_one_out(mu), strength, plan)
    elif strength is None:
        raise ValueError(
            "a ridge reads the rows twice, because its leave-one-out score needs more than sums, but these rows can be "
            "read only once; pass a file or an array, or write strength=<number>"
        )
    rows, direction = LandmarkRows.of(mu, features), ridge.direction(strength)
    if again is not None:
        off = rows.distance(again(), plan, direction=direction)
    else:
        residual = max(moments.squared_norm - rows.squared_norm, 0.0)
        off = rows.n * math.sqrt(float(direction @ moments.second @ direction) * residual)
    estimate = replace(rows, weights=features.weights(ridge.coordinates(strength))).embedding(Dirac())
    error = sums.residual + off
    return FeatureFit(estimate, score, strength, 1.0, error, features, (_bound_note(features, mu, error),))


@final
@dataclass(frozen=True, eq=False)
class FeatureRidge:
    """The ridge of n rows, from their sums."""

    n: int
    values: Array
    """γ, the eigenvalues of C, shape (m,)."""
    vectors: Array
    """Those of C in columns, shape (m, m)."""
    total: Array
    """s along the eigenvectors, shape (m,)."""

    @classmethod
    def of(cls, n: int, mean: Array, second: Array) -> FeatureRidge:
        """Decompose the sums of n rows, given as the means of φ and of φφᵀ."""
        values, vectors = np.linalg.eigh(n * second)
        return cls(n, np.maximum(values, 0.0), vectors, n * (mean @ vectors))

    def coordinates(self, strength: float) -> Array:
        """Return the estimate in feature space, shape (m,)."""
        if strength == math.inf:
            return np.zeros_like(self.total)
        return np.asarray(self.vectors @ (self.values / (self.values + strength) * self.total / self.n))

    def direction(self, strength: float) -> Array:
        r"""Return g = (C+λI)^{-1} s/n, shape (m,), for a bound of the distance from the estimate of all rows.

        With P the projection and :math:`\hat C = Σ k_i ⊗ k_i`, the difference is
        :math:`λ (\hat C+λ)^{-1} (I-P) \hat C g + (\hat C+λ)^{-1} \hat C (I-P) \hat μ`. The factors in front increase no
        norm, so it is bounded by the sum of the norms of :math:`Σ_i g(x_i) (I-P) k_i` and :math:`(I-P) \hat μ`.
        """
        return np.asarray(self.vectors @ (self.total / (self.values + strength)) / self.n)

    def scores(self, features: FeatureMap, batches: Iterator[Array], strengths: Array, plan: Plan) -> Array:
        """Return the score of every λ less the mean of |φ|², shape (k,); O(n m (m + k)) time."""
        inverse = 1.0 / (self.values[:, None] + strengths)
        fitted = self.values[:, None] * self.total[:, None] * inverse
        columns = np.concatenate([self.total[:, None] * inverse, fitted * inverse], axis=1)
        squares = np.concatenate([inverse, inverse**2], axis=1)
        norm = np.square(fitted).sum(axis=0)

        def run(X: Array) -> Array:
            tile = np.empty((len(X), features.size))
            features.fill(X, Dirac(), tile)
            Z = tile @ self.vectors
            diagonal, direct = np.square(Z).sum(axis=1)[:, None], (Z @ self.total)[:, None]
            (first, cross), (h, h2) = (np.split(part, 2, axis=1) for part in (Z @ columns, Z**2 @ squares))
            w = strengths * (first - 1.0) / (1.0 - h)
            target = direct - strengths * first  # φᵀ C G s
            lin = (target - diagonal - w * h) / (self.n - 1.0)
            quad = norm + diagonal - 2.0 * target + w * (w * h2 - 2.0 * (cross - h))
            return np.asarray((quad / (self.n - 1.0) ** 2 - 2.0 * lin).sum(axis=0))

        tiles = tiled(features, batches)
        return np.asarray(sum(plan.map(run, tiles, self.n * features.size), start=np.zeros(len(strengths)))) / self.n

    def best(
        self, features: FeatureMap, batches: Iterator[Array], means: Means, strength: float | None, plan: Plan
    ) -> tuple[float, Score]:
        """Return the given ``strength``, or the best λ of a grid, with its score; infinity if μ = 0 is best.

        The grid has two strengths per decade from 1e-8 to 1e3 n, and 24 around the best one for rows that are all
        equally alike.
        """
        unit = means.constant
        grid = unit * np.geomspace(1e-8, 1e3 * self.n, math.ceil(2 * (11 + math.log10(self.n))))
        alike = means.cross / unit
        if 0.0 < alike < 1.0:
            around = unit * strength_of_equal_entries(alike, self.n) * np.geomspace(0.1, 10.0, 49)
            grid = np.unique(np.concatenate([grid, around]))
        grid = grid if strength is None else np.array([strength])
        scores = self.scores(features, batches, grid, plan)
        k = int(np.argmin(scores))
        if scores[k] >= 0 and strength is None:
            return math.inf, Score(unit, 0, -math.inf)
        return float(grid[k]), Score.of(float(scores[k]), unit)
