"""Losses of several estimators on a grid of sizes and dimensions: results by cell and for the whole grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from .arrays import Array
from .experiment import Findings, Setting
from .verdicts import Estimate

ORACLE, ZERO = "oracle MKME", "zero function"
"""MKME with the σ² of the smallest loss, which no estimator knows; and the estimate 0."""


@dataclass(frozen=True)
class Cell:
    """The trials of one setting.

    Parameters
    ----------
    findings : Findings
    setting : Setting
        With the values n and d.
    """

    findings: Findings
    setting: Setting
    _known: dict[tuple[str, str], Array] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def n(self) -> int:
        """Rows of a sample."""
        return int(self.setting.values["n"])

    @property
    def d(self) -> int:
        """Columns."""
        return int(self.setting.values["d"])

    @property
    def measured(self) -> bool:
        """Whether there are enough trials for a standard error."""
        return len(self.values("KME")) > 1

    def values(self, method: str, measure: str = "loss") -> Array:
        """Return the findings (trials,) of a method; they are looked up once."""
        key = (method, measure)
        if key not in self._known:
            self._known[key] = self.findings.values(self.setting, method, measure)
        return self._known[key]

    def mean(self, method: str) -> float:
        """Return the mean loss."""
        return float(self.values(method).mean())

    def change(self, method: str, base: str = "KME") -> Estimate:
        """Return the paired change of the mean loss from ``base``."""
        return Estimate.change(self.values(method), self.values(base))

    def relative(self, method: str, base: str) -> Estimate:
        """Return the paired change as a part of the mean loss of ``base``."""
        return self.change(method, base).scaled(1.0 / self.mean(base))

    def share(self, method: str) -> float:
        """Return the part of the gap between the mean losses of KME and of the oracle that a method closes."""
        return (self.mean("KME") - self.mean(method)) / (self.mean("KME") - self.mean(ORACLE))

    def shortfall(self, method: str, share: float) -> Estimate:
        """Return the paired excess of a method's mean loss over the loss that closes this share of the gap."""
        return Estimate.change(self.values(method), (1 - share) * self.values("KME") + share * self.values(ORACLE))


@dataclass(frozen=True)
class Grid:
    """The cells of one bandwidth rule, each with the same weight."""

    cells: tuple[Cell, ...]

    @classmethod
    def of(cls, findings: Findings, settings: Sequence[Setting]) -> Grid:
        """Return the grid of the settings that have at least two trials."""
        cells = (Cell(findings, setting) for setting in settings)
        return cls(tuple(cell for cell in cells if cell.measured))

    def where(self, chosen: Callable[[Cell], bool]) -> Grid:
        """Return the cells that are chosen."""
        return Grid(tuple(cell for cell in self.cells if chosen(cell)))

    def line(self, fixed: str, value: int) -> list[Cell]:
        """Return the cells with one n or one d, ordered by the other."""
        free = "d" if fixed == "n" else "n"
        return sorted((c for c in self.cells if getattr(c, fixed) == value), key=lambda cell: getattr(cell, free))

    def mean(self, method: str) -> float:
        """Return the mean loss, averaged over the cells."""
        return float(np.mean([cell.mean(method) for cell in self.cells]))

    def change(self, method: str, base: str = "KME") -> Estimate:
        """Return the paired change from ``base``, averaged over the cells."""
        return Estimate.over([cell.change(method, base) for cell in self.cells])

    def ratio(self, method: str, base: str) -> float:
        """Return the change of the mean loss over the grid as a part of that of ``base``."""
        return self.mean(method) / self.mean(base) - 1.0

    def below(self, method: str, *bases: str) -> list[Cell]:
        """Return the cells in which the mean loss of a method is below that of each of the others."""
        return [cell for cell in self.cells if all(cell.mean(method) < cell.mean(base) for base in bases)]

    def clearly(self, method: str, *bases: str) -> tuple[int, int]:
        """Return in how many cells a method is clearly below all others, and in how many clearly above one."""
        changes = [[cell.change(method, base) for base in bases] for cell in self.cells]
        return (
            sum(all(one.below() for one in cell) for cell in changes),
            sum(any(one.above() for one in cell) for cell in changes),
        )

    def share(self, method: str) -> float:
        """Return the part of the gap between KME and the oracle over the whole grid that a method closes."""
        return (self.mean("KME") - self.mean(method)) / (self.mean("KME") - self.mean(ORACLE))

    def least_share(self, method: str) -> Cell:
        """Return the cell in which a method closes the smallest part of the gap."""
        return min(self.cells, key=lambda cell: cell.share(method))

    def trials(self, method: str, measure: str = "loss") -> Array:
        """Return the findings of a method in all trials of all cells, one after another."""
        return np.concatenate([cell.values(method, measure) for cell in self.cells])
