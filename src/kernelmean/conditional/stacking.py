"""Regressions of several kinds, stacked by their exact leave-one-out errors: the core of conditional means.

Stacked regression: Breiman (1996). Features that are learned come from the rows of other folds, so that leaving out a
row needs no new ones; gradients that learned axes follow: Hristache, Juditsky, Polzehl & Spokoiny (2001).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core.array import Array, IntArray, slices
from ..core.frozen import Frozen
from ..core.simplex_qp import lightest_mixtures
from .candidates import GaussianFeatures, Radial, RegressionFeatures, candidates, stacked_curves
from .ridge import EVERY, Kind, RidgeFits, Ridges, ridges_of
from .rows import FOLDS, DealtRows, Targets

_CHOOSING, _BLOCK, _RANK, _FIRST_RANK, _LEARNING, _ROUNDS, _LEFT_OUT = 500, 4096, 120, 60, 1000, 2, 1e-3


def kinds_of(dealt: DealtRows, targets: Array) -> list[Kind]:
    """Return the features of all kinds of regression; learned ones for every fold."""
    rows, targets = dealt.rows, targets @ leading_axes(targets, np.ones(targets.shape[1]))
    n, d = rows.shape
    if n < 4 or not d:
        return []
    kinds: list[Kind] = [(each, None) for each in candidates(rows, rows[dealt.order[: _rank(n)]])]
    for fold in range(FOLDS) if d > 1 and n >= 8 else ():
        others = dealt.order[dealt.folds[dealt.order] != fold][:_LEARNING]
        x, y = rows[others], targets[others]
        kinds.append((learned_axes(x, y), fold))
        kinds += [(each.weighted(x, _first_fit(each, x, y)), fold) for each in stacked_curves(x, len(x), fine=True)]
    return kinds


def _rank(n: int) -> int:
    """Return how many landmarks n rows get."""
    return min(_RANK, 40 + n // 5)


def _first_fit(features: RegressionFeatures, rows: Array, targets: Array) -> Array:
    """Return the coefficients of a ridge regression, each target with its best strength."""
    every = Targets.of(targets)
    (ridge,) = ridges_of([(features, None)], [(rows, targets)], every.mean)
    errors = ridge.errors(ridge.scores(rows), every, EVERY)
    return ridge.coefficients(np.argmin(np.einsum("nsq,nsq->sq", errors, errors), axis=0))


def learned_axes(rows: Array, targets: Array) -> Radial:
    """Return a kernel on axes that are stretched by how much the targets change along them."""
    d = rows.shape[1]
    axes = np.eye(d)
    for _ in range(_ROUNDS):
        kind = Radial(GaussianFeatures.of(1.4 * np.sqrt(d), rows[:_FIRST_RANK] @ axes), axes, "first fit")
        values, vectors = np.linalg.eigh(kind.moment(rows, _first_fit(kind, rows, targets)))
        stretch = np.sqrt(np.maximum(values, 0.0))
        if not stretch.any():
            break
        axes = vectors * (stretch * np.sqrt(d / (stretch**2).sum()))
    return Radial(GaussianFeatures.of(np.sqrt(d), rows[: _rank(len(rows))] @ axes), axes, "learned axes")


@final
@dataclass(frozen=True, eq=False)
class Stack(Frozen):
    """Regressions of several kinds with their strengths and weights; of a kind that was learned, one for every fold."""

    ridges: Ridges
    chosen: IntArray
    """The numbers of the strengths, of all targets, shape (ridges, 1)."""
    weights: Array
    """Those of their kinds, shape (ridges + 1, 1), the constant last."""
    mean: Array
    """Of the targets, shape (q,)."""
    limits: Array
    """The least and the largest of every column of the fit, shape (2, d)."""
    loss: float
    """The mean squared leave-one-out error at the rows that it was chosen on, all targets together."""

    def _used(self) -> list[tuple[RidgeFits, IntArray, Array]]:
        """Return the regressions that count, with their strengths and weights."""
        every = zip(self.ridges, self.chosen, self.weights, strict=False)
        return [(ridge, chosen, weights) for ridge, chosen, weights in every if weights.any()]

    def predict(self, rows: Array) -> Array:
        """Return the predictions at scaled rows, shape (n, q); of a kind for every fold, the mean over folds."""
        predictions = np.tile(self.mean, (len(rows), 1))
        for block in slices(len(rows), _BLOCK):
            within = np.clip(rows[block], *self.limits)
            for ridge, chosen, weights in self._used():
                here = rows[block] if ridge.features.extrapolates else within
                centered = ridge.features(here) - ridge.center
                predictions[block] += ridge.share * weights * (centered @ ridge.coefficients(chosen))
        return predictions

    def smoother(self, rows: Array, fitted: DealtRows, shares: Array) -> Array:
        """Return how much units, with some shares of the rows, count in predictions at scaled rows, (rows, units).

        Beyond the rows of the fit they are those at the limits of the columns: weights that went on along lines would
        be those of no distribution.
        """
        within, counts = np.clip(rows, *self.limits), np.tile(shares, (len(rows), 1))
        for ridge, chosen, weights in self._used():
            counts += ridge.share * weights[0] * ridge.smoother(within, fitted, chosen)
        return counts

    def errors(self, dealt: DealtRows, targets: Targets) -> Array:
        """Return the leave-one-out errors of all dealt rows, shape (n, q)."""
        errors = self.weights[-1] * targets.constant_errors()
        for block in slices(len(errors), _BLOCK):
            for ridge, chosen, weights in self._used():
                here = block.start + ridge.places(dealt.folds[block])
                errors[here] += weights * ridge.errors(ridge.scores_of(dealt, here), targets.at(here), chosen)
        return errors


def r2_of(residuals: Array, targets: Targets) -> Array:
    """Return one minus the leave-one-out squared errors over those of the mean, shape (q,); 0 for constant targets."""
    total = (targets.constant_errors() ** 2).sum(axis=0)
    varies = total > 0.0
    return np.where(varies, 1.0 - (residuals**2).sum(axis=0) / np.where(varies, total, 1.0), 0.0)


def leading_axes(targets: Array, shares: Array) -> Array:
    """Return axes of targets that hold all but a thousandth of their variance, which shares weight, (q, axes)."""
    weighted = (targets - targets.mean(axis=0)) * np.sqrt(shares)
    values, axes = np.linalg.eigh(weighted.T @ weighted)
    return np.asarray(np.sqrt(shares)[:, None] * axes[:, np.cumsum(values) > _LEFT_OUT * values.sum()])


def best_stack(ridges: Ridges, dealt: DealtRows, targets: Targets, shares: Array) -> Stack:
    """Return the best strengths and weights by leave-one-out errors, of at most 500 rows, the same for all targets.

    ``shares`` says how much every target counts, shape (q,). They are chosen on leading axes of the targets.
    """
    some, axes = dealt.order[:_CHOOSING], leading_axes(targets.values, shares)
    here = Targets(targets.values @ axes, targets.sources @ axes, targets.mean @ axes, targets.n_rows).at(some)
    names = list(dict.fromkeys(ridge.features.name for ridge in ridges))
    chosen, errors = np.empty((len(names), 1), dtype=np.intp), np.empty((axes.shape[1], len(names) + 1, len(some)))
    errors[:, -1] = here.constant_errors().T
    for kind, name in enumerate(names):
        of_kind = np.empty((len(some), len(EVERY), axes.shape[1]))
        for ridge in ridges:
            if ridge.features.name == name:
                places, turned = ridge.places(dealt.folds[some]), replace(ridge, moments=ridge.moments @ axes)
                of_kind[places] = turned.errors(ridge.scores_of(dealt, some[places]), here.at(places), EVERY)
        chosen[kind] = best = np.einsum("nsq,nsq->sq", of_kind, of_kind).sum(axis=1).argmin()
        errors[:, kind] = of_kind[:, best].T
    gram = (errors @ np.swapaxes(errors, 1, 2)).sum(axis=0)
    weights = lightest_mixtures(gram[None])
    loss = float(weights[:, 0] @ gram @ weights[:, 0]) / len(some)
    kinds = [names.index(ridge.features.name) for ridge in ridges]
    return Stack(ridges, chosen[kinds], weights[[*kinds, -1]], targets.mean, dealt.limits, loss)
