"""The members of an adaptive test: which kernel looks at which view, and how much it counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from ...kernels import DistanceInduced, Gaussian, Kernel, Laplacian, Linear, Polynomial


@final
@dataclass(frozen=True)
class Member:
    """A kernel on a view of the pooled sample, and its prior weight.

    Attributes
    ----------
    view : str
        One of :data:`kernelmean.inference.adaptive.views.VIEWS`.
    kernel : Kernel
        In units of the median distance of the view, for "order" of one rank.
    weight : float
        How much the member counts; the weights of a test need not sum to one.
    ridge : float, optional
        λ > 0 of a regularized kernel, relative to the sum of the spectrum (see
        :mod:`kernelmean.inference.adaptive.spectrum`): the smaller, the finer the differences that count as much as
        coarse ones. Without one it is the kernel as it is.
    group : str
        The kind of difference that the member is for, in words.
    """

    view: str
    kernel: Kernel
    weight: float = 1.0
    ridge: float | None = None
    group: str = ""

    @property
    def label(self) -> str:
        """Return a short name."""
        filtered = "" if self.ridge is None else f", λ = {self.ridge:g}"
        return f"{self.kernel!r} on {self.view}{filtered}"

    @property
    def kernels(self) -> Kernel:
        """Return the kernel."""
        return self.kernel

    @property
    def sides(self) -> tuple[Member, ...]:
        """Return what looks at the only table."""
        return (self,)


@final
@dataclass(frozen=True)
class PairMember:
    """A kernel on a view of X, a kernel on a view of Y, and the prior weight of the pair."""

    x: Member
    y: Member
    weight: float = 1.0
    group: str = ""

    @property
    def label(self) -> str:
        """Return a short name."""
        return f"{self.x.label} | {self.y.label}"

    @property
    def kernels(self) -> tuple[Kernel, Kernel]:
        """Return the kernel of X and the kernel of Y."""
        return self.x.kernel, self.y.kernel

    @property
    def sides(self) -> tuple[Member, ...]:
        """Return what looks at X and what looks at Y."""
        return self.x, self.y


@final
@dataclass(frozen=True)
class MemberOutcome:
    """What one member of an adaptive test found on its own.

    Attributes
    ----------
    label : str
        The kernel and the view, for independence those of X and those of Y.
    weight : float
        Its share, all members together 1.
    statistic : float
        The observed statistic; of "axes" the largest standardized one of all columns.
    standardized : float
        Less its mean over the permutations, in their standard deviations.
    evidence : float
        -log of the approximate p-value that the harmonic mean takes.
    pvalue : float
        Its own permutation p-value, not adjusted for the other members.
    group : str
        The kind of difference that it is for.
    """

    label: str
    weight: float
    statistic: float
    standardized: float
    evidence: float
    pvalue: float
    group: str = ""


LINEAR, QUADRATIC, ENERGY = Linear(), Polynomial(2, 0.0), DistanceInduced()
WIDE, MEDIAN, QUARTER, EIGHTH, SIXTEENTH = (Gaussian(width) for width in (2.0, 1.0, 0.25, 0.125, 0.0625))
BOX = Laplacian(0.5)

SIZES = 12.0, 50.0, 110.0, 250.0, 1500.0, 3500.0, 20_000.0
"""The rows of a sample (their harmonic mean), or the pairs, for which the weights below are given."""
_PAIRS = 12.0, 55.0, 110.0

Shares = tuple[float, ...]
_TWO_SAMPLES: tuple[tuple[str, str, Kernel, float | None, Shares], ...] = (
    ("means", "data", LINEAR, None, (32, 26, 20, 20, 20, 28, 36, 6)),
    ("means", "data", ENERGY, 0.1, (6, 9, 5, 1, 1, 1, 1, 1)),
    ("means", "data", WIDE, None, (3, 4, 3, 2, 2, 3, 4, 1)),
    ("means", "scores", ENERGY, None, (24, 3, 2, 1, 1, 1, 1, 1)),
    ("means", "ranks", ENERGY, None, (3, 5, 2, 1, 1, 1, 1, 1)),
    ("means", "white", LINEAR, None, (5, 4, 3, 10, 10, 15, 19, 1)),
    ("means", "axes", LINEAR, None, (2, 6, 5, 4, 4, 6, 8, 1)),
    ("spread", "radius", LINEAR, None, (8, 8, 6, 8, 8, 8, 8, 1)),
    ("spread", "square axes", LINEAR, None, (3, 2, 2, 2, 2, 2, 2, 1)),
    ("columns together", "data", QUADRATIC, None, (2, 2, 6, 3, 3, 5, 5, 1)),
    ("columns together", "products", LINEAR, None, (1, 3, 3, 3, 3, 5, 5, 1)),
    ("columns together", "product axes", LINEAR, None, (1, 3, 3, 3, 3, 5, 5, 1)),
    ("shape", "data", MEDIAN, 0.1, (0, 1, 4, 10, 10, 6, 2, 1)),
    ("shape", "data", MEDIAN, 0.01, (1, 3, 8, 8, 8, 4, 1, 1)),
    ("local", "data", ENERGY, 0.01, (0, 2, 2, 4, 4, 1, 1, 1)),
    ("local", "blocks", BOX, None, (2, 4, 6, 1, 1, 1, 0.5, 1)),
    ("local", "data", QUARTER, None, (5, 7, 9, 3, 3, 1, 0.5, 1)),
    ("local", "data", QUARTER, 0.001, (0, 0, 2, 31, 31, 7, 2.5, 1)),
    ("local", "data", EIGHTH, None, (4, 15, 13, 3, 3, 1, 0.5, 1)),
    ("local", "ranks", SIXTEENTH, None, (0, 2, 4, 5, 5, 1, 0.5, 1)),
    ("local", "nearest", MEDIAN, 0.001, (0, 1, 4, 9, 9, 3, 1.5, 5)),
    ("local", "near", WIDE, 0.001, (0, 0, 0, 0, 0, 0, 0, 50)),
    ("local", "blocks", BOX, 0.001, (0, 0, 0, 0, 0, 0, 0, 25)),
)
"""Kind of difference, view, kernel, λ, and percent of the weight at every size, and where rows lie in far clusters."""


def two_sample_members(size: float = SIZES[1], clustered: float = 0.0) -> tuple[Member, ...]:
    """Return the default members for two samples of so many rows each.

    Means have half of the weight where samples are small: there nothing local can be seen. Up to 250 rows, more and
    more of it goes to differences of shape and to local ones. From 1500 to 20,000 rows it comes back to means: there a
    local difference hardly needs the weight to be found, and a small shift does. Where the rows lie in far clusters,
    the weight goes to differences within clusters, which wide kernels cannot see.

    Parameters
    ----------
    size : float
        The harmonic mean of the numbers of rows.
    clustered : float
        From 0 to 1, how surely the rows lie in far clusters, see :func:`kernelmean.inference.adaptive.views.clustered`.
    """
    return tuple(
        Member(view, kernel, weight, ridge, group)
        for group, view, kernel, ridge, shares in _TWO_SAMPLES
        if (weight := _weight(shares, size, SIZES, clustered)) > 0.0
    )


def _weight(shares: Sequence[float], size: float, sizes: Sequence[float], clustered: float = 0.0) -> float:
    """Return percent at a size, linear in its logarithm between those that are given."""
    usual = float(np.interp(np.log(size), np.log(sizes), shares[: len(sizes)]))
    return usual if len(shares) == len(sizes) else (1 - clustered) * usual + clustered * shares[-1]


def independence_members(size: float = _PAIRS[1]) -> tuple[PairMember, ...]:
    """Return the default pairs for two variables of so many rows; every one comes with its mirror image.

    A regularized kernel against a wide one sees that the mean of one variable is a function of the other, however
    fast that function turns; two narrow or regularized ones see local dependence.
    """
    return tuple(
        PairMember(x, y, weight / len(pairs), group)
        for group, shares, pairs in _independence()
        if (weight := _weight(shares, size, _PAIRS)) > 0.0
        for x, y in pairs
    )


def _independence() -> tuple[tuple[str, tuple[float, float, float], tuple[tuple[Member, Member], ...]], ...]:
    def on(view: str) -> Callable[..., Member]:
        return lambda kernel, ridge=None: Member(view, kernel, ridge=ridge)

    data, ranks, scores, radius = on("data"), on("ranks"), on("scores"), on("radius")
    squares, products, axes = on("squares"), on("products"), on("axes")
    return (
        ("trend", (34, 9, 6), _same(data(LINEAR))),
        ("trend", (2, 4, 3), _same(scores(LINEAR))),
        ("trend", (4, 18, 6), _same(data(WIDE))),
        ("trend", (0, 2, 0), _same(ranks(ENERGY))),
        ("trend", (2, 8, 7), _same(axes(LINEAR))),
        ("smooth", (2, 4, 3), _same(data(MEDIAN))),
        ("smooth", (0, 15, 7), _same(data(MEDIAN, 0.1))),
        ("smooth", (0, 2, 2), _mirrored(data(MEDIAN, 0.1), data(MEDIAN, 0.01))),
        ("curve", (0, 3, 25), _mirrored(data(ENERGY, 0.001), data(ENERGY))),
        ("curve", (10, 0, 0), _mirrored(ranks(ENERGY, 0.01), ranks(ENERGY))),
        ("curve", (5, 1, 2), _mirrored(ranks(ENERGY, 0.001), ranks(ENERGY))),
        ("curve", (33, 2, 1), _mirrored(data(QUARTER), data(ENERGY))),
        ("curve", (4, 10, 3), _mirrored(data(QUARTER, 0.1), data(ENERGY))),
        ("curve", (0, 10, 3), _mirrored(data(QUARTER, 0.01), data(ENERGY))),
        ("several columns", (1, 8, 10), _mirrored(products(ENERGY), data(ENERGY))),
        ("spread", (1, 5, 4), _same(radius(ENERGY))),
        ("spread", (11, 1, 1), _mirrored(radius(ENERGY), data(ENERGY))),
        ("spread", (1, 3, 3), _mirrored(squares(ENERGY), data(ENERGY))),
        ("local", (1, 2, 5), _same(data(QUARTER))),
        ("local", (0, 1, 6), _same(data(QUARTER, 0.1))),
        ("local", (0, 1, 7), _same(data(QUARTER, 0.01))),
    )


def _same(member: Member) -> tuple[tuple[Member, Member], ...]:
    """Pair a member with itself."""
    return ((member, member),)


def _mirrored(one: Member, other: Member) -> tuple[tuple[Member, Member], ...]:
    """Pair two members, both ways round."""
    return (one, other), (other, one)


# -- which of them say something of some tables ------------------------------------------------------------------------

_MOST_PAIRS_OF_AXES = 256
_MOST_COLUMNS_OF_NARROW = 10
_STAND_INS = ("white", "axes")
"""Views of several columns that normal scores stand in for where a table has only one."""


def present(members: Sequence[Any] | None, tables: Sequence[ViewedTable], size: float) -> list[Any]:
    """Return those of the members, by default all there are, that say something of tables with these views."""
    if len(tables) == 2:
        return _present_pairs(members or independence_members(size), tables)
    if len(tables) != 1:
        raise ValueError(f"{len(tables)} tables have no members of this kind, one or two have")
    table = tables[0]
    members = members or two_sample_members(size, table.clustered)
    if not all(isinstance(member, Member) for member in members):
        raise TypeError("two samples have one kernel per member; pass Member(view, kernel, weight), not PairMember")
    kept = [member for member in members if member.view in table.views]
    if not kept:
        raise ValueError(f"no member is left: data of this shape have the views {', '.join(map(repr, table.views))}")
    return kept


@final
@dataclass(frozen=True)
class ViewedTable:
    """What decides on the members that look at a table."""

    views: tuple[str, ...]
    """The views that say something new of it."""
    dim: int
    clustered: float
    """From 0 to 1, how surely its rows lie in far clusters."""


def _present_pairs(pairs: Sequence[Any], tables: Sequence[ViewedTable]) -> list[PairMember]:
    """Let one column stand in for its whitened self, and leave out what then says nothing new."""
    if not all(isinstance(pair, PairMember) for pair in pairs):
        raise TypeError("independence has two kernels per member; pass PairMember(Member(...), Member(...), weight)")
    kept = [own for pair in pairs if (own := _fitting(pair, tables)) is not None]
    if not kept:
        views = ", ".join(map(repr, tables[0].views))
        raise ValueError(f"no pair is left: the views are {views} of X, {tables[1].views} of Y")
    return kept


def _fitting(pair: PairMember, tables: Sequence[ViewedTable]) -> PairMember | None:
    """Return the pair, on a side of one column with scores for its view, or None where that adds nothing."""
    fits = [member.view in table.views for member, table in zip(pair.sides, tables, strict=True)]
    both = {pair.x.view, pair.y.view}
    narrow = [member.kernel == QUARTER and member.view == "data" for member in pair.sides]
    if any(own and table.dim > _MOST_COLUMNS_OF_NARROW for own, table in zip(narrow, tables, strict=True)):
        return None  # in many columns all distances are alike, so that hardly two rows are near each other
    if both == {"axes"} and tables[0].dim * tables[1].dim > _MOST_PAIRS_OF_AXES:
        return None
    if all(fits):
        return pair
    if not any(fits) or len(both) > 1 or not both <= set(_STAND_INS):
        return None
    x, y = (member if fit else replace(member, view="scores") for member, fit in zip(pair.sides, fits, strict=True))
    return replace(pair, x=x, y=y)
