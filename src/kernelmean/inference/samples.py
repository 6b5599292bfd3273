"""Two tables that a test can compare, or pair."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._array import Array
from .._table import Table, as_table, listed, passed
from .._validate import check_same_columns


def check_samples(X: Any, Y: Any) -> tuple[Array, Array]:
    """Return two samples of the same variables; columns with names are matched by name.

    Raises
    ------
    ValueError
        When the numbers or the names of the columns differ.
    """
    first, second = as_table(X, "X"), as_table(Y, "Y")
    check_same_columns(first.values, second.values)
    if first.names == second.names or _numbered(first) or _numbered(second):
        return first.values, second.values
    only = [name for name in first.names + second.names if (name in first.names) != (name in second.names)]
    if only:
        raise ValueError(f"X and Y differ in the columns {listed(only)}; name the same variables alike, or pass arrays")
    return first.values, second.columns([second.names.index(name) for name in first.names]).values


def check_pairs(X: Any, Y: Any, least: int = 1) -> tuple[Array, Array]:
    """Return two tables whose rows belong together.

    Raises
    ------
    ValueError
        When they differ in the number of rows, or there are fewer than ``least``.
    """
    first, second = as_table(X, "X").values, as_table(Y, "Y").values
    if len(first) != len(second):
        raise ValueError(
            f"X has {len(first)} rows and Y has {len(second)}; row i of X and row i of Y must be one observation"
        )
    if len(first) < least:
        raise ValueError(f"{passed(len(first), 'pair')}, at least {least} are needed")
    return first, second


def in_fixed_order(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return the two samples in an order that does not depend on which came first, so that swapping changes nothing.

    The smaller one first; of equal ones that with the larger scatter, which no shift and no unit alters; in a tie
    the one with the smaller first entry that differs.
    """
    if len(X) != len(Y):
        return (X, Y) if len(X) < len(Y) else (Y, X)
    center = (X.mean(axis=0) + Y.mean(axis=0)) / 2
    scatter = [float(np.square(sample - center).sum()) for sample in (X, Y)]
    if abs(scatter[0] - scatter[1]) > 1e-9 * sum(scatter):
        return (X, Y) if scatter[0] > scatter[1] else (Y, X)
    different = np.flatnonzero(X.ravel() != Y.ravel())
    swapped = bool(len(different)) and X.ravel()[different[0]] > Y.ravel()[different[0]]
    return (Y, X) if swapped else (X, Y)


def _numbered(table: Table) -> bool:
    """Say whether the names are those that arrays get."""
    return table.names == tuple(f"x{j}" for j in range(len(table.names)))
