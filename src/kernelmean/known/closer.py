"""Which of two models is nearer to a sample? The test of relative similarity, on the difference of two MMD²."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final, get_args

import numpy as np
from scipy.special import stdtr

from ..core.array import Array, IntArray, RngLike, as_rng, slices
from ..core.points import check_names_agree
from ..core.table import Table, as_table
from ..core.words import count
from ..estimators.base import KernelLike, make_kernel
from ..inference.samples import matched
from ..kernels import Gaussian, Kernel
from ..kernels.bandwidth import median_bandwidth
from .closer_result import Alternative, CloserResult
from .distribution import KnownDistribution, is_distribution

_DRAWN = 4096
"""Rows that are drawn from a distribution without an exact kernel mean."""
_TILE = 2**21
"""Values of the kernel that are held at a time."""
_ROUNDING = 1e-12
_FEW = 30
"""With fewer rows or clusters in a sample, a result says that its approximation needs more."""


def closer_test(
    X: Any,
    P: Any,
    Q: Any,
    *,
    kernel: KernelLike | None = None,
    alternative: Alternative = "two-sided",
    clusters: Sequence[Any] | None = None,
    rng: RngLike = None,
) -> CloserResult:
    r"""Test which of two models is nearer to a sample, by the difference of their squared distances to it.

    .. math:: \Delta = \mathrm{MMD}^2(X, P) - \mathrm{MMD}^2(X, Q) = \overline{k(p, p')} - \overline{k(q, q')}
        - 2 \overline{k(x, p)} + 2 \overline{k(x, q)}

    Parameters
    ----------
    X : array of shape (n, d), data frame or Series
        The sample.
    P, Q : sample or known distribution
        Rows with the columns of X, for example drawn by two generators, or distributions as in
        :func:`kernelmean.fit_test`. Gaussian mixtures are exact: then only X is random. From other distributions 4096
        rows are drawn.
    kernel : Kernel, class, str or callable, optional
        By default Gaussian, with the median distance of all rows, columns in units of their deviations.
    alternative : {"two-sided", "less", "greater"}
        What differs from equal distances: any difference, Δ < 0 (P is nearer), or Δ > 0 (Q is nearer).
    clusters : (labels of X, labels of P, labels of Q), optional
        Rows with the same label, also of different samples, depend on each other: rows that P and Q share, rows that
        two generators made from one seed or one record of X. Pass None for a distribution.
    rng : int, Generator, or None
        The seed, if rows are drawn.

    Returns
    -------
    CloserResult
        Unpacks as ``(statistic, pvalue)``; ``interval`` is the 95 % confidence interval of Δ,
        ``confidence_interval(level)`` that of another level.

    Raises
    ------
    TypeError, ValueError
        When a sample is no finite table of numbers with the columns of X or has fewer than two rows or clusters, P and
        Q are the same rows or the same distribution, or an option is out of range.

    Notes
    -----
    Asymptotically normal (Bounliphone et al. 2016). The variance adds up, row by row, what a row contributes to Δ, so
    it holds for n ≠ m, and for rows that several samples share. Because it is estimated, Δ is compared with a t
    distribution, with one degree of freedom less than the smallest sample has independent units. If X, P and Q all come
    from *one* distribution, no row contributes in the limit: then Δ is not normal, the variance is too large, and the
    test hardly ever rejects.

    Independent units are rows, or clusters, and Δ is free of pairs within one. O(n m d) time, O(n + m) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> X, P, Q = np.random.default_rng(0).normal([0.0, 0.2, 0.9], 1.0, size=(200, 3)).T
    >>> result = closer_test(X, P, Q)
    >>> result.interval[1] < 0.0, result.pvalue < 0.001
    (True, True)
    >>> closer_test(X, stats.norm(0, 1), stats.norm(1, 1)).statistic < 0
    True
    """
    if alternative not in get_args(Alternative):
        raise ValueError(f"alternative is {alternative!r}; write 'two-sided', 'less' (P is nearer) or 'greater'")
    table = as_table(X)
    seeds = as_rng(rng).spawn(2)
    models = [_model(table, model, name, seed) for model, name, seed in zip((P, Q), "PQ", seeds, strict=True)]
    sides = [table.values, *(model for model, _ in models)]
    samples = [side for side in sides if not isinstance(side, KnownDistribution)]
    if len(samples) == 3 and _same_rows(*samples[1:]):
        raise ValueError("P and Q are the same rows, so neither is nearer; pass two models")
    used = _default_kernel(samples) if kernel is None else make_kernel(kernel, "median", np.concatenate(samples))
    return _result(used, table.values, _units(sides, clusters), models, alternative)


Model = Array | KnownDistribution


def _model(table: Table, model: Any, name: str, rng: np.random.Generator) -> tuple[Model, tuple[str, ...]]:
    """Return rows, or a distribution with exact kernel means; and what is to be said about it."""
    if not is_distribution(model):
        return matched(table, model, ("X", name))[1].values, ()
    known = KnownDistribution.of(model, name)
    if known.mixture is None:
        return known.sample(_DRAWN, len(table.names), rng), (f"{name} is {_DRAWN:,} rows drawn from {known.name}",)
    if known.mixture.shape[1] != len(table.names):
        found = count(known.mixture.shape[1], "column")
        raise ValueError(f"{name} has {found} and X has {len(table.names)}; pass a distribution of the columns of X")
    if table.named:
        check_names_agree(table.names, known.mixture.names, ("X", name))
    return known, ()


def _same_rows(P: Array, Q: Array) -> bool:
    return P.shape == Q.shape and bool((P[np.lexsort(P.T)] == Q[np.lexsort(Q.T)]).all())


def _default_kernel(samples: Sequence[Array]) -> Kernel:
    """Return a Gaussian kernel with the median distance of all rows, in units of the deviations of columns."""
    pooled = np.concatenate(samples)
    pooled = pooled - pooled[0]
    deviations = pooled.std(axis=0)
    units = np.where((np.ptp(pooled, axis=0) > 0.0) & (deviations > 0.0), deviations, 1.0)
    return Gaussian(tuple((median_bandwidth(pooled / units) * units).tolist()))


def _units(sides: Sequence[Model], clusters: Sequence[Any] | None) -> list[IntArray | None]:
    """Return the number of the unit that every row belongs to, None of a distribution."""
    if clusters is None:
        ends = np.cumsum([0, *(0 if isinstance(side, KnownDistribution) else len(side) for side in sides)])
        numbers = [np.arange(first, last) for first, last in pairwise(ends)]
        units = [None if isinstance(side, KnownDistribution) else own for side, own in zip(sides, numbers, strict=True)]
    else:
        units = _labelled(sides, clusters)
    for name, own in zip("XPQ", units, strict=True):
        if own is not None and len(np.unique(own)) < 2:
            raise ValueError(f"{name} has one row or cluster; at least two are needed, and for an interval many more")
    return units


def _labelled(sides: Sequence[Model], clusters: Any) -> list[IntArray | None]:
    """Return units from labels that mean the same in all samples."""
    if isinstance(clusters, str) or not hasattr(clusters, "__len__") or len(clusters) != len(sides):
        raise ValueError("clusters needs three entries: the labels of X, of P and of Q, None for a distribution")
    numbers: dict[Any, int] = {}
    units: list[IntArray | None] = []
    for name, side, labels in zip("XPQ", sides, clusters, strict=True):
        if isinstance(side, KnownDistribution):
            units.append(None)
            continue
        listed = [] if labels is None else np.asarray(labels).ravel().tolist()
        if len(listed) != len(side):
            raise ValueError(f"{name} has {count(len(side), 'row')} and {count(len(listed), 'label')} in clusters")
        if any(label is None or label != label for label in listed):  # noqa: PLR0124 (NaN is not itself)
            raise ValueError(f"a label of {name} in clusters is blank; give every row a label")
        units.append(np.array([numbers.setdefault(label, len(numbers)) for label in listed]))
    return units


@final
@dataclass(frozen=True, eq=False)
class PairMeans:
    """Means of k(a, b) over pairs of rows of two samples whose units differ."""

    rows: Array
    """For every a, shape (n,)."""
    columns: Array
    """For every b, shape (m,)."""
    mean: float

    @classmethod
    def of(cls, kernel: Kernel, A: Array, B: Array, units: tuple[IntArray, IntArray]) -> PairMeans:
        """Add up the kernel tile by tile."""
        sums, counts = np.zeros((2, len(B)))
        rows, blocks = np.empty(len(A)), kernel.blocks(A, B)
        for part in slices(len(A), max(1, _TILE // len(B))):
            differ = units[0][part, None] != units[1]
            gram = np.where(differ, blocks(part, slice(None)), 0.0)
            sums += gram.sum(axis=0)
            counts += differ.sum(axis=0)
            rows[part] = gram.sum(axis=1) / np.maximum(differ.sum(axis=1), 1)
        return cls(rows, sums / np.maximum(counts, 1), float(sums.sum() / counts.sum()))


@final
@dataclass(frozen=True, eq=False)
class ModelMeans:
    """A model beside X: means of the kernel, and what single rows contribute to MMD²(X, model)."""

    square: float
    """The mean of k(p, p')."""
    cross: float
    """The mean of k(x, p)."""
    along: Array
    """-2 times the mean of k(x, p) for every x."""
    own: Array | None
    """What every row of the model contributes, None of a distribution."""

    @classmethod
    def of(cls, kernel: Kernel, X: Array, model: Model, units: tuple[Any, Any]) -> ModelMeans:
        """Compare a model with X."""
        if isinstance(model, KnownDistribution):
            mu = model.embedding(kernel)
            assert mu is not None
            values = mu(X)
            return cls(mu @ mu, float(values.mean()), -2.0 * values, None)
        cross, inside = (
            PairMeans.of(kernel, rows, model, (own, units[1])) for rows, own in ((X, units[0]), (model, units[1]))
        )
        return cls(inside.mean, cross.mean, -2.0 * cross.rows, 2.0 * (inside.rows - cross.columns))


def _variance(parts: Sequence[tuple[Array, IntArray]]) -> float:
    """Return the variance of a sum of means, from what rows contribute and the independent units that they are in."""
    shares, numbers = [], []
    for values, units in parts:
        groups = len(np.unique(units))
        shares.append((values - values.mean()) * np.sqrt(groups / (groups - 1)) / len(values))
        numbers.append(units)
    sums = np.bincount(np.concatenate(numbers), np.concatenate(shares))
    return float(sums @ sums)


def _result(
    kernel: Kernel,
    X: Array,
    units: Sequence[IntArray | None],
    models: Sequence[tuple[Model, tuple[str, ...]]],
    alternative: Alternative,
) -> CloserResult:
    """Return the difference of both distances, with its approximation by a t distribution."""
    sides = [
        ModelMeans.of(kernel, X, model, (units[0], own)) for (model, _), own in zip(models, units[1:], strict=True)
    ]
    p, q = sides
    contributions = (p.along - q.along, p.own, None if q.own is None else -q.own)
    parts = [
        (values, own)
        for values, own in zip(contributions, units, strict=True)
        if own is not None and values is not None
    ]
    difference = p.square - q.square - 2.0 * (p.cross - q.cross)
    error = float(np.sqrt(_variance(parts)))
    if error <= _ROUNDING * (abs(p.square) + abs(q.square)):
        raise ValueError(
            f"P and Q are the same to {kernel!r}, so neither is nearer; pass two models, or another kernel"
        )
    assert units[0] is not None
    own = PairMeans.of(kernel, X, X, (units[0], units[0])).mean
    sizes = tuple(None if mine is None else len(mine) for mine in units)
    independent = [(name, len(np.unique(mine))) for name, mine in zip("XPQ", units, strict=True) if mine is not None]
    degrees, z = min(number for _, number in independent) - 1, difference / error
    few = [f"{name} {number}" for name, number in independent if number < _FEW]
    what = "rows" if sum(number for _, number in independent) == sum(filter(None, sizes)) else "clusters"
    two_sided = alternative == "two-sided"
    notes = [f"the approximation by a t distribution needs more {what} than {', '.join(few)}"] if few else []
    return CloserResult(
        difference,
        float(stdtr(degrees, {"two-sided": -abs(z), "less": z, "greater": -z}[alternative])) * (1 + two_sided),
        error,
        degrees,
        (own + p.square - 2.0 * p.cross, own + q.square - 2.0 * q.cross),
        alternative,
        f"Relative similarity of two models, asymptotic, {alternative}",
        kernel,
        sizes,
        (*(note for _, notes in models for note in notes), *notes),
    )
