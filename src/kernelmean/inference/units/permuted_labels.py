"""Arrangements of labels of units: all, independent random ones, or a group of rotations, the observed one first."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import ClassVar, Protocol, final

import numpy as np

from ...core.array import Array, IntArray
from ...core.cached import cached_property
from ..permutation_groups import Rotations
from ..permutations import EXACT, RANDOM, ROTATIONS, Redrawn, in_batches, log_count, takes_all
from .layout import Patterns

_FEW = 100
"""Up to so many units their labels are drawn independently: the textbook test, within milliseconds."""


class LabelBatch(Protocol):
    """Some of the arrangements."""

    @property
    def labels(self) -> IntArray:
        """The labels of the units, shape (b, units)."""

    def products(self, rows: Array, label: int = 1) -> Array:
        """Return the sums of rows (k, units) over the units with a label, under all these labels, shape (k, b)."""


@final
@dataclass(frozen=True)
class Listed:
    """Any arrangements."""

    labels: IntArray

    def products(self, rows: Array, label: int = 1) -> Array:
        """Return a product of matrices."""
        if label not in self._vectors:
            self._vectors[label] = (self.labels == label).T.astype(np.float64)
        return np.asarray(rows @ self._vectors[label])

    @cached_property
    def _vectors(self) -> dict[int, Array]:
        return {}


class Arrangements(ABC):
    """Labels within cells: the observed ones first, then all others or random ones.

    ``cells`` and ``labels`` (units,) are whole numbers from 0, in ascending order of cell and then label.
    """

    labels: IntArray
    count: int
    scheme: ClassVar[str] = EXACT

    @abstractmethod
    def parts(self, size: int) -> Iterator[LabelBatch]:
        """Yield them, about ``size`` at a time, in an order that does not depend on ``size``."""


@final
@dataclass(frozen=True)
class AllArrangements(Arrangements):
    """Every distinct way to arrange the labels."""

    cells: IntArray
    labels: IntArray

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the product of the multinomial coefficients of the cells."""
        return math.prod(
            math.factorial(len(cell)) // math.prod(map(math.factorial, Counter(cell).values()))
            for cell in self._by_cell()
        )

    def _by_cell(self) -> list[list[int]]:
        ends = np.cumsum(np.bincount(self.cells))[:-1]
        return [cell.tolist() for cell in np.split(self.labels, ends)]

    def parts(self, size: int) -> Iterator[LabelBatch]:
        """Yield all combinations of the arrangements of the cells."""
        arranged = product(*(list(_arrangements(cell)) for cell in self._by_cell()))
        yield from map(Listed, in_batches((chain(*cells) for cells in arranged), len(self.labels), size))


@final
@dataclass(frozen=True)
class RandomArrangements(Redrawn, Arrangements):
    """The observed labels, and ``count - 1`` independent uniform arrangements of them.

    Labels are sorted by random numbers within their cell: each is a 64-bit integer of the cell, random bits, the label.
    """

    cells: IntArray
    labels: IntArray
    count: int
    rng: np.random.Generator

    scheme: ClassVar[str] = RANDOM

    def parts(self, size: int) -> Iterator[LabelBatch]:
        """Draw and sort the integers of a batch."""
        rng = self.generator()
        last = int(self.labels.max()).bit_length()
        random = 64 - int(self.cells[-1]).bit_length()
        fixed = self.labels.astype(np.uint64)
        if self.cells[-1]:
            fixed |= self.cells.astype(np.uint64) << np.uint64(random)
        between = np.uint64(2**random - 2**last)
        for start in range(0, self.count, size):
            rows = min(size, self.count - start) - (start == 0)
            keys = rng.integers(0, 2**64, (rows, len(self.labels)), dtype=np.uint64)
            keys &= between
            keys |= fixed
            keys.sort(axis=1)
            keys &= np.uint64(2**last - 1)
            drawn = keys.astype(np.intp)
            yield Listed(drawn if start else np.concatenate([self.labels[None], drawn]))


@final
@dataclass(frozen=True)
class RotatedArrangements(Arrangements):
    """The labels of shuffled units of one cell, turned by every number of places: a group, summed by transforms.

    With cosets, if the group is smaller than ``count``; see :class:`~..permutation_groups.Rotations`. Units of other
    cells, if there are any, come after these and do not move.
    """

    labels: IntArray
    rotations: Rotations
    """Of the first units, those that move."""

    scheme: ClassVar[str] = ROTATIONS

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of rotations of all cosets."""
        return self.rotations.count

    def parts(self, size: int) -> Iterator[LabelBatch]:
        """Yield the cosets."""
        del size
        shuffle, still = self.rotations.shuffle, np.arange(self.rotations.n, len(self.labels))
        for coset in self.rotations.cosets:
            yield _Coset(self.labels, self.rotations, np.append(shuffle, still), np.append(shuffle[coset], still))


@final
@dataclass(frozen=True)
class _Coset:
    """The rotations of one coset."""

    labels_as_observed: IntArray
    rotations: Rotations
    units: IntArray
    """The shuffled units."""
    lenders: IntArray
    """Those whose labels they have before they turn."""

    @property
    def labels(self) -> IntArray:
        """The labels of all rotations, one after another."""
        observed = self.labels_as_observed[self.lenders]
        observed = observed.astype(np.min_scalar_type(int(self.labels_as_observed.max())))
        turned = np.empty((self.rotations.order, len(observed)), dtype=observed.dtype)
        turned[:, self.units] = self.rotations.turned(observed)
        return turned

    def products(self, rows: Array, label: int = 1) -> Array:
        """Return correlations, by Fourier transforms."""
        chosen = (self.labels_as_observed[None] == label).astype(np.float64)
        return self.rotations.correlations(rows.take(self.units, axis=1), chosen, self.lenders[None])


@final
@dataclass(frozen=True)
class OfParts(Arrangements):
    """The labels of the parts of units that have rows in several samples."""

    units: Arrangements
    """Arrangements of patterns."""
    patterns: Patterns

    @property
    def labels(self) -> IntArray:  # type: ignore[override]
        """Return the observed labels."""
        return self.patterns.of_parts(self.units.labels)

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return the number of arrangements of the patterns."""
        return self.units.count

    def parts(self, size: int) -> Iterator[LabelBatch]:
        """Yield those of the patterns, in parts."""
        for batch in self.units.parts(size):
            yield Listed(self.patterns.of_parts(batch.labels))


def arrangements(
    cells: IntArray, labels: IntArray, n_resamples: int, rng: np.random.Generator, scheme: str = "auto"
) -> Arrangements:
    """Return all arrangements of labels within cells if there are at most n_resamples + 1.

    Otherwise rotations if only one cell has units that can move, more than 100 of them; else random arrangements.
    ``scheme`` "exact" or "random" overrules this.
    """
    everything = AllArrangements(cells, labels)
    logarithm = log_count(cells) - log_count(cells * (int(labels.max()) + 1) + labels)
    if takes_all(logarithm, lambda: everything.count, n_resamples, scheme):
        return everything
    moving = int((cells == 0).sum())
    others_move = ((np.diff(cells[moving:]) == 0) & (np.diff(labels[moving:]) != 0)).any()
    if scheme == "auto" and moving > _FEW and not others_move:
        return RotatedArrangements(labels, Rotations.draw(moving, n_resamples + 1, rng))
    return RandomArrangements(cells, labels, n_resamples + 1, rng)


def _arrangements(labels: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the distinct arrangements of a sorted list, in lexicographic order."""
    current = list(labels)
    while True:
        yield tuple(current)
        rise = next((i for i in range(len(current) - 2, -1, -1) if current[i] < current[i + 1]), None)
        if rise is None:
            return
        other = next(j for j in range(len(current) - 1, rise, -1) if current[j] > current[rise])
        current[rise], current[other] = current[other], current[rise]
        current[rise + 1 :] = reversed(current[rise + 1 :])
