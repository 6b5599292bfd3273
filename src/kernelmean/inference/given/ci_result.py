"""What a test of conditional independence returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from scipy.special import betaincinv

from ...core.array import Array
from ...core.frozen import Frozen
from ...core.words import percent, signed
from ...report import pictures
from ...report.description import Description
from ...report.document import Bars
from ..adaptive.kinds import LEVEL
from ..base_result import Result
from ..wording import beside


@final
@dataclass(frozen=True)
class MemberPvalue:
    """One of the statistics that are combined: of which features of the residuals of X and Y, and its p-value."""

    name: str
    pvalue: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConditionalResult(Frozen, Result):
    """Whether X and Y depend on each other given Z; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic, pvalue : float
    method : str
        The test in words.
    exact : bool
        Whether the p-value is exact: only strata are given. Else it is asymptotic.
    shape : (int, int, int, int)
        Rows, and columns of X, Y and Z that vary.
    n_strata : int
    r2 : (float, float) or None
        The share of the variance of X and Y that the best regression on Z predicts, by leave-one-out, mean over
        columns. A column that strata predict worse than the mean of all rows does counts as 0.
    members : tuple of MemberPvalue
        The combined statistics.
    left : array of shape (columns of X, columns of Y)
        The correlations of what Z leaves of the ``columns``: direction and size of what is linear.
    size : float or None
        The share of p ≤ .05 in ``size_runs`` tables like these without dependence.
    size_runs : int
    names : (str, str, str)
        What to call X, Y and what is known.
    notes : tuple of str
        What else a reader should know.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (MemberPvalue,)

    statistic: float
    pvalue: float
    method: str
    exact: bool
    shape: tuple[int, int, int, int]
    n_strata: int
    r2: tuple[float, float] | None
    members: tuple[MemberPvalue, ...] = ()
    left: Array | None = None
    columns: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    size: float | None = None
    size_runs: int = 0
    names: tuple[str, str, str] = ("X", "Y", "Z")
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return f"ConditionalResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, exact={self.exact})"

    @property
    def size_interval(self) -> tuple[float, float] | None:
        """The exact 95 % interval of the size (Clopper & Pearson 1934), None where it was not simulated."""
        if self.size is None:
            return None
        hits = round(self.size * self.size_runs)
        misses = self.size_runs - hits
        low = float(betaincinv(hits, misses + 1, 0.025)) if hits else 0.0
        high = float(betaincinv(hits + 1, misses, 0.975)) if misses else 1.0
        return low, high

    def verdict(self) -> str:
        """Return the outcome at level .05 in one sentence."""
        p, (x, y, known) = beside(self.pvalue, LEVEL), self.names
        if self.pvalue > LEVEL:
            return f"{x} and {y} show no dependence given {known}: p = {p}, above {LEVEL:g}."
        return f"{x} and {y} depend on each other given {known}: p = {p}, at most {LEVEL:g}."

    def facts(self) -> list[tuple[str, str]]:
        """Return the p-value and what it rests on."""
        n, x, y, z = self.shape
        first, second, known = self.names
        facts = [
            ("p-value", f"{self.pvalue:.3g}, {'exact' if self.exact else 'asymptotic, not exact'}"),
            ("rows", f"{n:,}"),
            ("columns", f"{x} ({first}), {y} ({second})" + ("" if self.exact else f", {z} ({known})")),
        ]
        if self.n_strata > 1:
            facts.append(("strata", f"{self.n_strata:,}"))
        if self.r2 is not None:
            shares = f"{percent(self.r2[0])} of the variance of {first}, {percent(self.r2[1])} of that of {second}"
            facts.append((f"explained by {known}", shares))
        if self.left is not None:
            i, j = np.unravel_index(np.abs(self.left).argmax(), self.left.shape)
            pair = f"{self.columns[0][i]} and {self.columns[1][j]}" if self.left.size > 1 else f"{first} and {second}"
            facts.append(("correlation left", f"{signed(float(self.left[i, j]), '+.2f')}, {pair}"))
        if self.size is not None and (reach := self.size_interval):
            runs = f"{self.size_runs} tables like these without dependence"
            facts.append(("size", f"{self.size:.3g} at level .05 ({reach[0]:.3g} to {reach[1]:.3g}), {runs}"))
        return facts

    def describe(self) -> Description:
        """Return whether X and Y depend on each other, and the numbers behind it."""
        return Description(self.method, self.verdict(), self.facts(), notes=self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names, numbers and texts."""
        plain = ("statistic", "pvalue", "method", "exact", "n_strata", "size", "size_runs")
        several = ("shape", "r2", "names", "columns", "notes")
        return {
            **{name: getattr(self, name) for name in plain},
            "verdict": self.verdict(),
            **{name: None if value is None else list(value) for name in several for value in (getattr(self, name),)},
            "left": None if self.left is None else self.left.tolist(),
            "members": {member.name: member.pvalue for member in self.members},
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the test as one row."""
        r2 = (None, None) if self.r2 is None else self.r2
        return [{"statistic": self.statistic, "pvalue": self.pvalue, "exact": self.exact, "r2_X": r2[0], "r2_Y": r2[1]}]

    def plot(self, ax: Any = None) -> Any:
        """Draw the evidence of every statistic that was combined, -log10 of its p-value; returns the axes."""
        members = self.members or (MemberPvalue("all", self.pvalue),)
        heights = tuple(float(-np.log10(member.pvalue)) for member in members)
        names = tuple(member.name for member in members)
        bars = Bars("", "-log10 of the p-value", names, (("evidence", heights),))
        return pictures.show(bars, ax, size=(6.0, 3.4), words=self.verdict())
