"""What an adaptive test looks at: several tables made from one, each a symmetric function of the rows.

No view knows which sample, or which partner, a row belongs to: permuting the rows cannot change it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.special import ndtri

from ...core.array import Array, IntArray
from ...kernels import Kernel, TensorProduct
from ...kernels.bandwidth import median_bandwidth
from ..coordinates import Coordinates
from .members import Member, ViewedTable
from .spectrum import decomposed, spectrum

DIRECT = ("order", "axes", "square axes")
"""Views that kernels look at as they are: the order of one column, and columns one by one."""
VIEWS = (
    *("data", "near", "nearest", "blocks", "scores", "ranks", "white", "radius", "spread", "products", "squares"),
    *DIRECT,
    "volume",
)
"""The names of the views, see :func:`view`."""

NEAR = {"near": 0.1, "nearest": 0.03}
"""The share of the rows whose distance is the unit of these views."""
_LIKE_DATA = (*NEAR, "blocks")
_ROWS_PER_WHITE_COLUMN = 4
_ROWS_PER_VOLUME_COLUMN = 8
_MOST_AXES, _MOST_PRODUCTS = 2048, 256
_TOGETHER = 64
"""Single columns whose kernels share factors: the time of each grows with how many these are."""
_LEAST_SPREAD = 1e-8
"""Of the farthest value of a column: beyond, squares of outliers would overflow."""
_NORMAL_QUARTILES = 2 * float(ndtri(0.75))


@final
@dataclass(frozen=True)
class Views:
    """What the members of a test look at in one table, side by side, and their kernels on it."""

    table: Array
    """The columns of everything that members look at, shape (n, D)."""
    kernels: dict[Member, list[Kernel]]
    """The kernels of every member on columns of ``table``: one, or of a view of single columns one for each."""

    @classmethod
    def of(cls, points: ViewSource, members: Sequence[Member], rows: IntArray, landmarks: IntArray) -> Views:
        """Look at a table; the median distance, the unit of most views, is that of the given ``rows``.

        Kernels that are on one view share its spectrum with all their filters; ``landmarks`` are its features.
        """
        alike: dict[str, dict[Kernel | None, list[Member]]] = {}
        for member in members:
            kernel = None if member.view in DIRECT else member.kernel
            alike.setdefault(member.view, {}).setdefault(kernel, []).append(member)
        n, dim = points.points.shape
        most = sum(dim if kernel is None else len(landmarks) for own in alike.values() for kernel in own)
        columns, first = np.empty((most, n)), 0  # a page of it is only taken once it is written
        kernels: dict[Member, list[Kernel]] = {}
        for name, by_kernel in alike.items():
            table = in_units(name, points.view(name), rows)
            for kernel, own in by_kernel.items():
                part = _direct(table, own) if kernel is None else _filtered(table, kernel, own, landmarks)
                last = first + part.count
                part.write(columns[first:last])
                kernels.update(part.kernels(range(first, last)))
                first = last
        return cls(columns[:first].T, kernels)


@final
@dataclass(frozen=True)
class _Columns:
    """Columns that one or several members look at."""

    count: int
    """How many there are."""
    write: Callable[[Array], Any]
    """Writes them one above the other, shape (count, n): kernels that are sums over them take them one by one."""
    kernels: Callable[[Sequence[int]], dict[Member, list[Kernel]]]
    """From their places among all columns to the kernels of the members."""


def _direct(table: Array, members: Sequence[Member]) -> _Columns:
    """Return the columns of a view as they are: one kernel for every column, or that of an order."""

    def kernels(places: Sequence[int]) -> dict[Member, list[Kernel]]:
        each: list[Kernel] = [
            Coordinates(together, tuple(row))
            for first in range(0, len(places), _TOGETHER)
            for together in [tuple(places[first : first + _TOGETHER])]
            for row in np.eye(len(together)).tolist()
        ]
        order: list[Kernel] = [TensorProduct((own.kernel,), (tuple(places),)) for own in members if own.view == "order"]
        return dict.fromkeys(members, order or each)

    return _Columns(table.shape[1], lambda rows: np.copyto(rows, table.T), kernels)


def _filtered(table: Array, kernel: Kernel, members: Sequence[Member], landmarks: IntArray) -> _Columns:
    """Return those coordinates of the rows that count for any of the members, which differ in their λ."""
    found = spectrum(table, kernel, landmarks)
    filters = {member: found.filtered(member.ridge) for member in members}
    least = min(first for first, _ in filters.values())

    def kernels(places: Sequence[int]) -> dict[Member, list[Kernel]]:
        columns = tuple(places)
        return {own: [Coordinates(columns[first - least :], weights)] for own, (first, weights) in filters.items()}

    return _Columns(len(found.values) - least, lambda rows: found.scores(least, rows), kernels)


def available(n: int, dim: int) -> tuple[str, ...]:
    """Return the views that say something new of a table of this shape.

    Only one column has an order, and it is its own axis and needs no whitening; whitening needs four rows a column;
    more than 2048 columns, or 256 products of two, are not looked at one by one.
    """
    serves = {
        "order": dim == 1,
        "white": dim > 1 and n >= _ROWS_PER_WHITE_COLUMN * dim,
        "products": dim > 1 and dim * (dim - 1) // 2 <= _MOST_PRODUCTS,
        "axes": 1 < dim <= _MOST_AXES,
        "square axes": 1 < dim <= _MOST_AXES,
        "volume": dim > 1 and dim >= n / _ROWS_PER_VOLUME_COLUMN,
    }
    return tuple(name for name in VIEWS if serves.get(name, True))


def view(points: Array, name: str) -> Array:
    r"""Return a view of a table of shape (n, d).

    ===========  =====================================================================================
    data         the columns less their means, in units of their own spread
    near         the same, in units of the distance to the nearest tenth of the rows (its median)
    nearest      the same, of the nearest three hundredths: within clusters, wherever these lie
    blocks       the same, in units of the median distance along the axes, as the Laplacian kernel has it
    scores       normal scores of every column, Φ⁻¹((rank - ½) / n), ties at their mean rank
    ranks        (rank - ½) / n - ½ of every column
    order        rank of every column, in units of one rank: kernels on it see nearest neighbors
    white        the scores times C^{-1/2}, C their covariance shrunk towards a multiple of I
    radius       the distance of every row from the mean, one column
    spread       the length of the scores of every row, one column: as radius, but no outlier is far
    products     the products of any two columns of the scores less their means: an exclusive or is linear in them
    squares      the squares of the scores less their means
    axes         the scores; every column is tested on its own and the largest statistic counts
    square axes  the squares of the scores, every column on its own
    volume       the same as data; two samples are compared by the volumes that they take, see
                 :mod:`kernelmean.inference.adaptive.volume`
    ===========  =====================================================================================
    """
    return ViewSource(points).view(name)


class ViewSource:
    """The rows of a table, and what several views of it are made from."""

    def __init__(self, points: Array) -> None:
        self.points = points

    @cached_property
    def in_spreads(self) -> Array:
        """The columns less their means in units of their spread."""
        return in_spreads(self.points)

    @cached_property
    def order(self) -> Array:
        """The rank of every entry in its column, that of ties their mean rank."""
        return np.stack([_ranks(column) for column in np.ascontiguousarray(self.points.T)]).T

    @cached_property
    def scores(self) -> Array:
        """The normal scores of every column."""
        return np.asarray(ndtri((self.order - 0.5) / len(self.points)))

    def view(self, name: str) -> Array:
        """Return a view, see :func:`view`."""
        if name == "radius":
            return _length(self.in_spreads)
        if name in ("data", "volume") or name in _LIKE_DATA:
            return self.in_spreads
        if name == "order":
            return self.order
        if name == "ranks":
            return np.asarray((self.order - 0.5) / len(self.points) - 0.5)
        return _OF_SCORES.get(name, np.asarray)(self.scores)

    @cached_property
    def canonical(self) -> IntArray:
        """Row numbers in an order that only the rows themselves decide on, see :meth:`drawn`."""
        ranks = self.order - (len(self.points) + 1) / 2
        squares = np.square(ranks).sum(axis=1)
        order = np.argsort(squares, kind="stable")
        same = squares[order[1:]] == squares[order[:-1]]
        shared = np.flatnonzero(np.append(same, False) | np.append(False, same))
        rows = np.sort(order[shared])
        order[shared] = rows[_in_order(ranks, squares, rows)]
        return order

    def drawn(self, most: int, rng: np.random.Generator) -> IntArray:
        """Return all rows, or so many that the seed draws: the same rows in whatever order rows come.

        Rows are numbered by the distance of their ranks from the middle, which no unit, sign or order of columns
        changes, then by the sorted distances of all columns, then by how the columns go together; what is still tied,
        such as mirror images in a single column, by their ranks.
        """
        n = len(self.points)
        return np.arange(n) if n <= most else np.sort(self.canonical[rng.choice(n, most, replace=False)])

    def table(self, rows: IntArray, *, volumes: bool) -> ViewedTable:
        """Return what decides on the members that look at the table, judged by some of the rows."""
        views = tuple(name for name in available(*self.points.shape) if volumes or name != "volume")
        return ViewedTable(views, self.points.shape[1], clustered(self.in_spreads[rows]))


def _ranks(column: Array) -> Array:
    """Return ranks as ``scipy.stats.rankdata`` does, in half the time."""
    order = np.argsort(column)
    ascending = column[order]
    ends = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]) + 1.0, len(column))
    counts = np.diff(ends, prepend=0.0)
    ranks = np.empty(len(column))
    ranks[order] = np.repeat(ends - (counts - 1.0) / 2, counts.astype(np.intp))
    return ranks


def _in_order(ranks: Array, squares: Array, rows: IntArray) -> IntArray:
    """Return an order of some rows, by their squared distance from the middle and by what tells equal ones apart."""
    own, squares = ranks[rows], squares[rows]
    far = np.sort(np.abs(own), axis=1)
    order = np.lexsort((*far.T, squares))
    tied = (far[order[1:]] == far[order[:-1]]).all(axis=1)
    apart = np.zeros(len(rows))
    some = np.union1d(order[1:][tied], order[:-1][tied])
    if len(some):
        apart[some] = _told_apart(ranks, rows[some])
    return np.lexsort((*own.T[::-1], apart, *far.T, squares))


def _told_apart(ranks: Array, rows: IntArray) -> Array:
    """Return numbers for rows that are as far from the middle in other columns, whatever the columns' order and signs.

    Of a row r, from the products of the columns M = RᵀR and v = Σ_j |r_j|² r_j over all rows.
    """
    own, products = ranks[rows], ranks.T @ ranks
    leaning = np.square(ranks).sum(axis=1) @ ranks
    terms = own[:, :, None] * own[:, None, :] * products
    terms = terms.reshape(len(own), own.shape[1] ** 2)
    return np.asarray(np.sort(terms, axis=1).sum(axis=1) - np.sort(own * leaning, axis=1).sum(axis=1))


def in_spreads(points: Array) -> Array:
    """Return the columns less their means over their spreads: the distance of their quartiles, or their deviation.

    Columns are divided by powers of two beforehand so that nothing overflows.
    """
    largest = np.abs(points).max(axis=0)
    scaled = np.ldexp(points, -np.frexp(np.where(largest > 0.0, largest, 1.0))[1])
    centered = scaled - scaled.mean(axis=0)
    low, high = np.quantile(scaled, (0.25, 0.75), axis=0)
    spread = np.where(high > low, (high - low) / _NORMAL_QUARTILES, scaled.std(axis=0))
    spread = np.maximum(spread, _LEAST_SPREAD * np.abs(centered).max(axis=0))
    constant = (points == points[0]).all(axis=0)
    return np.asarray(np.where(constant, 0.0, centered / np.where(constant, 1.0, spread)))


def whitened(table: Array) -> Array:
    """Return the table times C^{-1/2}, C the covariance shrunk by d / (n + d) towards its mean variance."""
    n, dim = table.shape
    centered = table - table.mean(axis=0)
    covariance = centered.T @ centered / n
    mean_variance = np.trace(covariance) / dim
    if mean_variance == 0.0:
        return centered
    shrinkage = dim / (n + dim)
    values, vectors = decomposed((1 - shrinkage) * covariance + shrinkage * mean_variance * np.eye(dim))
    return np.asarray(centered @ (vectors / np.sqrt(values)) @ vectors.T)


def _length(rows: Array) -> Array:
    """Return the lengths of rows, one column, to 13 digits of the longest: rows of one length must not tell apart."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    largest = float(lengths.max())
    unit = np.ldexp(1.0, int(np.frexp(largest)[1])) if largest else 1.0
    return np.asarray(np.round(lengths / unit, 13) * unit)


def _products(scores: Array) -> Array:
    """Return s_i s_j less its mean for every two columns i < j, shape (n, d (d - 1) / 2)."""
    columns = np.ascontiguousarray(scores.T)
    first, second = np.triu_indices(len(columns), 1)
    products = np.empty((len(first), len(scores)))
    for place, (i, j) in enumerate(zip(first, second, strict=True)):
        np.multiply(columns[i], columns[j], out=products[place])
        products[place] -= products[place].mean()
    return products.T


def _squares(scores: Array) -> Array:
    squares = np.square(scores)
    return np.asarray(squares - squares.mean(axis=0))


_OF_SCORES: dict[str, Callable[[Array], Array]] = {
    "white": whitened,
    "spread": _length,
    "products": _products,
    "squares": _squares,
    "square axes": _squares,
}


def in_units(name: str, table: Array, rows: IntArray) -> Array:
    """Divide a view by its unit over the rows: a distance, of single columns their deviations, of "order" 1.

    Where all rows are equal it becomes 0: kernels are then constant without rounding.
    """
    if name == "order":
        return table
    if (table[-1] == table[0]).all() and (table == table[0]).all():
        return np.zeros_like(table)
    if name in DIRECT:
        deviation = table.std(axis=0)
        return np.asarray(table / np.where(deviation > 0.0, deviation, 1.0))
    some = table[rows]
    return table if (some == some[0]).all() else np.asarray(table / _unit(name, some))


def _unit(name: str, some: Array) -> float:
    """Return the distance that is 1 in a view, positive where not all rows are equal."""
    if name == "blocks":
        distances = pdist(some, "cityblock")
        return float(np.median(distances[distances > 0.0]))
    if name in NEAR:
        near = near_distance(some, NEAR[name])
        if near > 0.0:
            return near
    return float(median_bandwidth(some))


def near_distance(rows: Array, share: float) -> float:
    """Return the median over the rows of the distance within which a share of the others lie."""
    distances = squareform(pdist(rows))
    place = max(1, min(len(rows) - 1, round(share * len(rows))))
    return float(np.median(np.partition(distances, place, axis=1)[:, place]))


_FAR, _FARTHEST = 7.25, 9.0
_CLOSE_PAIRS = 0.1


def clustered(rows: Array) -> float:
    """Return from 0 to 1 how surely the rows of a table lie in far clusters, from the distances of some of them.

    The median distance is measured by the distance below which a tenth of the pairs are, those within a cluster where
    there are clusters: 5.4 times for normal values in one dimension, less in more, 6.3 for Cauchy's and 6.7 for
    lognormal ones. From 7.25 to 9 times the answer rises from 0 to 1. Values with many ties are not clusters.
    """
    near, middle = np.quantile(pdist(rows), (_CLOSE_PAIRS, 0.5))
    if near <= 0.0:
        return 0.0
    return float(np.clip(np.log(middle / near / _FAR) / np.log(_FARTHEST / _FAR), 0.0, 1.0))
