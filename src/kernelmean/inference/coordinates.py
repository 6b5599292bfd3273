"""Kernels that are weighted sums of products of a few columns: factors of their Gram matrices are these columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array, like, namespace, take_columns
from ..kernels import Kernel


@final
@dataclass(frozen=True)
class Coordinates(Kernel):
    r"""The kernel :math:`k(x, y) = Σ_j w_j x_{c_j} y_{c_j}` over some columns c of a table.

    Parameters
    ----------
    columns : tuple of int
        The columns c.
    weights : tuple of float
        One weight w_j ≥ 0 per column.

    Examples
    --------
    >>> float(Coordinates((0, 2), (1.0, 0.5))(np.array([[1.0, 9.0, 2.0]]), np.array([[3.0, 9.0, 4.0]]))[0, 0])
    7.0
    """

    columns: tuple[int, ...]
    weights: tuple[float, ...]

    @property
    def place(self) -> slice | list[int]:
        """Return the columns as a slice where they are neighbors."""
        columns = list(self.columns)
        if columns and columns == list(range(columns[0], columns[0] + len(columns))):
            return slice(columns[0], columns[0] + len(columns))
        return columns

    def over(self, columns: tuple[int, ...]) -> Coordinates:
        """Return the same kernel over more columns, all of them neighbors, with weights 0 for those that are new."""
        before = self.columns[0] - columns[0]
        behind = len(columns) - len(self.columns) - before
        return Coordinates(columns, (0.0,) * before + self.weights + (0.0,) * behind)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the Gram matrix, shape (n, m)."""
        gram: Array = self._weighted(X) @ take_columns(Y, self.columns).T
        return gram

    def diag(self, X: Array) -> Array:
        """Return Σ_j w_j x_j², shape (n,)."""
        squares = self._weighted(X) * take_columns(X, self.columns)
        diagonal: Array = namespace(squares).sum(squares, axis=1)
        return diagonal

    def _weighted(self, X: Array) -> Array:
        chosen = take_columns(X, self.columns)
        weighted: Array = chosen * like(np.array(self.weights), chosen)
        return weighted


def widened(kernels: Sequence[Kernel]) -> list[Kernel]:
    """Return the kernels so that they share factors: neighboring columns become all that another kernel has of them.

    Examples
    --------
    >>> widened([Coordinates((1, 2), (1.0, 2.0)), Coordinates((0, 1, 2), (1.0, 1.0, 1.0))])[0]
    Coordinates(columns=(0, 1, 2), weights=(0.0, 1.0, 2.0))
    """
    ranges = {own.columns for own in kernels if isinstance(own, Coordinates) and isinstance(own.place, slice)}
    widest: dict[tuple[int, ...], tuple[int, ...]] = {}
    for own in sorted(ranges, key=len, reverse=True):
        wider = (each for each in widest.values() if each[0] <= own[0] and own[-1] <= each[-1])
        widest[own] = next(wider, own)
    return [
        kernel.over(widest[kernel.columns]) if isinstance(kernel, Coordinates) and kernel.columns in widest else kernel
        for kernel in kernels
    ]
