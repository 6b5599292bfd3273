"""What a column is like in several sets of rows: its mean in each, or the share of one category."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import final

import numpy as np

from ..core.cells import missing_cells
from ..core.table import Frame
from ..core.words import ABSENT, percent, signed
from ..tables.columns.kinds import KINDS, Coding, NumberKind
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
    deviations: tuple[float, ...] = ()
    """The standard deviations of numbers, nan of fewer than two; nothing for other columns."""
    blank: tuple[float, ...] = ()
    """The shares of blank cells, if there are some, and if these are not the category."""

    @classmethod
    def of(cls, coding: Coding, frames: Sequence[Frame], pair: tuple[int, int]) -> Levels:
        """Return them from the rows, with the category whose share differs most between a pair of sets."""
        if coding.type.by_shares:
            most = most_changed(coding.shares([label_counts(frame, coding.name) for frame in frames]), *pair)
            if most.category == ABSENT:
                return cls(coding.name, coding.type.kind, most.shares, most.category)
            blank = tuple(float(missing_cells(coding.labels(frame)).mean()) for frame in frames)
            shares = tuple(math.nan if gone == 1.0 else share for share, gone in zip(most.shares, blank, strict=True))
            return cls(coding.name, coding.type.kind, shares, most.category, blank=blank if any(blank) else ())
        known = [numbers[~np.isnan(numbers)] for numbers in map(coding.numbers, frames)]
        means = (float(numbers.mean()) if len(numbers) else math.nan for numbers in known)
        deviations = (float(numbers.std(ddof=1)) if len(numbers) > 1 else math.nan for numbers in known)
        blank = tuple(1.0 - len(numbers) / len(frame) for numbers, frame in zip(known, frames, strict=True))
        return cls(
            coding.name,
            coding.type.kind,
            tuple(mean + coding.standard[2] for mean in means),
            deviations=tuple(deviations) if coding.type.kind == NumberKind.kind else (),
            blank=blank if any(blank) else (),
        )

    @property
    def words(self) -> tuple[str, ...]:
        """The means ± standard deviations or the shares as texts, with those of blank cells."""
        if self.category is None:
            texts = KINDS[self.kind].written(self.means)
        else:
            texts = tuple("none" if math.isnan(share) else percent(share, 1) for share in self.means)
        spreads = ["" if math.isnan(spread) else f" ± {signed(spread, 'z.2g')}" for spread in self.deviations]
        absent = [f", {percent(share)} blank" for share in self.blank]
        return tuple("".join(parts) for parts in zip_longest(texts, spreads, absent, fillvalue=""))

    @property
    def described(self) -> str:
        """The column, and the category whose shares are shown."""
        return self.name if self.category is None else f"{self.name}: {self.category}"
