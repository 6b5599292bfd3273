"""Two samples: the pooled rows against the labels that say which sample each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array, joined
from ...core.points import Names
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..designs.design import Design
from ..designs.paired import PairedDesign
from ..designs.two_sample import TwoSampleDesign, two_sample_design
from ..designs.wild_bootstrap import WildSamples
from ..estimated.mmd import EstimatedMMD
from ..null import Null
from ..request import ESTIMATORS, MMD_ESTIMATORS, Chosen, Estimators, Known, two_sample_estimator
from ..resampling_options import Resampling
from ..samples import check_one_order, in_fixed_order, named_samples
from ..statistics import MMD, Statistic, StatisticForm
from ..units.layout import Layout
from ..units.samples import Labelings, Summing, plain_null
from .base import Labelled, Tables, summed_rows

SampleDesign = TwoSampleDesign | PairedDesign | WildSamples


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
    design: SampleDesign | None = field(default=None, kw_only=True)

    of_two: ClassVar[bool] = True
    plain_methods: ClassVar[tuple[str, str]] = TwoSampleDesign.methods

    @classmethod
    def known(cls, design: Design) -> Known:
        """Return the estimators that can answer, by name."""
        return ESTIMATORS if design.paired or design.in_series else MMD_ESTIMATORS

    @classmethod
    def of(cls, data: Any, design: Design) -> Self:
        """Check two samples, which may be arrays of another library, and their design."""
        if design.paired:
            check_one_order(*data)
            samples, names = named_samples(*data, anywhere=False)
            return cls(*samples, names, design=PairedDesign.of(samples))
        if design.series is not None:
            samples, names = named_samples(*data, anywhere=False)
            return cls(*samples, names, design=WildSamples.of(samples, design.series))
        samples, names = named_samples(*data)
        return cls(*samples, names, design=two_sample_design(samples, design) if design.says_more else None)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of both samples, or the number of pairs."""
        n, m = self.X.shape[0], self.Y.shape[0]
        return (n,) if isinstance(self.design, PairedDesign) else (n, m)

    @property
    def samples(self) -> tuple[Array, Array]:
        """Return the rows that take part, in an order of the samples that does not depend on which came first."""
        return in_fixed_order(self.X, self.Y) if self.design is None else self.design.samples

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
        return self.design is None or isinstance(self.design, TwoSampleDesign)

    def over(
        self, tables: Tables, kernels: Sequence[Kernel], statistic: StatisticForm | Statistic, how: Resampling
    ) -> Any:
        """Return the null on other columns of the same rows."""
        if isinstance(self.design, PairedDesign | WildSamples):
            return self.design.null(tables, kernels, statistic, how)  # type: ignore[arg-type]  # those have "u" or "v"
        return self.labelled(*summed_rows(tables[0], kernels, how), statistic, how)

    def labelled(
        self, summed: Summing, rounding: tuple[float, float], statistic: StatisticForm | Statistic, how: Resampling
    ) -> Null:
        """Return the null from sums over units."""
        if isinstance(self.design, TwoSampleDesign):
            with serial_blas:
                return self.design.null(summed, statistic, how)
        n, m = sorted((self.X.shape[0], self.Y.shape[0]))
        measure = statistic if isinstance(statistic, Statistic) else MMD(n, m, statistic)
        layout = Layout.of(np.repeat([0, 1], [n, m]), np.ones(n + m))
        with serial_blas:
            return plain_null(Labelings.of(summed, layout, how, rounding), measure)

    def estimated(self, asked: Estimators, statistic: StatisticForm, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return MMD² of an estimator: with another kernel, or with weights of its own."""
        design = self.design
        own = two_sample_estimator(asked.one, plain_only=None if design is None else design.plain_only)
        if own is None:
            return self.with_kernels(self.tables, asked.sides, statistic, how)
        null, chosen = EstimatedMMD(own, statistic, how, self.over).null(*self.samples)
        return null, [chosen]
