"""Who bets: on numbers that never change, and on directions that are learned from new rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from ...core.array import Array, IntArray
from .bag import WIDTH, Bag, edges_between, levels
from .betting import BROKE, N_BETS, N_UPWARDS, Wealth
from .guarantee import Guarantee

BLOCK = 16
"""Rows between two times at which directions are learned."""
_SIZES = BLOCK * 2 ** np.arange(9)
_SIZE_SHARES = (1 / np.arange(1, 10) - 1 / np.arange(2, 11)) / 0.9
_LIFE = 6


@final
@dataclass(eq=False)
class FixedGamblers:
    """One gambler for every score; each ranks a row among the reference, without the pilot, and all rows before it.

    All are paid before every row, and so bet on a change at any row, with all earlier ones as reference.
    """

    weights: Array
    """Their shares of the payments, shape (K,)."""
    edges: Array
    bag: Bag
    wealth: Wealth

    @classmethod
    def start(cls, weights: Array, pilot: Array, reference: Array) -> Self:
        """Return gamblers that rank by scores, from the scores of the pilot (r, K) and of other rows (n, K)."""
        edges, nothing = edges_between(pilot), np.full((len(weights), N_BETS), BROKE)
        return cls(weights, edges, Bag.of_scores(reference, edges), Wealth(nothing))

    def play(self, cells: IntArray, uniforms: Array, start: int, guarantee: Guarantee) -> Array:
        """Bet on rows (b, K) that follow ``start`` others; return the log wealth after each, shape (b, K).

        With a level, what is still to be paid counts as well.
        """
        paid = guarantee.paid(np.arange(start, start + len(cells) + 1))
        money = np.diff(paid)[:, None] * self.weights
        self.wealth, path = self.wealth.bet(self.bag.ranks(cells, uniforms), money)
        self.bag += Bag.of(cells)
        left = np.zeros_like(paid) if guarantee.alpha is None else 1.0 - paid
        return np.asarray(np.logaddexp(path, np.log(np.maximum(left[1:, None] * self.weights, np.exp(-700.0)))))


@final
@dataclass(frozen=True, eq=False)
class Known:
    """What is known about the reference: features of the pilot (r, m) and of other rows (n, m), and metrics (M, m)."""

    pilot: Array
    held: Array
    metrics: Array

    def scores(self, features: Array, directions: Array) -> Array:
        """Return how far rows (b, m) lie in directions (g, m) by every metric, shape (b, g M)."""
        members, size = self.metrics.shape
        return np.asarray(features @ (directions[:, None] * self.metrics).reshape(len(directions) * members, size).T)

    def edges(self, directions: Array) -> Array:
        """Return the edges of these scores, computed for each direction on its own, whatever the others are."""
        each = (edges_between(self.scores(self.pilot, direction[None])) for direction in directions)
        return np.concatenate([np.empty((0, WIDTH)), *each])


@final
@dataclass(eq=False)
class LearningGamblers:
    r"""Groups of gamblers: after every :math:`2^j` rows, j from 4 to 12, one that has learned from these rows alone.

    The direction of a group is the mean of the features of its rows less that of the pilot and of all rows before. In
    the metric of a member it is the witness function of that member. One gambler per member ranks later rows by it,
    among the reference, without the pilot, and the rows since the group began. All of these are exchangeable without
    drift, given the rows that it learned from. It is paid once, the amount due for the rows that it learned from, and
    bets for :math:`6 \cdot 2^j` rows.
    """

    known: Known
    share: float
    """The share of the payments."""
    total: Array
    """The sum of the features of all new rows, shape (m,)."""
    windows: Array
    """The sums of the features since the last multiple of every 2^j, shape (9, m)."""
    births: IntArray
    """The rows before every group, shape (g,)."""
    sizes: IntArray
    """The rows that it learned from, shape (g,)."""
    directions: Array
    """Shape (g, m)."""
    bag: Bag
    wealth: Wealth
    edges: Array

    @classmethod
    def start(cls, known: Known, share: float) -> Self:
        """Return gamblers without groups."""
        size, none = known.pilot.shape[1], np.empty(0, dtype=np.int64)
        sums, directions = (np.zeros(size), np.zeros((len(_SIZES), size))), np.empty((0, size))
        bag, wealth = Bag.of(np.empty((0, 0), dtype=np.int64)), Wealth.of(np.empty(0), N_UPWARDS)
        return cls(known, share, *sums, none, none, directions, bag, wealth, known.edges(directions))

    def play(self, features: Array, uniforms: Array) -> Array:
        """Bet on rows, from their features (b, m); return the log wealth after each, shape (b, g M)."""
        cells = levels(self.known.scores(features, self.directions), self.edges)
        self.wealth, path = self.wealth.bet(self.bag.ranks(cells, uniforms))
        self.bag += Bag.of(cells)
        return path

    def learn(self, features: Array, rows: int, guarantee: Guarantee) -> None:
        """Learn from rows, the last of which has this number; at the end of a block, end groups and begin others."""
        total = features.sum(axis=0)
        self.total, self.windows = self.total + total, self.windows + total
        if rows % BLOCK or not len(self.known.metrics):
            return
        self._keep(rows - self.births < _LIFE * self.sizes)
        whole = rows % _SIZES == 0
        self._begin(np.flatnonzero(whole), rows, guarantee)
        self.windows = np.where(whole[:, None], 0.0, self.windows)

    def _keep(self, kept: npt.NDArray[np.bool_]) -> None:
        every = np.repeat(kept, len(self.known.metrics))
        self.births, self.sizes, self.directions = self.births[kept], self.sizes[kept], self.directions[kept]
        self.edges, self.bag = self.edges[every], Bag(self.bag.counts[every])
        self.wealth = Wealth(self.wealth.log_shares[every])

    def _begin(self, places: IntArray, rows: int, guarantee: Guarantee) -> None:
        """Begin a group for each of some sizes, which end at this row."""
        sizes, known, members = _SIZES[places], self.known, len(self.known.metrics)
        before = known.pilot.sum(axis=0) + self.total - self.windows[places]
        directions = self.windows[places] / sizes[:, None] - before / (len(known.pilot) + rows - sizes)[:, None]
        due = guarantee.paid(np.full(len(places), rows)) - guarantee.paid(rows - sizes)
        money = np.repeat(self.share * due * _SIZE_SHARES[places] / members, members)
        edges = [known.edges(direction[None]) for direction in directions]
        bags = [
            Bag.of_scores(known.scores(known.held, direction[None]), edge).counts
            for direction, edge in zip(directions, edges, strict=True)
        ]
        self.births, self.sizes = np.append(self.births, np.full(len(places), rows)), np.append(self.sizes, sizes)
        self.directions, self.edges = np.vstack([self.directions, directions]), np.vstack([self.edges, *edges])
        self.bag = Bag(np.vstack([self.bag.counts, *bags]))
        self.wealth = Wealth(np.vstack([self.wealth.log_shares, Wealth.of(money, N_UPWARDS).log_shares]))

    def restored(self, arrays: Mapping[str, Any]) -> LearningGamblers:
        """Return the gamblers of these arrays: sums, groups and what they own."""
        fields = {name: arrays[name] for name in ("total", "windows", "births", "sizes", "directions")}
        bag, wealth = Bag(arrays["learning_counts"]), Wealth(arrays["learning_shares"])
        edges = self.known.edges(arrays["directions"])
        return LearningGamblers(self.known, self.share, **fields, bag=bag, wealth=wealth, edges=edges)

    @property
    def arrays(self) -> dict[str, Any]:
        """What :meth:`restored` takes."""
        fields = {name: getattr(self, name) for name in ("total", "windows", "births", "sizes", "directions")}
        return {**fields, "learning_counts": self.bag.counts, "learning_shares": self.wealth.log_shares}
