"""What an adaptive test looks at: several tables made from one, each a symmetric function of the rows.

No view knows which sample a row belongs to, or which partner it has: permuting the rows cannot change it. What a view
needs from its table, such as means, ranks and units, is fitted to some rows and then applied to any rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from ...core.array import Array, IntArray, like, namespace, slices
from ...core.cached import cached_property
from ...kernels import Kernel, TensorProduct
from ..low_rank import Coordinates
from .columns import AS_IT_IS, DIRECT, NEAR, TRANSFORMATIONS, Spreads, Unit, clustered, pairs_of_columns
from .fitting_members import ViewedTable
from .member import Member
from .ranks import Ranks, normal_scores, ranks
from .spectrum import Projection, spectrum

VIEWS = (
    *("data", "near", "nearest", "blocks", "scores", "ranks", "white", "radius", "spread", "products", "squares"),
    *DIRECT,
)
"""The names of the views, see :func:`view`."""
BY_ORDER = ("order", "ranks", "curve axes")
IN_SPREADS = ("data", "radius", *NEAR, "blocks")
_ROWS_PER_WHITE_COLUMN = 4
_MOST_AXES, _MOST_PRODUCTS, _MOST_PRODUCT_AXES, _MOST_INTERACTIONS = 2048, 256, 1024, 66
_MOST_ENTRIES = 2**22
"""Of products on their own: with more, the other members would not fit beside them."""
_TOGETHER = 64
"""The most single columns whose kernels share factors: the time of each grows with their number."""


@final
@dataclass(frozen=True)
class Views:
    """The columns of one table that the members of a test use, side by side, and their kernels."""

    table: Array
    """All columns that members use, shape (n, D)."""
    kernels: dict[Member, list[Kernel]]
    """The kernels of every member on columns of ``table``: one, or for a view of single columns one for each."""
    parts: list[ViewPart]
    """Where the columns come from."""

    @classmethod
    def as_they_are(cls, points: ViewSource, weights: dict[Member, Array], chosen: IntArray) -> Self:
        """Use chosen columns of a table as they are; members are kernels, each with its own row of weights on them."""
        view = View(AS_IT_IS, _unchanged, Unit(1.0), chosen)
        table, places = points.base(AS_IT_IS, chosen), tuple(range(len(chosen)))
        kernels: dict[Member, list[Kernel]] = {
            member: [Coordinates(places, tuple(row)) for row in rows.tolist()] for member, rows in weights.items()
        }
        return cls(table, kernels, [ViewPart(view, None, slice(0, len(chosen)))])

    @classmethod
    def of(
        cls,
        points: ViewSource,
        members: Sequence[Member],
        rows: IntArray,
        landmarks: IntArray,
        own_landmarks: Mapping[str, IntArray] | None = None,
        chosen: IntArray | None = None,
    ) -> Self:
        """Make the views of a table; the median distance, the unit of most views, is that of the given ``rows``.

        Kernels on one view share its spectrum, with all their filters; ``landmarks`` are its features, except of views
        that have their own. If columns are ``chosen``, members use only these.
        """
        alike: dict[str, dict[Kernel | None, list[Member]]] = {}
        for member in members:
            kernel = None if member.view in DIRECT else member.kernel
            alike.setdefault(member.view, {}).setdefault(kernel, []).append(member)
        n, dim = points.base(AS_IT_IS, chosen).shape
        marks = dict.fromkeys(alike, landmarks) | dict(own_landmarks or {})
        most = sum(_most(name, kernel, dim, len(marks[name])) for name in alike for kernel in alike[name])
        columns, first = np.empty((most, n)), 0  # a page of it is only taken once it is written
        kernels: dict[Member, list[Kernel]] = {}
        parts: list[ViewPart] = []
        for name, by_kernel in alike.items():
            view, table = View.fitted(name, points, rows, chosen)
            for kernel, group in by_kernel.items():
                part = _direct(table, group) if kernel is None else _filtered(table, kernel, group, marks[name])
                last = first + part.count
                part.write(columns[first:last])
                kernels.update(part.kernels(range(first, last)))
                parts.append(ViewPart(view, part.projection, slice(first, last)))
                first = last
        return cls(columns[:first].T, kernels, parts)


def _most(name: str, kernel: Kernel | None, dim: int, landmarks: int) -> int:
    """Return the most columns that a kernel on a view of so many columns has; by itself the view if there is none.

    No more memory is asked for, since beyond 32 MiB the system takes all of it back after every test.
    """
    if kernel is None:
        return DIRECT[name](dim)
    return max(landmarks, pairs_of_columns(dim) if name == "products" else dim)


@final
@dataclass(frozen=True)
class ViewPart:
    """Columns of one view: as it is, or its coordinates in the directions of a spectrum."""

    view: View
    projection: Projection | None
    place: slice


@final
@dataclass(frozen=True)
class _Columns:
    """Columns that one or several members use."""

    count: int
    """The number of columns."""
    write: Callable[[Array], Any]
    """Writes them one above the other, shape (count, n): kernels that are sums over columns take them one by one."""
    kernels: Callable[[Sequence[int]], dict[Member, list[Kernel]]]
    """From their places among all columns to the kernels of the members."""
    projection: Projection | None = None
    """Gives the same columns of other rows; None if they are those of the view."""


def _direct(table: Array, members: Sequence[Member]) -> _Columns:
    """Return the columns of a view as they are: one kernel for every column, or the kernels of an order."""

    def kernels(places: Sequence[int]) -> dict[Member, list[Kernel]]:
        each: list[Kernel] = [
            Coordinates(together, tuple(row))
            for first in range(0, len(places), _TOGETHER)
            for together in [tuple(places[first : first + _TOGETHER])]
            for row in np.eye(len(together)).tolist()
        ]
        order: list[Kernel] = [TensorProduct((one.kernel,), (tuple(places),)) for one in members if one.view == "order"]
        return dict.fromkeys(members, order or each)

    return _Columns(table.shape[1], lambda rows: np.copyto(rows, table.T), kernels)


def _filtered(table: Array, kernel: Kernel, members: Sequence[Member], landmarks: IntArray) -> _Columns:
    """Return the coordinates of the rows that count for any of the members, which differ in λ."""
    components = spectrum(table, kernel, landmarks)
    if not len(components.values):
        return _as_they_are(table, members)
    as_it_is = (0, (1.0,) * len(components.values))
    filters = {
        member: as_it_is if member.view == AS_IT_IS and member.ridge is None else components.filtered(member.ridge)
        for member in members
    }
    least = min(first for first, _ in filters.values())

    def kernels(places: Sequence[int]) -> dict[Member, list[Kernel]]:
        columns = tuple(places)
        return {one: [Coordinates(columns[first - least :], weights)] for one, (first, weights) in filters.items()}

    count, projection = len(components.values) - least, components.projection(least)
    return _Columns(count, lambda rows: components.scores(least, rows), kernels, projection)


def _as_they_are(table: Array, members: Sequence[Member]) -> _Columns:
    """Return the columns of a view in which all landmarks are equal, so that rows unlike these still count."""

    def kernels(places: Sequence[int]) -> dict[Member, list[Kernel]]:
        return {member: [Coordinates(tuple(places), (1.0,) * len(places))] for member in members}

    return _Columns(table.shape[1], lambda rows: np.copyto(rows, table.T), kernels)


def available(n: int, dim: int) -> tuple[str, ...]:
    """Return the views that add something for a table of this shape.

    Only a single column has an order; it is its own axis and needs no whitening. Whitening needs four rows per column.
    More than 2,048 columns, or 1,024 products of two, are not used one by one; of more than 256 products each is
    compared on its own, because a sum over all would hide one of them, if there are no more than four million in all
    rows. Up to 66 products, of twelve columns, have interactions: with more these would take most of the time.
    """
    pairs = pairs_of_columns(dim)
    serves = {
        "order": dim == 1,
        "white": dim > 1 and n >= _ROWS_PER_WHITE_COLUMN * dim,
        "products": 0 < pairs <= _MOST_PRODUCTS,
        "product axes": _MOST_PRODUCTS < pairs <= min(_MOST_PRODUCT_AXES, _MOST_ENTRIES // n),
        "interactions": 0 < pairs <= _MOST_INTERACTIONS,
        "axes": 1 < dim <= _MOST_AXES,
        "square axes": 1 < dim <= _MOST_AXES,
        "moment axes": dim <= _MOST_AXES,
        "curve axes": dim <= _MOST_AXES,
    }
    return tuple(name for name in VIEWS if serves.get(name, True))


def view(points: Array, name: str) -> Array:
    r"""Return a view of a table of shape (n, d).

    ============  =====================================================================================
    data          the columns less their means, in units of their own spread
    near          the same, in units of the distance to the nearest tenth of the rows (its median)
    nearest       the same, of the nearest three hundredths: within clusters, wherever these lie
    blocks        the same, in units of the median distance along the axes, as the Laplacian kernel has it
    scores        normal scores of every column, Φ⁻¹((rank - ½) / n), ties at their mean rank
    ranks         (rank - ½) / n - ½ of every column
    order         rank of every column, in units of one rank: kernels on it see nearest neighbors
    white         the scores times C^{-1/2}, C their covariance shrunk towards a multiple of I
    radius        the distance of every row from the mean, one column
    spread        the length of the scores of every row, one column: as radius, but no outlier is far
    products      the products of any two columns of the scores less their means: an exclusive or is linear in them
    squares       the squares of the scores less their means
    axes          the scores; every column is tested on its own and the largest statistic counts
    square axes   the squares of the scores, every column on its own
    moment axes   s³ - 3s and s⁴ - 6s² + 3 of the scores s, every one of every column on its own
    curve axes    cos 2πu, cos 3πu and cos 4πu of the ranks, u from 0 to 1, every one of every column on its own
    product axes  the products of any two columns, every pair on its own
    interactions  the same times the place of a row along the widest direction of the scores
    ============  =====================================================================================
    """
    return ViewSource(points).view(name)


@final
@dataclass(frozen=True)
class ViewFits:
    """The fits behind the views: the spreads of columns, and the ranks among the rows that were fitted."""

    spreads: Spreads
    ranks: Ranks


class ViewSource:
    """The rows of a table, and the values that several views share.

    Parameters
    ----------
    points : array of shape (n, d)
    fits : ViewFits, optional
        The fits of the rows whose spreads and ranks are used; by default of these rows.
    """

    def __init__(self, points: Array, fits: ViewFits | None = None) -> None:
        self.points = points
        self._fits = fits

    @cached_property
    def fits(self) -> ViewFits:
        """The fits with which other rows are viewed in the same way."""
        return ViewFits(Spreads.of(self.points), Ranks.of(self.points)) if self._fits is None else self._fits

    @cached_property
    def in_spreads(self) -> Array:
        """The columns minus their means, in units of their spread."""
        return (Spreads.of(self.points) if self._fits is None else self._fits.spreads)(self.points)

    @cached_property
    def order(self) -> Array:
        """The rank of every entry in its column, for ties their mean rank."""
        if self._fits is not None:
            return self._looked_up(self._fits.ranks.levels)
        return np.stack([ranks(column) for column in np.ascontiguousarray(self.points.T)]).T

    @cached_property
    def scores(self) -> Array:
        """The normal scores of every column."""
        if self._fits is not None:
            return self._looked_up(self._fits.ranks.scores)
        return normal_scores(self.order, len(self.points))

    @cached_property
    def places(self) -> list[IntArray]:
        """The place of every value among the ranks of the fits, column by column."""
        return self.fits.ranks.places(self.points)

    def _looked_up(self, levels: Sequence[Array]) -> Array:
        xp, levels = namespace(self.points), [like(level, self.points) for level in levels]
        columns = [xp.take(level, places, axis=0) for level, places in zip(levels, self.places, strict=True)]
        return xp.stack(columns, axis=0).T

    def base(self, name: str, chosen: IntArray | None = None) -> Array:
        """Return the table that a view transforms, or some of its columns."""
        if name == AS_IT_IS:
            table = self.points
        elif name in IN_SPREADS:
            table = self.in_spreads
        else:
            table = self.order if name in BY_ORDER else self.scores
        return table if chosen is None else table[:, chosen]

    def view(self, name: str) -> Array:
        """Return a view, see :func:`view`."""
        base = self.base(name)
        return _change(name, base)(base)

    @cached_property
    def canonical(self) -> IntArray:
        """Row numbers in an order that depends only on the rows themselves, see :meth:`drawn`."""
        ranks = self.order - (len(self.points) + 1) / 2
        squares = np.square(ranks).sum(axis=1)
        order = np.argsort(squares, kind="stable")
        same = squares[order[1:]] == squares[order[:-1]]
        shared = np.flatnonzero(np.append(same, False) | np.append(False, same))
        rows = np.sort(order[shared])
        order[shared] = rows[_in_order(ranks, squares, rows)]
        return order

    def drawn(self, most: int, rng: np.random.Generator) -> IntArray:
        """Return all rows, or ``most`` that the seed draws: the same rows, whatever their order.

        Rows are numbered by the distance of their ranks from the middle, which no unit, sign or order of columns
        changes, then by the sorted distances of all columns, then by products of the columns; rows that are still tied,
        such as mirror images in a single column, by their ranks.
        """
        n = len(self.points)
        return np.arange(n) if n <= most else np.sort(self.canonical[rng.choice(n, most, replace=False)])

    def table(self, rows: IntArray) -> ViewedTable:
        """Return what decides which members are used on the table, judged by some of the rows."""
        views = available(*self.points.shape)
        return ViewedTable(views, self.points.shape[1], clustered(self.in_spreads[rows]))


def _in_order(ranks: Array, squares: Array, rows: IntArray) -> IntArray:
    """Return an order of some rows, by their squared distance from the middle, with ties broken."""
    ranked, squares = ranks[rows], squares[rows]
    far = np.sort(np.abs(ranked), axis=1)
    order = np.lexsort((*ranked.T[::-1], *far.T, squares))
    tied = (far[order[1:]] == far[order[:-1]]).all(axis=1)
    different = tied & (ranked[order[1:]] != ranked[order[:-1]]).any(axis=1)
    group = np.append(0, np.cumsum(~tied))[: len(rows)]
    differs = np.bincount(group[1:][different], minlength=len(rows)) > 0
    some = order[differs[group]]  # equal rows need no order
    apart = np.zeros(len(rows))
    if len(some):
        apart[some] = _told_apart(ranks, rows[some])
    return np.lexsort((*ranked.T[::-1], apart, *far.T, squares))


def _told_apart(ranks: Array, rows: IntArray) -> Array:
    """Return numbers that break ties of rows, whatever the order and the signs of the columns.

    Of a row r, from the products of the columns M = RᵀR and v = Σ_j |r_j|² r_j over all rows.
    """
    products, leaning = ranks.T @ ranks, np.square(ranks).sum(axis=1) @ ranks
    distinct, place = np.unique(ranks[rows], axis=0, return_inverse=True)
    many = max(1, _MOST_ENTRIES // ranks.shape[1] ** 2)
    sums = np.empty(len(distinct))
    for part in slices(len(distinct), many):
        terms = distinct[part, :, None] * distinct[part, None, :] * products
        terms = terms.reshape(len(terms), ranks.shape[1] ** 2)
        sums[part] = np.sort(terms, axis=1).sum(axis=1) - np.sort(distinct[part] * leaning, axis=1).sum(axis=1)
    return sums[place.ravel()]


@final
@dataclass(frozen=True)
class View:
    """A view fitted to some rows, in its unit; called with any rows, it returns their view."""

    name: str
    change: Callable[[Array], Array]
    unit: Unit
    chosen: IntArray | None = None
    """The columns of the table that it uses, None for all."""

    @classmethod
    def fitted(
        cls, name: str, points: ViewSource, rows: IntArray, chosen: IntArray | None = None
    ) -> tuple[Self, Array]:
        """Return a view fitted to a table, its unit to some of the rows, and what it makes of the table."""
        base = points.base(name, chosen)
        change = _change(name, base)
        changed = change(base)
        unit = Unit.of(name, changed, rows)
        return cls(name, change, unit, chosen), unit(changed)

    def __call__(self, points: ViewSource) -> Array:
        """Return the view of rows with the same fits, shape (n, D)."""
        return self.seen(points.base(self.name, self.chosen))

    def seen(self, base: Array) -> Array:
        """Return the view of rows from the table that it transforms."""
        return self.unit(self.change(base))


def _change(name: str, base: Array) -> Callable[[Array], Array]:
    """Return the transformation of a base into a view, fitted to some rows."""
    transformation = TRANSFORMATIONS.get(name)
    return _unchanged if transformation is None else transformation(base)


def _unchanged(table: Array) -> Array:
    return table
