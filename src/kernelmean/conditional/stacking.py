"""Regressions of several kinds, stacked by their exact leave-one-out errors: the core of conditional means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from ..core.array import Array, IntArray, RngLike, as_rng, slices
from ..core.frozen import Frozen
from ..plan.plan import serial_blas
from .candidates import Curves, GaussianFeatures, Radial, RegressionFeatures, candidates, curves
from .ridge import RidgeFits

_RANK, _FIRST_RANK, _CHOOSING, _LEARNING, _FOLDS, _ROUNDS, _BLOCK = 100, 60, 500, 1000, 2, 2, 4096
_STEPS, _GAIN = 500, 1e-4


@final
@dataclass(frozen=True, eq=False)
class StackedKind(Frozen):
    """One kind of regression: a ridge, or one for every fold, whose axes were learned from the other folds."""

    ridges: tuple[RidgeFits, ...]
    chosen: IntArray
    """The number of the strength of every target, shape (q,)."""

    @property
    def name(self) -> str:
        """The candidate in words."""
        return self.ridges[0].candidate.name

    def predict(self, rows: Array) -> Array:
        """Return the predictions at scaled rows, shape (n, q): the mean over folds."""
        return np.asarray(sum(ridge.predict(rows, self.chosen) for ridge in self.ridges) / len(self.ridges))

    def errors(self, rows: Array, targets: Array, folds: IntArray) -> Array:
        """Return the leave-one-out errors of rows of the fit, shape (n, q)."""
        found = np.empty_like(targets)
        for fold, ridge in enumerate(self.ridges):
            here = folds % len(self.ridges) == fold
            found[here] = ridge.errors(ridge.scores(rows[here]), targets[here], self.chosen)
        return found


@final
@dataclass(frozen=True, eq=False)
class Stacked(Frozen):
    """The conditional mean of targets given rows, with its exact leave-one-out errors."""

    residuals: Array
    """y_i minus the prediction without row i, shape (n, q)."""
    fitted: Array
    """The predictions without row i, shape (n, q)."""
    r2: Array
    """One minus the leave-one-out squared error over that of the mean, shape (q,); 0 for constant targets."""
    weights: Array
    """Of the kinds, the constant last, shape (kinds + 1, q); columns sum to 1."""
    kinds: tuple[StackedKind, ...]
    mean: Array
    scaling: ScaledColumns

    @property
    def names(self) -> tuple[str, ...]:
        """The kinds in words, in the order of the weights."""
        return (*(kind.name for kind in self.kinds), "constant")

    def predict(self, Z: Array) -> Array:
        """Return the predictions at new rows, shape (n, q)."""
        found = np.empty((len(Z), len(self.mean)))
        for block in slices(len(Z), _BLOCK):
            rows, found[block] = self.scaling(Z[block]), self.weights[-1] * self.mean
            for kind, weights in zip(self.kinds, self.weights, strict=False):
                if weights.any():
                    found[block] += weights * kind.predict(rows)
        return found


@final
@dataclass(frozen=True, eq=False)
class ScaledColumns(Frozen):
    """Columns about their means, in units of their deviations; constant ones are left out."""

    center: Array
    scale: Array
    varying: IntArray
    """The numbers of the columns that vary."""
    limits: tuple[Array, Array]
    """The least and the largest of every column."""

    @classmethod
    def of(cls, Z: Array) -> ScaledColumns:
        """Return the scaling of a table."""
        varying = np.flatnonzero(np.ptp(Z, axis=0) > 1e-12 * np.abs(Z).max(axis=0))
        columns = Z[:, varying]
        return cls(columns.mean(axis=0), columns.std(axis=0), varying, (columns.min(axis=0), columns.max(axis=0)))

    def __call__(self, Z: Array) -> Array:
        """Return scaled rows, shape (n, columns that vary), at the limits where they are beyond."""
        return np.asarray((np.clip(Z[:, self.varying], *self.limits) - self.center) / self.scale)


def stacked(Z: Array, targets: Array, *, rng: RngLike = 0, common: bool = False) -> Stacked:
    r"""Return ridge regressions of several kinds, weighted so that their leave-one-out error is smallest.

    Parameters
    ----------
    Z : array of shape (n, d)
        At least two rows of finite numbers. Columns are divided by their deviations; constant ones are left out.
    targets : array of shape (n, q)
        Finite numbers.
    rng : int or Generator
        Draws landmarks, folds and, beyond 500 rows, the rows that strengths and weights are chosen on.
    common : bool
        Whether all targets share strengths and weights, as the coordinates of one vector do.

    Notes
    -----
    Kinds: linear; products of degree 2; a curve of every column (two widths); Gaussian kernels of all columns (four
    widths); a Gaussian kernel on learned axes, which are stretched by the mean outer product of the gradients of a
    first fit; and the constant. Kernels stand on at most 100 landmarks. Axes are learned from the other half of the
    rows. With landmarks, axes, strengths and weights as they are, the errors are exactly those of fits without the
    row. O(n m (m + q)) time for m landmarks.

    Stacked regression: Breiman (1996). Gradients: Hristache, Juditsky, Polzehl & Spokoiny (2001).
    """
    rng, n = as_rng(rng), len(Z)
    scaling = ScaledColumns.of(Z)
    rows, folds = scaling(Z), rng.permutation(n) % _FOLDS
    mean = targets.mean(axis=0)
    with serial_blas:
        tried = _tried(rows, targets, folds, rng, common)
        left = [*tried.errors, (targets[tried.rows] - mean) * (n / (n - 1.0))]
        weights = np.repeat(_simplex_weights(_grams(left, common)), targets.shape[1] if common else 1, axis=1)
        residuals = np.empty(targets.shape)
        for block in slices(n, _BLOCK):
            residuals[block] = weights[-1] * (targets[block] - mean) * (n / (n - 1.0))
            for kind, share in zip(tried.kinds, weights, strict=False):
                if share.any():
                    residuals[block] += share * kind.errors(rows[block], targets[block], folds[block])
    total = ((targets - mean) ** 2).sum(axis=0) * (n / (n - 1.0)) ** 2
    r2 = np.where(total > 0.0, 1.0 - (residuals**2).sum(axis=0) / np.where(total > 0.0, total, 1.0), 0.0)
    return Stacked(residuals, targets - residuals, r2, weights, tuple(tried.kinds), mean, scaling)


def _rank(n: int) -> int:
    """Return how many landmarks n rows get."""
    return min(_RANK, 40 + n // 10)


class Tried(NamedTuple):
    """All kinds, each with its best strengths, and their errors at the rows that these were chosen on."""

    kinds: list[StackedKind]
    rows: IntArray
    errors: list[Array]


def _tried(rows: Array, targets: Array, folds: IntArray, rng: np.random.Generator, common: bool) -> Tried:
    n, d = rows.shape
    order = rng.permutation(n)
    some = np.sort(order[:_CHOOSING])
    if n < 4 or not d:
        return Tried([], some, [])
    ridges: list[tuple[RidgeFits, ...]] = [
        (RidgeFits.of(each, rows, targets),) for each in candidates(rows, rows[order[: _rank(n)]])
    ]
    if d > 1 and n >= 8:
        ridges += _learned(rows, targets, folds, order)
    kinds: list[StackedKind] = []
    errors: list[Array] = []
    for each in ridges:
        here = [folds[some] % len(each) == fold for fold in range(len(each))]
        scores = [ridge.scores(rows[some[mask]]) for ridge, mask in zip(each, here, strict=True)]
        loss = sum(r.losses(s, targets[some[mask]]) for r, s, mask in zip(each, scores, here, strict=True))
        if common:
            loss = np.repeat(np.sum(loss, axis=1, keepdims=True), targets.shape[1], axis=1)
        kinds.append(StackedKind(each, np.argmin(loss, axis=0)))
        errors.append(np.empty((len(some), targets.shape[1])))
        for r, s, mask in zip(each, scores, here, strict=True):
            errors[-1][mask] = r.errors(s, targets[some[mask]], kinds[-1].chosen)
    return Tried(kinds, some, errors)


def _learned(rows: Array, targets: Array, folds: IntArray, order: IntArray) -> list[tuple[RidgeFits, ...]]:
    """Return candidates with a ridge for every fold, on axes or curves that were learned from the other folds."""
    learned: list[list[RegressionFeatures]] = []
    for fold in range(_FOLDS):
        others = order[folds[order] != fold][:_LEARNING]
        learned.append([learned_axes(rows[others], targets[others]), *learned_curves(rows[others], targets[others])])
    return [tuple(RidgeFits.of(candidate, rows, targets) for candidate in each) for each in zip(*learned, strict=True)]


def _first_fit(candidate: RegressionFeatures, rows: Array, targets: Array) -> Array:
    """Return the coefficients of a ridge regression, each target with its best strength."""
    ridge = RidgeFits.of(candidate, rows, targets)
    return ridge.coefficients(np.argmin(ridge.losses(ridge.scores(rows), targets), axis=0))


def learned_curves(rows: Array, targets: Array) -> list[Curves]:
    """Return curves that vary more along columns that the targets change with; none where there are no curves."""
    first = curves(rows, fine=True)
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


def _grams(errors: list[Array], common: bool) -> Array:
    """Return the inner products of the errors of kinds, shape (q, kinds, kinds), or (1, ...) for all targets."""
    by_target = np.stack([each.T for each in errors], axis=1)
    grams = by_target @ np.swapaxes(by_target, 1, 2)
    return np.asarray(grams.sum(axis=0, keepdims=True) if common else grams)


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
