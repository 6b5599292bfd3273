"""What Z leaves of other columns: regressions that are chosen for a small bias, not for a small error.

A product of two residuals has the mean of the product of both biases, so bias costs a test its level and noise only
some power. Each column takes the basis and the strength with the least generalized cross-validation error (Golub, Heath
& Wahba 1979), and is then smoothed a third as strongly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from ..kernels.bandwidth import median_bandwidth
from .candidates import GaussianFeatures, PlainColumns, Quadratic, RegressionFeatures, curves, surfaces

STRENGTHS = 10.0 ** np.arange(-6.5, 2.1, 0.5)
"""λ in units of the largest eigenvalue of a basis."""
_UNDERSMOOTHING, _MOST_FREEDOM = 3.0, 0.6
_WIDTHS, _WIDTHS_OF_ONE, _CURVES = (2.0, 1.0, 0.5), (1.5, 0.7, 0.3), (1.0, 0.35)
"""Widths of Gaussian kernels in median distances, for several columns and for one; of curves, in deviations."""
_MOST_RADIAL, _MOST_CURVE, _MOST_FUNCTIONS, _MEDIAN_OF, _DRAWN, _LEAST, _ROWS = 50, 25, 100, 150, 300, 1e-9, 2048


def scaled(columns: Array) -> Array:
    """Return columns about their means in units of their deviations; constant ones are 0."""
    centered = columns - columns.mean(axis=0)
    deviations = centered.std(axis=0)
    return np.asarray(centered / np.where(deviations > 0.0, deviations, 1.0))


def typical_distance(rows: Array) -> float:
    """Return the median distance, of at most 150 rows; 1 of equal rows."""
    return float(median_bandwidth(rows, exact_up_to=_MEDIAN_OF)) if np.ptp(rows, axis=0).any() else 1.0


def gaussian_features(rows: Array, width: float, rank: int) -> GaussianFeatures:
    """Return features of a Gaussian kernel, from at most ``rank`` of 300 rows that are evenly spread in their order."""
    drawn = rows[np.unique(np.linspace(0, len(rows) - 1, _DRAWN).astype(int))]
    return GaussianFeatures.of(width, drawn, rank)


@final
@dataclass(frozen=True, eq=False)
class Basis(Frozen):
    """Orthonormal functions of the rows, with their eigenvalues, the largest 1."""

    functions: Array
    """Shape (n, r), with mean 0."""
    values: Array
    """Shape (r,), ascending."""

    @classmethod
    def of(cls, columns: Array) -> Basis:
        """Return the principal components of columns."""
        centered = columns - columns.mean(axis=0)
        values, axes = np.linalg.eigh(centered.T @ centered)
        kept = values > _LEAST * max(values[-1], np.finfo(float).tiny)
        values, axes = values[kept], axes[:, kept]
        return cls(centered @ (axes / np.sqrt(values)), values / values[-1:].max(initial=1e-300))


class Smoothed(NamedTuple):
    """What a regression leaves."""

    residuals: Array
    """Shape (n, q)."""
    freedom: Array
    """Degrees of freedom that every column took, shape (q,)."""


@final
@dataclass(frozen=True, eq=False)
class Smoother(Frozen):
    """Regressions on one table Z: lines, curves of every column, surfaces at three widths, products of degree 2."""

    strata: tuple[IntArray, ...]
    """The rows of every stratum, which has regressions of its own."""
    bases: tuple[tuple[Basis, ...], ...]

    @classmethod
    def of(cls, Z: Array, strata: tuple[IntArray, ...] | None = None) -> Smoother:
        """Return the bases that the rows of every stratum can bear; all rows are one if there are none."""
        strata = strata or (np.arange(len(Z)),)
        return cls(strata, tuple(_bases(Z[rows]) for rows in strata))

    def __call__(self, targets: Array) -> Smoothed:
        """Return what is left of targets, shape (n, q); every column has a basis and a strength of its own."""
        residuals, freedom = np.empty(targets.shape), np.zeros(targets.shape[1])
        for rows, bases in zip(self.strata, self.bases, strict=True):
            centered, taken = targets[rows] - targets[rows].mean(axis=0), np.ones(targets.shape[1])
            squares = np.einsum("nq,nq->q", centered, centered)
            plain = squares * len(rows) / max(len(rows) - 1.0, 1.0) ** 2
            fits = [_errors(basis, centered, squares) for basis in bases]
            best, left = np.argmin([plain, *(errors.min(axis=0) for errors in fits)], axis=0), centered.copy()
            for number, (basis, errors) in enumerate(zip(bases, fits, strict=True), start=1):
                here = np.flatnonzero(best == number)
                strengths = STRENGTHS[errors[:, here].argmin(axis=0)] / _UNDERSMOOTHING
                shares = basis.values[:, None] / (basis.values[:, None] + strengths)
                left[:, here] -= basis.functions @ (shares * (basis.functions.T @ centered[:, here]))
                taken[here] += shares.sum(axis=0)
            residuals[rows], freedom = left, freedom + taken
        return Smoothed(residuals, freedom)

    def r2(self, targets: Array) -> Array:
        """Return one minus the smallest squared leave-one-out errors over those of the mean, at least 0, shape (q,).

        Not those of what leaves the residuals: chosen for a small bias, that may predict rows apart from others badly.
        """
        squares = [
            np.min([_left_out(basis, targets[rows] - targets[rows].mean(axis=0)) for basis in bases], axis=0)
            for rows, bases in zip(self.strata, self.bases, strict=True)
        ]
        of_mean = targets.var(axis=0) * len(targets) * (len(targets) / (len(targets) - 1.0)) ** 2
        return np.asarray(np.maximum(1.0 - np.sum(squares, axis=0) / of_mean, 0.0))


def _bases(Z: Array) -> tuple[Basis, ...]:
    """Return the bases that some rows can bear; O(n r² d) time for r at most 250 functions."""
    (n, d), rows = Z.shape, scaled(Z)
    features: list[RegressionFeatures] = [PlainColumns()]
    knots = int(min(_MOST_CURVE, max(6, n / (3 * d))))
    if d > 1 and d * knots <= n / 2.5:
        features += [curves(rows, width, knots) for width in _CURVES]
    if d <= _MOST_RADIAL:
        rank = int(min(max(n / 5, 20), 60 + n / 25, _MOST_FUNCTIONS, n))
        median, widths = typical_distance(rows), _WIDTHS if d > 1 else _WIDTHS_OF_ONE
        features += surfaces(gaussian_features(rows, median * widths[-1], rank).points, median, widths)
    if d > 1 and d * (d + 3) <= min(n, 1000):
        features.append(Quadratic())
    return tuple(Basis.of(each(rows)) for each in features)


def _errors(basis: Basis, centered: Array, squares: Array) -> Array:
    """Return the generalized cross-validation errors of all strengths, shape (strengths, q)."""
    n = len(centered)
    shares = basis.values / (basis.values + STRENGTHS[:, None])
    freedom = 1.0 + shares.sum(axis=1)
    left = squares - (1.0 - (1.0 - shares) ** 2) @ (basis.functions.T @ centered) ** 2
    errors = np.maximum(left, 0.0) / n / (np.maximum(1.0 - freedom / n, 0.01) ** 2)[:, None]
    errors[freedom > _MOST_FREEDOM * n] = np.inf
    return np.asarray(errors)


def _left_out(basis: Basis, centered: Array) -> Array:
    """Return the smallest sums over all strengths of squared leave-one-out errors: residuals by 1 - leverage, (q,)."""
    (n, q), shares = centered.shape, basis.values[:, None] / (basis.values[:, None] + STRENGTHS)
    fits = (shares[:, :, None] * (basis.functions.T @ centered)[:, None]).reshape(len(shares), -1)
    sums = np.zeros((len(STRENGTHS), q))
    for rows in slices(n, _ROWS):
        functions = basis.functions[rows]
        left = centered[rows, None] - (functions @ fits).reshape(len(functions), -1, q)
        sums += np.einsum("ns,nsq->sq", (1.0 - 1.0 / n - functions**2 @ shares) ** -2.0, left**2)
    return np.asarray(sums.min(axis=0))
