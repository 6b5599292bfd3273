"""Pairs of columns that go together differently in two tables: by how much their correlations of ranks differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy.special import ndtr

from ...core.words import signed
from ...inference.adaptive.aspects import correlations, pairs_of_columns, plain
from ...inference.null import holm
from ...inference.wording import brief
from ...tables.columns import Encoded

_LEAST_ROWS, _LEAST_BESIDE, _MOST_COLUMNS = 100, 30, 64
"""Fewer rows of a table, or with another value than its most common one, or more columns: no pair is named."""
_ALIKE = 0.99
"""Two correlations beyond this are not told apart: Fisher's z of ranks is biased there."""


@final
@dataclass(frozen=True)
class RelationDifference:
    """How differently two columns go together in two tables.

    Attributes
    ----------
    columns : (str, str)
        Of numbers, or of two values.
    labels : (str, str)
        Their names; of two categories with the one that counts 1: "smoker=yes".
    correlations : (float, float)
        The correlation of their ranks in either table (Spearman's).
    pvalue, adjusted : float
        Of Fisher's z of both, whose variance is that of its influence function, the ranks included: an approximation,
        for at least 100 independent rows of either table; and by Holm's method over all these pairs.
    """

    columns: tuple[str, str]
    labels: tuple[str, str]
    correlations: tuple[float, float]
    pvalue: float
    adjusted: float

    def words(self, tables: Sequence[str] = ()) -> str:
        """Return both correlations in a few words, with the names of the tables where these are given."""
        values = (signed(value, "z.2f") for value in self.correlations)
        said = [" in ".join(each) for each in zip(values, tables, strict=True)] if tables else [*values]
        return f"{' and '.join(map(brief, self.labels))}: correlation {', '.join(said)}"


def relations(encoded: Encoded) -> tuple[RelationDifference, ...]:
    """Return all pairs of columns of numbers or of two values, those whose correlations differ most clearly first.

    Examples
    --------
    >>> from kernelmean.tables.columns import encode, Encoding
    >>> x, y, z = np.random.default_rng(0).normal(size=(3, 200, 2))
    >>> first, *_ = relations(encode([np.c_[x[:, 0], x.sum(axis=1)], np.c_[y[:, 0], z[:, 0]]], ("A", "B"), Encoding()))
    >>> first.words(("A", "B"))
    'x0 and x1: correlation 0.69 in A, −0.08 in B'
    """
    labels = {coding.name: coding.names[0] for coding in encoded.codings if len(coding.names) == 1}
    names = [name for name in encoded.in_table_order() if name in labels]
    if not 2 <= len(names) <= _MOST_COLUMNS or min(map(len, encoded.tables)) < _LEAST_ROWS:
        return ()
    chosen = [encoded.groups[name][0] for name in names]
    tables = [table[:, chosen] for table in encoded.tables]
    pairs = pairs_of_columns(tables, np.full(len(names), fill_value=True), _LEAST_BESIDE)
    own, other = (correlations(table, pairs, plain) for table in tables)
    lowest, highest = np.minimum(own.values, other.values), np.maximum(own.values, other.values)
    alike = (lowest > np.arctanh(_ALIKE)) | (highest < -np.arctanh(_ALIKE))
    pvalues = np.where(alike, 1.0, 2 * ndtr(-np.abs(own.scores(other))))
    rows: list[Any] = [
        *zip(*pairs, np.tanh(own.values), np.tanh(other.values), pvalues, holm(pvalues.tolist()), strict=True)
    ]
    found = [
        RelationDifference(
            (names[i], names[j]), (labels[names[i]], labels[names[j]]), (float(r), float(s)), float(p), float(adjusted)
        )
        for i, j, r, s, p, adjusted in rows
    ]
    return tuple(sorted(found, key=lambda each: (each.pvalue, -abs(each.correlations[0] - each.correlations[1]))))
