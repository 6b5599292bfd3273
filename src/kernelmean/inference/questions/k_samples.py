"""Several samples: the pooled rows against the labels that say which sample each belongs to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array
from ...core.points import Names
from ..designs.design import AnyDesign
from ..designs.labelled import LabelDesign
from ..null import Null
from ..request import Known
from ..samples import matched, names_of
from ..units.layout import Layout
from ..units.samples import Labelings, several_null
from .base import Labelled, OfMany, Tables
from .two_samples import TwoSamples


@final
@dataclass(frozen=True, eq=False)
class KSamples(Labelled, OfMany):
    """Several samples: do they all come from one distribution.

    Attributes
    ----------
    samples : tuple of arrays of shape (n_g, d)
        As they were passed, the columns in one order.
    names : tuple of str, or None
        Of the columns.
    design, asked
        As of :class:`Question`.
    """

    samples: tuple[Array, ...]
    names: Names = None
    design: LabelDesign | None = field(default=None, kw_only=True)

    noun, two, test = "samples", "compare two samples", "mmd_test"
    table_names: ClassVar[tuple[str, ...]] = ("all samples",)

    @classmethod
    def of(cls, data: Any, design: AnyDesign) -> Self:
        """Check several samples, two or more, and their design."""
        cls.known(design)
        tables = [matched(data[0], other) for other in data[1:]]
        ordered = [tables[0][0], *(other for _, other in tables)]
        samples = tuple(table.values for table in ordered)
        sizes = tuple(map(len, samples))
        return cls(samples, names_of(ordered), design=design.of_samples(sizes) if design.says_more else None)

    @classmethod
    def known(cls, design: AnyDesign) -> Known:
        """Return the estimators that can answer, by name; raise for pairs and series, which are for two samples."""
        if design.paired or design.in_series:
            cls.refuse(design)
        return super().known(design)

    @property
    def methods(self) -> tuple[str, str]:
        """Return the test in words: with one estimator, and the adaptive one."""
        what = f"test of {self.members} samples, maximum mean discrepancies"
        return f"Permutation {what}", f"Adaptive permutation {what}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of all samples."""
        return tuple(map(len, self.samples))

    @property
    def tables(self) -> Tables:
        """Return the pooled rows that take part."""
        pooled = np.concatenate(self.samples)
        return (pooled if self.design is None else pooled[np.concatenate(self.design.rows)],)

    @property
    def layout(self) -> Layout:
        """Return the units of the pooled rows."""
        if self.design is not None:
            return self.design.layout(range(self.members))
        return Layout.of(np.repeat(np.arange(self.members), self.sizes), np.ones(sum(self.sizes)))

    def labelled(self, labelings: Labelings, statistic: Any) -> Null:
        """Return the null from units with their sums under permutations of their labels."""
        if self.design is not None:
            return self.design.null(labelings, statistic)
        return several_null(labelings, statistic)

    @property
    def members(self) -> int:
        """Return the number of samples."""
        return len(self.samples)

    def of_both(self) -> TwoSamples:
        """Return the question of the two samples."""
        X, Y = self.samples
        return TwoSamples(X, Y, self.names, design=self.design, asked=self.asked)
