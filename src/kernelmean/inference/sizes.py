"""The sizes of a call, and what it may use: the choice of a scheme and its memory depend on nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

MIB = 2**20


@final
@dataclass(frozen=True)
class Shape:
    """The sizes of a call.

    Attributes
    ----------
    n : int
        Rows: of the pooled sample, or pairs.
    dim : int
        Columns: of the pooled sample, or of X and Y together.
    n_resamples : int
        What was asked for, the observed arrangement not counted.
    first : int or None
        The rows of the first of two samples; None for independence.
    kernels : (int, int)
        How many different kernels are on the left and on the right.
    """

    n: int
    dim: int
    n_resamples: int
    first: int | None = None
    kernels: tuple[int, int] = (1, 1)

    @property
    def second(self) -> int | None:
        """Return the rows of the second sample; None for independence."""
        return None if self.first is None else self.n - self.first


def point_bytes(shape: Shape, prepared: int) -> float:
    """Return the memory of the points: copies made on the way, and what a number of prepared kernels hold of them."""
    return 8.0 * shape.n * (7 * shape.dim + prepared * (5 * shape.dim + 6))


@final
@dataclass(frozen=True)
class Resources:
    """Threads, and bytes."""

    n_jobs: int = 1
    memory: float = 1024 * MIB
