"""The rows that a caller gives a kernel: floats in two dimensions, because whole numbers overflow."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.array import Array, is_foreign, namespace
from ..core.validate import check_numbers, check_same_columns


def as_rows(X: Any, name: str = "X") -> Array:
    """Return rows as floats, shape (n, d), or raise; floats of other libraries keep their type."""
    if is_foreign(X):
        is_float = namespace(X).isdtype(X.dtype, "real floating")
        X = X if is_float else namespace(X).astype(X, namespace(X).float64)
    elif getattr(X, "dtype", None) != np.float64:
        X = check_numbers(X, name, finite=False)
    if X.ndim != 2:
        raise ValueError(
            f"{name} has shape {tuple(X.shape)}, rows of shape (n, d) are needed; write {name}[:, None] for one column"
        )
    rows: Array = X
    return rows


def two_tables(X: Any, Y: Any) -> tuple[Array, Array]:
    """Return the rows of two tables with the same columns, or raise."""
    X, Y = as_rows(X, "X"), as_rows(Y, "Y")
    check_same_columns(X, Y)
    return X, Y
