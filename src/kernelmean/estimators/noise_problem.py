"""A sample under a Gaussian kernel, in units of the bandwidth: what every search for a noise starts from."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from ..core.array import (
    Array,
    array_api,
    as_float64,
    as_host,
    as_type,
    centered,
    column_variances,
    like,
    namespace,
    precision,
    to_numpy,
)
from ..core.validate import check_range, check_spread
from ..embedding.score import Criterion, Score, Terms, diagonal_share
from ..kernels.gaussian import Gaussian
from .loocv import axes, contracted, isotropic
from .search import ScoreObjective

COARSE = 300  # rows on which searches explore
FEW = 32  # rows on which they look at a whole grid of two parameters
_SKETCHED = 2000  # rows on which searches for one number explore, where distances are not stored
GRID_STEP = 0.25  # of logarithms


@dataclass(frozen=True)
class ScoredNoise:
    """A noise with its score."""

    noise: Array
    """Variances in units of θ², along the axes or along ``vectors``, shape (d,)."""
    terms: Terms
    score: Score
    contraction: float = 1.0
    """r, by which the points are drawn to their mean; 1 leaves them."""
    vectors: Array | None = None
    """Shape (d, d). Orthonormal columns; the axes when None."""


def lower(first: ScoredNoise, second: ScoredNoise) -> ScoredNoise:
    """Return the choice with the lower score, the first of equals."""
    return second if second.score < first.score else first


_Squared: TypeAlias = isotropic.Distances | isotropic.ScaledDistances | isotropic.SummedDistances


@array_api
def _distances(Y: Array, pairs: isotropic.PairDistances | None, bandwidths: Array) -> _Squared:  # noqa: ARG001
    """Return the squared distances of all pairs of rows; those known already serve NumPy's arrays."""
    return isotropic.SummedDistances(Y, some_rows(Y, _SKETCHED))


@_distances.numpy
def _(Y: Array, pairs: isotropic.PairDistances | None, bandwidths: Array) -> _Squared:
    if pairs is None or np.ptp(bandwidths) > 0:
        return isotropic.Distances(Y)
    return pairs.under(float(bandwidths[0]))


class NoiseProblem:
    """A sample in units of the bandwidth, and its score at a noise.

    Parameters
    ----------
    X : array of shape (n, d)
    kernel : Gaussian
    criterion : {"loocv", "risk"}
    scale : float or None
        The factor of all weights; None is the best one for every noise.
    pairs : isotropic.PairDistances, optional
        The distances of the rows, where other bandwidths need them too.
    """

    def __init__(
        self,
        X: Array,
        kernel: Gaussian,
        criterion: Criterion = "loocv",
        scale: float | None = 1.0,
        pairs: isotropic.PairDistances | None = None,
    ) -> None:
        self.n, self.dim = X.shape
        check_spread(X)
        self.bandwidths = kernel.bandwidths(self.dim)
        check_range(self.bandwidths, "the bandwidth is")
        self.Y = as_type(centered(as_float64(X))[0] / like(self.bandwidths, X, "float64"), precision(X))
        self.off = float(namespace(self.Y).max(namespace(self.Y).abs(self.Y)))
        check_range(self.off, "in units of the bandwidth rows lie off their median by")
        self.alpha = diagonal_share(self.n, criterion)
        self.constant = 0.0 if criterion == "risk" else 1.0
        self.scale = scale
        self._pairs = pairs

    @cached_property
    def distances(self) -> _Squared:
        """The squared distances of all pairs."""
        return _distances(self.Y, self._pairs, self.bandwidths)

    @cached_property
    def part(self) -> Array:
        """At most 300 rows, on which searches look for good starts; every reported score uses all rows."""
        return some_rows(self.Y)

    @cached_property
    def spanned(self) -> tuple[Array, Array]:
        """All points and ``part``, less the mean, in coordinates of their span, which is small when d > n."""
        mean = namespace(self.Y).mean(self.Y, axis=0)
        whole = contracted.spanned(self.Y - mean)
        return whole, whole if self.part is self.Y else contracted.spanned(self.part - to_numpy(mean))

    @cached_property
    def few(self) -> Array:
        """At most 32 rows, less the mean of all."""
        return some_rows(self.part, FEW) - to_numpy(namespace(self.Y).mean(self.Y, axis=0))

    @cached_property
    def variances(self) -> Array:
        """The variance of every column, shape (d,)."""
        return column_variances(self.Y)

    def without(self) -> ScoredNoise:
        """Return the score without noise."""
        return self.choice(isotropic.terms(self.distances, 0.0, self.alpha), np.zeros(self.dim))

    def at(self, noise: Array, vectors: Array | None = None) -> ScoredNoise:
        """Return the score at given variances (d,), along the axes or the columns of ``vectors``."""
        if np.ptp(noise) == 0:
            return self.choice(isotropic.terms(self.distances, float(noise[0]), self.alpha), noise)
        Y = self.Y if vectors is None else self.Y @ like(vectors, self.Y)
        return self.choice(axes.terms(Y, noise, self.alpha, slopes=False), noise, vectors=vectors)

    def choice(self, terms: Terms, noise: Array, contraction: float = 1.0, vectors: Array | None = None) -> ScoredNoise:
        """Return the choice of a noise whose terms are known."""
        score = terms.score(self.scale, constant=self.constant)
        return ScoredNoise(noise, terms, score, contraction, vectors)

    def objective(self, terms: Callable[[Array], Terms]) -> ScoreObjective:
        """Return the score as a function of parameters."""
        return ScoreObjective(terms, self.scale)

    def rescored(self, choice: ScoredNoise, criterion: Criterion, scale: float) -> Score:
        """Return the score of a choice without contraction by another criterion, at a given scale."""
        other = copy(self)
        other.alpha, other.scale = diagonal_share(self.n, criterion), scale
        other.constant = 0.0 if criterion == "risk" else 1.0
        return other.at(choice.noise, choice.vectors).score

    def informative(self, choice: ScoredNoise) -> float:
        """Return the relative gain of a choice over no noise: the size of what there is to see."""
        nothing = self.without().score
        if nothing.sign >= 0 or choice.score.sign >= 0:
            return 1.0
        return float(np.clip(choice.score.log - nothing.log, 1e-9, 1.0))


def some_rows(X: Array, most: int = COARSE) -> Array:
    """Return at most 300 rows, the same whatever the order of the rows: permutation tests rely on it.

    Those of another library than NumPy are copied.
    """
    X = as_host(X)
    if len(X) <= most:
        return X
    return X[np.lexsort(X.T)][np.random.default_rng(0).choice(len(X), most, replace=False)]


def in_logs(terms: Terms, parameters: Array) -> Terms:
    """Return the terms with slopes in the logarithms of the parameters."""
    return Terms(terms.cross, terms.square, parameters * terms.cross_slope, parameters * terms.square_slope)


def along(terms: Terms, direction: Array) -> Terms:
    """Return the terms with slopes along one direction in the space of the parameters."""
    slopes = (np.array([direction @ slope]) for slope in (terms.cross_slope, terms.square_slope))
    return Terms(terms.cross, terms.square, *slopes)
