r"""The statistic of a conditional test: products of what Z leaves of X and of Y, and their null by random signs.

With residuals r, s of features of both sides and functions w of Z, every product :math:`p_i = r_{ia} s_{ib} w_{ic}`
has mean 0 if X and Y are independent given Z. A member is :math:`\sum_{abc} λ_{abc} (\sum_i p_i)^2` for some a, b, c;
its null distribution is that under random signs, :math:`\sum_i ε_i p_i` (a wild bootstrap). Members are combined like
the kernels of :func:`kernelmean.hsic_test`. Residuals of a fit depend on each other, so that sums of their products
vary more than random signs say. The signs are multiplied by :math:`(1 - \mathrm{df}/n)^{-1/2}`, df being the smaller of
the degrees of freedom of both sides: exact for projections of noise with equal variances.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...conditional.rows import Targets
from ...conditional.smoothing import Basis, Smoother, gaussian_features, scaled, typical_distance
from ...conditional.stacking import r2_of
from ...core.array import Array, slices
from ...core.frozen import Frozen
from ..adaptive.many_kernels import harmonic

_FEATURES, _RANK, _CLIP, _RIDGE, _LEAST_SCALE, _LEAST_LEFT = 6, 30, 4.0, 0.1, 0.05, 0.2
_DIRECTIONS, _LEADING, _OF_Z, _OF_Z_LEADING = 10, 3, 8, 4
_BLOCK = 4096
NOTHING_LEFT = 1e-6
"""The share of the variance of a column below which Z determines it."""
WEIGHTS = {
    "linear": 1.0,
    "kernel": 1.0,
    "linear, kernel": 0.5,
    "kernel, linear": 0.5,
    "linear by Z": 1.0,
    "kernel by Z": 1.0,
}


@final
@dataclass(frozen=True, eq=False)
class ResidualColumns(Frozen):
    """Residuals of features of one side, with their weights and degrees of freedom."""

    values: Array
    """Shape (n, q), about unit variance."""
    weights: Array
    freedom: Array

    def first(self, number: int) -> ResidualColumns:
        """Return the first columns."""
        return ResidualColumns(self.values[:, :number], self.weights[:number], self.freedom[:number])


@final
@dataclass(frozen=True, eq=False)
class SideResiduals(Frozen):
    """What Z leaves of X, or of Y."""

    residuals: Array
    """Of the scaled columns, shape (n, d)."""
    spread: Array
    """Their fitted deviations, shape (n, d)."""
    r2: Array
    """The share of the variance of every column that Z predicts, by leave-one-out errors, shape (d,)."""
    linear: ResidualColumns
    kernel: ResidualColumns

    @classmethod
    def of(cls, columns: Array, smoother: Smoother) -> SideResiduals:
        """Return residuals of columns, and of a Gaussian kernel's features of these residuals."""
        targets = scaled(columns)
        means = smoother(targets, leave_out=True)
        residuals, left_out = means.residuals, np.asarray(means.left_out)
        left = (residuals**2).mean(axis=0) > NOTHING_LEFT
        if left.any():  # what is left of a column that Z determines is the error of its regression, at any scale
            residuals = residuals * left
        logs = np.log(residuals**2 + _LEAST_SCALE * np.maximum((residuals**2).mean(axis=0), np.finfo(float).tiny))
        spread = np.exp(0.5 * (logs - smoother(logs).residuals))
        rows = np.clip(scaled(residuals / spread), -_CLIP, _CLIP)
        basis = Basis.of(gaussian_features(rows, typical_distance(rows), _RANK)(rows))
        functions = basis.functions[:, ::-1][:, :_FEATURES] * np.sqrt(len(rows))
        smoothed = smoother(functions)
        squares = (smoothed.residuals**2).mean(axis=0)
        whitened = smoothed.residuals / np.sqrt(squares + _RIDGE * squares.max(initial=0.0))
        lines = _leading(scaled(residuals), _DIRECTIONS)
        freedom = np.full(lines.shape[1], means.freedom.min())
        return cls(
            residuals,
            spread,
            np.maximum(r2_of(left_out, Targets.of(targets)), 0.0),
            ResidualColumns(lines, np.ones(lines.shape[1]), freedom),
            ResidualColumns(whitened, basis.values[::-1][:_FEATURES], smoothed.freedom),
        )


def _leading(columns: Array, number: int) -> Array:
    """Return the scores of the leading principal components."""
    _, axes = np.linalg.eigh(columns.T @ columns)
    return np.asarray(columns @ axes[:, ::-1][:, :number])


def functions_of(Z: Array) -> Array:
    """Return eight leading functions of Z that tell where in Z dependence may change, shape (n, 8)."""
    rows = scaled(Z)
    width = typical_distance(rows) * (0.7 if rows.shape[1] == 1 else 1.0)
    basis = Basis.of(gaussian_features(rows, width, _RANK)(rows))
    scores = basis.functions[:, ::-1][:, :_OF_Z] * np.sqrt(len(rows) * basis.values[::-1][:_OF_Z])
    return np.clip(scores, -_LEADING, _LEADING)


@final
@dataclass(frozen=True, eq=False)
class ResidualProducts(Frozen):
    """The products of one member."""

    values: Array
    """Shape (n, columns)."""
    weights: Array
    """λ of the columns."""
    widening: Array
    """By how much more their sums vary than those with random signs, as a deviation, shape (columns,)."""

    @classmethod
    def of(cls, x: ResidualColumns, y: ResidualColumns, of_z: Array | None = None) -> ResidualProducts:
        """Return the products of columns of both sides, and of functions of Z."""
        n = len(x.values)
        values = (x.values[:, :, None] * y.values[:, None, :]).reshape(n, -1)
        weights, freedom = np.outer(x.weights, y.weights).ravel(), np.minimum(x.freedom[:, None], y.freedom).ravel()
        if of_z is not None:
            values = (values[:, :, None] * of_z[:, None, :]).reshape(n, -1)
            weights, freedom = np.repeat(weights, of_z.shape[1]), np.repeat(freedom, of_z.shape[1])
        return cls(values, weights, widening(freedom, n))


def widening(freedom: Array, n: int) -> Array:
    """Return by how much more a sum of products of residuals varies than its terms say, as a deviation."""
    return np.asarray(1.0 / np.sqrt(np.maximum(1.0 - freedom / n, _LEAST_LEFT)))


def products(X: SideResiduals, Y: SideResiduals, Z: Array) -> list[ResidualProducts]:
    """Return the products of all members, in the order of ``WEIGHTS``."""
    of_z = functions_of(Z)
    return [
        ResidualProducts.of(X.linear, Y.linear),
        ResidualProducts.of(X.kernel, Y.kernel),
        ResidualProducts.of(X.linear, Y.kernel),
        ResidualProducts.of(X.kernel, Y.linear),
        ResidualProducts.of(X.linear.first(_LEADING), Y.linear.first(_LEADING), of_z),
        ResidualProducts.of(X.kernel.first(_LEADING), Y.kernel.first(_LEADING), of_z[:, :_OF_Z_LEADING]),
    ]


def signed_statistics(members: list[ResidualProducts], draws: int, rng: np.random.Generator) -> Array:
    """Return the statistic of every member, the observed first, then under random signs, shape (members, 1 + draws)."""
    n = len(members[0].values)
    sums = np.zeros((1 + draws, sum(len(member.weights) for member in members)))
    for block in slices(n, _BLOCK):
        part = np.hstack([member.values[block] for member in members])
        signs = 2.0 * rng.integers(0, 2, size=(draws, len(part)), dtype=np.int8) - 1.0
        sums[0] += part.sum(axis=0)
        sums[1:] += signs @ part
    sums[1:] *= np.concatenate([member.widening for member in members])
    squares, ends = sums**2 / n, np.cumsum([len(member.weights) for member in members])[:-1]
    parts = np.split(squares, ends, axis=1)
    return np.stack([part @ member.weights for part, member in zip(parts, members, strict=True)])


def combined(statistics: Array) -> Array:
    """Return one statistic of all members for the observed signs and every draw, shape (1 + draws,)."""
    weights = np.array(list(WEIGHTS.values()))
    return harmonic(statistics, weights / weights.sum())
