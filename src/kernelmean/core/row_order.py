"""Whether the rows of two inputs that belong together are in one order, as far as their pandas indexes say so."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import narwhals.stable.v1 as nw


def row_labels(data: Any) -> tuple[str, list[Any]] | None:
    """Return the name, "" if it has none, and the labels of a pandas index; None for other data.

    Labels that cannot be hashed, such as lists, are given as text.
    """
    frame = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    index = nw.maybe_get_index(frame) if isinstance(frame, nw.DataFrame | nw.Series) else None
    if index is None:
        return None
    labels = list(index)
    try:
        hash(tuple(labels))
    except TypeError:
        labels = list(map(repr, labels))
    return str(index.name or ""), labels


def check_one_order_of_all(variables: Mapping[str, Any]) -> None:
    """Raise as :func:`check_one_order` for any two variables of one study."""
    for (first, X), (second, Y) in combinations(variables.items(), 2):
        check_one_order(X, Y, (first, second))


def check_one_order(X: Any, Y: Any, names: tuple[str, str] = ("X", "Y")) -> None:
    """Raise where row i of both is to be one unit, and their pandas indexes name the same units in another order.

    Row numbers are units too where both have the same ones in another order, as after one was sorted.
    """
    one, two = row_labels(X), row_labels(Y)
    if one is None or two is None or one[1] == two[1]:
        return
    (name, labels), (_, other) = one, two
    units, others = {*labels}, {*other}
    if len(units) < len(labels) or len(others) < len(other):
        return
    if units == others:
        (first, second), called = names, f" ({name!r})" if name else ""
        raise ValueError(
            f"row i of {first} and row i of {second} are one unit, and their indexes{called} differ; write "
            f"both = {first}.index.intersection({second}.index), and pass {first}.loc[both] and {second}.loc[both]; "
            "if rows belong together as they stand, drop both indexes with .reset_index(drop=True)"
        )
