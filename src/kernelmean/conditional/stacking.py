"""Regressions of several kinds, stacked by their exact leave-one-out errors: the core of conditional means.

Stacked regression: Breiman (1996). Gradients that learned axes follow: Hristache, Juditsky, Polzehl & Spokoiny (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from .candidates import RegressionFeatures
from .ridge import STRENGTHS, RidgeFits, Ridges, Targets
from .rows import DealtRows
from .units import Units

_CHOOSING, _BLOCK, _STEPS, _GAIN = 500, 4096, 500, 1e-4


@final
@dataclass(frozen=True, eq=False)
class StackedKind(Frozen):
    """One kind of regression: a ridge, or one for every fold, whose features were learned from the other folds."""

    ridges: tuple[RidgeFits, ...]
    chosen: IntArray
    """The number of the strength of every target, shape (q,)."""

    @property
    def features(self) -> RegressionFeatures:
        """The features, of the first fold where they were learned."""
        return self.ridges[0].features

    def predict(self, rows: Array) -> Array:
        """Return the predictions at scaled rows, shape (n, q): the mean over folds."""
        return np.asarray(sum(ridge.predict(rows, self.chosen) for ridge in self.ridges) / len(self.ridges))

    def smoother(self, rows: Array, fitted: DealtRows) -> Array:
        """Return how much units count in predictions of the first target, less their shares, shape (rows, units)."""
        return np.asarray(sum(r.smoother(rows, fitted, self.chosen[:1]) for r in self.ridges) / len(self.ridges))

    def errors(self, dealt: DealtRows, some: slice | IntArray, targets: Targets) -> Array:
        """Return the leave-one-out errors of some rows of the fit, shape (rows, q)."""
        some = np.arange(len(dealt.rows))[some]
        found = np.empty((len(some), targets.values.shape[1]))
        for ridge, here in zip(self.ridges, _by_fold(self.ridges, dealt.folds[some]), strict=True):
            scores = ridge.scores_of(dealt, some[here])
            found[here] = ridge.errors(scores, targets.at(some[here]), self.chosen)
        return found


@final
@dataclass(frozen=True, eq=False)
class Stack(Frozen):
    """Regressions of several kinds with their weights, the constant last."""

    kinds: tuple[StackedKind, ...]
    weights: Array
    """Shape (kinds + 1, q); columns sum to 1."""
    mean: Array
    """Of the targets, shape (q,)."""
    limits: Array
    """The least and the largest of every column of the fit, shape (2, d)."""

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds in words, in the order of the weights."""
        return (*(kind.features.name for kind in self.kinds), "constant")

    def predict(self, rows: Array) -> Array:
        """Return the predictions at scaled rows, shape (n, q)."""
        found = np.empty((len(rows), len(self.mean)))
        for block in slices(len(rows), _BLOCK):
            found[block] = self.weights[-1] * self.mean
            for kind, weights in zip(self.kinds, self.weights, strict=False):
                if weights.any():
                    here = rows[block] if kind.features.extrapolates else np.clip(rows[block], *self.limits)
                    found[block] += weights * kind.predict(here)
        return found

    def smoother(self, rows: Array, fitted: DealtRows, shares: Array) -> Array:
        """Return how much every unit of the fit counts in predictions at scaled rows, shape (rows, units).

        For targets with common strengths and weights; rows sum to 1. Beyond the rows of the fit they are those at the
        limits of the columns: weights that went on along lines would be those of no distribution.
        """
        within = np.clip(rows, *self.limits)
        found = np.tile(shares, (len(rows), 1))
        for kind, weights in zip(self.kinds, self.weights, strict=False):
            if weights[0]:
                found += weights[0] * kind.smoother(within, fitted)
        return found

    def errors(self, dealt: DealtRows, targets: Targets) -> Array:
        """Return the leave-one-out errors of all dealt rows, shape (n, q)."""
        found = np.empty(targets.values.shape)
        for block in slices(len(found), _BLOCK):
            found[block] = self.weights[-1] * targets.at(block).constant_errors()
            for kind, weights in zip(self.kinds, self.weights, strict=False):
                if weights.any():
                    found[block] += weights * kind.errors(dealt, block, targets)
        return found


def moved_to(ridges: Ridges, dealt: DealtRows, targets: Array, units: Units) -> Ridges:
    """Return the regressions of other targets of the units on the same features."""
    return tuple(tuple(each.of_targets(dealt, targets, units.shares) for each in kind) for kind in ridges)


def r2_of(residuals: Array, targets: Targets) -> Array:
    """Return one minus the leave-one-out squared errors over those of the mean, shape (q,); 0 for constant targets."""
    total = (targets.constant_errors() ** 2).sum(axis=0)
    varies = total > 0.0
    return np.where(varies, 1.0 - (residuals**2).sum(axis=0) / np.where(varies, total, 1.0), 0.0)


class ChosenStack(NamedTuple):
    """A stack, and its mean squared error at the rows that it was chosen on, all targets together."""

    stack: Stack
    loss: float


def best_stack(ridges: Ridges, dealt: DealtRows, targets: Targets, shares: Array | None = None) -> ChosenStack:
    """Return the best strengths and weights by leave-one-out errors, of at most 500 rows.

    ``shares`` says how much every target counts, shape (q,), for targets with common strengths and weights; without
    it, each target has its own.
    """
    some, q = dealt.first(_CHOOSING), len(targets.mean)
    kinds = [_best_strengths(kind, dealt, some, targets, shares) for kind in ridges]
    errors = [kind.errors(dealt, some, targets) for kind in kinds]
    errors.append(targets.at(some).constant_errors())
    by_target = np.stack([each.T for each in errors], axis=1)
    grams = by_target @ np.swapaxes(by_target, 1, 2)
    if shares is not None:
        grams = np.tensordot(shares, grams, axes=1)[None]
    weights = _simplex_weights(grams)
    loss = float(np.einsum("kq,qkl,lq->", weights, grams, weights)) / len(some)
    weights = np.repeat(weights, q // weights.shape[1], axis=1)
    return ChosenStack(Stack(tuple(kinds), weights, targets.mean, dealt.limits), loss)


def _by_fold(ridges: Sequence[RidgeFits], folds: IntArray) -> list[IntArray]:
    """Return the places of the rows that each ridge is for: all for one, those of its fold for several."""
    return [np.flatnonzero(folds % len(ridges) == fold) for fold in range(len(ridges))]


def _best_strengths(
    ridges: tuple[RidgeFits, ...], dealt: DealtRows, some: IntArray, targets: Targets, shares: Array | None
) -> StackedKind:
    """Return a kind with the strength of every target, or one for all, that has the smallest leave-one-out error."""
    loss = np.zeros((len(STRENGTHS), len(targets.mean)))
    for ridge, here in zip(ridges, _by_fold(ridges, dealt.folds[some]), strict=True):
        loss += ridge.losses(ridge.scores_of(dealt, some[here]), targets.at(some[here]))
    if shares is not None:
        loss = np.repeat((loss @ shares)[:, None], loss.shape[1], axis=1)
    return StackedKind(ridges, np.argmin(loss, axis=0))


def _simplex_weights(grams: Array) -> Array:
    """Return minimizers of wᵀ G w on the simplex for many G at once, shape (kinds, problems): steps between corners.

    It ends when no step could gain more than 1e-4 of the error of the best kind, for any G.
    """
    problems = np.arange(len(grams))
    diagonal = np.diagonal(grams, 0, 1, 2)
    best = np.argmin(diagonal, axis=1)
    weights, slopes = np.zeros(diagonal.shape), grams[problems, best].copy()
    weights[problems, best] = 1.0
    enough = _GAIN * diagonal.min(axis=1)
    for _ in range(_STEPS):
        into, out = np.argmin(slopes, axis=1), np.argmax(np.where(weights > 0.0, slopes, -np.inf), axis=1)
        gain = slopes[problems, out] - slopes[problems, into]
        if (gain <= enough).all():
            break
        bend = diagonal[problems, out] + diagonal[problems, into] - 2.0 * grams[problems, out, into]
        step = np.minimum(weights[problems, out], gain / np.maximum(bend, np.finfo(float).tiny))
        weights[problems, into] += step
        weights[problems, out] -= step
        slopes += step[:, None] * (grams[problems, into] - grams[problems, out])
    return np.asarray(weights.T)
