"""A member of an adaptive test: a kernel that looks at a view, how much it counts, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ...kernels import DistanceInduced, Gaussian, Kernel, Laplacian, Linear, Polynomial, Wendland


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
BOX, HAT = Laplacian(0.5), Wendland(0, 0.2)
