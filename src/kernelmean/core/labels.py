"""One label for every row: of a group, a stratum, a cluster; checked, and as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array import BoolArray, IntArray
from .cells import is_missing, missing_cells


def check_codes(values: Any, n: int, name: str) -> Any:
    """Return the labels of n rows, shape (n,), as objects where text and others mix; raise if one is missing."""
    array = np.asarray(values)
    if array.shape != (n,):
        passed = f"is {values!r}" if array.ndim == 0 else f"has shape {array.shape}"
        raise ValueError(f"{name} {passed}; one label per row, ({n},), is needed")
    if array.dtype.kind == "U" and isinstance(values, list | tuple):
        array = array if all(isinstance(cell, str) for cell in values) else np.array(values, dtype=object)
    blank = _blank(array)
    if blank.any():
        row = int(np.argmax(blank)) + 1
        raise ValueError(f"{name} has no label in row {row}; give every row a label, or leave it out")
    return array


def _blank(array: Any) -> BoolArray:
    """Return which labels are missing; an empty text is a label."""
    if array.dtype != object:
        return missing_cells(array) if array.dtype.kind in "fMm" else np.zeros(len(array), dtype=bool)
    return np.array([not isinstance(cell, str) and is_missing(cell) for cell in array], dtype=bool)


def distinct(values: Any, name: str) -> tuple[Any, IntArray]:
    """Return labels of one type once each, sorted, and which of these every row has."""
    try:
        known, inverse = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise TypeError(f"{name} mixes labels that do not compare, such as numbers and text; use one type") from error
    return known, np.asarray(inverse).ravel()


def codes(values: Any, name: str) -> tuple[IntArray, tuple[str, ...]]:
    """Return labels of one type as whole numbers from 0, and what these stand for."""
    known, numbers = distinct(values, name)
    whole = (int(value) if isinstance(value, float) and value.is_integer() else value for value in known.tolist())
    return numbers, tuple(map(repr, whole))
