"""Which of two models is nearer to a sample? The test of relative similarity, on the difference of two MMD²."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final, get_args

import numpy as np
from scipy.special import stdtr

from ..core.array import Array, IntArray, RngLike, as_rng, slices
from ..core.labels import check_codes
from ..core.points import check_names_agree
from ..core.table import Table, as_table
from ..core.validate import check_spread
from ..core.words import count
from ..estimators.base import KernelLike, make_kernel
from ..inference.samples import matched
from ..kernels import Gaussian, Kernel
from ..kernels.bandwidth import median_bandwidth
from ..kernels.distances import Blocks
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
    Asymptotically normal (Bounliphone et al. 2016). The variance adds up what single rows contribute to Δ, and pairs of
    rows, each once: so it holds for n ≠ m, for few rows, and for rows that several samples share. Because it is
    estimated, Δ is compared with a t distribution, with one degree of freedom less than the smallest sample has
    independent units. If X, P and Q all come from *one* distribution, only pairs contribute: then Δ is not normal, and
    the test hardly ever rejects.

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
    check_spread(np.concatenate(samples), "the table of X, P and Q")
    used = _default_kernel(samples) if kernel is None else make_kernel(kernel, "median", np.concatenate(samples))
    x, *others = (
        side if isinstance(side, KnownDistribution) else UnitRows.of(side, np.asarray(own))
        for side, own in zip(sides, _units(sides, clusters), strict=True)
    )
    assert isinstance(x, UnitRows)
    return _result(used, x, others, [note for _, notes in models for note in notes], alternative)


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


def _units(sides: Sequence[Model], clusters: Any) -> list[IntArray | None]:
    """Return the number of the unit of every row, None of a distribution; labels mean the same in all samples."""
    each = (None,) * len(sides) if clusters is None else clusters
    if isinstance(each, str) or not hasattr(each, "__len__") or len(each) != len(sides):
        raise ValueError("clusters needs three entries: the labels of X, of P and of Q, None for a distribution")
    numbers: dict[Any, int] = {}
    units: list[IntArray | None] = []
    for name, side, labels in zip("XPQ", sides, each, strict=True):
        if isinstance(side, KnownDistribution):
            units.append(None)
            continue
        single = [(name, row) for row in range(len(side))]
        own = single if clusters is None else check_codes(labels, len(side), f"clusters of {name}").tolist()
        units.append(np.array([numbers.setdefault(label, len(numbers)) for label in own]))
        if len(set(own)) < 2:
            raise ValueError(f"{name} has one row or cluster; at least two are needed, and for an interval many more")
    return units


@final
@dataclass(frozen=True, eq=False)
class UnitRows:
    """Rows in the order of their independent units."""

    rows: Array
    units: IntArray
    """The number of the unit of every row, shape (n,)."""

    @classmethod
    def of(cls, rows: Array, units: IntArray) -> UnitRows:
        """Put the rows of a unit side by side."""
        order = np.argsort(units, kind="stable")
        return cls(rows[order], units[order])

    @property
    def groups(self) -> int:
        """How many units there are."""
        return 1 + int(np.count_nonzero(np.diff(self.units)))

    @property
    def unbiased(self) -> float:
        """What deviations from a mean of units are multiplied by."""
        return float(np.sqrt(self.groups / (self.groups - 1)))


@final
@dataclass(frozen=True, eq=False)
class UnitPairs:
    """Pairs of rows of two samples whose units differ, and means of k(a, b) over them."""

    sides: tuple[UnitRows, UnitRows]
    gram: Blocks
    rows: Array
    """For every a, shape (n,)."""
    columns: Array
    """For every b, shape (m,)."""
    mean: float
    number: float
    """How many pairs there are."""

    @classmethod
    def of(cls, kernel: Kernel, a: UnitRows, b: UnitRows) -> UnitPairs:
        """Add up the kernel tile by tile."""
        sums, counts = np.zeros((2, len(b.rows)))
        rows, gram = np.empty(len(a.rows)), kernel.blocks(a.rows, b.rows)
        for part in slices(len(a.rows), max(1, _TILE // len(b.rows))):
            differ = a.units[part, None] != b.units
            values = np.where(differ, gram(part, slice(None)), 0.0)
            sums += values.sum(axis=0)
            counts += differ.sum(axis=0)
            rows[part] = values.sum(axis=1) / np.maximum(differ.sum(axis=1), 1)
        number = float(counts.sum())
        return cls((a, b), gram, rows, sums / np.maximum(counts, 1), float(sums.sum() / number), number)

    def turned(self) -> UnitPairs:
        """Return the pairs (b, a)."""
        return replace(
            self, sides=self.sides[::-1], gram=lambda i, j: self.gram(j, i).T, rows=self.columns, columns=self.rows
        )

    def add_to(self, sums: Array, first: int, factor: float) -> None:
        """Add ``factor`` times the mean of k(a, b), less what single rows add, split by units from ``first`` on."""
        a, b = self.sides
        start, stop = np.searchsorted(a.units, [first, first + len(sums)]).tolist()
        onward = slice(int(np.searchsorted(b.units, first)), len(b.units))
        columns = b.units[onward]
        for part in slices(stop, max(1, _TILE // max(1, len(columns))), start=start):
            values = self.gram(part, onward) - (self.rows[part, None] - self.mean)
            values -= self.columns[onward]
            near = int(np.searchsorted(columns, a.units[part.stop - 1], "right"))
            values[:, :near][a.units[part, None] == columns[:near]] = 0.0
            own, within = _summed(values, a.units[part])
            others, across = _summed(within.T, columns)
            sums[np.ix_(own - first, others - first)] += factor / self.number * across.T


def _summed(values: Array, units: IntArray) -> tuple[IntArray, Array]:
    """Return the units, which are in order, and sums of the rows of each."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    return units[starts], values if len(starts) == len(units) else np.add.reduceat(values, starts, axis=0)


@final
@dataclass(frozen=True, eq=False)
class Beside:
    """A model beside X, and the sums that MMD²(X, P) adds up, besides that of X alone."""

    square: float
    """The mean of k(p, p')."""
    cross: float
    """The mean of k(x, p)."""
    singles: tuple[tuple[float, UnitRows, Array], ...]
    """Factors, rows, and the mean of the kernel for each row."""
    pairs: tuple[tuple[float, UnitPairs], ...] = ()
    """Factors of means over pairs."""

    @classmethod
    def of(cls, kernel: Kernel, X: UnitRows, model: UnitRows | KnownDistribution) -> Beside:
        """Compare a model with X."""
        if isinstance(model, KnownDistribution):
            mu = model.embedding(kernel)
            assert mu is not None
            values = mu(X.rows)
            return cls(mu @ mu, float(values.mean()), ((-2.0, X, values),))
        inside, cross = UnitPairs.of(kernel, model, model), UnitPairs.of(kernel, X, model)
        pairs = (1.0, inside), (-1.0, cross), (-1.0, cross.turned())
        singles = tuple((2.0 * factor, own.sides[0], own.rows) for factor, own in pairs)
        return cls(inside.mean, cross.mean, singles, pairs)


def _variance(p: Beside, q: Beside) -> float:
    r"""Return the variance of MMD²(X, P) - MMD²(X, Q), a sum :math:`\sum_{u \ne v} H(u, v)` over independent units.

    It is that of the parts :math:`A_u = 2 \sum_v H(u, v)` of single units in the limit, and
    :math:`S = 2 \sum_{u \ne v} E \tilde H(u, v)^2` of pairs, where H̃ is H less the parts of u and of v. The mean square
    of observed parts has S twice, once for either unit of a pair.
    """
    signed = [(1.0, p), (-1.0, q)]
    singles = [(sign * factor, side, means) for sign, model in signed for factor, side, means in model.singles]
    units = np.concatenate([side.units for _, side, _ in singles])
    parts = [factor * side.unbiased / len(means) * (means - means.mean()) for factor, side, means in singles]
    of_units = float(np.square(np.bincount(units, np.concatenate(parts))).sum())
    of_pairs = _of_pairs(
        [(sign * factor, own) for sign, model in signed for factor, own in model.pairs], 1 + units.max()
    )
    return max(of_units - of_pairs, of_pairs)


def _of_pairs(terms: Sequence[tuple[float, UnitPairs]], count: int) -> float:
    """Return S, with so many units, a tile of H̃ at a time; H̃ is symmetric."""
    total = 0.0
    for part in slices(count, max(1, _TILE // count)):
        width = part.stop - part.start
        sums = np.zeros((width, count - part.start))
        for factor, pairs in terms:
            pairs.add_to(sums, part.start, factor * pairs.sides[0].unbiased * pairs.sides[1].unbiased)
        total += float(2.0 * np.square(sums).sum() - np.square(sums[:, :width]).sum())
    return 2.0 * total


def _result(
    kernel: Kernel,
    X: UnitRows,
    samples: Sequence[UnitRows | KnownDistribution],
    notes: Sequence[str],
    alternative: Alternative,
) -> CloserResult:
    """Return the difference of both distances, with its approximation by a t distribution."""
    p, q = (Beside.of(kernel, X, model) for model in samples)
    difference = p.square - q.square - 2.0 * (p.cross - q.cross)
    error, rounding = float(np.sqrt(_variance(p, q))), _ROUNDING * (abs(p.square) + abs(q.square))
    drawn = {name: side for name, side in zip("XPQ", (X, *samples), strict=True) if isinstance(side, UnitRows)}
    what = "rows" if all(side.groups == len(side.rows) for side in drawn.values()) else "clusters"
    if error <= rounding:
        raise ValueError(
            f"the {what} show no variance of the difference; pass more of them"
            if abs(difference) > rounding
            else f"P and Q are the same to {kernel!r}, so neither is nearer; pass two models, or another kernel"
        )
    own = UnitPairs.of(kernel, X, X).mean
    degrees, z = min(side.groups for side in drawn.values()) - 1, difference / error
    few = [f"{name} {side.groups}" for name, side in drawn.items() if side.groups < _FEW]
    two_sided = alternative == "two-sided"
    few_notes = [f"the approximation by a t distribution needs more {what} than {', '.join(few)}"] if few else []
    return CloserResult(
        difference,
        float(stdtr(degrees, {"two-sided": -abs(z), "less": z, "greater": -z}[alternative])) * (1 + two_sided),
        error,
        degrees,
        (own + p.square - 2.0 * p.cross, own + q.square - 2.0 * q.cross),
        alternative,
        f"Relative similarity of two models, asymptotic, {alternative}",
        kernel,
        tuple(len(drawn[name].rows) if name in drawn else None for name in "XPQ"),
        (*notes, *few_notes),
    )
