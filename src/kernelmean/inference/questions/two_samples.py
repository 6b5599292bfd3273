"""Two samples: the pooled rows against the labels that say which sample each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, IntArray, check_numpy, joined
from ...core.points import Names
from ...core.row_order import check_one_order
from ...kernels import Kernel
from ..designs.design import AnyDesign
from ..designs.labelled import LabelDesign
from ..designs.paired import PairedDesign
from ..designs.samples import SampleDesign
from ..designs.wild_bootstrap import WildSamples
from ..estimated.mmd import EstimatedMMD
from ..null import Null
from ..request import ESTIMATORS, MMD_ESTIMATORS, Chosen, Estimators, Known, two_sample_estimator
from ..resampling import Resampling
from ..samples import in_fixed_order, named_samples
from ..statistics import Statistic, StatisticForm
from ..units.layout import Layout
from ..units.samples import Labelings, plain_null
from .base import Labelled, Tables

TwoSampleDesign = LabelDesign | PairedDesign | WildSamples


@final
@dataclass(frozen=True, eq=False)
class TwoSamples(Labelled):
    """Two samples: do they come from one distribution.

    Attributes
    ----------
    X, Y : array of shape (n, d) and (m, d)
        The samples as they were passed, the columns in one order.
    names : tuple of str, or None
        Of the columns.
    design, asked
        As of :class:`Question`.
    """

    X: Array
    Y: Array
    names: Names = None
    design: TwoSampleDesign | None = field(default=None, kw_only=True)

    of_two: ClassVar[bool] = True
    plain_methods: ClassVar[tuple[str, str]] = LabelDesign.methods

    @classmethod
    def known(cls, design: AnyDesign) -> Known:
        """Return the estimators that can answer, by name."""
        return ESTIMATORS if design.paired or design.in_series else MMD_ESTIMATORS

    @classmethod
    def of(cls, data: Any, design: AnyDesign) -> Self:
        """Check two samples, which may be arrays of another library, and their design."""
        if design.paired:
            check_one_order(*data)
            samples, names = named_samples(*data, anywhere=False)
            return cls(*samples, names, design=PairedDesign.of(samples))
        if design.series is not None:
            samples, names = named_samples(*data, anywhere=False)
            return cls(*samples, names, design=WildSamples.of(samples, design.series))
        samples, names = named_samples(*data)
        if not design.says_more:
            return cls(*samples, names)
        check_numpy(samples[0], "strata, clusters and weights")
        return cls(*samples, names, design=design.of_samples(tuple(map(len, samples))))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of both samples, or the number of pairs."""
        n, m = self.X.shape[0], self.Y.shape[0]
        return (n,) if isinstance(self.design, PairedDesign) else (n, m)

    @property
    def samples(self) -> tuple[Array, Array]:
        """Return the rows that take part, in an order of the samples that does not depend on which came first."""
        if isinstance(self.design, PairedDesign | WildSamples):
            return self.design.samples
        return in_fixed_order(*self._taken)

    @property
    def _taken(self) -> tuple[Array, Array]:
        """The rows that take part."""
        if not isinstance(self.design, LabelDesign):
            return self.X, self.Y
        first, second = self.design.rows
        return self.X[first], self.Y[second - len(self.X)]

    @property
    def tables(self) -> Tables:
        """Return the pooled rows that take part."""
        return (joined(list(self.samples)),)

    @property
    def table_names(self) -> tuple[str, ...]:
        """Return the name of the pooled rows in notes."""
        return ("the pooled sample" if self.design is None else self.design.pool,)

    @property
    def by_labels(self) -> bool:
        """Whether labels of units are permuted; in pairs signs are, and in series nothing."""
        return self.design is None or isinstance(self.design, LabelDesign)

    def over(
        self, tables: Tables, kernels: Sequence[Kernel], statistic: StatisticForm | Statistic, how: Resampling
    ) -> Any:
        """Return the null on other columns of the same rows."""
        if isinstance(self.design, PairedDesign | WildSamples):
            return self.design.null(tables, kernels, statistic, how)  # type: ignore[arg-type]  # those have "u" or "v"
        return super().over(tables, kernels, statistic, how)

    @property
    def layout(self) -> Layout:
        """Return the units of the pooled rows."""
        taken = self._taken
        if isinstance(self.design, LabelDesign):
            return self.design.layout((0, 1) if in_fixed_order(*taken)[0] is taken[0] else (1, 0))
        n, m = sorted(self.sizes)
        return Layout.of(np.repeat([0, 1], [n, m]), np.ones(n + m))

    @property
    def counted(self) -> Array:
        """Return what every row of X, then of Y, counts in the difference of the two means, shape (n + m,).

        1/n in X and -1/m in Y without strata, clusters and weights; 0 where a row takes no part.
        """
        n, m = len(self.X), len(self.Y)
        if not isinstance(self.design, LabelDesign):
            return np.repeat([1 / n, -1 / m], [n, m])
        layout, counts = self.design.layout((0, 1)), np.zeros(n + m)
        parts, units = layout.in_parts, layout.units
        labels = units.labels if units.patterns is None else units.patterns.of_parts(units.labels[None])[0]
        of_units = self.design.differences(units)(labels[:, None], 0, 1)[0][:, 0]
        rows = np.concatenate(self.design.rows)[parts.order]
        counts[rows] = np.repeat(of_units, parts.sizes) * parts.weights
        return counts

    @property
    def holds_design(self) -> bool:
        """Whether the design is of the rows here, and not of others, of which these are some."""
        sizes = (len(self.X), len(self.Y))
        if isinstance(self.design, PairedDesign):
            return tuple(map(len, self.design.samples)) == sizes
        return not isinstance(self.design, LabelDesign) or self.design.sizes == sizes

    @property
    def places(self) -> IntArray:
        """Return where the rows of :attr:`tables` stand among those of X and then of Y."""
        n, m, taken = len(self.X), len(self.Y), self._taken
        rows = self.design.rows if isinstance(self.design, LabelDesign) else (np.arange(n), np.arange(n, n + m))
        return np.concatenate(rows if in_fixed_order(*taken)[0] is taken[0] else rows[::-1])

    def of_columns(self, X: Array, Y: Array) -> TwoSamples:
        """Return the question of other columns of the same rows."""
        design = PairedDesign.of((X, Y)) if isinstance(self.design, PairedDesign) else self.design
        return replace(self, X=X, Y=Y, names=None, design=design)

    def drawn(self, most: int, rng: np.random.Generator) -> TwoSamples:
        """Return the question of at most so many rows of each sample, drawn at random: whole clusters, or pairs."""
        if max(len(self.X), len(self.Y)) <= most:
            return self
        if isinstance(self.design, SampleDesign):
            design, (first, second) = self.design.drawn(most, rng)
            return replace(self, X=self.X[first], Y=self.Y[second], design=design)
        if not isinstance(self.design, PairedDesign):
            raise TypeError(f"rows are drawn of a Design, not of {type(self.design).__name__}")
        rows = np.sort(rng.choice(len(self.X), most, replace=False))
        return self.of_columns(self.X[rows], self.Y[rows])

    def explained(self) -> TwoSamples:
        """Return the question; of series, and of rows that were not held, there is no permutation to explain."""
        if isinstance(self.design, WildSamples):
            raise ValueError(  # noqa: TRY004 (of the test, not of a value that was passed)
                "explanations need rows that change places, and this test was of series; call mmd_test on rows that "
                "are independent, such as one of every so many, and ask its result"
            )
        if not self.holds_design:
            raise ValueError(
                "this result holds some of its rows, without their strata, clusters or weights; call mmd_test on rows "
                "in memory, and ask the result that it returns"
            )
        return self

    def labelled(self, labelings: Labelings, statistic: StatisticForm | Statistic) -> Null:
        """Return the null from units with their sums under permutations of their labels."""
        if isinstance(self.design, LabelDesign):
            return self.design.null(labelings, statistic)
        return plain_null(labelings, statistic)

    def estimated(self, estimators: Estimators, statistic: StatisticForm, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return MMD² of an estimator: with another kernel, or with weights of its own."""
        design = self.design
        estimator = two_sample_estimator(estimators.one, plain_only=None if design is None else design.plain_only)
        if estimator is None:
            return self.with_kernels(self.tables, estimators.sides, statistic, how)
        null, chosen = EstimatedMMD(estimator, statistic, how, self.over).null(*self.samples)
        return null, [chosen]
