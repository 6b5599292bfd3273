"""Features that are learned from the rows of other folds, so that leaving out a row needs no new ones."""

from __future__ import annotations

import numpy as np

from ..core.array import Array
from .candidates import Curves, GaussianFeatures, Radial, RegressionFeatures, candidates, stacked_curves
from .ridge import Kind, ridges_of
from .rows import FOLDS, DealtRows, Targets

_RANK, _FIRST_RANK, _LEARNING, _ROUNDS = 120, 60, 1000, 2


def kinds_of(dealt: DealtRows, targets: Array) -> list[Kind]:
    """Return the features of all kinds of regression; learned ones for every fold."""
    rows = dealt.rows
    n, d = rows.shape
    if n < 4 or not d:
        return []
    found: list[Kind] = [(each, None) for each in candidates(rows, rows[dealt.first(_rank(n))])]
    for fold in range(FOLDS) if d > 1 and n >= 8 else ():
        others = dealt.order[dealt.folds[dealt.order] != fold][:_LEARNING]
        found.append((learned_axes(rows[others], targets[others]), fold))
        found += [(each, fold) for each in learned_curves(rows[others], targets[others])]
    return found


def _rank(n: int) -> int:
    """Return how many landmarks n rows get."""
    return min(_RANK, 40 + n // 5)


def _first_fit(features: RegressionFeatures, rows: Array, targets: Array) -> Array:
    """Return the coefficients of a ridge regression, each target with its best strength."""
    every = Targets.of(targets)
    (ridge,) = ridges_of([(features, None)], [(rows, targets)], every.mean)
    return ridge.coefficients(np.argmin(ridge.losses(ridge.scores(rows), every), axis=0))


def learned_curves(rows: Array, targets: Array) -> list[Curves]:
    """Return curves that vary more along columns that the targets change with; none where there are no curves."""
    first = stacked_curves(rows, fine=True)
    return [each.weighted(rows, _first_fit(each, rows, targets)) for each in first]


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
