"""Sums as a file holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from ...core.array import Array
from ...core.validate import check_finite
from ...embedding.features.base import Summary


class Resumable(Protocol):
    """Sums that can be saved and continued."""

    def state(self) -> list[Array]:
        """Return all that was added up."""

    def restore(self, arrays: list[Array]) -> None:
        """Continue from what sums of the same kind added up elsewhere."""


@final
@dataclass(eq=False)
class BinState(Summary):
    """All that sums over bins hold.

    Attributes
    ----------
    arrays : tuple of array
        One after the other, in an order that their owner knows.
    """

    arrays: tuple[Array, ...]

    def __post_init__(self) -> None:
        """Check the arrays, which may come from a file."""
        for array in self.arrays:
            if not isinstance(array, np.ndarray):
                raise TypeError(f"{array!r} is not an array of sums")
            check_finite(array, "the sums of bins")

    def __add__(self, other: BinState) -> BinState:
        """Return the sums over the rows of both."""
        return BinState(tuple(one + two for one, two in zip(self.arrays, other.arrays, strict=True)))
