r"""How clearly two samples differ in their means, their spread, the way their columns go together, and their shape.

Every aspect is looked at without those before it: the spread about the center of each sample, correlations of normal
scores within each sample, L-moment ratios (Hosking 1990), which know neither place nor scale. So a difference of one
aspect is none of the next, and several can be found beside each other.

An aspect is a vector θ of a sample, one number a column or a pair of columns. Its values have influence functions, so
that the difference of two samples has a covariance, and both a largest and a summed z². The evidence is -log of the
smaller p-value of the two, which grows like the number of rows. Values beyond eight spreads are clipped: no single row
decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, final

import numpy as np
from scipy.special import gammaincc, gammaln, log_ndtr, ndtri

from ...core.array import Array, IntArray
from ...core.points import Names
from ...tables.columns.column_codings import IS_MISSING
from .columns import in_spreads
from .ranks import normal_scores, ranks

MEANS, SPREAD, TOGETHER, TAILS, SHAPE = "means", "spread", "columns together", "tails", "shape"
BLANKS = "blank cells"
LEAST_ROWS = 10
"""Fewer rows of a sample say nothing about kinds."""
_CLIPPED = 8.0
MOST_SUMMED = 256
_MOST_PAIRS, _MOST_COLUMNS, _MOST_CELLS = 2048, 512, 4_000_000
"""Of more numbers only the largest difference counts, not their sum; of more pairs variances are coarser, of more
columns there are no correlations, and of more cells some rows stand for all."""
_LEAST_VARIANCE, _FARTHEST = 1e-6, 1.0 - 1e-6
_HEAVY = 0.17
"""The L-kurtosis from which on tails are called heavy: that of normal values is .1226, of Student's t with 3 .26."""
_UNDERFLOW = 1e-290


@final
@dataclass(frozen=True)
class Compared:
    """Samples whose columns are compared; none where nothing is said about columns."""

    samples: tuple[Array, ...] = ()
    names: Names = None
    """Of the columns."""

    def evidence(self) -> dict[str, float]:
        """Return how clearly the samples differ in every aspect, and in the shares of blank cells if there are any."""
        named = [j for j, name in enumerate(self.names or ()) if name.endswith(IS_MISSING)]
        blanks = [j for j in named if len(np.unique(np.concatenate([own[:, j] for own in self.samples]))) <= 2]
        return evidence_of(self.samples, blanks) if self.samples else {}


NO_SAMPLES = Compared()


@final
@dataclass(frozen=True)
class Aspect:
    """Numbers that describe a sample, and how uncertain they are."""

    values: Array
    variances: Array
    covariance: Array | None
    """None of more numbers than a sum is made of."""
    rows: int
    influence: Array | None = None
    """The influence functions, shape (n, k), where they are kept."""

    @classmethod
    def of(cls, values: Array, influence: Array) -> Aspect:
        """Return values with their influence functions, shape (n, k)."""
        n, count = influence.shape
        centered = influence - influence.mean(axis=0)
        if count > MOST_SUMMED:
            return cls(values, np.square(centered).sum(axis=0) / n**2, None, n)
        covariance = centered.T @ centered / n**2
        return cls(values, np.diagonal(covariance).copy(), covariance, n)

    def scores(self, other: Aspect, *, paired: bool = False) -> Array:
        """Return the differences in their deviations, 0 where these are 0; of few rows they are as normal as can be."""
        variances = self._of_pairs(other) if paired else self.variances + other.variances
        gaps = self.values - other.values
        raw = np.divide(gaps, np.sqrt(variances), out=np.zeros_like(gaps), where=variances > 0.0)
        freedom = min(self.rows, other.rows) - 1
        return np.asarray(np.sign(raw) * np.sqrt(freedom * np.log1p(raw**2 / freedom)))

    def _of_pairs(self, other: Aspect) -> Array:
        """Return the variances of the differences, where row i of either sample is one pair, or an upper bound."""
        if self.influence is None or other.influence is None:
            return np.asarray(np.square(np.sqrt(self.variances) + np.sqrt(other.variances)))
        gaps = self.influence - other.influence
        return np.asarray(gaps.var(axis=0) / len(gaps))

    def evidence(self, other: Aspect) -> float:
        """Return -log of the p-value of the largest difference, or of the sum of all, whichever is larger."""
        z = self.scores(other)
        varies = self.variances + other.variances > 0.0
        count = int(varies.sum())
        if not count:
            return 0.0
        largest = -float(log_ndtr(-np.abs(z).max()) + np.log(2.0 * count))
        if count == 1 or self.covariance is None or other.covariance is None:
            return max(0.0, largest)
        shared = (self.covariance + other.covariance)[np.ix_(varies, varies)]
        deviations = np.sqrt(np.diagonal(shared))
        freedom = count**2 / float(np.square(shared / np.outer(deviations, deviations)).sum())  # Satterthwaite's
        total = float(np.square(z).sum()) * freedom / count
        summed = minus_log_tail(np.array(freedom / 2), np.array((total - freedom) / np.sqrt(2 * freedom)))
        return max(0.0, largest, float(summed))


def minus_log_tail(shape: Array, scores: Array) -> Array:
    """Return -log of the tail of a standardized gamma variable; where it is no number any more, its leading term."""
    places = np.maximum(shape + scores * np.sqrt(shape), 0.1 * shape)
    tail = gammaincc(shape, places)
    far = places - (shape - 1.0) * np.log(places) + gammaln(shape)
    return np.asarray(np.where(tail > _UNDERFLOW, -np.log(np.maximum(tail, _UNDERFLOW)), far))


def evidence_of(samples: Sequence[Array], blanks: Sequence[int] = ()) -> dict[str, float]:
    """Return how clearly samples differ in every aspect, the two of them that differ most in it.

    Columns ``blanks`` are positive where a cell of another one is blank. The other aspects are then those of the rows
    without blank cells, if these are half of every sample; otherwise blank cells count with the values they were given.

    Examples
    --------
    >>> X, Y = np.random.default_rng(0).normal(size=(2, 100, 3))
    >>> found = evidence_of([X, 2 * Y])
    >>> max(found, key=found.get)
    'spread'
    """
    step = 1 + sum(sample.size for sample in samples) // _MOST_CELLS
    samples = [sample[::step] for sample in samples]
    if not blanks:
        return _of_complete(samples)
    absent = [sample[:, blanks] > 0.0 for sample in samples]
    complete = [sample[~own.any(axis=1)] for sample, own in zip(samples, absent, strict=True)]
    few = any(len(own) < max(LEAST_ROWS, len(sample) / 2) for own, sample in zip(complete, samples, strict=True))
    found = _of_complete([np.delete(own, blanks, axis=1) for own in (samples if few else complete)])
    return found | {BLANKS: _largest([means(own.astype(np.float64)) for own in absent])}


def _of_complete(samples: Sequence[Array]) -> dict[str, float]:
    """Return the evidence of columns without blank cells."""
    pooled = np.concatenate(samples)
    several = ((pooled > pooled.min(axis=0)) & (pooled < pooled.max(axis=0))).any(axis=0)
    pooled = np.clip(in_spreads(pooled), -_CLIPPED, _CLIPPED)
    parts = np.split(pooled, np.cumsum([len(sample) for sample in samples])[:-1])
    pairs = pairs_of_columns(parts, several)
    numbers = [part[:, several] for part in parts]
    shaped = [shapes(part) for part in numbers]
    found = {
        MEANS: _largest([means(part) for part in parts]),
        SPREAD: min(_largest([variances(part) for part in numbers]), _largest(distances(numbers))),
        TOGETHER: _largest([correlations(part, pairs) for part in parts]),
        SHAPE: _largest(shaped),
    }
    if _heavier(shaped):
        found[TAILS] = found.pop(SHAPE)
    return found


def _largest(aspects: Sequence[Aspect]) -> float:
    return max((own.evidence(other) for own, other in combinations(aspects, 2)), default=0.0)


def _heavier(shaped: Sequence[Aspect]) -> bool:
    """Say whether the L-kurtosis differs most, and is that of heavy tails."""
    if not len(shaped[0].values):
        return False
    every = ((own.scores(other), own, other) for own, other in combinations(shaped, 2))
    z, own, other = max(every, key=lambda item: float(np.abs(item[0]).max()))
    most = int(np.abs(z).argmax())
    return most >= len(z) // 2 and max(own.values[most], other.values[most]) >= _HEAVY


def means(points: Array) -> Aspect:
    """Return the means of columns."""
    return Aspect.of(points.mean(axis=0), points)


def variances(points: Array) -> Aspect:
    """Return the logarithms of the variances of columns."""
    squares = np.square(points - points.mean(axis=0))
    own = np.maximum(squares.mean(axis=0), _LEAST_VARIANCE)
    return Aspect.of(np.log(own), squares / own)


def distances(samples: Sequence[Array]) -> list[Aspect]:
    """Return the means of Klotz's scores of columns: of ranks, in all samples, of distances from the own median.

    Few rows with heavy tails have variances that no approximation holds for, and these scores do; tails alone move the
    scores, and not the variances.
    """
    gaps = np.concatenate([np.abs(points - np.median(points, axis=0)) for points in samples]).round(9)  # ties stay ties
    for column in gaps.T:
        column[:] = np.square(ndtri(0.5 + ranks(column) / (2 * len(column) + 2)))
    return [means(part) for part in np.split(gaps, np.cumsum([len(points) for points in samples])[:-1])]


def pairs_of_columns(samples: Sequence[Array], several: Any) -> tuple[IntArray, IntArray]:
    """Return all pairs of columns but those of two categories of one column, of which a row has only one.

    Columns in which fewer than 10 rows of a sample have another value than its most common one take no part: no
    approximation holds for their correlations.
    """
    points = np.concatenate(samples)
    first, second = np.triu_indices(points.shape[1] if points.shape[1] <= _MOST_COLUMNS else 0, 1)
    if not len(first):
        return first, second
    varied = np.array(
        [min(map(rows_beside, columns)) >= LEAST_ROWS for columns in zip(*(X.T for X in samples), strict=True)]
    )
    high = (points > points.min(axis=0)).astype(np.float64)
    apart = (high.T @ high == 0.0) & ~several & ~several[:, None]
    kept = ~apart[first, second] & varied[first] & varied[second]
    return first[kept], second[kept]


def rows_beside(column: Array) -> int:
    """Return the number of rows that do not have the most common value."""
    return len(column) - int(np.unique(column, return_counts=True)[1].max())


Score = Callable[[Array], tuple[Array, Array]]
"""From a column to the scores of its ranks, and how fast these rise with the share of rows below."""


def normal(column: Array) -> tuple[Array, Array]:
    """Return normal scores."""
    scores = normal_scores(ranks(column), len(column))
    return scores, np.sqrt(2 * np.pi) * np.exp(np.square(scores) / 2)


def plain(column: Array) -> tuple[Array, Array]:
    """Return ranks, for Spearman's correlation."""
    return ranks(column) / len(column), np.ones(len(column))


def correlations(
    points: Array, pairs: tuple[IntArray, IntArray], score: Score = normal, *, keep: bool = False
) -> Aspect:
    """Return Fisher's z of the correlations of scores of pairs of columns; ``keep`` the influence functions of few."""
    first, second = pairs
    scored = [score(column) for column in points.T]
    scores = np.stack([own - own.mean() for own, _ in scored], axis=1) if scored else np.empty_like(points)
    scales = np.square(scores).mean(axis=0)
    scales[scales == 0.0] = np.inf
    r = (scores.T @ scores / len(scores))[first, second] / np.sqrt(scales[first] * scales[second])
    r = np.clip(r, -_FARTHEST, _FARTHEST)
    if len(first) > _MOST_PAIRS:
        return Aspect(np.arctanh(r), _variances_of_scores(scores / np.sqrt(scales), r, pairs), None, len(scores))
    later = [_Later.of(column, slopes) for column, (_, slopes) in zip(points.T, scored, strict=True)]
    single = [np.square(own) + 2 * rises(own) for own, rises in zip(scores.T, later, strict=True)]

    def influence(a: int, b: int, own: float) -> Array:
        x, y = scores[:, a], scores[:, b]
        both = x * y + later[a](y) + later[b](x)
        alone = single[a] / scales[a] + single[b] / scales[b]
        found = (both / np.sqrt(scales[a] * scales[b]) - own / 2 * alone) / (1 - own**2)
        return np.asarray(found - found.mean())

    each = (influence(a, b, own) for a, b, own in zip(first, second, r, strict=True))
    if len(first) > MOST_SUMMED:
        variances = np.array([float(own @ own) for own in each]) / len(scores) ** 2
        return Aspect(np.arctanh(r), variances, None, len(scores))
    influences = np.stack([*each], axis=1) if len(first) else np.empty((len(scores), 0))
    return replace(Aspect.of(np.arctanh(r), influences), influence=influences if keep else None)


@final
@dataclass(frozen=True)
class _Later:
    """The part of an influence function that comes from ranks: rows above a row rank higher because of it."""

    order: IntArray
    slopes: Array
    first: IntArray
    last: IntArray

    @classmethod
    def of(cls, column: Array, slopes: Array) -> _Later:
        order = np.argsort(column, kind="stable")
        ascending = column[order]
        first, last = (np.searchsorted(ascending, column, side) for side in ("left", "right"))
        return cls(order, slopes, first, last)

    def __call__(self, values: Array) -> Array:
        """Return the mean over all rows of slope times value where they are higher; ties count half."""
        sums = np.append(np.cumsum((self.slopes * values)[self.order][::-1])[::-1], 0.0)
        return np.asarray((sums[self.first] + sums[self.last]) / (2 * len(values)))


def _variances_of_scores(scores: Array, r: Array, pairs: tuple[IntArray, IntArray]) -> Array:
    """Return variances of very many correlations from moments, as if scores did not depend on other rows."""
    first, second = pairs
    squares = np.square(scores)
    crossed, cubed, fourth = (squares.T @ squares, (squares * scores).T @ scores, np.square(squares).sum(axis=0))
    both, odd = crossed[first, second], cubed[first, second] + cubed[second, first]
    total = both - r * odd + r**2 / 4 * (fourth[first] + 2 * both + fourth[second])
    return np.asarray(np.maximum(total, 0.0) / (1 - r**2) ** 2 / len(scores) ** 2)


def shapes(points: Array) -> Aspect:
    """Return the L-skewness and then the L-kurtosis of every column, 0 of constant ones.

    Examples
    --------
    >>> shapes(np.arange(5.0)[:, None] ** 2).values.round(3).tolist()
    [0.35, 0.0]
    """
    n, dim = points.shape
    order = np.argsort(points, axis=0, kind="stable")
    rows = np.take_along_axis(points, order, axis=0)
    rank, share = np.arange(n)[:, None], (np.arange(n)[:, None] + 0.5) / n
    below, moments, influences = np.ones((n, 1)), [], []
    for k in range(4):  # the probability-weighted moments E[x F(x)^k], and their influence functions
        below = below * (rank - k + 1) / (n - k) if k else below
        moments.append((below * rows).mean(axis=0))
        later = k * rows * share ** max(k - 1, 0) / n
        influences.append(rows * share**k + np.cumsum(later[::-1], axis=0)[::-1] - later / 2)
    scale, third, fourth = _l_moments(moments)
    own, skewed, curved = _l_moments(influences)
    divisor = np.where(scale > 0.0, scale, np.inf)
    ratios = third / divisor, fourth / divisor
    ordered = [(part - ratio * own) / divisor for part, ratio in zip((skewed, curved), ratios, strict=True)]
    influence = np.empty((n, 2 * dim))
    for k, part in enumerate(ordered):
        np.put_along_axis(influence[:, k * dim : (k + 1) * dim], order, part, axis=0)
    return Aspect.of(np.concatenate(ratios), influence)


def _l_moments(weighted: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Return the second to the fourth L-moment from the probability-weighted moments."""
    b0, b1, b2, b3 = weighted
    return 2 * b1 - b0, 6 * b2 - 6 * b1 + b0, 20 * b3 - 30 * b2 + 12 * b1 - b0
