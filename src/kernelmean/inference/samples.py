"""Two tables that a test can compare, or pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.array import Array, as_host, check_same_home, is_foreign, of_one_type
from ..core.points import Names, column_order
from ..core.row_order import check_one_order_of_all
from ..core.table import Table, as_table
from ..core.validate import as_points, check_same_columns
from ..core.words import listed, passed


def named_samples(X: Any, Y: Any, *, anywhere: bool = True) -> tuple[tuple[Array, Array], Names]:
    """Return two samples with the same columns, matched by name, and the names of the columns.

    Arrays of other libraries stay on their device; with ``anywhere=False`` they become NumPy arrays.

    Raises
    ------
    ValueError
        When the numbers or the names of the columns differ.
    """
    elsewhere = points_elsewhere(X, Y) if anywhere else None
    if elsewhere is not None:
        check_same_columns(*elsewhere)
        return elsewhere, None
    tables = matched(X, Y)
    return (tables[0].values, tables[1].values), names_of(tables)


def points_elsewhere(X: Any, Y: Any) -> tuple[Array, Array] | None:
    """Return two tables of one library and device if one is not of NumPy; None if both are.

    Raises
    ------
    TypeError
        When only one is of NumPy, or they are on different devices.
    """
    if not is_foreign(X) and not is_foreign(Y):
        return None
    check_same_home(X, Y)
    return of_one_type(as_points(X, "X"), as_points(Y, "Y"))


def names_of(tables: Sequence[Table]) -> Names:
    """Return the names of the columns of matched tables, None where all are arrays."""
    return next((table.names for table in tables if table.named), None)


def matched(X: Any, Y: Any, names: tuple[str, str] = ("X", "Y")) -> tuple[Table, Table]:
    """Return two tables, the second with the columns in the order of the first.

    Columns are matched by name where both tables have names, and by position where one is an array or a Series.

    Raises
    ------
    ValueError
        When the numbers or the names of the columns differ.
    """
    first, second = as_table(X, names[0]), as_table(Y, names[1])
    check_same_columns(first.values, second.values, names)
    if not (first.named and second.named):
        return first, second
    order = column_order(first, second)
    if order is None:
        only = [name for name in first.names + second.names if (name in first.names) != (name in second.names)]
        raise ValueError(
            f"{names[0]} and {names[1]} differ in the columns {listed(only)}; name the same variables alike, or pass "
            "arrays"
        )
    return first, second if order == list(range(len(order))) else second.columns(order)


def named_variables(X: Any, Y: Any, *, anywhere: bool = True) -> tuple[tuple[Array, Array], tuple[Names, Names]]:
    """Return two tables whose rows belong together, two rows at least, and the names of the columns of each.

    ``anywhere`` as in :func:`named_samples`.

    Raises
    ------
    ValueError
        When they differ in the number of rows, or there are fewer than two.
    """
    names: tuple[Names, Names] = (None, None)
    variables = points_elsewhere(X, Y) if anywhere else None
    if variables is None:
        check_one_order_of_all({"X": X, "Y": Y})
        tables = as_table(X, "X"), as_table(Y, "Y")
        variables = tables[0].values, tables[1].values
        names = names_of(tables[:1]), names_of(tables[1:])
    check_lengths(variables[0].shape[0], variables[1].shape[0], 2)
    return variables, names


def alone(parts: Iterable[Any]) -> Any:
    """Return the only part as it is, or several parts as a tuple."""
    values = tuple(parts)
    return values[0] if len(values) == 1 else values


def check_lengths(n: int, m: int, least: int) -> None:
    """Raise when two tables whose rows belong together differ in their rows, or have too few."""
    if n != m:
        raise ValueError(f"X has {n} rows and Y has {m}; row i of X and row i of Y must be one observation")
    if n < least:
        raise ValueError(f"{passed(n, 'pair')}, at least {least} are needed")


def in_fixed_order(X: Array, Y: Array) -> tuple[Array, Array]:
    """Return the two samples in an order that does not depend on which came first, so that swapping changes nothing.

    The smaller sample comes first; of equal sizes the one with the larger scatter, which shifts and units do not
    reorder; in a tie the one with the smaller entry where the two first differ.
    """
    if X.shape[0] != Y.shape[0]:
        return (X, Y) if X.shape[0] < Y.shape[0] else (Y, X)
    x, y = as_host(X), as_host(Y)
    center = (x.mean(axis=0) + y.mean(axis=0)) / 2
    gaps = x - center, y - center
    span = max(float(np.abs(gaps[0]).max()), float(np.abs(gaps[1]).max())) or 1.0  # squares stay in range
    first, second = float(np.square(gaps[0] / span).sum()), float(np.square(gaps[1] / span).sum())
    if abs(first - second) > 1e-9 * (first + second):
        return (X, Y) if first > second else (Y, X)
    different = np.flatnonzero(x.ravel() != y.ravel())
    swapped = bool(len(different)) and x.ravel()[different[0]] > y.ravel()[different[0]]
    return (Y, X) if swapped else (X, Y)
