r"""Directions in which the distributions of bags differ, and the best linear prediction of their means along these.

The mean of a bag of n rows varies because distributions differ, with covariance B, and because rows were drawn, with
covariance W/n. The covariance of the means of bags, less W times the mean of 1/n, is an unbiased estimate of B. The
directions :math:`u_j` solve :math:`B u = b (W + ρ) u`, and along these a mean becomes

.. math:: \frac{b_j}{b_j + w_j / n} \, u_j^\top (\bar x - \bar m) , \qquad w_j = u_j^\top W u_j .

The ridge ρ, since an estimate of W is noisy, too, is a part of the largest eigenvalue of W.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ..core.array import Array, IntArray
from ..core.frozen import Frozen
from .group_rows import GroupedRows

_FOLDS, _RIDGE = 5, 0.05
_ROUNDING = 1e-12


@final
@dataclass(frozen=True, eq=False)
class Directions(Frozen):
    """A linear map of the means of bags, which leaves out most of their noise."""

    origin: Array
    """The mean of the means of bags, shape (m,)."""
    axes: Array
    """Shape (m, k)."""
    signal: Array
    """b, shape (k,), in descending order."""
    noise: Array
    """w, shape (k,)."""

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        super().__post_init__()
        shapes = self.origin.shape, self.axes.shape, self.signal.shape, self.noise.shape
        if shapes != ((len(self.axes),), (len(self.axes), self.size), (self.size,), (self.size,)):
            raise ValueError(f"directions of shapes {shapes} do not go together")

    @classmethod
    def of(cls, means: Array, sizes: IntArray, scatter: Array) -> Self:
        """Return as many directions as there are features, from the means of bags, shape (T, m), and their sizes.

        The scatter, shape (m, m), sums over all rows the products of deviations from the mean of their bag.
        """
        within = scatter / max(int(sizes.sum()) - len(sizes), 1)
        between = np.atleast_2d(np.cov(means, rowvar=False)) - within * np.mean(1.0 / sizes)
        variances, axes = np.linalg.eigh(within)
        if variances[-1] > _ROUNDING**2 * np.einsum("tm,tm->", means, means):  # else all rows of every bag are equal
            axes = axes / np.sqrt(np.maximum(variances, 0.0) + _RIDGE * variances[-1])
        signal, turned = np.linalg.eigh(axes.T @ between @ axes)
        signal, axes = signal[::-1], axes @ turned[:, ::-1]
        places = (means - means.mean(axis=0)) @ axes
        axes *= np.where(places.max(axis=0) < -places.min(axis=0), -1.0, 1.0)  # the sign of eigenvectors is chance
        noise = np.einsum("mk,mk->k", axes, within @ axes)
        signal = np.where(signal > _ROUNDING * max(signal[0], noise.max()), signal, 0.0)
        return cls(means.mean(axis=0), axes, signal, noise)

    @property
    def size(self) -> int:
        """The number of directions."""
        return len(self.signal)

    def first(self, many: int) -> Directions:
        """Return the directions of the largest signal, of none at least one."""
        many = max(1, min(many, int((self.signal > 0.0).sum())))
        return Directions(self.origin, self.axes[:, :many], self.signal[:many], self.noise[:many])

    def factors(self, sizes: IntArray) -> Array:
        """Return what coordinates of means of so many rows are multiplied by, shape (T, k)."""
        whole = self.signal + self.noise / sizes[:, None]
        return np.divide(self.signal, whole, out=np.zeros_like(whole), where=whole > 0.0)

    def __call__(self, means: Array, sizes: IntArray) -> Array:
        """Return the coordinates of means, shape (T, k)."""
        return np.asarray(self.factors(sizes) * ((means - self.origin) @ self.axes))


def best_directions(rows: GroupedRows, features: Array, many: int | None) -> Directions:
    """Return directions of features, shape (n, m): at most so many, or as long as the next one lowers an error.

    The error is an unbiased estimate of the squared distance of predictions from true means, up to a constant, in
    five-fold cross-validation over bags; of two bags there is one direction. O(n m² + m³) time.
    """
    means, apart, total = rows.means(features), rows.centered(features), len(rows.sizes)
    folds = np.arange(total) % min(_FOLDS, total)
    of_rows = np.repeat(folds, rows.sizes)
    scatters = np.stack([apart[of_rows == fold].T @ apart[of_rows == fold] for fold in range(folds.max() + 1)])
    whole = Directions.of(means, rows.sizes, scatters.sum(axis=0))
    if many is not None:
        return whole.first(many)
    errors = np.zeros(whole.size)
    for fold in range(len(scatters) if total > 2 else 0):
        new = folds == fold
        directions = Directions.of(means[~new], rows.sizes[~new], np.delete(scatters, fold, axis=0).sum(axis=0))
        errors += errors_along(directions, GroupedRows(apart[of_rows == fold], rows.sizes[new]), means[new])
    return whole.first(int(np.argmax(np.append(errors >= 0.0, True))))


def errors_along(directions: Directions, rows: GroupedRows, means: Array) -> Array:
    """Return the sum over bags of the squared errors of predictions, less the squares that they predict, shape (k,).

    ``rows`` are deviations from the means of their bags. With y the coordinate of a mean and a the factor of a bag this
    is :math:`a^2 y^2 - 2 a (y^2 - s / (n (n - 1)))`, where s is the sum of the squares of its rows: the bracket is an
    unbiased estimate of the product of y and the true coordinate.
    """
    several = rows.sizes > 1
    sizes = rows.sizes[several]
    noise = rows.sums(np.square(rows.points @ directions.axes))[several] / (sizes * (sizes - 1.0))[:, None]
    squares, factors = np.square((means[several] - directions.origin) @ directions.axes), directions.factors(sizes)
    return np.asarray((factors**2 * squares - 2.0 * factors * (squares - noise)).sum(axis=0))
