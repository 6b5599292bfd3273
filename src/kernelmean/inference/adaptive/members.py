"""The members of an adaptive test: which kernel looks at which view, and how much it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from ...kernels import DistanceInduced, Gaussian, Kernel, Linear, Polynomial
from ...kernels.wendland import Wendland


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
    """

    view: str
    kernel: Kernel
    weight: float = 1.0

    @property
    def label(self) -> str:
        """Return a short name."""
        return f"{self.kernel!r} on {self.view}"

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
    """

    label: str
    weight: float
    statistic: float
    standardized: float
    evidence: float
    pvalue: float


LINEAR, QUADRATIC, ENERGY = Linear(), Polynomial(2, 0.0), DistanceInduced()
WIDE, MEDIAN = Gaussian(2.0), Gaussian(1.0)
NARROW = (Gaussian(1 / 16), Gaussian(1 / 8), Gaussian(1 / 4), Gaussian(1 / 2))
"""θ² = 1/256, 1/64, 1/16 and 1/4 of the median squared distance."""
NEIGHBORS, MORE_NEIGHBORS = Wendland(0, 3.0), Wendland(0, 5.0)
"""On "order": weights 2/3 and 1/3 for the two nearest rows on either side, and 4/5 to 1/5 for the four nearest."""


def two_sample_members() -> tuple[Member, ...]:
    """Return the default members for two samples; narrow kernels first, since they decide on the scheme.

    Location has six tenths of the weight: there the single kernels of other tests are at their best already, and
    nothing can be gained, only lost. The rest is spread over scale and dependence between columns, over differences
    within single columns, and over local differences on two scales of measurement.
    """
    shares: tuple[tuple[float, str, tuple[Kernel, ...]], ...] = (
        (0.08, "ranks", NARROW),
        (0.08, "data", NARROW),
        (0.05, "data", (MEDIAN,)),
        (0.05, "scores", (MEDIAN,)),
        (0.27, "data", (WIDE,)),
        (0.21, "data", (LINEAR,)),
        (0.09, "scores", (ENERGY,)),
        (0.06, "white", (ENERGY, LINEAR)),
        (0.025, "white", (QUADRATIC,)),
        (0.025, "data", (QUADRATIC,)),
        (0.03, "radius", (LINEAR,)),
        (0.03, "axes", (LINEAR,)),
    )
    return tuple(Member(view, kernel, share / len(kernels)) for share, view, kernels in shares for kernel in kernels)


def independence_members() -> tuple[PairMember, ...]:
    """Return the default pairs for two variables; every one comes with its mirror image.

    Monotone dependence has six tenths of the weight. The rest is spread over functions of one variable that oscillate
    (a narrow kernel, or the nearest neighbors, against the energy kernel), products of columns, dependence of
    variances, and local dependence (narrow against narrow).

    With weights for one neighbor only, ``Wendland(0, 2.0)`` on "order" against the energy kernel on "ranks", HSIC is
    the numerator of the rank correlation ξ, but for the two ends of the order; wider weights have a smaller variance.
    ξ is due to Chatterjee (2021), more neighbors to Lin & Han (2023).
    """
    data, ranks, order, scores, white, radius, spread, products = (
        _on(view) for view in ("data", "ranks", "order", "scores", "white", "radius", "spread", "products")
    )
    _, eighth, quarter, half = NARROW
    groups: tuple[tuple[float, tuple[tuple[Member, Member], ...]], ...] = (
        (0.015, _same([data(quarter)])),
        (0.085, _mirrored(ranks(ENERGY), [order(NEIGHBORS)])),
        (0.020, _mirrored(ranks(ENERGY), [order(MORE_NEIGHBORS)])),
        (0.025, _mirrored(data(ENERGY), [data(eighth)])),
        (0.040, _mirrored(data(ENERGY), [data(quarter)])),
        (0.030, _mirrored(data(ENERGY), [data(half)])),
        (0.030, _mirrored(ranks(ENERGY), [ranks(half)])),
        (0.035, _same([scores(half)])),
        (0.050, _same([data(MEDIAN)])),
        (0.220, _same([data(LINEAR)])),
        (0.125, _same([data(ENERGY)])),
        (0.045, _same([ranks(ENERGY)])),
        (0.130, _same([white(LINEAR)])),
        (0.050, _mirrored(data(ENERGY), [products(ENERGY)])),
        (0.015, _mirrored(data(ENERGY), [radius(ENERGY)])),
        (0.025, _same([spread(ENERGY)])),
        (0.010, _same([radius(LINEAR)])),
        (0.020, _mirrored(scores(LINEAR), [scores(QUADRATIC)])),
        (0.020, _mirrored(scores(LINEAR), [white(QUADRATIC)])),
        (0.010, _same([white(QUADRATIC)])),
    )
    return tuple(PairMember(x, y, share / len(pairs)) for share, pairs in groups for x, y in pairs)


def _on(view: str) -> Callable[[Kernel], Member]:
    return lambda kernel: Member(view, kernel)


def _same(members: Iterable[Member]) -> tuple[tuple[Member, Member], ...]:
    """Pair every member with itself."""
    return tuple((member, member) for member in members)


def _mirrored(one: Member, others: Iterable[Member]) -> tuple[tuple[Member, Member], ...]:
    """Pair one member with the others, both ways round."""
    return tuple(pair for other in others for pair in ((one, other), (other, one)))


# -- which of them say something of some tables ------------------------------------------------------------------------


def present(members: Sequence[Any] | None, known: Sequence[Sequence[str]]) -> list[Any]:
    """Return those of the members, by default all there are, that say something of tables with these views."""
    if len(known) == 1:
        return _present_members(members or two_sample_members(), known[0])
    if len(known) == 2:
        return _present_pairs(members or independence_members(), known)
    raise ValueError(f"an adaptive test has kernels for two variables, not for {len(known)}; pass a kernel")


def _present_members(members: Sequence[Any], views: Sequence[str]) -> list[Member]:
    """Leave out what needs a view that says nothing new."""
    if not all(isinstance(member, Member) for member in members):
        raise TypeError("two samples have one kernel per member; pass Member(view, kernel, weight), not PairMember")
    kept = [member for member in members if member.view in views]
    if not kept:
        raise ValueError(f"no member is left: data of this shape have the views {', '.join(map(repr, views))}")
    return kept


def _present_pairs(pairs: Sequence[Any], known: Sequence[Sequence[str]]) -> list[PairMember]:
    """Let one column stand in for its whitened self, and leave out what then says nothing new."""
    if not all(isinstance(pair, PairMember) for pair in pairs):
        raise TypeError("independence has two kernels per member; pass PairMember(Member(...), Member(...), weight)")
    if any("axes" in (pair.x.view, pair.y.view) for pair in pairs):
        raise ValueError("view 'axes' serves two samples only; use 'scores'")
    kept = [own for pair in pairs if (own := _fitting(pair, known)) is not None]
    if not kept:
        raise ValueError(f"no pair is left: the views are {', '.join(map(repr, known[0]))} of X, {known[1]} of Y")
    return kept


def _fitting(pair: PairMember, known: Sequence[Sequence[str]]) -> PairMember | None:
    """Return the pair, on a side without white with scores in its place, or None where that adds nothing."""
    fits = [member.view in views for member, views in zip((pair.x, pair.y), known, strict=True)]
    if all(fits):
        return pair
    if not any(fits) or (pair.x.view, pair.y.view) != ("white", "white"):
        return None
    x, y = (
        member if fit else replace(member, view="scores") for member, fit in zip((pair.x, pair.y), fits, strict=True)
    )
    return replace(pair, x=x, y=y)
