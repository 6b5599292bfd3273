"""Ridge regressions of many targets on features, for all strengths, each with its exact leave-one-out errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import NamedTuple, final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from .candidates import RegressionFeatures
from .rows import DealtRows

STRENGTHS = 10.0 ** np.arange(1.0, -8.0, -1.0)
"""λ in units of the largest eigenvalue of the sum of products of the features."""
_NEGLIGIBLE, _LEAST_KEPT, _BLOCK = 1e-12, 1e-10, 4096


class Targets(NamedTuple):
    """What regressions predict at some rows of a fit, and what they are means of."""

    values: Array
    """Shape (n, q)."""
    sources: Array
    """What the regressions are means of, at the same rows: the values, or these with noise, or those of units."""
    mean: Array
    """Of the sources of all rows of the fit, shape (q,)."""
    n_rows: int
    """Of the fit."""

    @classmethod
    def of(cls, values: Array) -> Targets:
        """Return the values of all rows of a fit as targets."""
        return cls(values, values, values.mean(axis=0), len(values))

    def at(self, some: slice | IntArray) -> Targets:
        """Return the targets at some of the rows."""
        return Targets(self.values[some], self.sources[some], self.mean, self.n_rows)

    def constant_errors(self) -> Array:
        """Return the leave-one-out errors of the mean of the sources, shape (n, q)."""
        return np.asarray(self.values - (self.n_rows * self.mean - self.sources) / (self.n_rows - 1.0))


@final
@dataclass(frozen=True, eq=False)
class RidgeFits(Frozen):
    r"""All ridge regressions on one feature map, on the axes V of its features: :math:`Σ_i φ_i φ_i^⊤ = V s V^⊤`.

    :math:`f_λ(z) = \bar y + (φ(z) - \bar φ)^⊤ V (s + λ)^{-1} V^⊤ Σ_i (φ_i - \bar φ) y_i`; the mean is not shrunk.
    """

    features: RegressionFeatures
    center: Array
    axes: Array
    """V, shape (m, r)."""
    values: Array
    """s, shape (r,)."""
    moments: Array
    """Vᵀ Σ (φ_i - φ̄) y_i, shape (r, q)."""
    mean: Array
    """ȳ, shape (q,)."""
    n_rows: int
    units: Array | None = None
    """The sums of the scores over units of rows, shape (units, r), where rows are not units themselves."""
    known: Array | None = field(default=None, metadata={"kept": False})
    """The scores of the rows of the fit, of few rows."""

    @classmethod
    def of(cls, features: RegressionFeatures, rows: Array, targets: Array) -> RidgeFits:
        """Return the regressions of targets (n, q) on the features of scaled rows."""
        blocks = ((rows[block], targets[block]) for block in slices(len(rows), _BLOCK))
        return ridges_of(((features,),), blocks, targets.mean(axis=0))[0][0]

    def of_targets(self, dealt: DealtRows, targets: Array, shares: Array) -> RidgeFits:
        """Return the regressions of other targets of the units, shape (units, q), on the same features."""
        mean, moments = shares @ targets, np.zeros((len(self.values), targets.shape[1]))
        for block in slices(len(targets), _BLOCK):
            moments += self.scores_of_units(dealt, block).T @ (targets[block] - mean)
        return replace(self, moments=moments, mean=mean)

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
        """Return 1/(s + λ) for strengths by their numbers, shape (r, numbers)."""
        return np.asarray(1.0 / (self.values[:, None] + STRENGTHS[chosen] * self.values.max(initial=1e-300)))

    def losses(self, scores: Array, targets: Targets) -> Array:
        """Return the sums of squared leave-one-out errors of rows of the fit, shape (strengths, q)."""
        squares, found = scores**2, np.empty((len(STRENGTHS), len(self.mean)))
        for number in range(len(STRENGTHS)):
            errors = self.errors(scores, targets, np.array([number]), squares)
            found[number] = np.einsum("nq,nq->q", errors, errors)
        return found

    def errors(self, scores: Array, targets: Targets, chosen: IntArray, squares: Array | None = None) -> Array:
        """Return the leave-one-out errors of rows of the fit, shape (n, q): y_i minus the prediction without row i.

        Each target has its own strength, or all have one; O(n r q) time. A row's source is taken off the prediction by
        its leverage.
        """
        shrunk = self.shrunk(chosen)
        leverage = 1.0 / self.n_rows + (scores**2 if squares is None else squares) @ shrunk
        kept = np.maximum(1.0 - leverage, _LEAST_KEPT)
        errors = scores @ (-shrunk * self.moments)
        errors += targets.sources + kept * (targets.values - targets.sources) - self.mean
        errors /= kept
        return np.asarray(errors)

    def coefficients(self, chosen: IntArray) -> Array:
        """Return the coefficients of the centred features, shape (m, q)."""
        return np.asarray(self.axes @ (self.moments * self.shrunk(chosen)))

    def predict(self, rows: Array, chosen: IntArray) -> Array:
        """Return the predictions at scaled rows, shape (n, q)."""
        return np.asarray((self.features(rows) - self.center) @ self.coefficients(chosen) + self.mean)

    def smoother(self, rows: Array, fitted: DealtRows, chosen: IntArray) -> Array:
        """Return how much the units of the fit count in predictions at scaled rows, less their shares of all rows.

        Shape (rows, units).
        """
        shrunk = self.scores(rows) * self.shrunk(chosen)[:, 0]
        return np.asarray(shrunk @ self.scores_of_units(fitted, slice(None)).T)


Ridges = tuple[tuple[RidgeFits, ...], ...]
"""Regressions of several kinds: one, or one for every fold."""
Kinds = tuple[tuple[RegressionFeatures, ...], ...]
"""Their features."""


@final
class RidgeSums:
    """Sums over rows, from which the ridge regressions of some targets on a feature map are made."""

    def __init__(self, features: RegressionFeatures, mean: Array) -> None:
        self._features, self._mean, self._n = features, mean, 0
        self._total, self._square, self._product = np.array(0.0), np.array(0.0), np.array(0.0)

    def add(self, rows: Array, targets: Array) -> None:
        """Add scaled rows and their targets."""
        values = self._features(rows)
        if not self._n:
            self._start = values.mean(axis=0)  # near the centre, so that the sums lose no digits
        values = values - self._start
        self._known = None if self._n else values
        self._n += len(rows)
        self._total = self._total + values.sum(axis=0)
        self._square = self._square + values.T @ values
        self._product = self._product + values.T @ (targets - self._mean)

    def fits(self) -> RidgeFits:
        """Return the regressions."""
        shift = self._total / self._n
        spectrum, axes = np.linalg.eigh(self._square - self._n * np.outer(shift, shift))
        rank = spectrum > _NEGLIGIBLE * max(spectrum[-1], np.finfo(float).tiny)
        axes = axes[:, rank]
        known = None if self._known is None else (self._known - shift) @ axes
        center, moments = self._start + shift, axes.T @ self._product
        return RidgeFits(self._features, center, axes, spectrum[rank], moments, self._mean, self._n, known=known)


def ridges_of(kinds: Kinds, blocks: Iterable[tuple[Array, Array]], mean: Array) -> Ridges:
    """Return the regressions of targets with a mean on the features of all kinds, from blocks of scaled rows."""
    sums = [[RidgeSums(features, mean) for features in kind] for kind in kinds]
    for rows, targets in blocks:
        for each in chain.from_iterable(sums):
            each.add(rows, targets)
    return tuple(tuple(each.fits() for each in kind) for kind in sums)
