"""Rotations within cells: a cell of a design is cut into stripes of units, and stripes that turn together are a wheel.

The units of a cell, rows or clusters of one size, are shuffled and cut into stripes: as many of the longest length as
fit, then of shorter ones, down to two units. Stripes of one length are dealt to wheels: with about 500 places in all,
lengths have wheels by their share of the rows. A permutation turns every wheel by a random number of places. All
turns of all wheels are a group of permutations within cells, from which the permutations are drawn independently: the
p-value is exact (Hemerik & Goeman 2018).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from ...core.array import Array, IntArray, slices
from ...plan.plan import Plan
from ..permutations import ROTATIONS, Permutations
from ..units.dealing import PILOT
from ..units.layout import Layout
from .meeting import WINDOW_ROWS, together, windows_of
from .stripes import BlockPair, Featured, StripeSums, turns_of

_LENGTHS = (512, 256, 128, 64, 48, 40, 32, 28, 24, 20, *range(16, 1, -1))
_CAPS = (512, 256, 128, 64, 32, 16, 8, 4)
"""The longest stripes: shorter ones where there would be too few arrangements."""
_ENOUGH = 20
"""How many times as many arrangements as permutations are needed."""
_PLACES, _MOST_WHEELS = 512, 16
"""Of all wheels together, about; and of one length."""


@final
@dataclass(frozen=True)
class Wheels(Permutations):
    """Random turns of wheels of stripes, the observed arrangement first."""

    n: int
    stripes: tuple[IntArray, ...]
    """For every wheel the rows of its stripes, shape (stripes, length)."""
    fixed: IntArray
    """The rows outside all stripes."""
    turns: IntArray
    """How many places every wheel turns, shape (P, wheels)."""

    scheme: ClassVar[str] = ROTATIONS

    @classmethod
    def of(cls, layout: Layout, rows: IntArray, n_resamples: int, rng: np.random.Generator) -> Self | None:
        """Draw stripes within the cells of a layout, and turns; None if there are too few arrangements.

        ``rows`` are the numbers of its rows in their table: units of a stripe are read one soon after the other.
        """
        shuffle = rng.permutation(len(layout.cells))
        window = np.maximum.reduceat(rows, layout.starts) // WINDOW_ROWS
        units = shuffle[np.lexsort((window[shuffle], layout.cells[shuffle]))]
        for cap in _CAPS:
            by_length, alone = _cut(units, layout.cells, cap)
            lengths = [length for length, stripes in by_length.items() for _ in range(_wheels(stripes, layout))]
            if math.prod(lengths) >= _ENOUGH * n_resamples:
                break
        else:
            return None
        dealt = []
        for stripes in by_length.values():
            many = _wheels(stripes, layout)
            dealt += [_rows(stripes[number::many], layout) for number in range(many)]
        turns = turns_of(n_resamples, lengths, rng)
        return cls(layout.n, tuple(dealt), _rows(alone[:, None], layout).ravel(), turns)

    @property
    def count(self) -> int:  # type: ignore[override]
        """Return how many arrangements were drawn, the observed one included."""
        return len(self.turns)

    @property
    def groups(self) -> list[IntArray]:
        """The rows that meet each other: the stripes of every wheel, and at the end rows that meet no other."""
        return [*self.stripes, self.fixed[:, None]]

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths of the stripes of every wheel."""
        return tuple(stripes.shape[1] for stripes in self.stripes)

    def batches(self, size: int) -> Iterator[IntArray]:
        """Yield the permutations of the rows."""
        for part in slices(len(self.turns), size):
            orders = np.tile(np.arange(self.n), (len(self.turns[part]), 1))
            for stripes, turns in zip(self.stripes, self.turns[part].T, strict=True):
                length = stripes.shape[1]
                places = (np.arange(length) + turns[:, None]) % length
                orders[:, stripes] = stripes[:, places].transpose(1, 0, 2)
            yield orders

    def pilot(self, rng: np.random.Generator) -> IntArray:
        """Return the ascending numbers of rows that features are fitted to: whole stripes, drawn at random."""
        lengths = np.repeat(self.lengths, [len(stripes) for stripes in self.stripes])
        drawn = rng.permutation(len(lengths))
        needed = 1 + int(np.searchsorted(np.cumsum(lengths[drawn]), PILOT))
        chosen = np.zeros(len(lengths), dtype=bool)
        chosen[drawn[:needed]] = True
        ends = np.cumsum([len(stripes) for stripes in self.stripes])[:-1]
        parts = zip(self.stripes, np.split(chosen, ends), strict=True)
        return np.sort(np.concatenate([stripes[mask].ravel() for stripes, mask in parts]))

    def values(self, x: Featured, y: Featured, pairs: Sequence[BlockPair], plan: Plan) -> Array:
        """Return Σ_rq v_r w_q (mean of x_r y_q - product of their means)² under all turns, shape (k, P).

        The features take numbers of rows.
        """
        sums = StripeSums(x, y, pairs, self.lengths)
        for number, rows in together(self.groups, windows_of([np.arange(self.n)[:, None]], self.n)):
            sums.add_group(number, rows[:, 0], plan)
        return sums.values(self.turns)


def _cut(units: IntArray, cells: IntArray, cap: int) -> tuple[dict[int, IntArray], IntArray]:
    """Return the stripes of units by their length, shape (stripes, length), and units outside all stripes.

    ``units`` are in the order of their cells.
    """
    by_length: dict[int, list[IntArray]] = {}
    alone = [units[:0]]
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(cells)], strict=True):
        first = start
        for length in _LENGTHS:
            many = (stop - first) // length if length <= cap else 0
            if many:
                by_length.setdefault(length, []).append(units[first : first + many * length].reshape(many, length))
                first += many * length
        alone.append(units[first:stop])
    return {length: np.concatenate(by_length[length]) for length in sorted(by_length)}, np.concatenate(alone)


def _wheels(stripes: IntArray, layout: Layout) -> int:
    """Return how many wheels stripes of one length have."""
    share = layout.sizes[stripes[:, 0]].sum() * stripes.shape[1] / layout.n
    return max(1, min(round(_PLACES * share / stripes.shape[1]), len(stripes), _MOST_WHEELS))


def _rows(stripes: IntArray, layout: Layout) -> IntArray:
    """Return the rows of stripes of units: for a cluster of c rows, c stripes of rows that correspond."""
    sizes = layout.sizes[stripes[:, 0]] if len(stripes) else layout.sizes[:0]
    which = np.repeat(np.arange(len(stripes)), sizes)
    offset = np.arange(len(which)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.asarray(layout.starts[stripes[which]] + offset[:, None])
