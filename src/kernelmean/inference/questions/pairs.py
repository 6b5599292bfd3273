"""Pairs of rows: one variable against another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, check_numpy
from ...core.points import Names
from ...plan.plan import Plan, serial_blas
from ..adaptive.candidates import Evaluated, candidates
from ..adaptive.columns import row_order
from ..adaptive.coordinates import Columns
from ..adaptive.many_kernels import Adaptive
from ..adaptive.views import Views, ViewSource
from ..designs.design import AnyDesign
from ..designs.independence import PairDesign, check_statistic
from ..designs.wild_bootstrap import WildPairs
from ..estimated.hsic import pair_estimator
from ..null import Null
from ..problem import KernelPair, Problem, distinct_side
from ..request import ESTIMATORS, HSIC_ESTIMATORS, Chosen, Estimators, Known
from ..resampling import Resampling
from ..samples import named_variables
from ..statistics import HSIC, Statistic, StatisticForm
from ..units.dealing import PILOT
from .base import Question, Tables
from .kernel_features import kernel_features, share_held
from .many_pairs import ManyPairs, Placed, placed_pair

_FITTED = f"features fitted to about {PILOT:,} rows drawn from all"


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
    def known(cls, design: AnyDesign) -> Known:
        """Return the estimators that can answer, by name."""
        return ESTIMATORS if design.in_series else HSIC_ESTIMATORS

    @classmethod
    def of(cls, data: Any, design: AnyDesign) -> Self:
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
        return cls(*variables, names, design=design.of_pairs(len(variables[0])))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of pairs."""
        return (self.X.shape[0],)

    @property
    def tables(self) -> Tables:
        """Return the rows of both variables that take part, in the order of the design."""
        return (self.X, self.Y) if self.design is None else self.design.taken(self.X, self.Y)

    def explained(self) -> Pairs:
        """Return the question; of series, and of rows that were not held, there is no permutation to explain."""
        if isinstance(self.design, WildPairs):
            raise ValueError(  # noqa: TRY004 (of the test, not of a value that was passed)
                "explanations need rows that change places, and this test was of series; call hsic_test on rows that "
                "are independent, such as one of every so many, and ask its result"
            )
        if self.design is not None and len(self.design.rows) != self.design.layout.n:
            raise ValueError(
                "this result holds some of its rows, without their strata, clusters or weights; call hsic_test on rows "
                "in memory, and ask the result that it returns"
            )
        return self

    def problem(self, tables: Tables, kernels: Sequence[KernelPair], statistic: StatisticForm | Statistic) -> Problem:
        """Return the Gram matrices of both variables."""
        return hsic_problem(tables, kernels, statistic)

    @property
    def any_rows(self) -> bool:
        """Whether an adaptive test takes any number of rows in memory."""
        return isinstance(self.design, PairDesign)

    def fitted_to(self, adaptive: Adaptive) -> tuple[str, ...]:
        """Return a note on the rows that features are fitted to."""
        del adaptive
        return (_FITTED,) if self._long_design() else ()

    def _long_design(self) -> PairDesign | None:
        """Return the design if there are so many rows that kernels become features."""
        return self.design if isinstance(self.design, PairDesign) and self.design.many_rows else None

    def evaluated(self, adaptive: Adaptive, statistic: StatisticForm, how: Resampling) -> Evaluated:
        """Return the statistics of the members of an adaptive test."""
        design = self._long_design()
        if design is None:
            return super().evaluated(adaptive, statistic, how)
        many = self._many(design, statistic, how)
        with serial_blas:
            ensemble = candidates(adaptive, self._split(many.pilot), self.sizes[0], how.rng)
        kernels = [kernel for each in ensemble.kernels for kernel in each]
        null = many.null(*self._placed(ensemble.sources, ensemble.views), kernels)
        return null, ensemble.members, [len(each) for each in ensemble.kernels]

    def _many(self, design: PairDesign, statistic: StatisticForm, how: Resampling) -> ManyPairs:
        """Return the rows as those of a table in batches: they are one batch."""
        check_statistic(statistic)
        rows = np.hstack([self.X, self.Y])
        return ManyPairs.of(design, len(rows), lambda: [rows], how, Plan(threads=how.resources.n_jobs))

    def _placed(self, sources: Sequence[ViewSource], views: Sequence[Views]) -> tuple[Placed, Placed]:
        """Return the columns of both variables, which stand side by side."""
        x, y = (Columns.of(source, view, ()) for source, view in zip(sources, views, strict=True))
        return placed_pair((x, y), (self.X.shape[1], self.Y.shape[1]))

    def _split(self, rows: Array) -> Tables:
        """Return the columns of both variables."""
        return rows[:, : self.X.shape[1]], rows[:, self.X.shape[1] :]

    def estimated(self, estimators: Estimators, statistic: StatisticForm, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return HSIC of an estimator: with other kernels, or shrunk."""
        tables, design, long = self.tables, self.design, self._long_design()
        apart = pair_estimator(estimators.sides, statistic, plain_only=None if design is None else design.plain_only)
        if apart.plain and long is not None:
            return self._by_features(long, apart.kernels, statistic, how)
        if apart.plain:
            return self.with_kernels(tables, apart.kernels, statistic, how)
        return apart.null(tables, self.chosen(tables, apart.kernels, how.rng), statistic, self.over, how)

    def _by_features(
        self, design: PairDesign, estimators: Sequence[Any], statistic: StatisticForm, how: Resampling
    ) -> tuple[Null, list[Chosen]]:
        """Return the null of features of the kernels that estimators find in a pilot."""
        many = self._many(design, statistic, how)
        pilot = tuple(table[row_order(table)] for table in self._split(many.pilot))
        chosen = self.chosen(pilot, estimators, how.rng)
        kernels = [side.kernel for side in chosen]
        sources, views, of_features = kernel_features(pilot, kernels, how.rng)
        held = map(share_held, sources, kernels, views)
        noted = [replace(side, notes=(*side.notes, note)) for side, note in zip(chosen, held, strict=True)]
        noted[0] = replace(noted[0], notes=(*noted[0].notes, _FITTED))
        return many.null(*self._placed(sources, views), [of_features]), noted


def hsic_problem(variables: Tables, kernels: Sequence[KernelPair], statistic: StatisticForm | Statistic) -> Problem:
    """Return the Gram matrices of both variables."""
    sides = [distinct_side(points, [pair[side] for pair in kernels]) for side, points in enumerate(variables)]
    pairs = tuple(zip(sides[0][1], sides[1][1], strict=True))
    criterion = statistic if isinstance(statistic, Statistic) else HSIC(variables[0].shape[0], statistic)
    return Problem(sides[0][0], sides[1][0], pairs, criterion)
