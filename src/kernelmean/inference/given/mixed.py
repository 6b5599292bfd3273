"""Mixed tables in a conditional test: columns as coordinates, and what is known as numbers and strata."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.array import Array, IntArray
from ...core.frozen import sealed
from ...core.table import Table, named_frame
from ...core.words import count, listed
from ...tables.columns import Encoded, Encoding, encode
from .rows import NOTHING, stratum_numbers, varying_columns

_USELESS = "without Z, write hsic_test(X, Y)"


def coordinates(data: Any, name: str) -> tuple[Table, tuple[str, ...]]:
    """Return the columns of X or Y that vary, of a mixed table as coordinates, and notes."""
    encoded = encoded_tables((data,), (name,), NOTHING)
    if encoded is None:
        return varying_columns(data, name), ()
    return tables_of(encoded, encoded.names)[0], encoded.notes(f" in {name}")


def known_parts(Z: Any, strata: Sequence[Any] | None, n: int) -> tuple[Table | None, list[int] | None, tuple[str, ...]]:
    """Return the known numbers, the numbers of strata, in which known categories are crossed, and notes."""
    labels = [] if strata is None else [stratum_numbers(strata, n)]
    encoded = None if Z is None else encoded_tables((Z,), ("Z",), _USELESS)
    numbers = None if Z is None or encoded is not None else varying_columns(Z, "Z", _USELESS)
    if encoded is not None:
        discrete, known = strata_and_numbers(encoded, encoded.names)
        numbers = tables_of(encoded, known)[0] if known else None
        labels += map(np.asarray, crossed(encoded, discrete)) if discrete else ()
    lengths = {len(part) for part in (*labels, *(() if numbers is None else (numbers,)))}
    if lengths - {n}:
        raise ValueError(f"X has {n} rows and Z has {max(lengths - {n})}; row i of each must be one observation")
    return numbers, joined(labels), () if encoded is None else encoded.notes(" in Z")


def tables_of(encoded: Encoded, names: Sequence[str]) -> tuple[Table, ...]:
    """Return the coordinates of some columns of every table, with their names."""
    labels = tuple(label for coding in encoded.codings if coding.name in names for label in coding.names)
    return tuple(Table(sealed(values), labels) for values in encoded.coordinates(names))


def strata_and_numbers(encoded: Encoded, given: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return which given columns are strata, and which are regressed on."""
    varying = [name for name in given if name in encoded.groups]
    categories = {each.name for each in encoded.codings if each.category_weight is not None}
    return [name for name in varying if name in categories], [name for name in varying if name not in categories]


def crossed(encoded: Encoded, names: Iterable[str]) -> tuple[list[int], ...]:
    """Return the number of the combination of categories that every row of every table has."""
    tables = encoded.coordinates(names)
    numbers, ends = _crossed(np.concatenate(tables)), np.cumsum([len(table) for table in tables])
    return tuple(numbers[end - len(table) : end] for end, table in zip(ends, tables, strict=True))


def joined(labels: Sequence[IntArray]) -> list[int] | None:
    """Return the numbers of strata that several columns of labels make together, None for no column."""
    return _crossed(np.stack(labels, axis=1)) if labels else None


def _crossed(columns: Array | IntArray) -> list[int]:
    """Return the number of every row among the different ones."""
    numbers: list[int] = np.unique(columns, axis=0, return_inverse=True)[1].ravel().tolist()
    return numbers


def encoded_tables(tables: Sequence[Any], names: Sequence[str], useless: str) -> Encoded | None:
    """Return data frames with columns that are not numbers as coordinates, None for numbers alone."""
    frames = [frame for data, name in zip(tables, names, strict=True) if (frame := named_frame(data, name)) is not None]
    if not any(frame.declared or any(cells.dtype != np.float64 for cells in frame.cells.values()) for frame in frames):
        return None
    for frame in frames:
        blank = np.flatnonzero(~frame.complete())
        if len(blank):
            raise ValueError(
                f"{frame.source} has {count(len(blank), 'row')} with a blank cell, the first is row {blank[0] + 1}; "
                "leave these rows out of all tables, or fill the cells first"
            )
    encoded = encode(tables, names, Encoding())
    if not encoded.names:
        raise ValueError(f"{listed(names)} is constant in {count(sum(map(len, frames)), 'row')}: {useless}")
    return encoded
