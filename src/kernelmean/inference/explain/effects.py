"""The two vectors of feature space whose lengths are effects: the difference of two means, and the cross-covariance."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ...core.array import Array
from .cells import Cells, others_are_rare
from .feature_mean import FeatureMean
from .gram_features import Features
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject

_NOTHING = 1e-14  # of k(x, x): what rounding leaves of a variance of 0
_LEAST_UNITS = 4.0 - 1e-9  # for an unbiased tr C²


@final
@dataclass(frozen=True, eq=False)
class Effect:
    """A vector of feature space, the number that makes its squared length free of units, and a standard error."""

    mean: FeatureMean
    scale: float
    """Mean feature variance within the samples, or √(HSIC(X, X) HSIC(Y, Y)); 0 when it is only rounding."""
    defined: bool
    """Whether the ratio to the scale is more than 0/0."""
    rare: bool
    """Whether too few rows of a variable, or too few changes within pairs, differ from the rest for an upper limit."""

    @property
    def standard_error(self) -> float:
        r"""Return that of |D|², :math:`\sqrt{4 (⟨D, CD⟩ - \mathrm{tr} C^2)_+ + 2 \mathrm{tr} C^2}`, with û for u."""
        mean, noise = self.mean, max(squared_noise(self.mean), 0.0)
        along = mean.direction_variance() * mean.total if mean.total > 0.0 else 0.0
        return float(np.sqrt(4.0 * max(along - noise, 0.0) + 2.0 * noise))


def difference_of_means(subject: SampleSubject | DesignedSubject) -> Effect:
    """Return μ_X - μ_Y, and the mean variance of the features of rows within the strata of the samples."""
    contrast = subject.contrast
    cells, points = contrast.cells, subject.rows[contrast.rows]
    lengths = contrast.units.means(subject.kernel.diag(points))
    features = Features.of_rows(subject.kernel, points, subject.plan).of_units(contrast.units)
    mean = _mean(features, cells, (1.0, -1.0), (1, 0))
    centers = np.diagonal(mean.products).reshape(cells.masses.shape) - mean.variances / cells.masses**2
    variance = float(cells.weights @ lengths - (cells.masses * centers).sum()) / 2
    nothing = _NOTHING * float(np.abs(cells.weights) @ np.abs(lengths)) / 2
    scale = variance if variance > nothing else 0.0
    if scale > 0.0:
        mean = replace(mean, scale_influence=(lengths[:, None] / 2 - _beside(mean)) / scale)
    rare = False
    if contrast.is_joint:
        mean = _of_pairs(mean)
        unchanged = int(np.count_nonzero(mean.features.diagonal <= _NOTHING * np.abs(lengths).max()))
        rare = others_are_rare(unchanged, mean.features.n)
    return Effect(mean, scale, scale > 0.0 or mean.squared > nothing, rare)


def _mean(features: Features, cells: Cells, signs: tuple[float, ...], lenders: tuple[int, ...]) -> FeatureMean:
    """Return the signed mean of features, without the influence of units on a scale."""
    none = np.zeros((features.n, len(signs)))
    return FeatureMean(features, cells, signs, lenders, features.exact(cells.indicators), none)


def _beside(mean: FeatureMean) -> Array:
    """Return every feature's inner product with the mean of every group in its stratum, shape (n, groups)."""
    strata = mean.cells.strata
    columns = (mean.cells.cell % strata)[:, None] + strata * np.arange(len(mean.signs))
    return np.take_along_axis(mean.means, columns, axis=1)


def _of_pairs(apart: FeatureMean) -> FeatureMean:
    """Return the same vector as the mean of differences, of unit i of the first group and unit i of the second."""
    half = apart.features.n // 2
    first, second = np.split(apart.projections, 2)
    influence = apart.scale_influence[:half, 0] + apart.scale_influence[half:, 1]
    cells = Cells(apart.cells.weights[:half], apart.cells.cell[:half], 1)
    means = (first - second)[:, None] / cells.masses
    return FeatureMean(apart.features.differences(), cells, (1.0,), (0,), means, influence[:, None])


def cross_covariance(pairs: PairSubject) -> Effect:
    """Return the cross-covariance operator, and the geometric mean of the squared norms of the two covariances."""
    units, cells = pairs.units()
    first, second = (_squared_covariance(pairs, side) for side in (0, 1))
    nothing = [(_NOTHING * float(np.abs(gram.raw_diagonal).mean())) ** 2 for gram in pairs.centered]
    scale = float(np.sqrt(first * second)) if first > nothing[0] and second > nothing[1] else 0.0
    mean = _mean(pairs.features().of_units(units.twice()), cells.twice(), (1.0, 0.0), (1,))
    if scale > 0.0:
        counted = units.spread(cells.weights[:, None])[:, 0]
        relative = [pairs.products((side, side), counted) / squared for side, squared in enumerate((first, second))]
        influence = np.concatenate([relative[0] + relative[1], relative[0] + relative[1][pairs.partner]])
        mean = replace(mean, scale_influence=np.stack([units.twice().means(influence), np.zeros(mean.features.n)], 1))
    if pairs.design is None:
        mean = replace(mean, unbiased=float(pairs.unbiased_products().mean()))
    varies = all(bool((table != table[0]).any()) for table in pairs.tables)
    return Effect(mean, scale, varies, pairs.rare)


def _squared_covariance(pairs: PairSubject, side: int) -> float:
    """Return an estimate of the squared norm of the covariance of a variable."""
    if pairs.design is None:
        return float(pairs.unbiased_products((side, side)).mean())
    units, cells = pairs.units()
    return _mean(pairs.features_of(side).of_units(units), cells, (1.0,), (0,)).squared


def squared_noise(mean: FeatureMean) -> float:
    r"""Return tr C², of distances of features from the means of their cells.

    Of equal units it is unbiased: with the Gram matrix A of the n distances in a cell, the sum of squares of that of
    Székely & Rizzo (2014) is :math:`\sum_{ij} A_{ij}^2 - n/(n-2) \sum_i A_{ii}^2 + (\mathrm{tr} A)^2/((n-1)(n-2))`.
    """
    cells, last = mean.cells, mean.cells.groups[mean.active[-1]].stop
    cell, raw, means, products = cells.cell[:last], mean.features.blocks, mean.means, mean.products
    units, many = np.arange(last), int(cell[-1]) + 1

    def squares(i: slice, j: slice) -> Array:
        across, along = means[i][:, cell[j]], means[j][:, cell[i]].T
        distances = raw(i, j) - across - along + products[cell[i]][:, cell[j]]
        return np.square(cells.scales[i, None] * cells.scales[j] * distances)

    inside = (cell[:, None] == np.arange(many)).astype(np.float64)
    sums = inside.T @ mean.features.plan.matmul(squares, last, last, inside, symmetric=True)
    lengths = mean.features.diagonal[:last] - 2 * means[units, cell] + products[cell, cell]
    diagonal = cells.scales[:last] ** 2 * lengths
    within, trace, n = np.diagonal(sums), inside.T @ diagonal, cells.worth.ravel()[:many]
    enough, some = n >= _LEAST_UNITS, np.maximum(n, _LEAST_UNITS)
    unbiased = within - some / (some - 2) * (inside.T @ diagonal**2) + trace**2 / ((some - 1) * (some - 2))
    unbiased = np.where(enough, unbiased * (some - 1) ** 2 / (some * (some - 3)), within * ((n - 1) / n) ** 2)
    return float(sums.sum() - within.sum() + unbiased.sum())
