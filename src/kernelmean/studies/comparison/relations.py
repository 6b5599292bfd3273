"""Pairs of columns that go together differently in two tables: by how much their correlations of ranks differ.

A category is looked at level by level: as the column that is 1 in its rows and 0 in others. A pair of columns is looked
at in the rows where both are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, combinations_with_replacement
from typing import final

import numpy as np
from scipy.special import ndtr

from ...core.array import Array, BoolArray, IntArray
from ...core.cells import missing_cells
from ...core.words import signed
from ...inference.adaptive.aspects import correlations, plain, rows_beside
from ...inference.null import holm
from ...inference.wording import brief
from ...tables.columns import Encoded
from ...tables.columns.column_codings import IS_MISSING

_LEAST_ROWS, _LEAST_BESIDE, _LEAST_BOTH, _MOST_COORDINATES = 50, 30, 15, 64
"""Fewer rows of a table, or with another value than the most common one, or to be expected with another one in both
columns, or more numbers and categories: no pair is named."""
_MOST_CELLS, _ALWAYS_KEPT = 10_000_000, 4_000
"""Of more rows, times the square of the number of groups of columns known in the same rows, some are drawn that stand
for all; but of either table at least so many, where it has them."""
_ALIKE = 0.99
"""Two correlations beyond this are not told apart: Fisher's z of ranks is biased there."""


@final
@dataclass(frozen=True)
class RelationDifference:
    """How differently two columns go together in two tables.

    Attributes
    ----------
    columns : (str, str)
    labels : (str, str)
        Their names; of a category with the level that counts 1, the others 0: "smoker=yes". These are the levels whose
        correlations differ most clearly.
    correlations : (float, float)
        The correlation of their ranks in either table (Spearman's), in the rows where both are known.
    pvalue, adjusted : float
        Of Fisher's z of both, whose variance is that of its influence function, the ranks included: an approximation,
        for at least 50 independent rows of either table; and by Holm's method over all pairs of numbers and levels.
    """

    columns: tuple[str, str]
    labels: tuple[str, str]
    correlations: tuple[float, float]
    pvalue: float
    adjusted: float

    def words(self, tables: Sequence[str] = ()) -> str:
        """Return both correlations in a few words; without the names of the tables only the numbers."""
        values = [signed(value, "z.2f") for value in self.correlations]
        if not tables:
            return f"{self.named}: {', '.join(values)}"
        return f"{self.named}: rank correlation {', '.join(map(' in '.join, zip(values, tables, strict=True)))}"

    @property
    def named(self) -> str:
        """The labels, shortened."""
        return " and ".join(map(brief, self.labels))


def relations(encoded: Encoded, *, paired: bool = False) -> tuple[RelationDifference, ...]:
    """Return all pairs of columns that are looked at, those whose correlations differ most clearly first.

    If row i of one table is ``paired`` with row i of the other, variances are those of differences within pairs.

    Examples
    --------
    >>> from kernelmean.tables.columns import encode, Encoding
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> first, *_ = relations(encode([np.c_[x[:, 0], x.sum(axis=1)], np.c_[y[:, 0], z[:, 0]]], ("A", "B"), Encoding()))
    >>> first.words(("A", "B"))
    'x0 and x1: rank correlation 0.69 in A, −0.08 in B'
    """
    looked = _Coordinates.of(encoded, paired)
    every = combinations_with_replacement(looked.by_known_rows(), 2)
    found = [own for groups in every for own in looked.between(*groups)]
    adjusted = holm([own.pvalue for own in found])
    found = [replace(own, adjusted=float(p)) for own, p in zip(found, adjusted, strict=True)]
    found.sort(key=lambda own: (own.pvalue, -abs(own.correlations[0] - own.correlations[1])))
    clearest: dict[tuple[str, str], RelationDifference] = {}
    for own in found:
        clearest.setdefault(own.columns, own)
    return tuple(clearest.values())


def not_looked_at(encoded: Encoded) -> str:
    """Return why some pairs of columns are not looked at, or nothing."""
    if min(map(len, encoded.tables)) < _LEAST_ROWS:
        return f"not looked at: fewer than {_LEAST_ROWS} rows in a table"
    if len(_places(encoded)) > _MOST_COORDINATES:
        return f"not all looked at: more than {_MOST_COORDINATES} columns and categories"
    return ""


@final
@dataclass(frozen=True)
class _Coordinates:
    """Numbers and levels of categories side by side."""

    columns: list[str]
    labels: list[str]
    tables: list[Array]
    known: list[BoolArray]
    """Which cells of both tables are not blank, shape (n, k)."""
    paired: bool

    @classmethod
    def of(cls, encoded: Encoded, paired: bool) -> _Coordinates:
        """Take all coordinates that are no blanks; if these are too many, those of columns that have only one."""
        places = _places(encoded)
        if len(places) > _MOST_COORDINATES:
            alone = [name for name, _, _ in places]
            places = [own for own in places if alone.count(own[0]) == 1]
        if len(places) > _MOST_COORDINATES or min(map(len, encoded.tables)) < _LEAST_ROWS:
            places = []
        columns, labels = [name for name, _, _ in places], [label for _, label, _ in places]
        blank = [[missing_cells(own[name]) for name in columns] for own in encoded.frames]
        shapes = [(len(columns), len(table)) for table in encoded.tables]
        known = [~np.array(own, dtype=bool).reshape(shape).T for own, shape in zip(blank, shapes, strict=True)]
        if paired:
            known = [known[0] & known[1]] * 2
        found = cls(columns, labels, [table[:, [j for *_, j in places]] for table in encoded.tables], known, paired)
        return found.some_rows()

    def some_rows(self) -> _Coordinates:
        """Draw rows of the tables that have too many; of paired tables the same rows.

        They are drawn at random, because every k-th row would be no fair part of rows that take turns.
        """
        sizes = [len(own) for own in self.tables]
        most = _MOST_CELLS // max(1, len(self.by_known_rows())) ** 2
        if sum(sizes) <= most:
            return self
        most = max(_ALWAYS_KEPT, most // 2, most - min(sizes))
        rng = np.random.default_rng(0)
        rows = [np.sort(rng.choice(n, min(n, most), replace=False)) for n in sizes]
        if self.paired:
            rows = rows[:1] * 2
        tables = [own[i] for own, i in zip(self.tables, rows, strict=True)]
        return replace(self, tables=tables, known=[own[i] for own, i in zip(self.known, rows, strict=True)])

    def by_known_rows(self) -> list[list[int]]:
        """Return the coordinates in groups that are known in the same rows."""
        groups: dict[bytes, list[int]] = {}
        for k in range(len(self.columns)):
            groups.setdefault(b"".join(np.packbits(own[:, k]).tobytes() for own in self.known), []).append(k)
        return [*groups.values()]

    def between(self, first: list[int], second: list[int]) -> Iterator[RelationDifference]:
        """Yield how the pairs of a coordinate of one group and one of the other differ; they are not adjusted yet."""
        chosen = sorted({*first, *second})
        both = [own[:, first[0]] & own[:, second[0]] for own in self.known]
        tables = [table[own][:, chosen] for table, own in zip(self.tables, both, strict=True)]
        across = [
            self.columns[i] != self.columns[j] and ((i in first and j in second) or (i in second and j in first))
            for i, j in combinations(chosen, 2)
        ]
        if min(map(len, tables)) < _LEAST_ROWS:
            return
        pairs = _enough(tables, np.array(across, dtype=bool))
        own, other = (correlations(table, pairs, plain, keep=self.paired) for table in tables)
        lowest, highest = np.minimum(own.values, other.values), np.maximum(own.values, other.values)
        alike = (lowest > np.arctanh(_ALIKE)) | (highest < -np.arctanh(_ALIKE))
        pvalues = np.where(alike, 1.0, 2 * ndtr(-np.abs(own.scores(other, paired=self.paired))))
        for i, j, r, s, p in zip(*pairs, np.tanh(own.values), np.tanh(other.values), pvalues, strict=True):
            names, labels = ((of[chosen[i]], of[chosen[j]]) for of in (self.columns, self.labels))
            yield RelationDifference(names, labels, (float(r), float(s)), float(p), 1.0)


def _places(encoded: Encoded) -> list[tuple[str, str, int]]:
    """Return the columns, names and places of coordinates that may be looked at, in the order of the first table."""
    labels = {coding.name: coding.names for coding in encoded.codings}
    found = []
    for name in encoded.in_table_order():
        own = [
            (name, label, place)
            for label, place in zip(labels[name], encoded.groups[name], strict=True)
            if label != name + IS_MISSING
            and min(rows_beside(table[:, place]) for table in encoded.tables) >= _LEAST_BESIDE
        ]
        found += own[1:] if len(own) == 2 == len(labels[name]) - 1 else own
    return found


def _enough(tables: Sequence[Array], across: BoolArray) -> tuple[IntArray, IntArray]:
    """Return those pairs of columns for whose correlations an approximation holds in all tables."""
    first, second = np.triu_indices(tables[0].shape[1], 1)
    for table in tables:
        beside = np.array([rows_beside(column) for column in table.T])
        across = across & (np.minimum(beside[first], beside[second]) >= _LEAST_BESIDE)
        across &= beside[first] * beside[second] >= _LEAST_BOTH * len(table)
    return first[across], second[across]
