"""Noises with one width for all axes, or one per axis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ..core.array import Array
from ..core.validate import as_value, check_positive
from .base import Additive, dim_of, per_axis


class AxisWidths(Additive):
    """Independent noise on every axis; a dataclass whose one field, ``parameter``, is the width, checked here."""

    parameter: ClassVar[str]

    @property
    def _width(self) -> Any:
        return getattr(self, self.parameter)

    def __post_init__(self) -> None:
        array = check_positive(self._width, self.parameter, zero=True)
        if array.ndim > 1:
            raise ValueError(f"{self.parameter} has shape {array.shape}; pass a number or one number per column (d,)")
        object.__setattr__(self, self.parameter, as_value(array))

    @property
    def dim(self) -> int | None:
        """The number of widths when there is one per axis, else None."""
        return dim_of(self._width)

    def columns(self, index: tuple[int, ...]) -> Self:
        """Return the noise on a block of columns."""
        return replace(self, **{self.parameter: per_axis(self._width, index)})  # type: ignore[type-var]

    def widths(self, dim: int) -> Array:
        """Return the width of every axis, shape (d,)."""
        array = np.asarray(self._width, dtype=np.float64)
        if array.ndim and len(array) != dim:
            raise ValueError(f"the noise has {len(array)} {self.parameter}s, the data have {dim} columns")
        return np.broadcast_to(array, (dim,))
