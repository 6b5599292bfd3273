"""Pairs of rows: one variable against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

from ...core.array import Array, check_numpy
from ...core.points import Names
from ..designs.design import Design
from ..designs.independence import PairDesign, pair_design
from ..designs.wild_bootstrap import WildPairs
from ..estimated.hsic import pair_estimator
from ..problem import KernelPair, Problem, distinct_side
from ..request import ESTIMATORS, HSIC_ESTIMATORS, Chosen, Estimators, Known
from ..resampling_options import Resampling
from ..samples import named_variables
from ..statistics import HSIC, Statistic, StatisticForm
from .base import Question, Tables


@final
@dataclass(frozen=True, eq=False)
class Pairs(Question):
    """Two variables: are they independent.

    Attributes
    ----------
    X, Y : array of shape (n, d) and (n, e)
        The variables; row i of both is one observation.
    names : (names of X, names of Y)
        Of the columns, None for an array.
    design, asked
        As of :class:`Question`; a design says which rows may change partners.
    """

    X: Array
    Y: Array
    names: tuple[Names, Names] = (None, None)
    design: PairDesign | WildPairs | None = field(default=None, kw_only=True)

    kernel_sides: ClassVar[int] = 2
    of_two: ClassVar[bool] = True
    plain_methods: ClassVar[tuple[str, str]] = PairDesign.methods
    table_names: ClassVar[tuple[str, ...]] = ("X", "Y")

    @classmethod
    def known(cls, design: Design) -> Known:
        """Return the estimators that can answer, by name."""
        return ESTIMATORS if design.in_series else HSIC_ESTIMATORS

    @classmethod
    def of(cls, data: Any, design: Design) -> Self:
        """Check two variables, which may be arrays of another library, and their design."""
        if design.paired:
            raise ValueError("paired=True is for two samples; independence tests use pairs anyway: leave it out")
        if design.series is not None:
            variables, names = named_variables(*data, anywhere=False)
            return cls(*variables, names, design=WildPairs.of(variables, design.series))
        variables, names = named_variables(*data)
        if not design.says_more:
            return cls(*variables, names)
        check_numpy(variables[0], "strata, clusters and weights")
        return cls(*variables, names, design=pair_design(len(variables[0]), design))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of pairs."""
        return (self.X.shape[0],)

    @property
    def tables(self) -> Tables:
        """Return the rows of both variables that take part, in the order of the design."""
        return (self.X, self.Y) if self.design is None else self.design.taken(self.X, self.Y)

    def problem(self, tables: Tables, kernels: Sequence[KernelPair], statistic: StatisticForm | Statistic) -> Problem:
        """Return the Gram matrices of both variables."""
        return hsic_problem(tables, kernels, statistic)

    def estimated(self, asked: Estimators, statistic: StatisticForm, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return HSIC of an estimator: with other kernels, or shrunk."""
        tables, design = self.tables, self.design
        apart = pair_estimator(asked.sides, statistic, plain_only=None if design is None else design.plain_only)
        if apart.plain:
            return self.with_kernels(tables, apart.kernels, statistic, how)
        return apart.null(tables, self.chosen(tables, apart.kernels, how.rng), statistic, self.over, how)


def hsic_problem(variables: Tables, kernels: Sequence[KernelPair], statistic: StatisticForm | Statistic) -> Problem:
    """Return the Gram matrices of both variables."""
    sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(variables)]
    pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
    criterion = statistic if isinstance(statistic, Statistic) else HSIC(variables[0].shape[0], statistic)
    return Problem(sides[0][0], sides[1][0], pairs, criterion)
