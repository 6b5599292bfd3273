"""What every row of two samples counts in the difference of their means, and which rows are drawn together.

That is all that an interval needs to know of a design: without one, every row is a unit of its sample.
"""

from __future__ import annotations

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
_PLURALS = {"row": "rows", "cluster": "clusters", "pair": "pairs", "stratum": "strata"}


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
        DesignError
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
        """Return the contrast, or raise a DesignError if its units are too few for an interval."""
        worth = [self.cells.effective(g) for g in (0, 1)]
        if min(worth) >= LEAST_FOR_INTERVAL - _ROUNDED:
            return self
        if self.noun == "row" and self.cells.strata == 1 and np.ptp(self.cells.weights[self.cells.groups[0]]) == 0.0:
            n, m = (part.stop - part.start for part in self.cells.groups)
            raise DesignError(f"samples of {n} and {m} rows: an interval needs at least {LEAST_FOR_INTERVAL} in each")
        raise DesignError(
            f"X and Y are worth {worth[0]:.3g} and {worth[1]:.3g} {_PLURALS[self.noun]} of equal weight, which are "
            f"drawn independently; an interval needs at least {LEAST_FOR_INTERVAL} in each"
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
    counted = np.abs(question.counted[rows])
    of_units = np.add.reduceat(counted, layout.starts)
    used = np.flatnonzero(of_units > 0.0)
    _, stratum = np.unique(layout.stratum[layout.starts[used]], return_inverse=True)
    order = np.lexsort((stratum, layout.labels[used]))
    used, stratum, strata = used[order], stratum[order], int(stratum.max()) + 1
    sizes = layout.sizes[used]
    places = np.repeat(layout.starts[used] - np.cumsum(sizes) + sizes, sizes) + np.arange(int(sizes.sum()))
    units = RowsOfUnits.of(counted[places], sizes)
    cells = Cells(of_units[used], layout.labels[used] * strata + stratum, strata)
    contrast = Contrast(rows[places], units, cells, "row" if units.are_rows else "cluster")
    varies = cells.worth.min() >= LEAST_IN_CELL - _ROUNDED
    return (contrast if varies else _between_strata(contrast, counted[places])).checked()


def _between_strata(contrast: Contrast, counted: Array) -> Contrast:
    """Return the contrast whose units are strata, with rows of both samples."""
    cells = contrast.cells
    if cells.strata < LEAST_STRATA:
        raise DesignError(
            f"some of {cells.strata} strata have {_PLURALS[contrast.noun]} of a sample that are worth fewer than two "
            f"of equal weight, so nothing varies within, and fewer than {LEAST_STRATA} strata do not show how much "
            "they vary; an interval needs coarser strata"
        )
    if not np.allclose(cells.masses[0], cells.masses[1], rtol=_ROUNDED):
        raise DesignError("the strata of a design must count alike in both samples; correct its differences()")
    sizes = np.add.reduceat(contrast.units.sizes, cells.starts)
    strata = Cells(cells.masses.ravel(), np.repeat([0, 1], cells.strata), 1)
    return Contrast(contrast.rows, RowsOfUnits.of(counted, sizes), strata, "stratum", is_joint=True)
