"""A problem whose Gram matrices are replaced by verified low-rank factors, centered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from .._array import Array
from .low_rank import Factor
from .problem import Problem
from .statistics import Sums


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

    @property
    def ranks(self) -> str:
        """Say how many pivots were needed."""
        ranks = sorted({len(rows) for rows in self.left + ([] if self.problem.two_samples else self.right)})
        return f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {ranks[0]} to {ranks[-1]}"


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


def required_factors(problem: Problem, memory: float) -> Factored:
    """Factor both sides within the memory, or raise with what to write instead."""
    cap = int(memory / (8 * problem.n * (problem.left.count + problem.right.count)))
    found, _, others = split(problem, cap)
    if found is None or others:
        raise ValueError(
            f"a Gram matrix over {problem.n} rows has more than {min(cap, problem.n)} significant directions, which is "
            "what fits into the memory limit; use scheme='cyclic' or 'auto', or pass a larger memory"
        )
    return found
