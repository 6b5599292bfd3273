"""What a regression may look like: feature maps of scaled columns, from lines to curves, surfaces and learned axes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrmm

from ..core.array import Array
from ..core.frozen import Frozen
from ..embedding.features import FeatureMap, nystrom
from ..kernels.bandwidth import median_bandwidth
from ..kernels.gaussian import Gaussian
from ..noise.base import Noise

_WIDTHS = (0.25, 1.0)
"""Of Gaussian kernels on all columns, in units of the median distance of the scaled rows."""
_CURVE, _FINE_CURVE = 1.0, 0.25
"""Of Gaussian kernels on single columns, in deviations; the fine one is for columns that were learned."""
_MOST, _FEWEST_KNOTS, _MOST_KNOTS = 200, 5, 30
"""The most features of curves or products, which are left out where they would need more; the knots of a curve."""


class RegressionFeatures(Frozen, ABC):
    """A feature map of scaled rows; a ridge regression on it is one guess at the conditional mean."""

    name: str
    extrapolates: ClassVar[bool] = False
    """Whether predictions go on beyond the rows of the fit; others are those at the limits of the columns."""

    @abstractmethod
    def __call__(self, rows: Array) -> Array:
        """Return the features of scaled rows, shape (n, m)."""


@final
@dataclass(frozen=True, eq=False)
class PlainColumns(RegressionFeatures):
    """The columns themselves."""

    name: str = "linear"
    extrapolates: ClassVar[bool] = True

    def __call__(self, rows: Array) -> Array:
        """Return the rows."""
        return rows


@final
@dataclass(frozen=True, eq=False)
class Quadratic(RegressionFeatures):
    """The columns, their squares and their products."""

    name: str = "degree 2"

    def __call__(self, rows: Array) -> Array:
        """Return the columns and their products, shape (n, d (d + 3) / 2)."""
        first, second = np.triu_indices(rows.shape[1])
        return np.hstack([rows, rows[:, first] * rows[:, second]])


@final
@dataclass(frozen=True, eq=False)
class GaussianFeatures(Frozen):
    """Features of a Gaussian kernel from landmarks: k(x, S) L⁻ᵀ, with LLᵀ = k(S, S)."""

    kernel: Gaussian
    points: Array
    """S, shape (m, d)."""
    whitening: Array
    """L⁻ᵀ, shape (m, m), upper triangular."""

    @classmethod
    def of(cls, width: float, points: Array, most: int | None = None) -> GaussianFeatures:
        """Return the features of some landmarks: greedy pivots, without those that others explain."""
        kept = nystrom(Gaussian(width), points, len(points))
        inverse = solve_triangular(kept.triangle[:most, :most], np.eye(len(kept.points[:most])), lower=True)
        return cls(Gaussian(width), kept.points[:most], inverse.T)

    def __call__(self, coordinates: Array) -> Array:
        """Return the features, shape (n, m)."""
        values = self.kernel(coordinates, self.points)
        return np.asarray(dtrmm(1.0, self.whitening.T, values.T, trans_a=0, lower=1, overwrite_b=1).T)


@final
@dataclass(frozen=True, eq=False)
class Curves(RegressionFeatures):
    """A curve of every column: features of a sum of one-dimensional kernels, each with a factor."""

    landmarks: GaussianFeatures
    factors: Array
    """Shape (d,); the kernel of a column is multiplied by the square of its factor."""
    name: str

    def __call__(self, rows: Array) -> Array:
        """Return the features of all columns side by side, shape (n, d m)."""
        return np.asarray(self.columns(rows).reshape(len(rows), -1))

    def columns(self, rows: Array) -> Array:
        """Return the features of every column, shape (n, d, m)."""
        values = self.landmarks(rows.reshape(-1, 1)).reshape(*rows.shape, -1)
        values *= self.factors[:, None]
        return np.asarray(values)

    def weighted(self, rows: Array, coefficients: Array) -> Curves:
        """Return curves whose factors are how much linear functions of the features vary with each column."""
        blocks = coefficients.reshape(rows.shape[1], -1, coefficients.shape[1])
        parts = np.einsum("ndm,dmq->ndq", self.columns(rows), blocks, optimize=True)
        spread = np.sqrt(parts.var(axis=0).sum(axis=1))
        factors = self.factors * spread / np.sqrt(np.mean(spread**2)) if spread.any() else self.factors
        return Curves(self.landmarks, factors, "additive, learned")


@final
@dataclass(frozen=True, eq=False)
class Radial(RegressionFeatures):
    """A Gaussian kernel of all columns, on turned and stretched axes."""

    landmarks: GaussianFeatures
    axes: Array
    """Shape (d, d'); coordinates are rows @ axes."""
    name: str

    def __call__(self, rows: Array) -> Array:
        """Return the features, shape (n, m)."""
        return self.landmarks(rows @ self.axes)

    def moment(self, rows: Array, coefficients: Array) -> Array:
        """Return the sum over rows and targets of the outer products of gradients in the scaled columns, (d, d)."""
        coordinates, weights = rows @ self.axes, self.landmarks.whitening @ coefficients
        kernel, points = self.landmarks.kernel, self.landmarks.points
        values = kernel(coordinates, points) / kernel.bandwidth**2
        towards = np.einsum("ns,sd,sq->dnq", values, points, weights, optimize=True)
        slopes = (towards - coordinates.T[:, :, None] * (values @ weights)).reshape(len(self.axes.T), -1)
        return np.asarray(self.axes @ (slopes @ slopes.T) @ self.axes.T)


@final
@dataclass(frozen=True, eq=False)
class KernelFeatures(RegressionFeatures):
    """Features of a kernel that was passed, of rows with a noise."""

    map: FeatureMap
    noise: Noise
    name: str = "kernel"

    def __call__(self, rows: Array) -> Array:
        """Return the mean features, shape (n, m)."""
        return self.map(rows, self.noise)


def curves(drawn: Array, width: float, knots: int) -> Curves:
    """Return curves of all columns, Gaussian kernels on common knots, made for drawn scaled rows."""
    levels = (np.arange(knots) + 0.5) / knots
    even = drawn.min() + levels * np.ptp(drawn)
    points = np.unique((np.quantile(drawn, levels) + even) / 2.0)[:, None]  # dense where rows are, and none far apart
    return Curves(GaussianFeatures.of(width, points), np.ones(drawn.shape[1]), "additive")


def surfaces(drawn: Array, median: float, widths: Sequence[float]) -> list[Radial]:
    """Return Gaussian kernels of all columns on drawn landmarks, their widths in units of the median distance."""
    axes = np.eye(drawn.shape[1])
    return [Radial(GaussianFeatures.of(width * median, drawn), axes, f"Gaussian, width {width:g}") for width in widths]


def stacked_curves(drawn: Array, n: int, *, fine: bool = False) -> list[Curves]:
    """Return the curves of a stack for n rows, none for one column or for many."""
    d = drawn.shape[1]
    knots = min(_MOST_KNOTS, min(_MOST, 60 + n // 4) // d)
    return [] if d < 2 or knots < _FEWEST_KNOTS else [curves(drawn, _FINE_CURVE if fine else _CURVE, knots)]


def candidates(rows: Array, drawn: Array) -> list[RegressionFeatures]:
    """Return the candidates that suit scaled rows, those of all columns on drawn landmarks.

    Curves and products are left out where they need many features, and where there is one column.
    """
    d = rows.shape[1]
    features: list[RegressionFeatures] = [PlainColumns()]
    if d > 1 and d * (d + 3) // 2 <= _MOST:
        features.append(Quadratic())
    features += stacked_curves(drawn, len(rows))
    return [*features, *surfaces(drawn, float(median_bandwidth(drawn)), _WIDTHS)]
