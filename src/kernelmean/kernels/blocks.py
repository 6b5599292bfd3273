"""A Gram matrix in tiles."""

from collections.abc import Callable

from ..core.array import Array

Blocks = Callable[[slice, slice], Array]
"""The tile of two slices of rows; two functions of slices make big sums out of them."""
