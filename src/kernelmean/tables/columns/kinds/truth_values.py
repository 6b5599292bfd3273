"""Truth values: two categories, and a mean, the share of true ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from ....core.array import Array
from ....core.cells import Cells, Declared
from ....core.table import Frame
from ..summaries import CategoryShares, ColumnSummary, of_moments, pooled_within
from .base import Inspected
from .categories import CategoryKind


@final
@dataclass(frozen=True)
class TruthKind(CategoryKind):
    """Truth values."""

    kind: ClassVar[str] = "boolean"
    taken: ClassVar[str] = "truth value"
    sign: ClassVar[str] = "true and false"
    inspected: ClassVar[Inspected] = ""
    by_shares: ClassVar[bool] = False
    averaged: ClassVar[bool] = True
    plain: ClassVar[bool] = True

    @classmethod
    def recognised(cls, cells: Cells, declared: Declared | None) -> Self | None:
        """Take what is declared so."""
        del cells
        return cls() if declared is not None and declared.kind == "boolean" else None

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return 1 for true cells."""
        del origin
        return np.asarray(frame[name], dtype=np.float64)

    def summary(self, counts: Sequence[Counter[str]], shares: tuple[CategoryShares, ...]) -> ColumnSummary:
        """Return the shares, and the means."""
        known = np.array([float(own.total()) for own in counts])
        means = tuple(own["True"] / n if n else math.nan for own, n in zip(counts, known, strict=True))
        variances = np.array([mean * (1.0 - mean) for mean in means])
        within = pooled_within(known * np.nan_to_num(variances), known)
        if len(means) != 2:
            return ColumnSummary(means, shares, within)
        return ColumnSummary(means, shares, within, of_moments(means, variances, known))
