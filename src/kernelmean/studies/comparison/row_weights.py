"""How rows count in the means and pictures beside tests with a design: within strata, and by their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.frozen import Frozen
from ...inference import Design
from ...inference.designs.design import codes

_LEAST_ROWS = 4
"""Of a stratum on average, for gaps in deviations within strata."""


@final
@dataclass(frozen=True, eq=False)
class RowWeights(Frozen):
    r"""What weighs the rows of two tables for means and pictures that follow a design.

    A row of weight ω in stratum s counts ω c_s / Σ ω, the sum over the rows of its table in s, where
    c_s = n_s m_s / (n_s + m_s) from the rows of the two tables there (Cochran, Mantel and Haenszel), as strata count in
    the tests. Both tables then have the strata in equal proportions, so that the difference of their means is the mean
    over strata of the difference within each. Strata in which a table has no row, or no known value, do not count.
    """

    weights: tuple[Array, Array] | None
    """The weights of the rows of each table; None where all have the weight 1."""
    strata: tuple[IntArray, IntArray] | None
    """The strata of the rows of each table as whole numbers; None where there is one."""

    @classmethod
    def of(cls, design: Design) -> RowWeights | None:
        """Return how rows count under a design; None where all count alike."""
        weights, groups = design.weights, design.groups
        if weights is None and groups is None:
            return None
        strata = None
        if groups is not None:
            found, _ = codes(np.concatenate(groups), "strata")
            strata = (found[: len(groups[0])], found[len(groups[0]) :])
        own = None if weights is None else (np.asarray(weights[0]), np.asarray(weights[1]))
        return cls(own, strata)

    @property
    def within(self) -> bool:
        """Whether gaps are in deviations within strata; where these are tiny, they would hold the gap itself."""
        rows = () if self.strata is None else np.concatenate(self.strata)
        return len(rows) >= _LEAST_ROWS * len(np.unique(rows)) > 0

    def notes(self) -> tuple[str, ...]:
        """Return a note on the unit of gaps under strata."""
        if self.strata is None:
            return ()
        few = f"of all rows, because strata have fewer than {_LEAST_ROWS} rows on average"
        return (f"gaps are in standard deviations {'within strata' if self.within else few}",)

    def __call__(self, known: Sequence[BoolArray]) -> Sequence[Array]:
        """Return how much each row of either table counts, given which of them have a value."""
        own = [np.ones(len(each)) for each in known] if self.weights is None else self.weights
        used = [np.where(each, weight, 0.0) for each, weight in zip(known, own, strict=True)]
        return used if self.strata is None else _within_strata(used, self.strata)


def _within_strata(weights: Sequence[Array], strata: Sequence[IntArray]) -> list[Array]:
    """Return weights by which both tables have the strata in the proportions of their rows."""
    number = 1 + int(np.concatenate(strata).max())
    masses = [np.bincount(own, weight, number) for own, weight in zip(strata, weights, strict=True)]
    n, m = (np.bincount(own[weight > 0.0], minlength=number) for own, weight in zip(strata, weights, strict=True))
    counted = np.divide(n * m, n + m, out=np.zeros(number), where=n * m > 0)
    each = [np.divide(counted, mass, out=np.zeros(number), where=mass > 0.0) for mass in masses]
    return [weight * factor[own] for weight, factor, own in zip(weights, each, strata, strict=True)]
