"""Which of two models is nearer to a sample? The test of relative similarity, on the difference of two MMD²."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from ..embedding.embedding import Embedding
from ..estimators.base import KernelLike, make_kernel
from ..inference.samples import matched
from ..kernels import Gaussian, Kernel
from ..kernels.bandwidth import median_bandwidth
from ..kernels.distances import Blocks
from .closer_result import Alternative, CloserResult, Spread
from .distribution import KnownDistribution, is_distribution

_DRAWN = 4096
"""Rows that are drawn from a distribution without an exact kernel mean."""
_TILE = 2**21
"""Values of the kernel that are held at a time."""
_SIGNS = np.array([[0.0, -1.0, 1.0], [-1.0, 1.0, 0.0], [1.0, 0.0, -1.0]])
"""How means of k over rows of X, P and Q count in Δ."""
_ROUNDING = 1e-12
_FEW = 30
"""With fewer rows or clusters in a sample, a result says that its approximation needs more."""
Model = Array | Embedding
"""Rows, or a mixture, which has exact kernel means."""


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
        :func:`kernelmean.fit_test`. Gaussian mixtures are exact: then only X is random. From other distributions 4,096
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
        When a sample is no finite table of numbers with the columns of X or has fewer than two rows or clusters, all
        samples share the same two clusters, P and Q are the same rows or the same distribution, X and a model are the
        same rows without ``clusters``, or an option is out of range.

    Notes
    -----
    Δ is asymptotically normal (Bounliphone et al. 2016), and unbiased: pairs within a row or cluster do not count. The
    variance adds up what single rows contribute, and pairs of rows, each once: so it holds for n ≠ m, for few rows, and
    for rows that samples share. It is that of the supposed Δ, since the noise of a distance grows with the distance.
    Because it is estimated, Δ is compared with a t distribution, with one degree of freedom less than the smallest
    sample has rows or clusters. If X, P and Q all come from *one* distribution, only pairs contribute: then Δ is not
    normal, and the test hardly ever rejects. O(n m d) time, O(n + m) memory. See :doc:`/guides/closer`.

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
    samples = [side for side in sides if not isinstance(side, Embedding)]
    _check_different(sides, clusters is None)
    pooled = np.concatenate(samples)
    check_spread(pooled, "the table of X, P and Q")
    used = _default_kernel(pooled) if kernel is None else make_kernel(kernel, "median", pooled)
    means = UnitMeans.of(used, sides, _units(sides, clusters))
    return _result(used, sides, means, [note for _, notes in models for note in notes], alternative)


def _model(table: Table, model: Any, name: str, rng: np.random.Generator) -> tuple[Model, tuple[str, ...]]:
    """Return rows or a mixture, and notes on it."""
    if not is_distribution(model):
        return matched(table, model, ("X", name))[1].values, ()
    known = KnownDistribution.of(model, name)
    if known.mixture is None:
        return known.sample(_DRAWN, len(table.names), rng), (f"{name} is {_DRAWN:,} rows drawn from {known.name}",)
    if known.mixture.shape[1] != len(table.names):
        columns = count(known.mixture.shape[1], "column")
        raise ValueError(f"{name} has {columns} and X has {len(table.names)}; pass a distribution of the columns of X")
    if table.named:
        check_names_agree(table.names, known.mixture.names, ("X", name))
    return known.mixture, ()


def _check_different(sides: Sequence[Model], independent: bool) -> None:
    """Raise when two models are the same rows, or one is those of X, which then are not independent of it."""
    of_x, p, q = (None if isinstance(side, Embedding) else side[np.lexsort(side.T)] for side in sides)
    if p is not None and q is not None and np.array_equal(p, q):
        raise ValueError("P and Q are the same rows, so neither is nearer; pass two models")
    for name, rows in (("P", p), ("Q", q)):
        if independent and of_x is not None and rows is not None and np.array_equal(of_x, rows):
            raise ValueError(
                f"X and {name} are the same rows; hold rows out for X, or say with clusters= which rows belong together"
            )


def _default_kernel(pooled: Array) -> Kernel:
    """Return a Gaussian kernel with the median distance of all rows, in units of the deviations of columns."""
    pooled = pooled - pooled[0]
    deviations = pooled.std(axis=0)
    units = np.where((np.ptp(pooled, axis=0) > 0.0) & (deviations > 0.0), deviations, 1.0)
    return Gaussian(tuple((median_bandwidth(pooled / units) * units).tolist()))


def _units(sides: Sequence[Model], clusters: Any) -> list[IntArray]:
    """Return the number of the unit of every row, none of a distribution; labels mean the same in all samples."""
    sizes = [0 if isinstance(side, Embedding) else len(side) for side in sides]
    each = np.split(np.arange(sum(sizes)), np.cumsum(sizes[:-1])) if clusters is None else clusters
    if isinstance(each, str) or not hasattr(each, "__len__") or len(each) != len(sides):
        raise ValueError("clusters needs three entries: the labels of X, of P and of Q, None for a distribution")
    numbers: dict[Any, int] = {}
    units: list[IntArray] = []
    for name, size, labels in zip("XPQ", sizes, each, strict=True):
        keys = check_codes(labels, size, f"clusters of {name}").tolist() if size else []
        if size and len(set(keys)) < 2:
            raise ValueError(f"{name} has one row or cluster; at least two are needed, for an interval many more")
        units.append(np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.intp))
    return units


@final
@dataclass(frozen=True, eq=False)
class UnitMeans:
    """Means of the kernel over pairs of rows of different units; all rows are in the order of their units."""

    gram: Blocks
    units: IntArray
    """The number of the unit of every row, from 0, shape (N,)."""
    members: Array
    """1 where a row is of X, of P, of Q, shape (N, 3)."""
    rows: Array
    """Means of k over a row and all rows of X, of P, of Q, shape (N, 3)."""
    samples: Array
    """Means of k over all rows of two samples, shape (3, 3)."""
    pairs: Array
    """How many pairs these are, 0 with a distribution, shape (3, 3)."""
    groups: IntArray
    """How many units X, P and Q have, 0 a distribution, shape (3,)."""

    @classmethod
    def of(cls, kernel: Kernel, sides: Sequence[Model], units: Sequence[IntArray]) -> UnitMeans:
        """Add up the kernel tile by tile, and put exact means of distributions beside."""
        order, sizes = np.argsort(np.concatenate(units), kind="stable"), list(map(len, units))
        points = np.concatenate([side for side in sides if not isinstance(side, Embedding)])[order]
        numbers, members = np.concatenate(units)[order], np.repeat(np.eye(3), sizes, axis=0)[order]
        gram, total = kernel.blocks(points, points), len(points)
        sums, counts = np.empty((total, 3)), members.sum(axis=0) - _summed(numbers, members)[numbers]
        for part in slices(total, max(1, _TILE // total)):
            sums[part] = np.where(numbers[part, None] != numbers, gram(part, slice(None)), 0.0) @ members
        rows, pairs = sums / np.maximum(counts, 1.0), members.T @ counts
        samples = members.T @ sums / np.maximum(pairs, 1.0)
        for place, side in enumerate(sides):
            if isinstance(side, Embedding):
                mu = replace(side, kernel=kernel)
                rows[:, place], samples[place, place] = mu(points), mu @ mu
                samples[0, place] = samples[place, 0] = rows[members[:, 0] > 0.0, place].mean()
        groups = np.array([len(np.unique(of)) for of in units])
        return cls(gram, numbers, members, rows, samples, pairs, groups)

    def spread(self) -> Spread:
        r"""Return the variance of Δ, a sum :math:`\sum_{u \ne v} H(u, v)` over independent units.

        In the limit it is that of the parts :math:`A_u = 2 \sum_v H(u, v)` of single units, and
        :math:`S = 2 \sum_{u \ne v} E \tilde H(u, v)^2` of pairs, where H̃ is H less the parts of u and of v. The mean
        square of observed parts has S twice, once for either unit of a pair.
        """
        parts, along, of_pairs = self.parts(), np.zeros(self.units[-1] + 1), 0.0
        for first, sums in self.of_pairs():
            stop, width = first + len(sums), len(sums)
            of_pairs += 2.0 * float(2.0 * np.square(sums).sum() - np.square(sums[:, :width]).sum())
            along[first:stop] += sums @ parts[first:]
            along[stop:] += sums[:, width:].T @ parts[first:stop]
        return Spread(float(parts @ parts), of_pairs, float(parts @ along), float(along @ along))

    @property
    def unbiased(self) -> Array:
        """What deviations from means over the units of X, P and Q are multiplied by, shape (3,)."""
        return np.sqrt(self.groups / np.maximum(self.groups - 1, 1))

    def parts(self) -> Array:
        """Return A, shape (units,)."""
        sizes = self.members.sum(axis=0)
        gaps = self.rows - self.members @ (self.members.T @ self.rows / np.maximum(sizes, 1.0)[:, None])
        scales = 2.0 * self.unbiased / np.maximum(sizes, 1.0)
        of_rows = (self.members @ scales) * (gaps * (self.members @ _SIGNS)).sum(axis=1)
        return np.asarray(np.bincount(self.units, of_rows), dtype=np.float64)

    def of_pairs(self) -> Iterator[tuple[int, Array]]:
        """Yield H̃ of some units, from a first one on, with these and those that follow; it is symmetric."""
        count = int(self.units[-1]) + 1
        for part in slices(count, max(1, _TILE // count)):
            sums = np.zeros((part.stop - part.start, count - part.start))
            start, stop = np.searchsorted(self.units, [part.start, part.stop]).tolist()
            for rows in slices(stop, max(1, _TILE // (len(self.units) - start)), start=start):
                within = _summed(self.units[start:], self.centred(rows, slice(start, None)).T).T
                sums[np.unique(self.units[rows]) - part.start] += _summed(self.units[rows], within)
            yield part.start, sums

    def centred(self, rows: slice, columns: slice) -> Array:
        """Return what pairs of rows add to H̃: the kernel less means of its rows and columns, 0 within a unit."""
        factors = _SIGNS * np.outer(self.unbiased, self.unbiased) / np.maximum(self.pairs, 1.0)
        left, right = self.members[rows], self.members[columns]
        values = self.gram(rows, columns) - (self.rows[rows] - left @ self.samples) @ right.T
        values -= left @ self.rows[columns].T
        values *= left @ factors @ right.T
        values[self.units[rows, None] == self.units[columns]] = 0.0
        return values


def _summed(units: IntArray, values: Array) -> Array:
    """Return sums over the rows of each unit, which are in order."""
    starts = np.flatnonzero(np.diff(units, prepend=-1))
    return values if len(starts) == len(units) else np.add.reduceat(values, starts, axis=0)


def _result(
    kernel: Kernel, sides: Sequence[Model], means: UnitMeans, notes: Sequence[str], alternative: Alternative
) -> CloserResult:
    """Return the difference of both distances, with its approximation by a t distribution."""
    (of_x, to_p, to_q), (_, p, q) = means.samples[0].tolist(), means.samples.diagonal().tolist()
    difference = p - q - 2.0 * (to_p - to_q)
    spread, rounding = means.spread(), _ROUNDING * (abs(p) + abs(q))
    sizes = tuple(None if isinstance(side, Embedding) else len(side) for side in sides)
    groups = {name: count for name, count in zip("XPQ", means.groups.tolist(), strict=True) if count}
    what = "rows" if sum(groups.values()) == len(means.units) else "clusters"
    one_pair = len(groups) > 1 and int(means.units[-1]) == 1  # of units, which shows no variance
    if spread.units <= rounding**2 or one_pair:
        raise ValueError(
            f"the {what} show no variance of the difference; pass more of them"
            if abs(difference) > rounding
            else f"P and Q are the same to {kernel!r}, so neither is nearer; pass two models, or another kernel"
        )
    degrees, z = min(groups.values()) - 1, difference / float(np.sqrt(spread.variance(difference)))
    few = ", ".join(f"{name} {count}" for name, count in groups.items() if count < _FEW)
    two_sided = alternative == "two-sided"
    return CloserResult(
        difference,
        float(stdtr(degrees, {"two-sided": -abs(z), "less": z, "greater": -z}[alternative])) * (1 + two_sided),
        spread,
        degrees,
        (of_x + p - 2.0 * to_p, of_x + q - 2.0 * to_q),
        alternative,
        f"Relative similarity of two models, asymptotic, {alternative}",
        kernel,
        sizes,
        (*notes, *([f"the approximation by a t distribution needs more {what} than {few}"] if few else [])),
    )
