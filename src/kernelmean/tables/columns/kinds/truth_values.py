"""Truth values: two categories, and a mean, the share of true ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ....core.array import Array
from ....core.table import Frame
from ....core.words import percent
from ..summaries import CategoryShares, ColumnSummary, of_moments, pooled_within
from .categories import CategoryKind


@final
@dataclass(frozen=True)
class TruthKind(CategoryKind):
    """Truth values."""

    kind, taken, sign, inspected = "boolean", "truth value", "true and false", ""
    by_shares, averaged, plain = False, True, True

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return 1 for true cells."""
        del origin
        return np.asarray(frame[name], dtype=np.float64)

    @classmethod
    def mean_in_words(cls, mean: float, digits: int) -> str:
        """Return the share of true cells."""
        del digits
        return percent(mean, 1)

    @classmethod
    def unit(cls, gap: float) -> tuple[str, float]:
        """Write a difference of shares in percentage points."""
        del gap
        return " pp", 0.01

    def summary(self, counts: Sequence[Counter[str]], shares: tuple[CategoryShares, ...]) -> ColumnSummary:
        """Return the shares, and the means."""
        known = np.array([float(table.total()) for table in counts])
        means = tuple(table["True"] / n if n else math.nan for table, n in zip(counts, known, strict=True))
        variances = np.array([mean * (1.0 - mean) for mean in means])
        within = pooled_within(known * np.nan_to_num(variances), known)
        if len(means) != 2:
            return ColumnSummary(means, shares, within)
        return ColumnSummary(means, shares, within, of_moments(means, variances, known))
