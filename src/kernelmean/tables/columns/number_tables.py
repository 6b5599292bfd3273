"""Tables of numbers only, with an eye on columns that number rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...core.table import Table, as_table, named_frame, numbered_frame
from .encoding import Encoding


def table_of_numbers(X: Any, keep: str | Iterable[str] = (), name: str = "the table") -> tuple[Table, tuple[str, ...]]:
    """Return a table of numbers, and notes on columns that may be identifiers.

    Parameters
    ----------
    X : array of shape (n, d), data frame, Table or Frame
    keep : str or iterable of str
        Columns that are used although they look like identifiers.
    name : str
        What errors call a table that has no name of its own.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.tables.as_table`; when a column looks like an identifier, or ``keep`` names one that does
        not exist.
    """
    frame = named_frame(X, name)
    table = as_table(X, name) if frame is None else frame.to_table()
    seen = numbered_frame(table.values, name) if frame is None else frame
    return table, Encoding(keep=keep).inspect([seen])
