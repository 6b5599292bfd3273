"""What a study of dependence says: of two groups of columns, and of every pair."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ...core.array import Array
from ...core.words import count, listed
from ...inference import TestResult
from ...inference.facts import beside, brief, facts_of
from ...report.card import Grid, card
from ...tables.columns import Encoded, MissingCells

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MEASURES = ("strength", "pvalue", "adjusted")
_ROWS = 8


@final
@dataclass(frozen=True)
class PairDependence:
    """How two columns depend on each other.

    Attributes
    ----------
    x, y : str
        The columns.
    strength : float
        The unbiased HSIC divided by the geometric mean of that of either column with itself, with Gaussian kernels at
        the median bandwidth: at most 1, near 0 (of either sign) for independent columns.
    pvalue : float
        The permutation p-value of the pair.
    adjusted : float
        The p-value by Holm's method: rejecting where it is at most α rejects an independent pair with probability at
        most α over all pairs.
    n_resamples : int
        The permutations that the p-value comes from.
    """

    x: str
    y: str
    strength: float
    pvalue: float
    adjusted: float
    n_resamples: int


@final
@dataclass(frozen=True, eq=False)
class Dependence:
    """The dependence between two groups of columns, or between all columns of a table.

    Attributes
    ----------
    x, y : tuple of str
        The columns of either group; the same where all pairs were looked at.
    n_rows : int
    test : TestResult or None
        The joint test of the two groups; None where all pairs of columns were looked at.
    pairs : tuple of PairDependence
        The pairs of one column of x and one of y, those that depend most first.
    estimator : str
    notes : tuple of str
        What else a reader should know.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column.
    encoded : Encoded
        The table as the coordinates that the kernels see, with the columns that these belong to.
    """

    x: tuple[str, ...]
    y: tuple[str, ...]
    n_rows: int
    test: TestResult | None
    pairs: tuple[PairDependence, ...]
    estimator: str
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)

    def dependent(self, level: float = 0.05) -> tuple[PairDependence, ...]:
        """Return the pairs whose adjusted p-value is at most ``level``, those of the smallest first."""
        return tuple(pair for pair in self.pairs if pair.adjusted <= level)

    def verdict(self, level: float = 0.05) -> str:
        """Return the outcome in a sentence, which every report begins with."""
        if self.test is None:
            return self.on_pairs(level)
        first, second = (
            brief(group[0]) if len(group) == 1 else f"({listed(map(brief, group))})" for group in (self.x, self.y)
        )
        p = beside(self.test.pvalue, level)
        if self.test.pvalue <= level:
            return f"{first} and {second} depend on each other: p = {p}, at most {level:g}."
        return (
            f"No dependence between {first} and {second} was found: p = {p}, above {level:g}. That does not show that "
            "there is none."
        )

    def on_pairs(self, level: float = 0.05) -> str:
        """Return in a sentence how many pairs depend on each other, and which most."""
        found, all_of = len(self.dependent(level)), count(len(self.pairs), "pair")
        most = self.strongest(level)
        if most is None:
            return f"No dependence was found in {all_of} of columns, which does not show that there is none."
        verb = "depends" if found == 1 else "depend"
        return (
            f"{found} of {all_of} of columns {verb} on each other (adjusted p at most {level:g}), "
            f"most of all {brief(most.x)} and {brief(most.y)}."
        )

    def strongest(self, level: float = 0.05) -> PairDependence | None:
        """Return the pair of the largest strength among those that depend on each other, if any do."""
        return max(self.dependent(level), key=lambda pair: pair.strength, default=None)

    def matrix(self, what: str = "strength") -> Array:
        """Return ``strength``, ``pvalue`` or ``adjusted`` of all pairs, shape (len(x), len(y)).

        Where x and y are the same columns it is symmetric, with 1 (strength) or 0 (p-values) on the diagonal.
        """
        if what not in _MEASURES:
            raise ValueError(f"what is {what!r}; write one of {listed(_MEASURES)}")
        grid = np.full((len(self.x), len(self.y)), 1.0 if what == "strength" else 0.0)
        for pair in self.pairs:
            value = getattr(pair, what)
            grid[self.x.index(pair.x), self.y.index(pair.y)] = value
            if self.test is None:
                grid[self.x.index(pair.y), self.y.index(pair.x)] = value
        return grid

    def plot(self, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
        """Draw the strength of all pairs as a heat map: ``plots.dependence_map``.

        Parameters
        ----------
        level : float
            Pairs whose adjusted p-value is at most this carry a star.
        ax : Axes, optional
            Where to draw; a new figure by default.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        """
        from ..plots import dependence_map

        return dependence_map(self, level=level, ax=ax)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict at level 0.05, the joint test, the pairs that depend most."""
        facts = [("rows", f"{self.n_rows:,}"), *([] if self.test is None else facts_of(self.test))]
        rows = [
            (pair.x, pair.y, f"{pair.strength:.2f}", f"{pair.pvalue:.2g}", f"{pair.adjusted:.2g}")
            for pair in self.pairs[:_ROWS]
        ]
        header = ("column", "column", "strength", "p", "adjusted p")
        grid = Grid(header, rows, numbers=2, left_out=len(self.pairs) - len(rows))
        return card("Dependence between columns", facts, sentence=self.verdict(), grid=grid, notes=self.notes)

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain names and numbers, for JSON."""
        test = self.test
        joint = None if test is None else {"statistic": test.statistic, "statistic_name": test.statistic_name}
        if test is not None and joint is not None:
            joint |= {"pvalue": test.pvalue, "scheme": test.scheme, "n_resamples": test.n_resamples}
        return {
            "verdict": self.verdict(),
            "x": list(self.x),
            "y": list(self.y),
            "rows": self.n_rows,
            "test": joint,
            "estimator": self.estimator,
            "pairs": [asdict(pair) for pair in self.pairs],
            "kinds": {coding.name: coding.type.kind for coding in self.encoded.codings},
            "missing": self.missing.as_dict(),
            "notes": list(self.notes),
        }
