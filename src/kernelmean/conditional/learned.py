"""Features that are learned from the rows of other folds, so that leaving out a row needs no new ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core.array import Array
from .candidates import Curves, GaussianFeatures, Radial, RegressionFeatures, candidates, stacked_curves
from .ridge import Kinds, RidgeFits, Targets
from .rows import FOLDS, DealtRows

_RANK, _FIRST_RANK, _LEARNING, _ROUNDS = 120, 60, 1000, 2


def kinds_of(dealt: DealtRows, targets: Array) -> Kinds:
    """Return the features of all kinds of regression; learned ones for every fold."""
    rows = dealt.rows
    n, d = rows.shape
    if n < 4 or not d:
        return ()
    plain = tuple((each,) for each in candidates(rows, rows[dealt.first(_rank(n))]))
    return (*plain, *_learned(dealt, targets)) if d > 1 and n >= 8 else plain


def _rank(n: int) -> int:
    """Return how many landmarks n rows get."""
    return min(_RANK, 40 + n // 5)


def _learned(dealt: DealtRows, targets: Array) -> Sequence[tuple[RegressionFeatures, ...]]:
    """Return features for every fold, on axes or curves that were learned from the other folds."""
    learned: list[list[RegressionFeatures]] = []
    for fold in range(FOLDS):
        others = dealt.order[dealt.folds[dealt.order] != fold][:_LEARNING]
        rows, outcomes = dealt.rows[others], targets[others]
        learned.append([learned_axes(rows, outcomes), *learned_curves(rows, outcomes)])
    return list(zip(*learned, strict=True))


def _first_fit(features: RegressionFeatures, rows: Array, targets: Array) -> Array:
    """Return the coefficients of a ridge regression, each target with its best strength."""
    ridge = RidgeFits.of(features, rows, targets)
    losses = ridge.losses(ridge.scores(rows), Targets.of(targets))
    return ridge.coefficients(np.argmin(losses, axis=0))


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
