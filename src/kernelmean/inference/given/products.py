r"""The statistic of a conditional test: products of what Z leaves of X and of Y, and their null by random signs.

With residuals r, s of features of both sides and functions w of Z, every product :math:`p_i = r_{ia} s_{ib} w_{ic}`
has mean 0 if X and Y are independent given Z. A member is :math:`\sum_{abc} λ_{abc} (\sum_i p_i)^2` for some a, b, c;
its null distribution is that under random signs, :math:`\sum_i ε_i p_i` (a wild bootstrap). Members are combined like
the kernels of :func:`kernelmean.hsic_test`. Residuals of a fit depend on each other, so that sums of their products
vary more than random signs say. The signs are multiplied by :math:`(1 - \mathrm{df}/n)^{-1/2}`, df being the smaller of
the degrees of freedom of both sides: exact for projections of noise with equal variances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ...conditional.smoothing import Basis, Smoother, gaussian_features, scaled, typical_distance
from ...core.array import Array, slices
from ...core.frozen import Frozen
from ..adaptive.many_kernels import harmonic
from .ci_result import MemberPvalue

_FEATURES, _RANK, _CLIP, _RIDGE, _LEAST_SCALE, _LEAST_LEFT = 6, 30, 4.0, 0.1, 0.05, 0.2
_DIRECTIONS, _LEADING, _OF_Z, _OF_Z_LEADING = 10, 3, 8, 4
_BLOCK, _ROUNDING = 4096, 1e-10
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
    """Residuals of features of one side, or products of residuals, with their weights and degrees of freedom."""

    values: Array
    """Shape (n, q), about unit variance for residuals."""
    weights: Array
    freedom: Array

    def first(self, number: int) -> ResidualColumns:
        """Return the first columns."""
        return ResidualColumns(self.values[:, :number], self.weights[:number], self.freedom[:number])

    def times(self, other: ResidualColumns) -> ResidualColumns:
        """Return the products of all pairs of columns of two tables."""
        values = (self.values[:, :, None] * other.values[:, None, :]).reshape(len(self.values), -1)
        freedom = np.minimum(self.freedom[:, None], other.freedom).ravel()
        return ResidualColumns(values, np.outer(self.weights, other.weights).ravel(), freedom)


@final
@dataclass(frozen=True, eq=False)
class SideResiduals(Frozen):
    """What Z leaves of X, or of Y."""

    residuals: Array
    """Of the scaled columns, shape (n, d)."""
    spread: Array
    """Their fitted deviations, shape (n, d)."""
    linear: ResidualColumns
    kernel: ResidualColumns

    @classmethod
    def of(cls, columns: Array, smoother: Smoother) -> SideResiduals:
        """Return residuals of columns, and of a Gaussian kernel's features of these residuals."""
        targets = scaled(columns)
        residuals, freedom = smoother(targets)
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
        lines = scaled(residuals)
        lines = lines @ np.linalg.eigh(lines.T @ lines)[1][:, ::-1][:, :_DIRECTIONS]  # leading principal components
        linear = ResidualColumns(lines, np.ones(lines.shape[1]), np.full(lines.shape[1], freedom.min()))
        kernel = ResidualColumns(whitened, basis.values[::-1][:_FEATURES], smoothed.freedom)
        return cls(residuals, spread, linear, kernel)


def functions_of(Z: Array) -> ResidualColumns:
    """Return eight leading functions of Z that tell where in Z dependence may change; they take no freedom."""
    rows = scaled(Z)
    width = typical_distance(rows) * (0.7 if rows.shape[1] == 1 else 1.0)
    basis = Basis.of(gaussian_features(rows, width, _RANK)(rows))
    scores = basis.functions[:, ::-1][:, :_OF_Z] * np.sqrt(len(rows) * basis.values[::-1][:_OF_Z])
    ones = np.ones(scores.shape[1])
    return ResidualColumns(np.clip(scores, -_LEADING, _LEADING), ones, np.inf * ones)


def widening(freedom: Array, n: int) -> Array:
    """Return by how much more a sum of products of residuals varies than its terms say, as a deviation."""
    return np.asarray(1.0 / np.sqrt(np.maximum(1.0 - freedom / n, _LEAST_LEFT)))


def products(X: SideResiduals, Y: SideResiduals, Z: Array) -> list[ResidualColumns]:
    """Return the products of all members, in the order of ``WEIGHTS``."""
    of_z = functions_of(Z)
    return [
        X.linear.times(Y.linear),
        X.kernel.times(Y.kernel),
        X.linear.times(Y.kernel),
        X.kernel.times(Y.linear),
        X.linear.first(_LEADING).times(Y.linear.first(_LEADING)).times(of_z),
        X.kernel.first(_LEADING).times(Y.kernel.first(_LEADING)).times(of_z.first(_OF_Z_LEADING)),
    ]


def signed_statistics(members: list[ResidualColumns], draws: int, rng: np.random.Generator) -> Array:
    """Return the statistic of every member, the observed first, then under random signs, shape (members, 1 + draws)."""
    n = len(members[0].values)
    sums = np.zeros((1 + draws, sum(len(member.weights) for member in members)))
    for block in slices(n, _BLOCK):
        part = np.hstack([member.values[block] for member in members])
        signs = 2.0 * rng.integers(0, 2, size=(draws, len(part)), dtype=np.int8) - 1.0
        sums[0] += part.sum(axis=0)
        sums[1:] += signs @ part
    sums[1:] *= np.concatenate([widening(member.freedom, n) for member in members])
    squares, ends = sums**2 / n, np.cumsum([len(member.weights) for member in members])[:-1]
    parts = np.split(squares, ends, axis=1)
    return np.stack([part @ member.weights for part, member in zip(parts, members, strict=True)])


def pvalue_of(
    sides: Sequence[SideResiduals], Z: Array, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float, tuple[MemberPvalue, ...]]:
    """Return the combined statistic with its p-value, and those of the members."""
    statistics = signed_statistics(products(sides[0], sides[1], Z), n_resamples, rng)
    weights = np.array(list(WEIGHTS.values()))
    together = harmonic(statistics, weights / weights.sum())
    slack = _ROUNDING * (1.0 + np.abs(together).max())
    shares = (statistics >= statistics[:, :1] * (1.0 - _ROUNDING)).mean(axis=1)
    members = tuple(MemberPvalue(name, float(share)) for name, share in zip(WEIGHTS, shares, strict=True))
    return float(together[0]), float((together >= together[0] - slack).mean()), members
