"""Rows in the order of their units: which rows move as a whole, and which units may change places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...tables.shuffle import unshuffled
from .dealing import MOST_BINS, cuts

MOST_UNITS = 4096
"""Bins of many cells, at most about so many: the Gram matrix of units is held."""
_LEAST, FEWEST = 64, 4
"""A cell has its share of 1,024 bins, but at least 64: fewer would leave many of its units over. Of more than 64 cells
each has its share of 4,096, but at least 4."""
_ROUNDED = 1e-12


class DesignError(ValueError):
    """These rows cannot be tested with their design."""


@final
@dataclass(frozen=True, eq=False)
class Units:
    """What changes places in a test of samples, wherever its rows are."""

    cells: IntArray
    """Whole numbers from 0, ascending: units of one cell may change places."""
    labels: IntArray
    """Of the samples, within a cell ascending."""
    masses: Array
    """The sums of the weights of their rows, whose mean is 1."""
    n: int
    """The number of rows."""
    stratum: IntArray
    """Whole numbers from 0, ascending."""
    binned: bool = False
    """Whether units are bins."""
    patterns: Patterns | None = None
    """Of units with rows in several samples, whose masses and strata are those of their parts."""
    together: IntArray | None = None
    """How many strata of the design the stratum of every unit joins; one if None."""


@final
@dataclass(frozen=True, eq=False)
class Patterns:
    """Units with rows in several samples: a part holds the rows at one place of the clusters of a unit.

    The label of a unit is the number of a pattern, the samples of all places; patterns change places.
    """

    samples: IntArray
    """Of every place of every pattern, shape (patterns, places)."""
    unit: IntArray
    """Of every part."""
    place: IntArray
    """Of every part."""

    def of_parts(self, labels: IntArray) -> IntArray:
        """Return the samples of the parts, (b, parts), from the patterns of the units, (b, units)."""
        return np.asarray(self.samples[labels[..., self.unit], self.place])


@final
@dataclass(frozen=True)
class Layout:
    """Rows in an order in which strata, cells and units are consecutive, and their weights.

    A unit is a row, a cluster of rows, or a bin of either; a cell holds the units that may change places.
    """

    order: IntArray
    """Positions of the rows among those that were passed, shape (n,)."""
    weights: Array
    """In the new order, with mean 1, shape (n,)."""
    stratum: IntArray
    """Whole numbers from 0, ascending, shape (n,)."""
    sizes: IntArray
    """Rows of every unit, shape (units,)."""
    cells: IntArray
    """Whole numbers from 0, ascending, shape (units,)."""
    labels: IntArray
    """Of the samples, shape (units,). Within a cell ascending; 0 throughout where there are no samples."""
    binned: bool = False
    """Whether units are bins."""
    patterns: tuple[IntArray, ...] = ()
    """The samples of the rows of a cluster, by labels, if some clusters have rows in several."""
    joins: bool = False
    """Whether strata with equally many units of every sample may be joined, see :meth:`in_bins`."""
    together: IntArray | None = None
    """How many strata a unit joins; one if None."""

    @classmethod
    def of(
        cls,
        labels: IntArray,
        weights: Array,
        strata: IntArray | None = None,
        clusters: IntArray | None = None,
        *,
        equal_sizes: bool = False,
    ) -> Self:
        """Sort rows by stratum, size of the cluster if only clusters of equal size change places, label and cluster.

        All columns have shape (n,).
        """
        within = np.zeros_like(labels) if strata is None else strata
        cluster = np.arange(len(labels)) if clusters is None else clusters
        sizes, patterns = np.bincount(cluster), _patterns(cluster, labels)
        alike = sizes if equal_sizes or patterns else np.zeros_like(sizes)
        if patterns:
            patterns, numbers = _distinct(patterns)
            labels = numbers[cluster]
        order = np.lexsort((cluster, labels, alike[cluster], within))
        first = order[np.flatnonzero(np.diff(cluster[order], prepend=-1))]
        used = weights[order] / weights.max()  # no sum overflows
        cells = _numbered(within[first], alike[cluster[first]])
        of_units = sizes[cluster[first]], cells, labels[first]
        return cls(order, used / used.mean(), _numbered(within[order]), *of_units, patterns=patterns)

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return len(self.order)

    @property
    def starts(self) -> IntArray:
        """Return the first row of every unit."""
        return np.asarray(np.cumsum(self.sizes) - self.sizes)

    @property
    def _samples_of_cells(self) -> IntArray:
        """How many samples the units of every cell are of."""
        many = int(self.labels.max()) + 1
        return np.bincount(np.unique(self.cells * many + self.labels) // many)

    @property
    def still(self) -> int:
        """Return how many units have no other to change places with."""
        units = np.bincount(self.cells)
        return int(units[(self._samples_of_cells if self.labels.any() else units) < 2].sum())

    @property
    def units(self) -> Units:
        """Return what changes places, without its rows."""
        parts, patterns = self.in_parts, None
        if self.patterns:
            samples = np.zeros((len(self.patterns), max(map(len, self.patterns))), dtype=np.intp)
            for row, pattern in zip(samples, self.patterns, strict=True):
                row[: len(pattern)] = pattern
            patterns = Patterns(samples, *self._parts)
        masses = np.add.reduceat(parts.weights, parts.starts)
        stratum = parts.stratum[parts.starts]
        together = self.together
        return Units(self.cells, self.labels, masses, self.n, stratum, self.binned, patterns, together)

    @property
    def _parts(self) -> tuple[IntArray, IntArray]:
        """The unit and the place of every part of units with rows in several samples."""
        places = np.array(list(map(len, self.patterns)))[self.labels]
        unit = np.repeat(np.arange(len(places)), places)
        return unit, np.arange(len(unit)) - np.repeat(np.cumsum(places) - places, places)

    @property
    def in_parts(self) -> Layout:
        """Return the layout whose units are the parts of these, of which every one has rows of one sample."""
        if not self.patterns:
            return self
        unit, _ = self._parts
        places = np.bincount(unit)
        of_row = np.repeat(np.arange(len(places)), self.sizes)
        place = (np.arange(self.n) - self.starts[of_row]) % places[of_row]
        rows = np.lexsort((place, of_row))
        sizes = (self.sizes // places)[unit]
        none = np.zeros_like(sizes)
        return Layout(self.order[rows], self.weights[rows], self.stratum[rows], sizes, none, none, self.binned)

    def pilot(self, most: int) -> IntArray:
        """Return about ``most`` of the rows that move, by their positions among those that were passed.

        They are equally many of every unit, evenly spaced, or all of a smaller one: a function of what moves as a
        whole, so that permutations map them onto each other. Of more units than that, whole cells take part.
        """
        moving = np.flatnonzero(self._samples_of_cells[self.cells] > 1)
        _, cell = np.unique(self.cells[moving], return_inverse=True)
        moving = moving[cell % -(-len(moving) // most) == 0]
        counts = np.minimum(self.sizes[moving], -(-most // len(moving)))
        unit = np.repeat(moving, counts)
        number = np.arange(len(unit)) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.sort(self.order[self.starts[unit] + number * self.sizes[unit] // np.repeat(counts, counts)])

    def in_bins(self, rng: np.random.Generator) -> Layout:
        """Return the same rows with about 1,024 bins of units as units, or 64 a cell, if there are more units.

        A bin holds equally many units of one cell and one sample as every other bin of the cell; units are dealt to
        them at random. What is left over stays together and moves no more. So permutations of the bins are a group of
        permutations of the units, and a test by them is exact: Domingo-Enrich, Dwivedi & Mackey (2025), section 3.

        Of more than 64 strata, those with equally many units of every sample change places together, some of them at a
        time: a bin then holds a unit of each of these strata, drawn at random. Such permutations are a group, too, and
        nothing is left over. Their masses have to be equal, so that a stratum counts as much whatever its labels.
        """
        if len(self.cells) <= MOST_BINS:
            return self
        seed = int(rng.integers(2**63))
        joined = self._strata_joined(seed)
        return joined if joined.binned and len(joined.cells) <= MOST_UNITS else joined._in_bins(seed)

    def _strata_joined(self, seed: int) -> Layout:
        """Return the same with units of joined strata, if there are many strata and these may be joined."""
        strata = int(self.cells[-1]) + 1
        cells_are_strata = strata == int(self.stratum[-1]) + 1 and not self.patterns
        if not (self.joins and cells_are_strata and strata > MOST_UNITS // _LEAST):
            return self
        masses = self.units.masses
        of_stratum = masses[np.flatnonzero(np.diff(self.cells, prepend=-1))]
        if not np.allclose(masses, of_stratum[self.cells], rtol=_ROUNDED, atol=0.0):
            return self
        _, mass = np.unique(of_stratum.round(12), return_inverse=True)
        counts = np.zeros((strata, int(self.labels.max()) + 1), dtype=np.intp)
        np.add.at(counts, (self.cells, self.labels), 1)
        _, kind = np.unique(np.column_stack([counts, mass]), axis=0, return_inverse=True)
        rng = np.random.default_rng(seed)
        group = _groups(kind.ravel(), -(-len(self.cells) // MOST_BINS), rng)[self.cells]
        place = _drawn_places(self.cells * counts.shape[1] + self.labels, rng)
        units = np.lexsort((self.cells, place, self.labels, group))
        changes = np.diff(np.stack([group, self.labels, place])[:, units], axis=1, prepend=-1).any(axis=0)
        starts = np.flatnonzero(changes)
        held = np.diff(np.append(starts, len(units)))
        joined = self.joined(units, held, group[units[starts]], self.labels[units[starts]])
        return replace(joined, stratum=np.repeat(joined.cells, joined.sizes), together=held)

    def _in_bins(self, seed: int) -> Layout:
        pieces: list[tuple[IntArray, IntArray, IntArray, IntArray]] = []
        ends = np.cumsum(np.bincount(self.cells))
        for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True):
            cell, labels = int(pieces[-1][2][-1]) + 1 if pieces else 0, self.labels[start:stop]
            least = min(_LEAST, max(FEWEST, MOST_UNITS // int(self.cells[-1] + 1)))
            most = min(MOST_BINS, max(least, MOST_BINS * len(labels) // len(self.cells)))
            if len(labels) <= most:
                pieces.append((np.arange(start, stop), np.ones_like(labels), np.full_like(labels, cell), labels))
                continue
            counts = dict(enumerate(np.bincount(labels).tolist()))
            first = start + np.searchsorted(labels, np.arange(len(counts)))
            dealt = {label: first[label] + unshuffled(np.arange(n), n, seed) for label, n in counts.items() if n}
            for cut in cuts({label: n for label, n in counts.items() if n}, most):
                alike = (np.full(cut.bins, value) for value in (cut.size, cell + cut.cell, cut.label))
                pieces.append((dealt[cut.label][cut.places], *alike))
        return self.joined(*map(np.concatenate, zip(*pieces, strict=True)))

    def joined(
        self, units: IntArray, held: IntArray, cells: IntArray | None = None, labels: IntArray | None = None
    ) -> Layout:
        """Return the layout of bins of ``held`` units each, by default all of one cell and one sample."""
        none = np.zeros_like(held)
        sizes = self.sizes[units]
        rows = np.repeat(self.starts[units] - np.cumsum(sizes) + sizes, sizes) + np.arange(self.n)
        return Layout(
            self.order[rows],
            self.weights[rows],
            self.stratum[rows],
            np.add.reduceat(sizes, np.cumsum(held) - held),
            none if cells is None else cells,
            none if labels is None else labels,
            binned=True,
            patterns=self.patterns,
            together=None if self.together is None else self.together[units[np.cumsum(held) - held]],
        )


def _numbered(*ascending: IntArray) -> IntArray:
    """Return whole numbers from 0 that rise by 1 where one of these columns changes."""
    return np.append(0, np.cumsum(np.diff(np.stack(ascending)).any(axis=0)))


def _patterns(cluster: IntArray, labels: IntArray) -> tuple[IntArray, ...]:
    """Return the labels of the rows of every cluster, or nothing if every cluster has one label."""
    order = np.argsort(cluster, kind="stable")
    ends = np.cumsum(np.bincount(cluster))[:-1]
    sorted_labels = labels[order]
    changes = np.flatnonzero(np.diff(sorted_labels)) + 1
    return () if np.isin(changes, ends).all() else tuple(np.split(sorted_labels, ends))


def _distinct(patterns: tuple[IntArray, ...]) -> tuple[tuple[IntArray, ...], IntArray]:
    """Return the different patterns, and the number of every one."""
    known = {pattern.tobytes(): pattern for pattern in patterns}
    numbers = dict(zip(known, range(len(known)), strict=True))
    return tuple(known.values()), np.array([numbers[pattern.tobytes()] for pattern in patterns])


def _groups(kind: IntArray, at_once: int, rng: np.random.Generator) -> IntArray:
    """Return numbers of groups of at most ``at_once`` strata of one kind, drawn at random, nearly equal in size."""
    order, many = np.lexsort((rng.random(len(kind)), kind)), np.bincount(kind)
    sorted_kind = kind[order]
    part = np.arange(len(kind)) - (np.cumsum(many) - many)[sorted_kind]
    part = part * -(-many // at_once)[sorted_kind] // many[sorted_kind]
    group = np.empty_like(kind)
    group[order] = np.cumsum(np.append(0, (np.diff(sorted_kind) != 0) | (np.diff(part) != 0)))
    return group


def _drawn_places(cell: IntArray, rng: np.random.Generator) -> IntArray:
    """Return the place of every unit in a random order of its cell; ``cell`` ascends."""
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    place = np.empty_like(cell)
    place[np.lexsort((rng.random(len(cell)), cell))] = np.arange(len(cell)) - np.repeat(
        starts, np.diff(np.append(starts, len(cell)))
    )
    return place
