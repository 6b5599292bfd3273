"""Two samples: the pooled rows against the labels that say which sample each belongs to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, as_host, is_foreign, joined, like
from ...core.frozen import owned
from ...core.points import Names
from ...core.table import Table
from ...kernels import Kernel
from ..adaptive import Adaptive
from ..asked import Estimators, Known
from ..designs.design import Design
from ..designs.paired import PairedDesign
from ..designs.two_sample import TwoSampleDesign, two_sample_design
from ..designs.wild import WildSamples
from ..engine import permutation_null
from ..estimated_mmd import EstimatedMMD, two_sample_estimator
from ..kernel_choice import ESTIMATORS, MMD_ESTIMATORS, Chosen, choose_kernel, median_rows
from ..members import Member, two_sample_members
from ..problem import KernelSide, LabelSide, Problem
from ..resampling import Resampling
from ..samples import check_samples, in_fixed_order, matched
from ..statistics import MMD, Kind, Statistic
from ..units import units_notes
from ..views import Views, available
from .base import Candidates, Question

SampleDesign = TwoSampleDesign | PairedDesign | WildSamples
Engine = Callable[[Problem, Resampling], Any]


@final
@dataclass(frozen=True, eq=False)
class TwoSamples(Question):
    """Two samples: do they come from one distribution.

    Attributes
    ----------
    X, Y : array of shape (n, d) and (m, d)
        The samples as they were passed, the columns in one order.
    names : tuple of str, or None
        Of the columns.
    design : TwoSampleDesign, PairedDesign, WildSamples or None
        Which rows may change places; None is all of them.
    engine : callable
        From a problem and a resampling to the null, where there is no design.
    asked : Estimators or None
        What answered it.
    """

    X: Array
    Y: Array
    names: Names = None
    design: SampleDesign | None = None
    engine: Engine = permutation_null
    asked: Estimators | None = None

    kernel_sides: ClassVar[int] = 1

    @classmethod
    def known(cls, design: Design) -> Known:
        """Return the estimators that can answer, by name."""
        return ESTIMATORS if design.paired else MMD_ESTIMATORS

    @classmethod
    def of(cls, X: Any, Y: Any, design: Design) -> Self:
        """Check two samples, which may be arrays of another library, and their design."""
        if design.paired:
            samples, names = named_samples(X, Y, anywhere=False)
            return cls(*samples, names, PairedDesign.of(samples))
        samples, names = named_samples(X, Y)
        return cls(*samples, names, two_sample_design(samples, design) if design.says_more else None)

    @classmethod
    def series(cls, X: Any, Y: Any, block_length: float) -> Self:
        """Check two time series."""
        samples, names = named_samples(X, Y, anywhere=False)
        return cls(*samples, names, WildSamples.of(samples, block_length))

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        return _METHODS if self.design is None else self.design.methods

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of both samples, or the number of pairs."""
        n, m = self.X.shape[0], self.Y.shape[0]
        return (n,) if isinstance(self.design, PairedDesign) else (n, m)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the design says."""
        return () if self.design is None else self.design.notes

    @property
    def samples(self) -> tuple[Array, Array]:
        """Return the rows that take part, in an order of the samples that does not depend on which came first."""
        return in_fixed_order(self.X, self.Y) if self.design is None else self.design.samples

    def null(self, kernels: Sequence[Kernel], statistic: Kind | Statistic, how: Resampling) -> Any:
        """Return MMD² of every kernel."""
        return self._null(self.samples, kernels, statistic, how)

    def problem(self, kernels: Sequence[Kernel], statistic: Kind | Statistic) -> Problem:
        """Return the Gram matrices of the pooled rows, and the labels of the samples."""
        return mmd_problem(self.samples, kernels, statistic)

    def _null(self, samples: tuple[Array, Array], kernels: Sequence[Kernel], statistic: Any, how: Resampling) -> Any:
        if self.design is None:
            return self.engine(mmd_problem(samples, kernels, statistic), how)
        return self.design.null(samples, kernels, statistic, how)

    def estimated(self, asked: Estimators, statistic: Kind, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return MMD² of an estimator: with another kernel, or with weights or parameters of its own."""
        samples, design = self.samples, self.design
        own = two_sample_estimator(asked.one, plain_only=None if design is None else design.plain_only)
        if own is not None:
            null, chosen = EstimatedMMD(own, statistic, how, self._null).null(*samples)
        else:
            pooled = as_host(joined(list(samples)))
            name = "the pooled sample" if design is None else design.pool
            chosen = choose_kernel(pooled, asked.one, median_rows(len(pooled), how.rng), name)
            null = self._null(samples, [chosen.kernel], statistic, how)
        if isinstance(chosen.noise, tuple) and samples[0] is not self.X:  # told in the order of the caller
            chosen = replace(chosen, noise=chosen.noise[::-1])
        return null, [chosen]

    def candidates(self, adaptive: Adaptive, statistic: Kind, rng: np.random.Generator) -> Candidates:
        """Return all members on the views of the pooled sample.

        About 25 times the cost of one kernel, and one linear kernel per column. A common shift or scale changes
        nothing, and a monotone transformation of one column nothing but the members on "data" and "radius".
        """
        X, Y = self.samples
        first, pooled = X.shape[0], as_host(joined([X, Y]))
        members = _present(adaptive.members or two_sample_members(), available(*pooled.shape))
        views = Views.of(pooled, [member.view for member in members], median_rows(len(pooled), rng))
        table = like(views.table, X, "float64")  # of the points' type, all but the closest values would be tied
        viewed, own = (table[:first, :], table[first:, :]), replace(self, engine=permutation_null)
        return Candidates(
            members,
            [list(views.kernels(member.view, member.kernel)) for member in members],
            lambda part, how: own._null(viewed, part, statistic, how),
        )

    def answered_by(self, asked: Estimators) -> Self:
        """Return the question with what answered it; rows of other libraries are copied."""
        X, Y = (owned(rows, rows) if is_foreign(rows) else rows for rows in (self.X, self.Y))
        return replace(self, X=X, Y=Y, asked=asked)

    def units_notes(self, *, adaptive: bool) -> tuple[str, ...]:
        """Return what to tell of the spreads of the columns."""
        if isinstance(self.design, WildSamples):
            adaptive = False
        if self.names is None:
            return units_notes(self.X, self.Y, adaptive=adaptive)
        return units_notes(*(Table(sample, self.names) for sample in (self.X, self.Y)), adaptive=adaptive)


_METHODS = (
    "Two-sample permutation test, maximum mean discrepancy",
    "Adaptive two-sample permutation test, maximum mean discrepancies",
)


def named_samples(X: Any, Y: Any, *, anywhere: bool = True) -> tuple[tuple[Array, Array], Names]:
    """Return two samples of the same variables, ``anywhere`` where they are, and the names of the columns."""
    if is_foreign(X) or is_foreign(Y):
        return check_samples(X, Y, anywhere=anywhere), None
    tables = matched(X, Y)
    names = next((table.names for table in tables if table.named), None)
    return (tables[0].values, tables[1].values), names


def mmd_problem(samples: tuple[Array, Array], kernels: Sequence[Kernel], statistic: Kind | Statistic) -> Problem:
    """Return the Gram matrices of the pooled rows, and the labels of the samples."""
    n, m = samples[0].shape[0], samples[1].shape[0]
    return Problem(
        KernelSide(joined(list(samples)), tuple(kernels)),
        LabelSide(np.repeat([1.0, 0.0], [n, m])),
        tuple((k, 0) for k in range(len(kernels))),
        statistic if isinstance(statistic, Statistic) else MMD(n, m, statistic),
    )


def _present(members: Sequence[Member], views: Sequence[str]) -> list[Member]:
    """Leave out what needs a view that says nothing new."""
    if not all(isinstance(member, Member) for member in members):
        raise TypeError("two samples have one kernel per member; pass Member(view, kernel, weight), not PairMember")
    present = [member for member in members if member.view in views]
    if not present:
        raise ValueError(f"no member is left: data of this shape have the views {', '.join(map(repr, views))}")
    return present
