"""The members of an adaptive test: which kernel looks at which view, and how much it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import final

from ..kernels import Gaussian, Kernel, Linear, Polynomial
from ..kernels.distance_induced import DistanceInduced


@final
@dataclass(frozen=True)
class Member:
    """A kernel on a view of the pooled sample, and its prior weight.

    Attributes
    ----------
    view : str
        One of :data:`kernelmean.inference.views.VIEWS`.
    kernel : Kernel
        In units of the median distance of the view.
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
        Less its mean over the relabelings, in their standard deviations.
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

    Monotone dependence has two thirds of the weight. The rest is spread over functions of one variable that oscillate
    (a narrow kernel against the energy kernel), dependence of variances, and local dependence (narrow against narrow).
    """
    data, ranks, scores, white = (_on(view) for view in ("data", "ranks", "scores", "white"))
    *narrower, widest = NARROW
    groups: tuple[tuple[float, tuple[tuple[Member, Member], ...]], ...] = (
        (0.015, _same(ranks(k) for k in NARROW[1:])),
        (0.016, _same(data(k) for k in NARROW[1:])),
        (0.036, _mirrored(ranks(ENERGY), (ranks(k) for k in narrower))),
        (0.050, _mirrored(ranks(ENERGY), [ranks(widest)])),
        (0.044, _mirrored(data(ENERGY), (data(k) for k in narrower[1:]))),
        (0.035, _mirrored(data(ENERGY), [data(widest)])),
        (0.045, _same([scores(widest)])),
        (0.030, _same([data(MEDIAN)])),
        (0.230, _same([data(LINEAR)])),
        (0.210, _same([data(ENERGY)])),
        (0.120, _same([ranks(ENERGY)])),
        (0.100, _same([white(LINEAR)])),
        (0.020, _same([_on("radius")(LINEAR)])),
        (0.005, _same([scores(QUADRATIC)])),
        (0.020, _mirrored(scores(LINEAR), [scores(QUADRATIC)])),
        (0.024, _mirrored(scores(LINEAR), [white(QUADRATIC)]) + _same([white(QUADRATIC)])),
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
