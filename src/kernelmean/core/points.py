"""Points with column names, and the matching of the columns of two tables: no column is mistaken for another."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from .array import Array, is_foreign
from .table import as_table
from .validate import as_points
from .words import listed

Names: TypeAlias = tuple[str, ...] | None
"""The names of the columns; None if they have none, as in an array."""


def named_points(X: Any, name: str = "X") -> tuple[Array, Names]:
    """Return finite points (n, d), and the names of their columns."""
    if is_foreign(X):
        return as_points(X, name), None
    table = as_table(X, name)
    return table.values, table.names if table.named else None


def points_like(X: Any, names: Names, name: str, other: str) -> Array:
    """Return finite points with their columns in the order of those of another table.

    Raises
    ------
    ValueError
        When both have names, and these differ.
    """
    points, columns = named_points(X, name)
    if columns is None or names is None or columns == names:
        return points
    check_names_agree(sorted(columns), sorted(names), (name, other))
    return points[:, [columns.index(each) for each in names]]


def check_names_agree(first: Any, second: Any, sides: tuple[str, str]) -> None:
    """Raise when the columns of two tables have names, and these differ or are in another order."""
    if first is not None and second is not None and list(first) != list(second):
        raise ValueError(
            f"the columns of {sides[0]} are {listed(first)}, those of {sides[1]} are {listed(second)}; pass the same "
            "columns in one order, or arrays"
        )


class Headed(Protocol):
    """Anything that has columns."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def named(self) -> bool:
        """Whether these names were passed, as in a data frame or a file; those of an array are made up."""


def column_order(first: Headed, second: Headed) -> list[int] | None:
    """Return the positions of the first table's columns in the second, None if the second has others."""
    if not (first.named and second.named):
        return list(range(len(first.names))) if len(first.names) == len(second.names) else None
    if sorted(first.names) != sorted(second.names):
        return None
    return [second.names.index(name) for name in first.names]
