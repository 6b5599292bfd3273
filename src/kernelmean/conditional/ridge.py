"""Ridge regressions of many targets on features, for all strengths, each with its exact leave-one-out errors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from .candidates import RegressionFeatures
from .rows import FOLDS, DealtRows, Targets

STRENGTHS = 10.0 ** np.arange(1.0, -8.0, -1.0)
"""λ in units of the largest eigenvalue of the sum of products of the features."""
EVERY = np.arange(len(STRENGTHS))[:, None]
_NEGLIGIBLE, _LEAST_KEPT, _BLOCK = 1e-12, 1e-10, 4096


@final
@dataclass(frozen=True, eq=False)
class RidgeFits(Frozen):
    r"""All ridge regressions on one feature map, on the axes V of its features: :math:`Σ_i φ_i φ_i^⊤ = V s V^⊤`.

    :math:`f_λ(z) = \bar y + (φ(z) - \bar φ)^⊤ V (s + λ)^{-1} V^⊤ Σ_i (φ_i - \bar φ) y_i`; the mean is not shrunk.
    """

    features: RegressionFeatures
    fold: int | None
    """The fold whose rows the features were not learned from, None where they suit all rows."""
    center: Array
    axes: Array
    """V, shape (m, r)."""
    values: Array
    """s, shape (r,)."""
    moments: Array
    """Vᵀ Σ (φ_i - φ̄) y_i, shape (r, q)."""
    units: Array | None = None
    """The sums of the scores over units of rows, shape (units, r), where rows are not units themselves."""
    known: Array | None = field(default=None, metadata={"kept": False})
    """The scores of the rows of the fit, of few rows."""

    @property
    def share(self) -> float:
        """How much it counts in predictions of its kind at new rows."""
        return 1.0 if self.fold is None else 1.0 / FOLDS

    def places(self, folds: IntArray) -> IntArray:
        """Return the places of the rows, given by their folds, that it predicts when they are left out."""
        return np.flatnonzero((folds == self.fold) | (self.fold is None))

    def scores(self, rows: Array) -> Array:
        """Return the coordinates of scaled rows on the axes, shape (n, r)."""
        return np.asarray((self.features(rows) - self.center) @ self.axes)

    def scores_of(self, dealt: DealtRows, some: slice | IntArray) -> Array:
        """Return the coordinates of some rows of the fit."""
        return self.scores(dealt.rows[some]) if self.known is None or dealt.drawn else self.known[some]

    def scores_of_units(self, dealt: DealtRows, some: slice) -> Array:
        """Return the sums of the coordinates over some of the units."""
        return self.scores_of(dealt, some) if self.units is None else self.units[some]

    def shrunk(self, chosen: IntArray) -> Array:
        """Return 1/(s + λ) for strengths by their numbers, shape (r, *numbers)."""
        penalties = STRENGTHS[chosen] * self.values.max(initial=1e-300)
        return np.asarray(1.0 / (self.values.reshape(-1, *[1] * chosen.ndim) + penalties))

    def errors(self, scores: Array, targets: Targets, chosen: IntArray) -> Array:
        """Return the leave-one-out errors of rows of the fit, shape (n, q): y_i minus the prediction without row i.

        Each target has its own strength, or all have one; ``chosen`` of shape (choices, q or 1) gives errors of shape
        (n, choices, q). O(n r q) time. A row's source is taken off the prediction by its leverage.
        """
        shrunk, between = self.shrunk(chosen), (slice(None), *[None] * (chosen.ndim - 1))
        kept = 1.0 - 1.0 / targets.n_rows - np.tensordot(scores**2, shrunk, 1)
        errors = np.tensordot(scores, -shrunk * self.moments[between], 1)
        errors += (targets.sources - targets.mean)[between]
        errors /= np.maximum(kept, _LEAST_KEPT)
        errors += (targets.values - targets.sources)[between]
        return np.asarray(errors)

    def coefficients(self, chosen: IntArray) -> Array:
        """Return the coefficients of the centred features in predictions, shape (m, q)."""
        return np.asarray(self.axes @ (self.moments * self.shrunk(chosen)))

    def smoother(self, rows: Array, fitted: DealtRows, chosen: IntArray) -> Array:
        """Return how much every unit of the fit counts in these predictions of the first target, (rows, units)."""
        shrunk = self.scores(rows) * self.shrunk(chosen[:1])[:, 0]
        return np.asarray(shrunk @ self.scores_of_units(fitted, slice(None)).T)


Ridges = tuple[RidgeFits, ...]
Kind = tuple[RegressionFeatures, int | None]
"""Features, with the fold that they were not learned from."""


def ridges_of(kinds: Sequence[Kind], blocks: Iterable[tuple[Array, Array]], mean: Array) -> Ridges:
    """Return the regressions of targets with a mean on features of some kinds, from blocks of rows and targets."""
    starts, firsts, sums = dict[int, Array](), dict[int, Array | None](), dict[int, Array]()
    for rows, targets in blocks:
        for number, (features, _) in enumerate(kinds):
            values = features(rows)
            firsts[number] = None if number in firsts else values
            if number not in sums:  # a start near the centre, so that the sums lose no digits
                starts[number], sums[number] = values.mean(axis=0), np.array(0.0)
            table = np.empty((len(rows), 1 + values.shape[1] + len(mean)))
            table[:, 0] = 1.0
            np.subtract(values, starts[number], out=table[:, 1 : -len(mean)])
            np.subtract(targets, mean, out=table[:, -len(mean) :])
            sums[number] = sums[number] + table.T @ table
    return tuple(_fits(kind, starts[k], sums[k], firsts[k]) for k, kind in enumerate(kinds))


def moved_to(ridges: Ridges, dealt: DealtRows, targets: Array, mean: Array) -> Ridges:
    """Return the regressions of other targets of the units, shape (units, q), with a mean, on the same features."""
    moments = [np.zeros((len(each.values), len(mean))) for each in ridges]
    for block in slices(len(targets), _BLOCK):
        for number, ridge in enumerate(ridges):
            moments[number] += ridge.scores_of_units(dealt, block).T @ (targets[block] - mean)
    return tuple(replace(ridge, moments=moved) for ridge, moved in zip(ridges, moments, strict=True))


def _fits(kind: Kind, start: Array, sums: Array, first: Array | None) -> RidgeFits:
    """Return regressions from sums of products of 1, features from a start and targets, and features of few rows."""
    n, end = sums[0, 0], 1 + len(start)
    shift = sums[0, 1:end] / n
    spectrum, axes = np.linalg.eigh(sums[1:end, 1:end] - n * np.outer(shift, shift))
    rank = spectrum > _NEGLIGIBLE * max(spectrum[-1], np.finfo(float).tiny)
    axes, center = axes[:, rank], start + shift
    known = None if first is None else (first - center) @ axes
    return RidgeFits(*kind, center, axes, spectrum[rank], axes.T @ sums[1:end, end:], known=known)
