"""The product of kernels over blocks of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul

from ..core.array import Array, take_columns
from ..core.validate import check_same_columns
from .bandwidth import bandwidth_from
from .base import BandwidthOf, Blockwise, Kernel, as_rows, check_kernels
from .distances import Blocks
from .gaussian import Gaussian
from .laplacian import Laplacian


@dataclass(frozen=True)
class TensorProduct(Blockwise):
    """The product over blocks of columns, :math:`k(x, y) = Π_b k_b(x_{C_b}, y_{C_b})`.

    Parameters
    ----------
    kernels : sequence of Kernel
        One kernel per block of columns.
    columns : sequence of sequences of int
        The columns of each block; blocks do not overlap.

    Examples
    --------
    >>> from kernelmean.kernels import Categorical, Gaussian
    >>> TensorProduct((Gaussian(1.0), Categorical(0.5)), ((0, 1), (2,)))
    TensorProduct(Gaussian(bandwidth=1.0) on (0, 1), Categorical(similarity=0.5) on (2,))
    """

    kernels: tuple[Kernel, ...]
    columns: tuple[tuple[int, ...], ...]

    @classmethod
    def examples(cls) -> tuple[Kernel, ...]:
        """Return example kernels for the support table and the tests."""
        return (cls((Gaussian(1.0), Laplacian(1.0)), ((0,), (1,))),)

    def __init__(self, kernels: Sequence[Kernel], columns: Sequence[Sequence[int]]) -> None:
        object.__setattr__(self, "kernels", check_kernels(kernels, "kernels"))
        object.__setattr__(self, "columns", tuple(tuple(map(int, block)) for block in columns))
        flat = [column for block in self.columns for column in block]
        if len(self.kernels) != len(self.columns) or not all(self.columns):
            raise ValueError(
                f"{len(self.kernels)} kernels and {len(self.columns)} blocks of columns were passed; "
                "one non-empty block per kernel is needed"
            )
        if len(set(flat)) != len(flat) or min(flat) < 0:
            raise ValueError(f"column blocks {self.columns} must be distinct indices ≥ 0")

    def _parts(self, X: Array) -> list[Array]:
        highest = max(max(block) for block in self.columns)
        if highest >= X.shape[1]:
            raise ValueError(f"the kernel uses column {highest}, the data have {X.shape[1]} columns")
        return [take_columns(X, block) for block in self.columns]

    def diag(self, X: Array) -> Array:
        """Return Π_b k_b(x_i, x_i), shape (n,)."""
        parts = zip(self.kernels, self._parts(as_rows(X)), strict=True)
        return reduce(mul, (kernel.diag(part) for kernel, part in parts))

    def blocks(self, X: Array, Y: Array) -> Blocks:
        """Cut the columns once, prepare every block's kernel, and multiply."""
        check_same_columns(X, Y)
        triples = zip(self.kernels, self._parts(X), self._parts(Y), strict=True)
        inner = [kernel.blocks(part_X, part_Y) for kernel, part_X, part_Y in triples]
        return lambda i, j: reduce(mul, (block(i, j) for block in inner))

    def resolved(self, X: Array, bandwidth_of: BandwidthOf = bandwidth_from) -> TensorProduct:
        """Resolve the kernel of every block from its columns."""
        parts = zip(self.kernels, self._parts(X), strict=True)
        return TensorProduct([kernel.resolved(part, bandwidth_of) for kernel, part in parts], self.columns)

    def __repr__(self) -> str:
        parts = zip(self.kernels, self.columns, strict=True)
        return "TensorProduct(" + ", ".join(f"{k!r} on {c}" for k, c in parts) + ")"
