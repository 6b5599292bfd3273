"""Where two samples differ: the function on which their means differ most, and what it could be by chance.

For two variables it is the function on which their joint distribution differs most from independence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, as_host
from ...core.frozen import Frozen
from ...core.points import points_like
from ...core.validate import check_fraction, check_points, check_same_columns
from ...embedding.embedding import Embedding, embed
from ...estimators import KernelMean
from ...kernels import Kernel
from ...noise import Noise
from ...plan.plan import Plan
from ..permutations import Permutations
from ..permuted_pairs import permutations_of
from ..questions import TwoSamples
from ..request import fitted, is_constant, is_plain
from ..resampling import Resampling, check_n_resamples
from .designed import DesignedSubject
from .fluctuation import LEAST_DRAWS
from .subject import PairSubject, SampleSubject, hadamard


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
        return (self._mean(places, (0, 1)) - self._mean(places, (0,)) * self._mean(places, (1,))) / self.norm

    def _mean(self, places: tuple[Array, Array], sides: tuple[int, ...]) -> Array:
        """Return the mean over the sample of the product of the kernels of some sides, shape (p,)."""
        n = self.pairs.n
        prepared = [self.pairs.kernels[side].blocks(places[side], self.pairs.tables[side]) for side in sides]
        blocks = reduce(hadamard, prepared)
        return self.pairs.plan.matmul(blocks, len(places[0]), n, np.full((n, 1), 1.0 / n))[:, 0]


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
    squared = float(pairs.products(unbiased=False).mean()) / pairs.n
    magnitude = np.prod([np.abs(gram.raw_diagonal).mean() for gram in pairs.centered(unbiased=False)])
    if squared <= 1e-28 * magnitude:
        raise ValueError(
            "HSIC is 0, so no function separates the pairs from independent ones; pass variables that vary"
        )
    return JointWitness(pairs, float(np.sqrt(squared)))


_BATCH_BYTES = 2**26
_ROUNDING, _NOTHING = 1e-9, 1e-14


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
    if isinstance(subject, DesignedSubject):
        values, scale, maxima = _of_design(subject, places, how)
    else:
        values, scale, maxima = _of_rows(subject, places, how)
    ascending = np.sort(maxima)
    below = np.searchsorted(ascending, _relative(values, scale) * (1.0 - _ROUNDING) - _ROUNDING)
    critical = ascending[int(np.ceil(level * len(maxima) - _ROUNDING)) - 1]
    adjusted = 1.0 - below / len(maxima)
    return WitnessBands(places, values, critical * scale, adjusted, level, len(maxima) - 1, subject.kernel)


Permuted = tuple[Array, Array, Array]
"""The observed values at points, their deviations over permutations, and the largest relative one of each."""


def _of_rows(subject: SampleSubject, places: Array, how: Resampling) -> Permuted:
    listed, scale = permutations_of(subject.sizes, how), _null_deviation(subject, places)
    observed: list[Array] = []
    largest = []
    for batch in _values(subject, places, listed):
        observed = observed or [batch[:, 0]]
        largest.append(_relative(batch, scale[:, None]).max(axis=0))
    return observed[0], scale, np.concatenate(largest)


def _of_design(subject: DesignedSubject, places: Array, how: Resampling) -> Permuted:
    values = subject.under_permutations(places, how)
    scale = values.std(axis=1)
    largest = np.sqrt(np.abs(subject.kernel.diag(places)) * np.abs(subject.kernel.diag(subject.pooled)).mean())
    scale[scale < _NOTHING * largest] = 0.0
    return values[:, 0], scale, _relative(values, scale[:, None]).max(axis=0)


def _relative(values: Array, scale: Array) -> Array:
    """Return |value| / scale, and 0 where no permutation changes anything."""
    return np.divide(np.abs(values), scale, out=np.zeros_like(values), where=scale > 0.0)


def _null_deviation(subject: SampleSubject, places: Array) -> Array:
    """Return the deviation of the witness at every point over all permutations, shape (p,)."""
    blocks, n, ones = subject.kernel.blocks(places, subject.pooled), subject.n, np.ones(subject.n)
    means = subject.plan.matmul(blocks, len(places), n, ones) / n

    def squares(i: slice, j: slice) -> Array:
        return np.square(blocks(i, j) - means[i, None])

    variance = subject.plan.matmul(squares, len(places), n, ones) / n
    first, second = subject.sizes
    variance[variance < 1e-28 * means**2] = 0.0
    return np.sqrt(variance * n**2 / (first * second * max(n - 1, 1)))


def _values(subject: SampleSubject, places: Array, listed: Permutations) -> Iterator[Array]:
    """Yield the witness at all points under batches of permutations, shape (p, b), the observed one first."""
    blocks = subject.kernel.blocks(places, subject.pooled)
    size = max(16, _BATCH_BYTES // (8 * (subject.n + len(places))))
    for batch in listed.batches(min(size, listed.count)):
        yield subject.plan.matmul(blocks, len(places), subject.n, subject.signed[batch.T])


def means_of(question: TwoSamples, subject: SampleSubject) -> tuple[Embedding, Embedding]:
    """Return the means of two samples in the space of one kernel: those that the test compared.

    What the test found in the pooled rows (a bandwidth, a noise or λ) is kept; what it fits to each sample is fitted to
    each. A test of many kernels, or with a function as estimator, has plain means under the kernel that explains it.
    """
    found = next(iter(question.asked.found), None) if question.asked is not None else None
    tables = [subject.pooled[part] for part in subject.parts]
    if found is None:
        means = [embed(points, subject.kernel, plan=subject.plan) for points in tables]
    else:
        means = [_mean(points, found, subject.plan) for points in tables]
    first, second = (replace(mean, names=question.names) for mean in means)
    return first, second


def _mean(points: Array, found: KernelMean, plan: Plan) -> Embedding:
    """Return the mean of a sample by an estimator whose parameters are known, or are fitted to the sample."""
    if is_plain(found) and isinstance(found.noise, Noise):
        return embed(points, found.kernel, noise=found.noise, plan=plan)  # type: ignore[arg-type]  # it was resolved
    kernel: Kernel = found.kernel  # type: ignore[assignment]
    return embed(points, kernel) if is_constant(points) else fitted(found, kernel, points).embedding_
