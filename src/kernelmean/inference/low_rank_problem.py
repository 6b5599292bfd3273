"""A problem whose Gram matrices are replaced by verified low-rank factors, centered."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import final

import numpy as np

from ..core.array import Array
from .low_rank import Factor
from .problem import Problem
from .resampling_options import MIB, Shape
from .statistics import RemovedMeans, Sums

CHUNK_BYTES = 48 * MIB


@final
@dataclass(frozen=True)
class Factored:
    """Centered factors A (r, n) of every left and C of every right Gram matrix, and what the sums need besides.

    ``row_means`` (count, n) are those of the left matrices before they were centered.
    """

    problem: Problem
    left: list[Array]
    right: list[Array]
    row_means: Array

    @property
    def coupled(self) -> tuple[Array, Array]:
        """Return vectors u and w, (k, n) each, whose sums Σ_i u_i w_π(i) complete the pairs.

        One per pair, the diagonals; for two samples another one per pair, the row means, and the labels for all.
        """
        left, right = self.problem.index
        diagonals = np.stack([squared_columns(rows) for rows in self.left])[left]
        if self.problem.two_samples:
            vectors = np.concatenate([diagonals, self.row_means[left]])
            return vectors, np.repeat(self.problem.labels[None], len(vectors), axis=0)
        return diagonals, np.stack([squared_columns(rows) for rows in self.right])[right]

    def sums(self, pairs: Array, coupled: Array) -> Sums:
        """Attach the traces to the sums of the pairs, (m, P), and those of the ``coupled`` vectors, (k, P)."""
        traces = (np.array([np.vdot(rows, rows) for rows in side]) for side in (self.left, self.right))
        left, right = (trace[index] for trace, index in zip(traces, self.problem.index, strict=True))
        diagonal, rows = coupled[: len(pairs)], coupled[len(pairs) :]
        level = RemovedMeans(rows, self.row_means.mean(axis=1)[self.problem.index[0]]) if len(rows) else None
        return Sums(pairs, diagonal, left, right, level)


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
    wanted = problem.index_sets(low)
    own, means = zip(*(_centered(left[i]) for i in wanted[0]), strict=True)
    other = [_centered(right[j])[0] for j in wanted[1]]
    row_means = [mean @ rows + mean @ mean for rows, mean in zip(own, means, strict=True)]
    return Factored(problem.restricted(low), list(own), other, np.stack(row_means)), low, others


def _centered(factor: Factor | None) -> tuple[Array, Array]:
    """Center a factor in place, and return the means of its rows besides."""
    assert factor is not None, "a pair of low rank has factors"
    mean = factor.rows.mean(axis=1)
    np.subtract(factor.rows, mean[:, None], out=factor.rows)
    return factor.rows, mean


@final
class LowRankError(ValueError):
    """A Gram matrix is not of a rank whose factor fits the memory."""

    def __init__(self, n: int, rank: int) -> None:
        super().__init__(
            f"a Gram matrix over {n} rows is not of low rank: it has nearly as many significant directions as rows, or "
            f"more than {rank}, which is what the memory limit allows; write scheme='auto', or pass a larger memory"
        )


def factor_bytes(shape: Shape, rank: int) -> float:
    """Return the memory of factors of this rank, and of the chunks in which they are convolved.

    Those of every kernel are held at once, and for independence one that is transformed once more.
    """
    held = shape.kernels[0] + (0 if shape.first is not None else shape.kernels[1] + 1)
    return 8.0 * shape.n * rank * held + 4.0 * min(CHUNK_BYTES, 16 * shape.n * rank) if rank else 0.0


def fitting_rank(shape: Shape, memory: float) -> int:
    """Return the highest rank at which factors take so much memory, 0 where there is none."""
    return max(0, bisect_right(range(shape.n + 1), memory, key=lambda rank: factor_bytes(shape, rank)) - 1)
