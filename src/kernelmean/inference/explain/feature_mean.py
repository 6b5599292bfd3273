r"""A vector of the feature space that is estimated by signed means of features, and what chance does to it.

The covariance of the means is estimated: ten rows often miss a value of probability 0.1, and then show no variance at
all. So the units of a group are treated as a sample of a mixture, in which another group (the other sample, or pairs
put together at random) has the weight 3/(n + 3), with n the number of units of equal weight that the group is worth.
This is the remedy of Agresti & Coull (1998) for shares, with real rows instead of invented ones; it widens intervals by
O(1/n). A stratum borrows from the same stratum of the other group. Units with rows in both samples, such as pairs,
borrow from themselves with the samples exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array
from ...core.cached import cached_property
from .cells import Cells
from .gram_features import Features

_BORROWED = 3.0


@final
@dataclass(frozen=True, eq=False)
class FeatureMean:
    r"""A vector D of the feature space, estimated by signed means of groups of units."""

    features: Features
    """Those of all units."""
    cells: Cells
    signs: tuple[float, ...]
    """The sign of the mean of every group: ±1, or 0 for a group that only lends units to another."""
    lenders: tuple[int, ...]
    """For every group of the estimate, the group that it borrows from: another one, or itself with D negated."""
    means: Array
    """Every feature's inner product with the mean of every cell, shape (n, cells)."""
    scale_influence: Array
    """The relative influence of every unit, as one of a group, on the number that |D|² is divided by, (n, groups)."""
    unbiased: float | None = None
    """An unbiased estimate of |D|², if there is a better one than the observed |D|² less its noise."""
    nearness: float = 1.0
    """|D| in the distributions that fluctuations are drawn from, as a share of what was observed."""

    @property
    def active(self) -> list[int]:
        """Return the groups that the estimate is made of."""
        return [g for g, sign in enumerate(self.signs) if sign]

    @cached_property
    def unit_signs(self) -> Array:
        """The sign of the group of every unit, shape (n,)."""
        return np.repeat(self.signs, [part.stop - part.start for part in self.cells.groups])

    @cached_property
    def counted(self) -> Array:
        """What the mean of every cell counts in D, shape (cells,)."""
        return (np.array(self.signs)[:, None] * self.cells.masses).ravel()

    @cached_property
    def projections(self) -> Array:
        """Every feature's inner product with the estimate of D, shape (n,)."""
        return np.asarray(self.means @ self.counted)

    @cached_property
    def products(self) -> Array:
        """The inner products of the means of all cells, shape (cells, cells)."""
        return self.cells.sums(self.means * self.cells.shares[:, None])

    @cached_property
    def variances(self) -> Array:
        """What every cell adds to tr C, shape (groups, strata)."""
        means = self.means[np.arange(self.features.n), self.cells.cell]
        distances = self.features.diagonal - 2 * means + np.diagonal(self.products)[self.cells.cell]
        return self.cells.sums(self.cells.scales**2 * distances).reshape(-1, self.cells.strata)

    @property
    def spreads(self) -> Array:
        """Return what every group of the estimate adds to tr C: |D + E|² exceeds |D|² by their sum on average."""
        return np.asarray(self.variances.sum(axis=1)[self.active])

    @property
    def observed(self) -> float:
        """Return the squared length of the estimate of D."""
        return float(self.counted @ self.products @ self.counted)

    @cached_property
    def squared(self) -> float:
        """An estimate of |D|² of either sign."""
        return self.observed - float(self.spreads.sum()) if self.unbiased is None else self.unbiased

    @property
    def total(self) -> float:
        """Return T, the squared length of the estimate with all its noise."""
        return self.squared + float(self.spreads.sum())

    def freedom(self, g: int) -> float:
        """Return the degrees of freedom of the variance of a group (Satterthwaite, 1946)."""
        variances, degrees = np.maximum(self.variances[g], 0.0), self.cells.freedom[g]
        total = float(variances.sum())
        return float(total**2 / (variances**2 / degrees).sum()) if total > 0.0 else float(degrees.sum())

    def direction_variance(self) -> float:
        """Return ⟨û, Cû⟩, the variance of E along the estimated direction."""
        along, cells = self.projections / np.sqrt(self.total), self.cells
        centers = cells.sums(cells.shares * along)
        squares = cells.sums(np.square(cells.scales * (along - centers[cells.cell])))
        shape = cells.masses.shape
        gaps = [np.square(center - sign * other) for center, other, sign in self._beside(centers.reshape(shape))]
        return float(sum(self._mixed(g, squares.reshape(shape), gap) for g, gap in zip(self.active, gaps, strict=True)))

    def _beside(self, values: Array) -> list[tuple[Array, Array, float]]:
        """Return values of the strata of every group beside those of its lender, and the sign of what is borrowed."""
        return [(values[g], values[self.lenders[g]], -1.0 if self.lenders[g] == g else 1.0) for g in self.active]

    def _mixed(self, g: int, variances: Array, gaps: Array) -> float:
        """Return a variance of the mean of a group that borrows: within both groups, and between them."""
        lender, share, second = self.lenders[g], self.own_share(g), self.cells.second
        within = share * variances[g] + (1.0 - share) * variances[lender] * (second[g] / second[lender])
        return float((within + share * (1.0 - share) * second[g] * gaps).sum())

    def own_share(self, g: int) -> float:
        """Return the share of a group's own units in the distribution that its fluctuations are drawn from.

        n / (n + 3) at the observed |D|. At |D| = 0 each distribution is half of each sample, or all of a lender that
        is not part of the estimate.
        """
        half, n = 0.5 * bool(self.signs[self.lenders[g]]), self.cells.effective(g)
        return half + (n / (n + _BORROWED) - half) * self.nearness

    def noise(self, g: int) -> float:
        """Return E |E|² of one group, borrowed units counted."""
        inner, strata = self.products, self.cells.strata
        lender = self.lenders[g]
        sign = -1.0 if lender == g else 1.0
        places, others = (np.arange(strata) + strata * each for each in (g, lender))
        gaps = inner[places, places] + inner[others, others] - 2 * sign * inner[places, others]
        return self._mixed(g, self.variances, gaps)

    def multipliers(self, g: int, count: int, rng: np.random.Generator) -> Array:
        """Draw weights of the units under which the sum of features has the covariance of one group's mean, (n, count).

        Normal, and centered in the cells of the group and of its lender, with steps from the means of one to those of
        the other.
        """
        lender, share, cells = self.lenders[g], self.own_share(g), self.cells
        drawn = np.zeros((self.features.n, count))
        borrowed = np.sqrt((1.0 - share) * cells.second[g] / cells.second[lender])
        for group, factors in ((g, np.full(cells.strata, np.sqrt(share))), (lender, borrowed)):
            drawn[cells.groups[group]] += cells.draw(group, factors, count, rng)
        normal = rng.standard_normal((cells.strata, count))
        steps = np.sqrt(share * (1.0 - share) * cells.second[g])[:, None] * normal
        drawn[cells.groups[g]] += cells.shifts(g, steps)
        drawn[cells.groups[lender]] -= cells.shifts(lender, -steps if lender == g else steps)
        return drawn
