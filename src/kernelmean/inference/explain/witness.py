"""Where two samples differ: the function on which their means differ most, and what it could be by chance.

For two variables it is the function on which their joint distribution differs most from independence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, as_host
from ...core.frozen import Frozen
from ...core.points import points_like
from ...core.validate import check_fraction, check_points, check_same_columns
from ...embedding.embedding import Embedding
from ...kernels import Kernel
from ..resampling import Resampling, check_n_resamples
from .centered import hadamard
from .fluctuation import LEAST_DRAWS
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject, relative


@final
@dataclass(frozen=True, eq=False)
class JointWitness:
    r"""The unit witness :math:`(μ_{XY} - μ_X ⊗ μ_Y) / \sqrt{\mathrm{HSIC}}` on pairs of points.

    Positive where pairs are more frequent than they would be without dependence, as the kernels see it.

    Attributes
    ----------
    pairs : PairSubject
        The tables, and the kernel of each.
    norm : float
        √HSIC (V-statistic). The unit witness times ``norm`` is the plain difference of the means.
    """

    pairs: PairSubject
    norm: float

    def __repr__(self) -> str:
        return f"JointWitness(norm={self.norm:.4g})"

    def __call__(self, x: Any, y: Any) -> Array:
        """Return the values at the pairs of rows of ``x`` (p, d) and ``y`` (p, e), shape (p,)."""
        names = self.pairs.names
        places = (
            as_host(points_like(x, names[0], "x", "the sample of x")),
            as_host(points_like(y, names[1], "y", "the sample of y")),
        )
        if len(places[0]) != len(places[1]):
            raise ValueError(
                f"x has {len(places[0])} rows and y has {len(places[1])}; row i of x and row i of y must be one pair"
            )
        for place, table, name in zip(places, self.pairs.tables, "xy", strict=True):
            check_same_columns(table, place, (f"the sample of {name}", name))
        inside, weights = self.pairs.strata.inside, self.pairs.weights
        shares = np.bincount(self.pairs.strata.stratum, weights)
        apart = self._mean(places, (0,), inside) * self._mean(places, (1,), inside)
        return (self._mean(places, (0, 1), weights[:, None])[:, 0] - apart @ shares) / self.norm

    def _mean(self, places: tuple[Array, Array], sides: tuple[int, ...], weights: Array) -> Array:
        """Return weighted means over the sample of the product of the kernels of some sides, one per column, (p, k)."""
        prepared = [self.pairs.kernels[side].blocks(places[side], self.pairs.tables[side]) for side in sides]
        return self.pairs.plan.matmul(reduce(hadamard, prepared), len(places[0]), self.pairs.n, weights)


def joint_witness(subject: PairSubject) -> JointWitness:
    """Return the unit function on which the joint distribution of two variables differs most from independence.

    Raises
    ------
    ValueError
        When the witness is 0 everywhere, such as for a constant variable.

    Notes
    -----
    O(n² (d + e)) time once, and O(n (d + e)) per pair of points. Gretton et al. (2005), section 3.
    """
    pairs = subject.owned()
    squared = pairs.squared
    magnitude = np.prod([np.abs(gram.raw_diagonal).mean() for gram in pairs.centered])
    if squared <= 1e-28 * magnitude:
        raise ValueError(
            "HSIC is 0, so no function separates the pairs from independent ones; pass variables that vary"
        )
    return JointWitness(pairs, float(np.sqrt(squared)))


_ROUNDING = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Witness:
    r"""The unit witness :math:`(μ_X - μ_Y)/|μ_X - μ_Y|`: positive where X is denser as the kernel sees it.

    Attributes
    ----------
    function : Embedding
        The unit witness; ``witness(points)`` evaluates it.
    norm : float
        :math:`|μ_X - μ_Y|`, the MMD (V-statistic). The unit witness times ``norm`` is the plain difference of the
        means.
    """

    function: Embedding
    norm: float

    def __repr__(self) -> str:
        return f"Witness(norm={self.norm:.4g})"

    def __call__(self, points: Any) -> Array:
        """Return the values at the rows of ``points`` (p, d), shape (p,)."""
        return self.function(points)

    def grid(
        self, columns: Sequence[int] = (0,), *, size: int = 101, margin: float = 0.1, at: Any = None
    ) -> tuple[tuple[Array, ...], Array]:
        """Return the axes and the values on a grid over one or two columns, for a curve or a heat map.

        Parameters
        ----------
        columns : sequence of one or two int
            The columns that vary.
        size : int
            Points per axis.
        margin : float
            How far the grid reaches beyond the data, as a share of their range.
        at : array of shape (d,), optional
            Where the other columns stay; the median of the pooled sample by default.

        Returns
        -------
        axes : tuple of arrays of shape (size,)
        values : array of shape (size,) or (size, size), indexed as the axes

        Raises
        ------
        ValueError
            When there are not one or two different columns, or one does not exist.
        """
        data = self.function.points
        dim = data.shape[1]
        if len(columns) not in (1, 2) or len({*columns}) != len(columns) or not all(0 <= j < dim for j in columns):
            raise ValueError(f"columns is {tuple(columns)}; pass one or two different numbers from 0 to {dim - 1}")
        low, high = data.min(axis=0), data.max(axis=0)
        reach = margin * (high - low)
        axes = tuple(np.linspace(low[j] - reach[j], high[j] + reach[j], size) for j in columns)
        points = np.tile(np.median(data, axis=0) if at is None else check_points([at], "at")[0], (size ** len(axes), 1))
        for j, values in zip(columns, np.meshgrid(*axes, indexing="ij"), strict=True):
            points[:, j] = values.ravel()
        return axes, self(points).reshape((size,) * len(axes))


def witness(mu: Embedding, nu: Embedding) -> Witness:
    """Return the unit function on which two means differ most.

    Parameters
    ----------
    mu, nu : Embedding
        Means under one kernel, used with their weights and noise, such as those that any estimator fits to two samples.

    Raises
    ------
    ValueError
        When the two means are equal.

    Notes
    -----
    O((n + m)² d) time once, and O((n + m) d) per point. Gretton et al. (2012), section 2.3.

    Examples
    --------
    >>> import kernelmean as km
    >>> kernel = km.kernels.Gaussian(1.0)
    >>> w = witness(km.embed([[0.0], [0.5]], kernel), km.embed([[3.0], [3.5]], kernel))
    >>> w([[0.0], [3.0]]).round(2)
    array([ 0.69, -0.67])
    >>> (x,), values = w.grid(size=5)
    >>> bool(values[0] > 0 > values[-1])
    True
    """
    for mean in (mu, nu):
        if not isinstance(mean, Embedding):
            raise TypeError(f"{type(mean).__name__} is no Embedding; pass km.embed(X, kernel), or estimator.embedding_")
    return Witness(mu.witness(nu), (mu - nu).norm())


@final
@dataclass(frozen=True, eq=False)
class WitnessBands(Frozen):
    """The witness at some points, with bands that it leaves with probability at most 1 - level under the null.

    Attributes
    ----------
    points : array of shape (p, d)
    values : array of shape (p,)
        :math:`μ_X - μ_Y`, not normalised.
    halfwidth : array of shape (p,)
        The band is ±halfwidth around 0, at all points together.
    adjusted : array of shape (p,)
        The p-value of each point, adjusted for all of them.
    level : float
        1 - α.
    n_resamples : int
        Permutations besides the observed one.
    kernel : Kernel
    """

    points: Array
    values: Array
    halfwidth: Array
    adjusted: Array
    level: float
    n_resamples: int
    kernel: Kernel

    @property
    def outside(self) -> IntArray:
        """Return the rows of ``points`` at which the witness leaves its band."""
        return np.flatnonzero(self.adjusted <= 1.0 - self.level + 1e-12)


def witness_bands(
    subject: SampleSubject | DesignedSubject,
    points: Any = None,
    *,
    level: float = 0.95,
    n_resamples: int = 999,
    rng: RngLike = None,
) -> WitnessBands:
    r"""Return μ_X - μ_Y at points, and simultaneous permutation bands under the hypothesis of equal distributions.

    Under random permutations the value at a point z has mean 0 and deviation
    :math:`s(z) = \sqrt{(n+m)^2 σ²(z) / (n m (n+m-1))}`, with σ²(z) the variance of k(z, ·) over the pooled rows. The
    band is c·s(z), with c the level-quantile of :math:`\max_z |f_π(z)| / s(z)` over the permutations. With a design
    s(z) is the deviation over the permutations that were drawn, which are those of the design.

    Parameters
    ----------
    subject : SampleSubject or DesignedSubject
    points, level, n_resamples, rng
        As in :meth:`kernelmean.TestResult.witness`; by default the pooled rows.

    Notes
    -----
    O(p (n + m) n_resamples) time, O((p + n + m) batch) memory.
    """
    check_fraction(level, "level", 0.95)
    places = subject.pooled if points is None else as_host(points_like(points, subject.names, "points", "X and Y"))
    check_same_columns(subject.pooled, places, ("the samples", "points"))
    how = Resampling.of("auto", check_n_resamples(n_resamples, LEAST_DRAWS), rng)
    values, scale, maxima = subject.heights(places, how)
    ascending = np.sort(maxima)
    below = np.searchsorted(ascending, relative(values, scale) * (1.0 - _ROUNDING) - _ROUNDING)
    critical = ascending[int(np.ceil(level * len(maxima) - _ROUNDING)) - 1]
    adjusted = 1.0 - below / len(maxima)
    return WitnessBands(places, values, critical * scale, adjusted, level, len(maxima) - 1, subject.kernel)
