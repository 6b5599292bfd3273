"""Several samples: the pooled rows against the labels that say which sample each belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from ...core.array import Array
from ...core.points import Names
from ...kernels import Kernel
from ...plan.plan import serial_blas
from ..designs.design import Design
from ..designs.k_sample import ManySamples
from ..null import Null
from ..resampling_options import Resampling
from ..samples import matched, names_of
from ..units.samples import Summing
from .base import Labelled, OfMany, Tables, summed_rows
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
        As of :class:`Question`; the design is that all rows change places.
    """

    samples: tuple[Array, ...]
    names: Names = None

    noun, two, test = "samples", "compare two samples", "mmd_test"
    table_names: ClassVar[tuple[str, ...]] = ("all samples",)

    @classmethod
    def of(cls, data: Any, design: Design) -> Self:
        """Check several samples, two or more."""
        cls.refuse(design)
        tables = [matched(data[0], other) for other in data[1:]]
        ordered = [tables[0][0], *(other for _, other in tables)]
        samples = tuple(table.values for table in ordered)
        return cls(samples, names_of(ordered), design=ManySamples(tuple(map(len, samples))))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of all samples."""
        return tuple(map(len, self.samples))

    @property
    def tables(self) -> Tables:
        """Return the pooled rows."""
        return (np.concatenate(self.samples),)

    def over(self, tables: Tables, kernels: Sequence[Kernel], statistic: Any, how: Resampling) -> Null:
        """Return the null on other columns of the same rows."""
        return self.labelled(*summed_rows(tables[0], kernels, how), statistic, how)

    def labelled(self, summed: Summing, rounding: tuple[float, float], statistic: Any, how: Resampling) -> Null:
        """Return the null from sums over units."""
        del rounding  # of several samples all sums are in float64
        with serial_blas:
            return ManySamples(self.sizes).null(summed, statistic, how)

    @property
    def members(self) -> int:
        """Return the number of samples."""
        return len(self.samples)

    def of_both(self) -> TwoSamples:
        """Return the question of the two samples."""
        X, Y = self.samples
        return TwoSamples(X, Y, self.names, asked=self.asked)
