"""A problem whose Gram matrices are replaced by verified low-rank factors, centered."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import final

import numpy as np

from .._array import Array
from .low_rank import Factor
from .problem import Problem
from .sizes import MIB, Shape
from .statistics import Sums

CHUNK_BYTES = 48 * MIB


@final
@dataclass(frozen=True)
class Factored:
    """Centered factors A (r, n) of every left and C of every right Gram matrix, and what the sums need besides."""

    problem: Problem
    left: list[Array]
    right: list[Array]

    @property
    def diagonals(self) -> tuple[Array, Array]:
        """Return the centered left diagonals, (count, n), and what they are coupled to on the right."""
        left = np.stack([squared_columns(rows) for rows in self.left])
        if self.problem.two_samples:
            return left, self.problem.right.gram_diagonal()
        return left, np.stack([squared_columns(rows) for rows in self.right])

    def sums(self, pairs: Array, diagonal: Array) -> Sums:
        """Attach the traces."""
        traces = (np.array([np.vdot(rows, rows) for rows in side]) for side in (self.left, self.right))
        left, right = (trace[index] for trace, index in zip(traces, self.problem.index, strict=True))
        return Sums(pairs, diagonal, left, right)


def squared_columns(rows: Array) -> Array:
    """Return the squared norms of the columns."""
    return np.asarray(np.einsum("rn,rn->n", rows, rows))


def split(problem: Problem, max_rank: int) -> tuple[Factored | None, list[int], list[int]]:
    """Factor what has a low rank: the pairs of which both sides do, their numbers, and those of the others."""
    left, right = problem.left.factors(max_rank), problem.right.factors(max_rank)
    low = [p for p, (i, j) in enumerate(problem.pairs) if left[i] is not None and right[j] is not None]
    others = [p for p in range(len(problem.pairs)) if p not in low]
    if not low:
        return None, low, others
    rows = [
        [_center(factor) for number, factor in enumerate(side) if factor is not None and number in wanted]
        for side, wanted in zip((left, right), problem.index_sets(low), strict=True)
    ]
    return Factored(problem.restricted(low), *rows), low, others


def _center(factor: Factor) -> Array:
    rows = factor.rows
    rows -= rows.mean(axis=1, keepdims=True)
    return rows


@final
class LowRankError(ValueError):
    """A Gram matrix is not of a rank whose factor fits the memory."""

    def __init__(self, n: int, rank: int) -> None:
        super().__init__(
            f"a Gram matrix over {n} rows is not of low rank: it has nearly as many significant directions as rows, or "
            f"more than {rank}, which is what the memory limit allows; write scheme='auto', or pass a larger memory"
        )


def factor_bytes(shape: Shape, rank: int) -> float:
    """Return the memory of factors of this rank, and of the chunks in which they are convolved."""
    return 8.0 * shape.n * rank * _stored(shape) + 4.0 * min(CHUNK_BYTES, 16 * shape.n * rank) if rank else 0.0


def fitting_rank(shape: Shape, memory: float) -> int:
    """Return the highest rank at which factors take so much memory, 0 where there is none."""
    return max(0, bisect_right(range(shape.n + 1), memory, key=lambda rank: factor_bytes(shape, rank)) - 1)


def _stored(shape: Shape) -> int:
    """Return how many factors are held at once: of every kernel, and for independence one transformed once more."""
    return shape.kernels[0] + (0 if shape.first is not None else shape.kernels[1] + 1)
