"""Designs of samples whose units change places: what such a design says of the rows, and of the labels of units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

from ...core.array import IntArray
from ..null import Null
from ..units.layout import Layout, Units
from ..units.samples import Differences, Labelings, designed_null, several_designed_null


class LabelDesign(ABC):
    """Two or more samples of known sizes: which rows take part, and which units may change places.

    Subclasses are frozen dataclasses of labels and weights, without the rows themselves, which may be anywhere.
    """

    sizes: tuple[int, ...]
    """All rows of the samples."""
    rows: tuple[IntArray, ...]
    """The numbers of the rows that take part, of every sample, among all rows, sample after sample."""
    notes: tuple[str, ...]
    """Notes for the reader."""

    plain_only: ClassVar[str | None] = "a design of samples"
    pool: ClassVar[str] = "the pooled sample"
    methods: ClassVar[tuple[str, str]] = (
        "Two-sample permutation test, maximum mean discrepancy",
        "Adaptive two-sample permutation test, maximum mean discrepancies",
    )

    @abstractmethod
    def layout(self, order: Sequence[int]) -> Layout:
        """Return the units of the rows that take part, the samples in an order, which numbers their labels."""

    @abstractmethod
    def differences(self, units: Units) -> Differences:
        """Return what every unit counts in the difference between two samples, as a function of all labels."""

    @property
    def typical_sizes(self) -> tuple[float, ...]:
        """Return the rows of the samples as no permutation changes them."""
        return self.sizes

    @property
    def in_outline(self) -> Self:
        """Return the same without its rows, for the result of a test that did not hold them."""
        return self

    def null(self, labelings: Labelings, statistic: Any) -> Null:
        """Return MMD² of every kernel, of several samples the mean over their pairs."""
        if statistic != "v":
            raise ValueError(
                f"with {self.plain_only} MMD² is a V-statistic of equally estimated means; leave statistic= out, and "
                "pass an estimator with equal weights, such as 'kme' or 'mkme'"
            )
        differences, many = self.differences(labelings.units), len(self.sizes)
        if many == 2:
            return designed_null(labelings, differences)
        return several_designed_null(labelings, differences, many)
