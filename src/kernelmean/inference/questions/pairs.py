"""Pairs of rows: one variable against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, as_host, check_numpy, is_foreign, like
from ...core.frozen import owned
from ...core.points import Names, named_points
from ...core.table import Table
from ...kernels import Kernel
from ..adaptive import Adaptive
from ..asked import Estimators, Known
from ..designs.design import Design
from ..designs.independence import PairDesign, pair_design
from ..designs.variables import choose_kernels
from ..designs.wild import WildPairs
from ..engine import permutation_null
from ..estimated_hsic import pair_estimator
from ..kernel_choice import HSIC_ESTIMATORS, Chosen, representative_rows
from ..members import PairMember, independence_members
from ..problem import Problem, distinct_side
from ..resampling import Resampling
from ..samples import check_lengths, check_pairs
from ..statistics import HSIC, Kind, Statistic
from ..units import each_notes
from ..views import Views, available
from .base import Candidates, Question
from .two_samples import Engine

Variables = tuple[Array, Array]
KernelPair = tuple[Kernel, Kernel]


@final
@dataclass(frozen=True, eq=False)
class Pairs(Question):
    """Two variables: are they independent.

    Attributes
    ----------
    X, Y : array of shape (n, d) and (n, e)
        The variables, row i of both one observation.
    names : (names of X, names of Y)
        Of the columns, None for an array.
    design : PairDesign, WildPairs or None
        Which rows may change partners; None is all of them.
    engine : callable
        From a problem and a resampling to the null, where there is no design.
    asked : Estimators or None
        What answered it.
    """

    X: Array
    Y: Array
    names: tuple[Names, Names] = (None, None)
    design: PairDesign | WildPairs | None = None
    engine: Engine = permutation_null
    asked: Estimators | None = None

    kernel_sides: ClassVar[int] = 2

    @classmethod
    def known(cls, design: Design) -> Known:
        """Return the estimators that can answer, by name."""
        del design
        return HSIC_ESTIMATORS

    @classmethod
    def of(cls, X: Any, Y: Any, design: Design) -> Self:
        """Check two variables, which may be arrays of another library, and their design."""
        if design.paired:
            raise ValueError("paired=True is for two samples; independence is asked of pairs anyway: leave it out")
        variables, names = named_variables(X, Y)
        if not design.says_more:
            return cls(*variables, names)
        check_numpy(variables[0], "groups, clusters and weights")
        return cls(*variables, names, pair_design(len(variables[0]), design))

    @classmethod
    def series(cls, X: Any, Y: Any, block_length: float) -> Self:
        """Check two time series over the same times."""
        variables, names = named_variables(X, Y, anywhere=False)
        return cls(*variables, names, WildPairs.of(variables, block_length))

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words."""
        return _METHODS if self.design is None else self.design.methods

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of pairs."""
        return (self.X.shape[0],)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the design says."""
        return () if self.design is None else self.design.notes

    @property
    def variables(self) -> Variables:
        """Return the rows that take part, in the order of the design."""
        return (self.X, self.Y) if self.design is None else self.design.taken(self.X, self.Y)

    def null(self, kernels: Sequence[KernelPair], statistic: Kind | Statistic, how: Resampling) -> Any:
        """Return HSIC of every pair of kernels; one that serves in several pairs, as the same object, counts once."""
        return self._null(self.variables, kernels, statistic, how)

    def problem(self, kernels: Sequence[KernelPair], statistic: Kind | Statistic) -> Problem:
        """Return the Gram matrices of both variables."""
        return hsic_problem(self.variables, kernels, statistic)

    def _null(self, variables: Variables, kernels: Sequence[KernelPair], statistic: Any, how: Resampling) -> Any:
        if self.design is None:
            return self.engine(hsic_problem(variables, kernels, statistic), how)
        return self.design.null(variables, kernels, statistic, how)

    def estimated(self, asked: Estimators, statistic: Kind, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return HSIC of an estimator: with other kernels, or shrunk, or with a noise that is fitted to the pairs."""
        variables, design = self.variables, self.design
        apart = pair_estimator(asked.sides, statistic, plain_only=None if design is None else design.plain_only)
        chosen = choose_kernels(tuple(map(as_host, variables)), "XY", apart.kernels)
        if not apart.plain:
            return apart.null(variables, chosen, statistic, self._null, how)
        return self._null(variables, [(chosen[0].kernel, chosen[1].kernel)], statistic, how), chosen

    def candidates(self, adaptive: Adaptive, statistic: Kind, rng: np.random.Generator) -> Candidates:
        """Return all pairs of members on the views of both variables.

        About 25 times the cost of one pair. A shift or scale of either variable changes nothing.
        """
        del rng  # rules look at rows that are chosen by their order, whoever is paired with whom
        variables = self.variables
        known = [available(*variable.shape) for variable in variables]
        pairs = _present(adaptive.members or independence_members(), known)
        sides = [[pair.x for pair in pairs], [pair.y for pair in pairs]]
        views = [
            Views.of(points, [member.view for member in side], representative_rows(points))
            for points, side in zip(map(as_host, variables), sides, strict=True)
        ]
        first, second = (like(view.table, own, "float64") for view, own in zip(views, variables, strict=True))
        made = [
            {member: view.kernels(member.view, member.kernel)[0] for member in side}
            for view, side in zip(views, sides, strict=True)
        ]
        own = replace(self, engine=permutation_null)
        return Candidates(
            pairs,
            [[(made[0][pair.x], made[1][pair.y])] for pair in pairs],
            lambda part, how: own._null((first, second), part, statistic, how),
        )

    def answered_by(self, asked: Estimators) -> Self:
        """Return the question with what answered it; rows of other libraries are copied."""
        X, Y = (owned(rows, rows) if is_foreign(rows) else rows for rows in (self.X, self.Y))
        return replace(self, X=X, Y=Y, asked=asked)

    def units_notes(self, *, adaptive: bool) -> tuple[str, ...]:
        """Return what to tell of the spreads of the columns of either variable."""
        own = zip((self.X, self.Y), self.names, strict=True)
        tables = [points if names is None else Table(points, names) for points, names in own]
        return each_notes(tables, adaptive=adaptive and not isinstance(self.design, WildPairs))


_METHODS = (
    "Permutation test of independence, Hilbert-Schmidt criterion",
    "Adaptive permutation test of independence, Hilbert-Schmidt criteria",
)


def named_variables(X: Any, Y: Any, *, anywhere: bool = True) -> tuple[Variables, tuple[Names, Names]]:
    """Return two tables whose rows belong together, ``anywhere`` where they are, and the names of their columns."""
    if is_foreign(X) or is_foreign(Y):
        return check_pairs(X, Y, 2, anywhere=anywhere), (None, None)
    (first, own), (second, other) = named_points(X, "X"), named_points(Y, "Y")
    check_lengths(len(first), len(second), 2)
    return (first, second), (own, other)


def hsic_problem(variables: Variables, kernels: Sequence[KernelPair], statistic: Kind | Statistic) -> Problem:
    """Return the Gram matrices of both variables."""
    sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(variables)]
    pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
    criterion = statistic if isinstance(statistic, Statistic) else HSIC(variables[0].shape[0], statistic)
    return Problem(sides[0][0], sides[1][0], pairs, criterion)


def _present(pairs: Sequence[PairMember], known: Sequence[Sequence[str]]) -> list[PairMember]:
    """Let one column stand in for its whitened self, and leave out what then says nothing new."""
    if not all(isinstance(pair, PairMember) for pair in pairs):
        raise TypeError("independence has two kernels per member; pass PairMember(Member(...), Member(...), weight)")
    if any("axes" in (pair.x.view, pair.y.view) for pair in pairs):
        raise ValueError("view 'axes' serves two samples only; use 'scores'")
    present = [kept for pair in pairs if (kept := _fitting(pair, known)) is not None]
    if not present:
        raise ValueError(f"no pair is left: the views are {', '.join(map(repr, known[0]))} of X, {known[1]} of Y")
    return present


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
