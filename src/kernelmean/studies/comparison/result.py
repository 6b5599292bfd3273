"""What a comparison of two tables says: of all columns together, and of every column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ...core.array import RngLike
from ...core.words import listed
from ...inference import TestResult
from ...inference.facts import beside, facts_of, titles
from ...report.card import Grid, card
from ...tables.columns import CategoryShares, Encoded, MissingCells

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS, _ROWS = 6, 8


@final
@dataclass(frozen=True)
class ColumnDifference:
    """How one column differs between two tables.

    Attributes
    ----------
    name : str
    means : (float, float)
        The two means, in the units of the column: of ordinal levels their number from 0, of times seconds since 1970
        (UTC), of truth values the share of true ones. nan for categories.
    gap : float
        Their difference, first less second, in standard deviations of the pooled column; nan for categories.
    noise : float
        The standard deviation of the noise that the joint test chose, in the units of the column (of categories: of
        shares).
    statistic, pvalue : float
        Of the column alone: the unbiased squared maximum mean discrepancy (in an adaptive test that of the Gaussian
        kernel at the median bandwidth), and the permutation p-value of its test.
    adjusted : float
        The p-value by Holm's method: rejecting where it is at most α rejects a column that does not differ with
        probability at most α over all columns.
    kind : str
        "numeric", "boolean", "categorical", "ordinal", "datetime" or "duration".
    shares : tuple of CategoryShares
        Of categories and truth values: how often each occurs in the two tables.
    """

    name: str
    means: tuple[float, float]
    gap: float
    noise: float
    statistic: float
    pvalue: float
    adjusted: float
    kind: str = "numeric"
    shares: tuple[CategoryShares, ...] = ()

    def describe(self) -> tuple[str, str]:
        """Return what the column is like in either table, in a few words: its mean, or a category and its share."""
        if self.kind == "categorical":
            most = max(self.shares, key=lambda each: abs(each.shares[0] - each.shares[1]))
            return f"{most.shares[0]:.1%} {most.category}", f"{most.shares[1]:.1%} {most.category}"
        first, second = (_written(mean, self.kind) for mean in self.means)
        return first, second


def _written(mean: float, kind: str) -> str:
    if not math.isfinite(mean):
        return "none"
    if kind == "datetime":
        return str(np.datetime64(round(mean), "s"))
    if kind == "duration":
        return f"{mean:.4g} s"
    return f"{mean:.4g}"


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """The comparison of two tables: a joint test, and one test a column.

    Attributes
    ----------
    names, sizes : (str, str), (int, int)
        What the tables are called, and their rows.
    test : TestResult
        The joint test over all columns.
    estimator : str
    bandwidth : float, tuple of float, or None
        θ of the joint test; in pooled standard deviations when ``scaled``, else in the units of the data. None where
        an adaptive test brought many kernels of its own.
    scaled : bool
        Whether every column was divided by its standard deviation over both tables.
    columns : tuple of ColumnDifference
        The columns, those that differ most first.
    notes : tuple of str
        What else a reader should know: columns left out, missing cells, repeated rows, how the bandwidth was found.
    missing : MissingCells
        The rule for missing cells, and how many there are in every column of either table.
    encoded : Encoded
        The two tables as the coordinates that the kernels see, with the columns that these belong to. Noise and
        kernels of ``test`` are in the order of its coordinates.
    """

    names: tuple[str, str]
    sizes: tuple[int, int]
    test: TestResult
    estimator: str
    bandwidth: Any
    scaled: bool
    columns: tuple[ColumnDifference, ...]
    notes: tuple[str, ...]
    missing: MissingCells
    encoded: Encoded = field(repr=False)

    def differ(self, level: float = 0.05) -> bool:
        """Whether the joint test rejects that both tables come from one law, at this level."""
        return self.test.pvalue <= level

    def verdict(self, level: float = 0.05) -> str:
        """Return the outcome of the joint test in a sentence, which every report begins with."""
        (first, second), p = titles(self.names), beside(self.test.pvalue, level)
        if self.differ(level):
            return f"{first} and {second} differ: p = {p}, at most {level:g}."
        return (
            f"No difference between {first} and {second} was found: p = {p}, above {level:g}. That does not show that "
            "there is none."
        )

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers and truth values, those that differ most first."""
        return tuple(column.name for column in self.columns if column.kind in ("numeric", "boolean"))

    def plot(self, columns: Sequence[str] = (), *, rng: RngLike = 0) -> Figure:
        """Draw where columns of numbers differ: ``plots.column_witnesses`` of the rows that were compared.

        Parameters
        ----------
        columns : sequence of str
            Which columns; by default the six that differ most.
        rng : int or Generator
            Seeds the bands of chance.

        Raises
        ------
        ImportError
            When matplotlib is not installed.
        ValueError
            When a column is unknown or not of numbers, or none is.

        Examples
        --------
        >>> import kernelmean as km
        >>> rng = np.random.default_rng(0)
        >>> result = km.compare(rng.normal(size=(30, 2)), rng.normal([0.0, 2.0], size=(30, 2)))
        >>> [ax.get_xlabel() for ax in result.plot().axes]
        ['x1', 'x0']
        """
        from ..plots import column_witnesses

        names = list(columns) or list(self.numbers[:_PANELS])
        if not names or not {*names} <= {*self.numbers}:
            raise ValueError(f"columns is {names}; columns of numbers that vary can be drawn: {listed(self.numbers)}")
        first, second = (frame.select(names).to_table("drop") for frame in self.encoded.frames)
        return column_witnesses(first, second, names, names=self.names, rng=rng)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict at level 0.05, the test, the columns that differ most."""
        (n, m), (first, second) = self.sizes, self.names
        facts = [("rows", f"{n:,} of {first}, {m:,} of {second}"), *facts_of(self.test)]
        rows = [
            (column.name, *column.describe(), f"{column.pvalue:.2g}", f"{column.adjusted:.2g}")
            for column in self.columns[:_ROWS]
        ]
        header = ("column", f"mean {first}", f"mean {second}", "p", "adjusted p")
        grid = Grid(header, rows, left_out=len(self.columns) - len(rows))
        return card(f"Comparison of {first} and {second}", facts, sentence=self.verdict(), grid=grid, notes=self.notes)

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain names and numbers, for JSON."""
        test = self.test
        return {
            "verdict": self.verdict(),
            "names": list(self.names),
            "sizes": list(self.sizes),
            "statistic": test.statistic,
            "statistic_name": test.statistic_name,
            "pvalue": test.pvalue,
            "scheme": test.scheme,
            "n_resamples": test.n_resamples,
            "null_quantiles": test.quantiles(),
            "estimator": self.estimator,
            "bandwidth": self.bandwidth,
            "kernels": [asdict(member) for member in test.members],
            "scaled": self.scaled,
            "columns": [_without_nan(asdict(column)) for column in self.columns],
            "missing": self.missing.as_dict(),
            "notes": list(self.notes),
        }


def _without_nan(content: dict[str, Any]) -> dict[str, Any]:
    """Return what JSON can hold: None where a column has no mean."""
    means = [None if math.isnan(mean) else mean for mean in content["means"]]
    return {**content, "means": means, "gap": None if math.isnan(content["gap"]) else content["gap"]}
