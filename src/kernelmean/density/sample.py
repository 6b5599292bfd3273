"""The rows that a mixture is fitted to, with weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..core.array import Array, IntArray
from ..core.table import deviations_of
from ..core.validate import check_weights
from ..embedding.embedding import Embedding
from .objective import mean_covariance

FLOOR = 0.01
"""The smallest variance of a component in any direction, in units of the mean variance of the columns."""
HELD = 0.2
"""The share of the rows to hold out."""
_UNLIKE = 5.0
"""How many times as wide as another a column may be without a warning."""


@dataclass(frozen=True)
class Sample:
    """Points with positive weights that sum to one, and a known covariance of every point."""

    points: Array
    weights: Array
    spread: Array | float = 0.0

    @classmethod
    def of(cls, points: Array, weights: Any = None) -> Sample:
        """Return the points with positive weights."""
        if weights is None:
            return cls(points, np.full(len(points), 1.0 / len(points)))
        weights = check_weights(weights, len(points), "sample_weight")
        if (weights < 0).any() or weights.sum() <= 0:
            raise ValueError("sample_weight is zero everywhere, or has a negative number; pass weights ≥ 0")
        return cls(points[weights > 0], weights[weights > 0] / weights.sum())

    @classmethod
    def of_embedding(cls, mu: Embedding) -> Sample:
        """Return the points of an embedding with positive weights, and the mean covariance of their noise."""
        if not (mu.weights > 0).any():
            raise ValueError("no weight of the embedding is positive, so no mixture is near it")
        points, weights = mu.points, np.maximum(mu.weights, 0.0)
        return replace(cls.of(points, weights), spread=mean_covariance(mu))

    def take(self, index: IntArray) -> Sample:
        """Return some of the points, with weights rescaled to sum to one."""
        return replace(self, points=self.points[index], weights=self.weights[index] / self.weights[index].sum())

    @property
    def variance(self) -> float:
        """The mean variance of the columns."""
        within = np.mean(self.spread if np.ndim(self.spread) < 2 else np.diagonal(self.spread))
        return float((self.weights @ (self.points - self.weights @ self.points) ** 2).mean() + within)

    @property
    def floor(self) -> float:
        """The smallest variance of a component of a mixture."""
        return max(FLOOR * self.variance, float(np.finfo(np.float64).tiny))


def split(n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows to fit and the rows to hold out, at least one of each if n > 1."""
    held = min(max(1, round(HELD * n)), n - 1)
    order = rng.permutation(n)
    return np.sort(order[held:]), np.sort(order[:held])


def unlike_scales(points: Array, names: Sequence[str] | None) -> str:
    """Return what to tell where one column varies so much more than another that one width suits only one of them.

    Constant columns are passed over.
    """
    deviations = deviations_of(points)
    largest, smallest = int(np.argmax(deviations)), int(np.argmin(np.where(deviations > 0, deviations, np.inf)))
    if not deviations[largest] > _UNLIKE * deviations[smallest] > 0:
        return ""
    wide, narrow = (repr(names[j]) if names else str(j) for j in (largest, smallest))
    return (
        f"column {wide} varies more than {_UNLIKE:g} times as much as column {narrow}, for which the components will "
        "be too wide; divide every column by its standard deviation first, such as by make_pipeline(StandardScaler(), "
        "...), or by scale=True"
    )


@contextmanager
def scales_as_they_are() -> Iterator[None]:
    """Let fits pass over columns of unlike scales, which were told before or are meant."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="column .* varies more than")
        yield
