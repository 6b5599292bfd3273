"""Summaries of a column in every table, for readers: means, or shares of categories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from ...core.array import Array, BoolArray
from ...core.table import Frame
from .column_codings import Categories, Coding, Numbers, labels_in

ABSENT = "(missing)"


@final
@dataclass(frozen=True)
class CategoryShares:
    """The share of a category in the rows of every table."""

    category: str
    shares: tuple[float, ...]


@final
@dataclass(frozen=True)
class ColumnSummary:
    """A summary of a column in every table."""

    means: tuple[float, ...]
    """In the units of the column: levels are numbered from 0, times are seconds since 1970 (UTC), truth values give the
    share of true ones. nan for categories. Missing cells do not count."""
    shares: tuple[CategoryShares, ...]
    """For categories and truth values, including missing cells if they are a category."""
    deviation: float = np.nan
    """The standard deviation within the tables, pooled; nan for categories and where it is not known."""
    interval: tuple[float, float] = (np.nan, np.nan)
    """An approximate 95 % interval of the first mean minus the second, nan where it is not known."""

    @property
    def gap(self) -> float:
        """The first mean minus the second, in standard deviations within the tables; nan where these are 0."""
        return (self.means[0] - self.means[1]) / self.deviation if self.deviation > 0.0 else np.nan


Weigh = Callable[[Sequence[BoolArray]], Sequence[Array]]
"""From which rows of every table have a value to how much each of them counts."""


def _alike(known: Sequence[BoolArray]) -> Sequence[Array]:
    return [own.astype(np.float64) for own in known]


def summarize(coding: Coding, frames: Sequence[Frame], weigh: Weigh | None = None) -> ColumnSummary:
    """Return the summary of a column in every table, by default with all rows alike."""
    weigh = weigh or _alike
    if isinstance(coding, Numbers):
        offset = coding.origin / 1e9
        means = _means(numbers_of(coding, frames), weigh)
        return ColumnSummary(tuple(mean + offset for mean in means), ())
    assert isinstance(coding, Categories)
    weights = weigh([np.ones(len(frame), dtype=bool) for frame in frames])
    counts = [_counted(labels_in(coding, frame), own) for frame, own in zip(frames, weights, strict=True)]
    known: list[str | None] = [*coding.named, *([None] if coding.missing else [])]
    shares = tuple(
        CategoryShares(
            ABSENT if each is None else each,
            tuple(own[each] / float(every.sum()) for own, every in zip(counts, weights, strict=True)),
        )
        for each in known
    )
    if coding.type.kind != "boolean":
        return ColumnSummary((np.nan,) * len(frames), shares)
    return ColumnSummary(_means(numbers_of(coding, frames), weigh), shares)


def numbers_of(coding: Coding, frames: Sequence[Frame]) -> list[Array]:
    """Return the cells of a column of numbers, levels, times or truth values, with NaN where they are missing."""
    if isinstance(coding, Numbers):
        return [coding.numbers(frame) for frame in frames]
    return [np.asarray(frame[coding.name], dtype=np.float64) for frame in frames]


def _counted(labels: npt.NDArray[Any], weights: Array) -> Counter[Any]:
    """Return the weight of every label."""
    found: Counter[Any] = Counter()
    for label, weight in zip(labels.tolist(), weights.tolist(), strict=True):
        found[label] += weight
    return found


def _means(tables: Sequence[Array], weigh: Weigh) -> tuple[float, ...]:
    """Return the means of the numbers that are not missing, nan if there are none."""
    known = [~np.isnan(values) for values in tables]
    found = zip(tables, known, weigh(known), strict=True)
    return tuple(
        float(np.average(values[own], weights=weights[own])) if weights[own].any() else float("nan")
        for values, own, weights in found
    )
