"""Ordered levels, counted from 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ....core.array import Array
from ....core.table import Frame
from ....core.words import listed
from ..labels import as_labels
from ..texts import insist
from .numbers import OnALine


@final
@dataclass(frozen=True)
class LevelKind(OnALine):
    """Levels, lowest first."""

    kind, taken, footnote = "ordinal", "ordered levels", "ordered levels count from 0"
    on_axis = False

    def __str__(self) -> str:
        return f"{self.kind} ({' < '.join(self.levels)})"

    def numbers(self, frame: Frame, name: str, origin: int = 0) -> Array:
        """Return the rank of every cell, or raise where one is no level."""
        del origin
        labels = as_labels(frame, name)
        order: dict[str | None, float] = {level: float(rank) for rank, level in enumerate(self.levels)}
        order[None] = np.nan
        unknown = [cell for cell in dict.fromkeys(labels) if cell not in order]
        if unknown:
            row = frame.row_numbers()[int(np.flatnonzero(labels == unknown[0])[0])]
            raise ValueError(
                f"{frame.source}: row {row}, column {name!r} holds {unknown[0]!r}, which is not one of its levels "
                f"{listed(self.levels)}; name all levels, lowest first, or correct the cell"
            )
        return np.array([order[cell] for cell in labels], dtype=np.float64)

    def reasons(self, name: str, distinct: int, *, whole: bool, declared: bool) -> tuple[str, list[str]]:
        """Levels may be meant as categories."""
        del distinct, whole, declared
        return self.sign, [f"{insist('categorical', [name])} if the order says nothing"]
