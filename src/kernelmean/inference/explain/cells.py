"""What is drawn independently: units of rows, the cells in which units are alike, and how chance moves their means.

A unit is a row, a cluster, a pair or a stratum. It has one feature, the mean of those of its rows. A cell holds the
units of one group, such as a sample, in one stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...core.cached import cached_property
from ...kernels.distances import Blocks
from ...plan.plan import Plan

_ROWS = 256
_MOST, _LEAST_OTHERS = 0.75, 30
"""Above this share of units with one value the others are rare, unless there are this many of them."""


def others_are_rare(most: int, n: int) -> bool:
    """Whether so many of n units have one value that too few others show how much they vary: no upper limit holds."""
    return most > _MOST * n and n - most < _LEAST_OTHERS


@final
@dataclass(frozen=True, eq=False)
class RowsOfUnits:
    """Consecutive rows that are drawn together."""

    sizes: IntArray
    """How many rows every unit has, shape (units,)."""
    shares: Array
    """What every row counts in the mean of its unit, of sum 1 in every unit, shape (rows,)."""

    @classmethod
    def single(cls, n: int) -> Self:
        """Return n rows that are units of their own."""
        return cls(np.ones(n, dtype=np.intp), np.ones(n))

    @classmethod
    def of(cls, counted: Array, sizes: IntArray) -> Self:
        """Return units of consecutive rows, which count in their mean in proportion to ``counted``."""
        masses = np.add.reduceat(counted, np.cumsum(sizes) - sizes)
        return cls(sizes, counted / np.repeat(masses, sizes))

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def are_rows(self) -> bool:
        """Whether every row is a unit."""
        return len(self.sizes) == len(self.shares)

    @cached_property
    def _ends(self) -> IntArray:
        return np.append(0, np.cumsum(self.sizes))

    def twice(self) -> RowsOfUnits:
        """Return the units of the same rows one after the other twice."""
        return RowsOfUnits(np.tile(self.sizes, 2), np.tile(self.shares, 2))

    def means(self, values: Array) -> Array:
        """Return the means of units of values of rows, (rows, k) or (rows,)."""
        shares = self.shares if values.ndim == 1 else self.shares[:, None]
        return np.asarray(np.add.reduceat(values * shares, self._ends[:-1], axis=0))

    def blocks(self, raw: Blocks) -> Blocks:
        """Return the Gram matrix of the features of units, from that of rows."""
        if self.are_rows:
            return raw

        def tile(i: slice, j: slice) -> Array:
            parts = [self._rows(part) for part in (i, j)]
            gram = raw(*parts) * self.shares[parts[0], None] * self.shares[parts[1]]
            for axis, (part, rows) in enumerate(zip((i, j), parts, strict=True)):
                gram = np.add.reduceat(gram, self._ends[part] - rows.start, axis=axis)
            return np.asarray(gram)

        return tile

    def _rows(self, units: slice) -> slice:
        start, stop, _ = units.indices(len(self))
        return slice(int(self._ends[start]), int(self._ends[stop]))

    def spread(self, columns: Array) -> Array:
        """Return what rows count where units count as in ``columns`` (units, b): the transpose of the means."""
        return np.asarray(np.repeat(columns, self.sizes, axis=0) * self.shares[:, None])

    def diagonal(self, raw: Blocks, diagonal: Array) -> Array:
        """Return the squared lengths of the features of units, from the Gram matrix of rows and its diagonal."""
        if self.are_rows:
            return diagonal
        return diagonal_of(self.blocks(raw), len(self), max(1, _ROWS // int(self.sizes.max())))

    def plan(self, plan: Plan) -> Plan:
        """Return a plan whose tiles are about as large in rows as those of another plan."""
        many = -(-len(self.shares) // len(self))
        rows, columns = plan.block
        return replace(plan, block=(max(1, rows // many), max(1, columns // many)))


def diagonal_of(blocks: Blocks, n: int, strip: int) -> Array:
    """Return the diagonal of a matrix, from squares of ``strip`` rows."""
    return np.concatenate([np.diagonal(blocks(some, some)) for some in slices(n, strip)])


@final
@dataclass(frozen=True, eq=False)
class Cells:
    r"""Groups and strata of units: within a cell these are independent, and alike.

    With the weights q of the units of a cell, the error of :math:`\sum q_u φ_u` has the covariance
    :math:`\sum_u q_u^2 (φ_u - μ)(φ_u - μ)^⊤ / κ`, with κ the share of the variance that distances from the weighted
    mean μ of the cell keep: (C - 1)/C of C equal units.
    """

    weights: Array
    """What every unit counts in the mean of its group, positive, shape (units,)."""
    cell: IntArray
    """The number of the group times that of all strata, plus the number of the stratum; ascending, none empty."""
    strata: int
    spent: int = 0
    """How many more numbers than its mean were estimated in every cell: degrees of freedom that it lost."""

    @classmethod
    def of_samples(cls, *sizes: int) -> Self:
        """Return groups of so many rows, which count alike, in one stratum."""
        many = np.array(sizes)
        return cls(np.repeat(1.0 / many, many), np.repeat(np.arange(len(many)), many), 1)

    @cached_property
    def starts(self) -> IntArray:
        """The first unit of every cell."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    @cached_property
    def groups(self) -> list[slice]:
        """The units of every group."""
        return [slice(a, b) for a, b in pairwise([*self.starts[:: self.strata].tolist(), len(self.cell)])]

    def _totals(self, power: int) -> Array:
        return np.asarray(np.add.reduceat(self.weights**power, self.starts).reshape(-1, self.strata))

    @cached_property
    def masses(self) -> Array:
        """The sums of the weights of all cells, shape (groups, strata), like all that follows."""
        return self._totals(1)

    @cached_property
    def second(self) -> Array:
        """The sums of the squared weights."""
        return self._totals(2)

    @cached_property
    def worth(self) -> Array:
        """How many units of equal weight would be as precise as those of a cell (Kish, 1965)."""
        return np.asarray(self.masses**2 / self.second)

    @property
    def freedom(self) -> Array:
        """The degrees of freedom of the variance of a cell."""
        return np.asarray(self.worth - 1.0 - self.spent)

    @property
    def kept(self) -> Array:
        """The share of the variance that distances from the mean of a cell keep, where values vary alike."""
        one = 1.0 - 2.0 * self._totals(3) / (self.second * self.masses) + 1.0 / self.worth
        return np.asarray(one * self.freedom / (self.worth - 1.0) if self.spent else one)

    @cached_property
    def shares(self) -> Array:
        """The weights of units in their cell, of sum 1, shape (units,)."""
        return np.asarray(self.weights / self.masses.ravel()[self.cell])

    @cached_property
    def scales(self) -> Array:
        """What multiplies a standard normal number of every unit, shape (units,)."""
        return np.asarray(self.weights / np.sqrt(self.kept).ravel()[self.cell])

    def unbiased(self) -> Cells:
        """Return cells that make up for means of products of two centered numbers, which are too small."""
        return replace(self, weights=self.weights / (1.0 - 1.0 / self.worth).ravel()[self.cell])

    def twice(self) -> Cells:
        """Return a second group of the same units after the first."""
        later = self.cell + self.strata
        return replace(self, weights=np.tile(self.weights, 2), cell=np.concatenate([self.cell, later]))

    def effective(self, group: int) -> float:
        """Return how many units of equal weight would be as precise as those of a group."""
        return float(self.masses[group].sum() ** 2 / self.second[group].sum())

    @property
    def indicators(self) -> Array:
        """Return the columns whose products with a Gram matrix are those with the means of cells, (units, cells)."""
        columns = np.zeros((len(self.cell), self.masses.size))
        columns[np.arange(len(self.cell)), self.cell] = self.shares
        return columns

    def sums(self, values: Array, group: int | None = None) -> Array:
        """Return sums over the cells of values of all units, or of those of a group."""
        starts = self.starts
        if group is not None:
            starts = starts[group * self.strata : (group + 1) * self.strata] - self.groups[group].start
        return np.asarray(np.add.reduceat(values, starts, axis=0))

    def centered(self, columns: Array) -> Array:
        """Subtract the mean of every cell from columns (units, b)."""
        return np.asarray(columns - self.sums(columns * self.shares[:, None])[self.cell])

    def draw(self, group: int, factors: Array, count: int, rng: np.random.Generator) -> Array:
        """Draw weights of the units of a group under which their features have the covariance above, (units, count).

        ``factors`` (strata,) multiply them in every cell.
        """
        part = self.groups[group]
        stratum = self.cell[part] - group * self.strata
        drawn = rng.standard_normal((part.stop - part.start, count))
        drawn *= (self.scales[part] * factors[stratum])[:, None]
        drawn -= self.shares[part, None] * self.sums(drawn, group)[stratum]
        return drawn

    def as_draws(self, normal: Array) -> Array:
        """Return the same of all units, from standard normal numbers (units, b)."""
        drawn = normal * self.scales[:, None]
        return np.asarray(drawn - self.shares[:, None] * self.sums(drawn)[self.cell])

    def shifts(self, group: int, steps: Array) -> Array:
        """Return weights under which the features of a group are the means of cells times ``steps`` (strata, b)."""
        part = self.groups[group]
        return np.asarray(self.shares[part, None] * steps[self.cell[part] - group * self.strata])
