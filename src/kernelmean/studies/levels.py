"""What a column is like in several sets of rows: its mean in each, or the share of one category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.table import Frame
from ..core.words import percent
from ..tables.columns.kinds import KINDS, Coding
from ..tables.columns.labels import label_counts
from ..tables.columns.summaries import most_changed


@final
@dataclass(frozen=True)
class Levels:
    """The means of a column in several sets of rows; of categories, the shares of the one that differs most."""

    name: str
    kind: str
    means: tuple[float, ...]
    """nan where no cell is known."""
    category: str | None = None

    @classmethod
    def of(cls, coding: Coding, frames: Sequence[Frame], pair: tuple[int, int]) -> Levels:
        """Return them from the rows, with the category whose share differs most between a pair of sets."""
        if coding.type.by_shares:
            most = most_changed(coding.shares([label_counts(frame, coding.name) for frame in frames]), *pair)
            return cls(coding.name, coding.type.kind, most.shares, most.category)
        known = [numbers[~np.isnan(numbers)] for numbers in map(coding.numbers, frames)]
        means = (float(numbers.mean()) if len(numbers) else math.nan for numbers in known)
        return cls(coding.name, coding.type.kind, tuple(mean + coding.standard[2] for mean in means))

    @property
    def words(self) -> tuple[str, ...]:
        """The means or shares as texts."""
        if self.category is None:
            return KINDS[self.kind].written(self.means)
        return tuple("none" if math.isnan(share) else percent(share, 1) for share in self.means)

    @property
    def described(self) -> str:
        """The column, and the category whose shares are shown."""
        return self.name if self.category is None else f"{self.name}: {self.category}"
