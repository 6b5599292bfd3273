"""What every row of two samples counts in the difference of their means, and which rows are drawn together.

That is all that an interval needs to know of a design: without one, every row is a unit of its sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from ..designs.labelled import LabelDesign
from ..designs.paired import PairedDesign
from ..questions import TwoSamples
from ..units.layout import DesignError
from .cells import Cells, RowsOfUnits

LEAST_FOR_INTERVAL = 3
"""Fewer units in a sample show no interval of an effect."""
LEAST_IN_CELL, LEAST_STRATA = 2.0, 10
"""The units of equal weight by which a stratum of a sample shows a variance; if one shows none, so many strata do."""
_ROUNDED = 1e-9


@final
@dataclass(frozen=True, eq=False)
class Contrast:
    """Two samples as units of rows, the first sample first."""

    rows: IntArray
    """The rows that take part, in the order of their units, among those of X and then of Y."""
    units: RowsOfUnits
    cells: Cells
    noun: str = "row"
    """What a unit is called."""
    is_joint: bool = False
    """Whether unit i of the first sample and unit i of the second are drawn together, as two halves of a pair are."""

    @classmethod
    def of_rows(cls, n: int, m: int) -> Self:
        """Return the contrast of two samples without a design."""
        return cls(np.arange(n + m), RowsOfUnits.single(n + m), Cells.of_samples(n, m))

    @classmethod
    def of_question(cls, question: TwoSamples) -> Contrast:
        """Return the contrast of the rows of a test and their design.

        Raises
        ------
        ValueError
            When units have rows in both samples without being pairs, or are too few for an interval.
        """
        n, m = len(question.X), len(question.Y)
        if isinstance(question.design, PairedDesign):
            pairs = Contrast(np.arange(n + m), RowsOfUnits.single(n + m), Cells.of_samples(n, m), "pair", is_joint=True)
            return pairs.checked()
        if isinstance(question.design, LabelDesign):
            return _of_labels(question, question.design)
        return cls.of_rows(n, m).checked()

    def checked(self) -> Self:
        """Return the contrast, or raise if its units are too few for an interval."""
        worth = [self.cells.effective(g) for g in (0, 1)]
        if min(worth) >= LEAST_FOR_INTERVAL - _ROUNDED:
            return self
        if self.noun == "row" and self.cells.strata == 1 and np.ptp(self.cells.weights[self.cells.groups[0]]) == 0.0:
            n, m = (part.stop - part.start for part in self.cells.groups)
            raise ValueError(
                f"samples of {n} and {m} rows: an interval needs at least {LEAST_FOR_INTERVAL} in each"
            )
        raise ValueError(
            f"X and Y are worth {worth[0]:.3g} and {worth[1]:.3g} {self.noun}s of equal weight, which are drawn "
            f"independently; an interval needs at least {LEAST_FOR_INTERVAL} in each"
        )


def _of_labels(question: TwoSamples, design: LabelDesign) -> Contrast:
    """Return the contrast of units with labels; strata are units where a stratum of a sample shows no variance."""
    layout = design.layout((0, 1))
    if layout.patterns:
        raise DesignError(
            "an interval needs units that lie in one sample, or are pairs, and these have rows in both; pass what they "
            "are called as strata, or pairs by Design(paired=True)"
        )
    rows = np.concatenate(design.rows)[layout.order]
    counted, strata = np.abs(question.counted[rows]), layout.stratum[layout.starts]
    masses = np.add.reduceat(counted, layout.starts)
    _, number = np.unique(strata[masses > 0.0], return_inverse=True)
    cells = layout.labels[masses > 0.0] * (int(number.max()) + 1) + number.ravel()
    order = np.flatnonzero(masses > 0.0)[np.argsort(cells, kind="stable")]
    places = np.concatenate([np.arange(a, a + size) for a, size in zip(layout.starts[order], layout.sizes[order])])
    units = RowsOfUnits.of(counted[places], layout.sizes[order])
    found = Cells(masses[order], np.sort(cells, kind="stable"), int(number.max()) + 1)
    noun = "row" if units.are_rows else "cluster"
    if found.worth.min() >= LEAST_IN_CELL - _ROUNDED:
        return Contrast(rows[places], units, found, noun).checked()
    return _between_strata(rows[places], counted[places], units, found, noun)


def _between_strata(rows: IntArray, counted: Array, units: RowsOfUnits, cells: Cells, noun: str) -> Contrast:
    """Return the contrast whose units are strata, with rows of both samples."""
    if cells.strata < LEAST_STRATA:
        raise DesignError(
            f"some of {cells.strata} strata have {noun}s of a sample that are worth fewer than two of equal weight, so "
            f"nothing varies within, and fewer than {LEAST_STRATA} strata do not show how much they vary; an interval "
            "needs coarser strata"
        )
    sizes = np.add.reduceat(units.sizes, cells.starts)
    whole = RowsOfUnits.of(counted, sizes)
    groups = np.repeat([0, 1], cells.strata)
    if not np.allclose(*cells.masses, rtol=_ROUNDED):
        raise DesignError("the strata of a design must count alike in both samples; correct its differences()")
    return Contrast(rows, whole, Cells(cells.masses.ravel(), groups, 1), "stratum", is_joint=True).checked()
