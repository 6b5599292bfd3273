"""The work of a scheme as tiles: which there are, what one is worth, how they add up. Who evaluates them is open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ...core.array import Array
from ..problem import Problem
from ..sizes import Resources
from ..statistics import Sums
from .base import Scheme, in_order

Tile = tuple[slice, slice]
Total = tuple[Array, ...]
"""What tiles add up to: arrays of fixed shapes, so that totals of different tiles add up entry by entry."""


class Tiling(ABC):
    """A problem whose rows are in the order of its tiles. A value that other processes can work on."""

    @abstractmethod
    def tiles(self) -> list[Tile]:
        """Return all tiles, always in the same order."""

    @abstractmethod
    def evaluator(self) -> Callable[[Tile], Any]:
        """Prepare ``f(tile)``, what one tile adds."""

    @abstractmethod
    def total(self, parts: Iterable[tuple[Tile, Any]]) -> Total:
        """Add up what some tiles add."""

    @abstractmethod
    def sums(self, total: Total) -> Sums:
        """Return the sums over all relabelings from the total of all tiles."""

    def part(self, tiles: list[Tile], n_jobs: int = 1) -> Total:
        """Evaluate some tiles, in ``n_jobs`` threads, and add them up in their order."""
        return self.total(zip(tiles, in_order(self.evaluator(), tiles, n_jobs), strict=True))


def added(totals: Iterable[Total]) -> Total:
    """Add up totals, in their order."""
    return tuple(np.sum(arrays, axis=0) for arrays in zip(*totals, strict=True))


class TiledScheme(Scheme):
    """A scheme whose work is tiles, unless a shorter way was found."""

    @abstractmethod
    def begin(
        self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources
    ) -> Tiling | Sums:
        """Choose the relabelings, and return what is left to evaluate, or the sums where nothing is."""

    def sums(self, problem: Problem, n_resamples: int, rng: np.random.Generator, resources: Resources) -> Sums:
        """Evaluate all tiles in this process."""
        begun = self.begin(problem, n_resamples, rng, resources)
        return begun.sums(begun.part(begun.tiles(), resources.n_jobs)) if isinstance(begun, Tiling) else begun
