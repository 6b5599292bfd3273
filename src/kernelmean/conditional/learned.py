"""Features that are learned from the rows of other folds, so that leaving out a row needs no new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array, IntArray
from .candidates import Curves, GaussianFeatures, Radial, RegressionFeatures, candidates, stacked_curves
from .ridge import RidgeFits

Ridges = tuple[tuple[RidgeFits, ...], ...]
"""Regressions of several kinds: one, or one for every fold."""
FOLDS = 2
_RANK, _FIRST_RANK, _LEARNING, _ROUNDS = 120, 60, 1000, 2


@final
@dataclass(frozen=True, eq=False)
class DealtRows:
    """Scaled rows, dealt into folds, in a random order."""

    rows: Array
    order: IntArray
    folds: IntArray
    """The fold of every row, shape (n,)."""

    @classmethod
    def of(cls, rows: Array, targets: Array, rng: np.random.Generator) -> DealtRows:
        """Deal rows, in a way that does not depend on their order: by random sums of their numbers."""
        keys = [(each * rng.normal(size=each.shape[1])).sum(axis=1) for each in (targets, rows)]
        places, folds = np.lexsort(keys), np.empty(len(rows), dtype=np.intp)
        folds[places] = rng.permutation(len(rows)) % FOLDS
        return cls(rows, places[rng.permutation(len(rows))], folds)

    def first(self, size: int) -> IntArray:
        """Return the numbers of some rows drawn at random: all, if they are that few."""
        return self.order[:size]


def ridges_of(dealt: DealtRows, targets: Array) -> Ridges:
    """Return the ridge regressions of all kinds; of learned features, one for every fold."""
    rows = dealt.rows
    n, d = rows.shape
    if n < 4 or not d:
        return ()
    plain = [(each,) for each in candidates(rows, rows[dealt.order[: _rank(n)]])]
    learned = _learned(dealt, targets) if d > 1 and n >= 8 else []
    return tuple(tuple(RidgeFits.of(each, rows, targets) for each in kind) for kind in [*plain, *learned])


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
    return ridge.coefficients(np.argmin(ridge.losses(ridge.scores_of(rows, slice(None)), targets), axis=0))


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
