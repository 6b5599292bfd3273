"""How rows count in the means and pictures beside tests with a design: within strata, and by their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, BoolArray, IntArray
from ...core.frozen import Frozen
from ...core.labels import codes
from ...inference import Design

_LEAST_ROWS = 4
"""Of a stratum on average, for gaps in standard deviations within strata."""


@final
@dataclass(frozen=True, eq=False)
class RowWeights(Frozen):
    r"""What weighs the rows of two tables for means and pictures that follow a design.

    A row of weight ω in stratum s counts ω c_s / A_s in the first table and ω c_s / B_s in the second. A_s and B_s are
    the sums of weights of their rows there, and c_s = A_s B_s / (A_s + B_s), as strata count in the tests (Cochran,
    Mantel and Haenszel where all weights are 1). Both tables then have the strata in equal proportions, so that the
    difference of their means is the mean over strata of the difference within each. Strata in which a table has no row,
    or no known value, do not count.
    """

    weights: tuple[Array, Array] | None
    """The weights of the rows of each table; None where all have the weight 1."""
    strata: tuple[IntArray, IntArray] | None
    """The strata of the rows of each table as whole numbers; None where there is one."""
    within: bool = True
    """Whether gaps are in standard deviations within strata: tiny ones have hardly any rows to vary."""

    @classmethod
    def of(cls, design: Design) -> RowWeights | None:
        """Return how rows count under a design; None where all count alike."""
        weights, labels = design.weights, design.strata
        if weights is None and labels is None:
            return None
        strata, within = None, True
        if labels is not None:
            pooled, _ = codes(np.concatenate(labels), "strata")
            strata, within = (pooled[: len(labels[0])], pooled[len(labels[0]) :]), not tiny_strata(pooled)
        return cls(None if weights is None else (np.asarray(weights[0]), np.asarray(weights[1])), strata, within)

    def notes(self) -> tuple[str, ...]:
        """Return a note if gaps are not in standard deviations within strata."""
        if self.strata is None or self.within:
            return ()
        few = f"not within strata, which have fewer than {_LEAST_ROWS} rows on average"
        return (f"gaps are in standard deviations within the tables, {few}",)

    def __call__(self, known: Sequence[BoolArray]) -> Sequence[Array]:
        """Return how much each row of either table counts, given which of them have a value."""
        weights = [np.ones(len(each)) for each in known] if self.weights is None else self.weights
        used = [np.where(each, weight, 0.0) for each, weight in zip(known, weights, strict=True)]
        return used if self.strata is None else _within_strata(used, self.strata)


def tiny_strata(strata: IntArray) -> bool:
    """Whether strata have so few rows on average that these hardly vary within them."""
    return len(strata) < _LEAST_ROWS * len(np.unique(strata))


def _within_strata(weights: Sequence[Array], strata: Sequence[IntArray]) -> list[Array]:
    """Return weights by which both tables have the strata in the proportions of the tests."""
    number, largest = 1 + int(np.concatenate(strata).max()), max(float(one.max(initial=0.0)) for one in weights) or 1.0
    scaled = [one / largest for one in weights]  # no sum overflows
    first, second = (np.bincount(labels, weight, number) for labels, weight in zip(strata, scaled, strict=True))
    both = first + second
    shares = [np.divide(other, both, out=np.zeros(number), where=both > 0.0) for other in (second, first)]
    return [weight * share[labels] for weight, share, labels in zip(scaled, shares, strata, strict=True)]
