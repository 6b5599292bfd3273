"""What a column is like in every table, for people: means, or shares of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from ...core.table import Frame
from .column_codings import Categories, Coding, Numbers
from .kinds import as_labels

ABSENT = "(missing)"


@final
@dataclass(frozen=True)
class CategoryShares:
    """How often a category occurs: its share of the rows of every table."""

    category: str
    shares: tuple[float, ...]


@final
@dataclass(frozen=True)
class ColumnSummary:
    """What a column is like in every table."""

    means: tuple[float, ...]
    """In the units of the column: of levels their number from 0, of times seconds since 1970 (UTC), of truth values the
    share of true ones. nan for categories. Missing cells do not count."""
    deviation: float
    """The standard deviation over all tables, nan for categories."""
    shares: tuple[CategoryShares, ...]
    """Of categories and truth values, with those of missing cells where they are one."""

    @property
    def gap(self) -> float:
        """The first mean less the second, in standard deviations."""
        difference = self.means[0] - self.means[1]
        return difference / self.deviation if self.deviation else 0.0 * difference


def summarize(coding: Coding, frames: Sequence[Frame]) -> ColumnSummary:
    """Return what a column is like in every table."""
    if isinstance(coding, Numbers):
        offset = coding.origin / 1e9
        return ColumnSummary(tuple(_mean(coding.numbers(f)) + offset for f in frames), coding.deviation, ())
    assert isinstance(coding, Categories)
    shares = _shares(coding, frames)
    if coding.type.kind != "boolean":
        return ColumnSummary((np.nan,) * len(frames), np.nan, shares)
    truths = [np.asarray(frame[coding.name], dtype=np.float64) for frame in frames]
    pooled = np.concatenate(truths)
    return ColumnSummary(tuple(map(_mean, truths)), float(np.nanstd(pooled)), shares)


def _mean(values: Array) -> float:
    """Return the mean of the numbers that are not missing, nan without any."""
    observed = values[~np.isnan(values)]
    return float(observed.mean()) if len(observed) else float("nan")


def _shares(coding: Categories, frames: Sequence[Frame]) -> tuple[CategoryShares, ...]:
    counts = [Counter(as_labels(frame, coding.name).tolist()) for frame in frames]
    known: list[str | None] = [*coding.categories, *([None] if coding.missing else [])]
    return tuple(
        CategoryShares(
            ABSENT if each is None else each,
            tuple(own[each] / len(frame) for own, frame in zip(counts, frames, strict=True)),
        )
        for each in known
    )
