"""The cells of a column as the texts of categories, and as finite numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.cells import Cells, label, shared
from ...core.table import Frame
from ...core.words import leave_out


def as_labels(frame: Frame, name: str) -> Cells:
    """Return the cells of a column as the texts of categories, None where missing."""
    cells, declared = frame[name], frame.declared.get(name)
    if declared is not None and declared.kind == "boolean":
        return shared(cells.tolist(), lambda cell: None if np.isnan(cell) else str(bool(cell)))
    if cells.dtype.kind in "mM":
        return shared(cells, label)
    if cells.dtype != object:
        return shared(finite(frame, name).tolist(), label)
    named = {cell: label(cell) for cell in cell_counts(frame, name)}
    return shared(cells.tolist(), named.__getitem__)


def label_counts(frame: Frame, name: str) -> Counter[str | None]:
    """Return how often each text of :func:`as_labels` occurs."""
    if frame[name].dtype != object:
        return Counter(as_labels(frame, name).tolist())
    counts: Counter[str | None] = Counter()
    for cell, n in cell_counts(frame, name).items():
        counts[label(cell)] += n
    return counts


def cell_counts(frame: Frame, name: str) -> Counter[Any]:
    """Return how often each cell of a column of objects occurs, in the order of their first rows."""
    cells = frame[name].tolist()
    try:
        return Counter(cells)
    except TypeError:
        raise TypeError(
            f"{frame.source}: column {name!r} holds values of type "
            f"{type(next(cell for cell in cells if cell is not None)).__name__}, which are neither numbers nor "
            f"categories nor times; leave it out {leave_out([name])}"
        ) from None


def finite(frame: Frame, name: str) -> Array:
    """Return a column of numbers as float64, NaN where missing; raise where one is infinite."""
    cells = frame[name]
    infinite = np.isinf(cells)
    if infinite.any():
        raise ValueError(
            f"{frame.source}: row {frame.row_numbers()[int(np.argmax(infinite))]}, column {name!r} is infinite; "
            "replace or remove it first"
        )
    return np.asarray(cells, dtype=np.float64)
