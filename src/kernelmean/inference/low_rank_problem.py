"""A problem whose Gram matrices are replaced by verified low-rank factors, centered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from ..core.array import Array, slices
from ..core.cached import cached_property
from .low_rank import Factor, by_rows
from .problem import Problem, Shape
from .statistics import Sums

_SQUARED = 16
"""Rows of a factor that are copied at a time."""
_MOST_NUMBERS = 2**26
"""Of all factors that are searched for together."""


@final
@dataclass(frozen=True)
class SharedRows:
    """Some pairs of a problem whose factors have the same rows on each side, and differ only in weights."""

    left: Array
    """Shape (r, n)."""
    right: Array
    """Shape (q, n)."""
    weights: tuple[Array, Array]
    """Weights of the rows of each side, shape (k, r) and (k, q)."""
    pairs: list[int]
    """Which pairs of the problem, k numbers."""


def weighted_norms(weights: tuple[Array, Array], entries: Array, part: slice) -> Array:
    """Return Σ_rq w_r v_q E_rq² of some rows r for weights (k, r) and (k, q), shape (k, P).

    E, of shape (r, q, P), is overwritten.
    """
    left, right = weights
    products = (left[:, part, None] * right[:, None]).reshape(len(left), -1)
    return np.asarray(products @ np.square(entries, out=entries).reshape(-1, entries.shape[-1]))


@final
@dataclass(frozen=True)
class Factored:
    """Centered factors A (r, n) of every left and C of every right Gram matrix, and the problem."""

    problem: Problem
    left: list[Factor]
    right: list[Factor]

    @property
    def diagonals(self) -> tuple[Array, Array]:
        """Return the diagonals of both matrices of every pair, shape (k, n) each."""
        left, right = self.problem.index
        return self._diagonals[0][left], self._diagonals[1][right]

    @cached_property
    def _diagonals(self) -> tuple[Array, Array]:
        return diagonals(self.left), diagonals(self.right)

    @property
    def shared(self) -> list[SharedRows]:
        """Return the pairs, grouped by the rows of their factors."""
        return shared_rows(self.left, self.right, self.problem.pairs)

    def only(self, pairs: list[int]) -> Factored:
        """Return some of the pairs."""
        left, right = self.problem.index_sets(pairs)
        return Factored(self.problem.restricted(pairs), [self.left[i] for i in left], [self.right[j] for j in right])

    def sums(self, pairs: Array, diagonal: Array) -> Sums:
        """Attach the traces to the sums of the pairs and of their diagonals, (m, P) each."""
        return Sums(pairs, diagonal, *(side.sum(axis=1) for side in self.diagonals))


def shared_rows(left: Sequence[Factor], right: Sequence[Factor], pairs: Sequence[tuple[int, int]]) -> list[SharedRows]:
    """Return pairs of factors grouped by their rows, without rows that have no weight."""
    groups: dict[tuple[int, int], list[int]] = {}
    for number, (i, j) in enumerate(pairs):
        groups.setdefault((id(left[i].rows), id(right[j].rows)), []).append(number)
    return [
        shared
        for numbers in groups.values()
        for shared in _shared([left[pairs[p][0]] for p in numbers], [right[pairs[p][1]] for p in numbers], numbers)
    ]


def _shared(lefts: Sequence[Factor], rights: Sequence[Factor], numbers: list[int]) -> list[SharedRows]:
    rows = lefts[0].rows, rights[0].rows
    left, right = factor_weights(lefts), factor_weights(rights)
    spans = [tuple(map(_span, weights)) for weights in zip(left, right, strict=True)]
    shared = []
    for some in _together(spans):
        i, j = _around(spans, some)
        shared.append(SharedRows(rows[0][i], rows[1][j], (left[some, i], right[some, j]), [numbers[k] for k in some]))
    return shared


def _span(weights: Array) -> slice:
    """Return from the first to the last number that is not 0."""
    places = np.flatnonzero(weights)
    return slice(int(places[0]), int(places[-1]) + 1) if len(places) else slice(0, 0)


def _around(spans: Sequence[tuple[slice, ...]], some: Sequence[int]) -> list[slice]:
    """Return the rows and the columns that hold some of the rectangles."""
    sides = zip(*(spans[k] for k in some), strict=True)
    return [slice(min(span.start for span in side), max(span.stop for span in side)) for side in map(list, sides)]


def _together(spans: Sequence[tuple[slice, ...]]) -> list[list[int]]:
    """Return which rectangles to cover together, so that little else is covered."""

    def area(some: Sequence[int]) -> int:
        return math.prod(side.stop - side.start for side in _around(spans, some))

    everything = list(range(len(spans)))
    if area(everything) <= sum(area([k]) for k in everything):
        return [everything]
    groups: list[list[int]] = []
    for k in sorted(everything, key=lambda k: area([k]), reverse=True):
        added = [area([*group, k]) - area(group) for group in groups]
        if added and min(added) <= area([k]):
            groups[added.index(min(added))].append(k)
        else:
            groups.append([k])
    return groups


def diagonals(factors: Sequence[Factor]) -> Array:
    """Return the diagonals of Aᵀ diag(w) A, shape (count, n); rows A that are shared are squared once."""
    values = np.zeros((len(factors), factors[0].rows.shape[1]))
    for numbers in by_rows(factors):
        rows, weights = factors[numbers[0]].rows, factor_weights([factors[number] for number in numbers])
        for part in slices(len(rows), _SQUARED):
            values[numbers] += weights[:, part] @ np.square(rows[part])
    return values


def factor_weights(factors: Sequence[Factor]) -> Array:
    """Return the weights of the rows of factors of one rank, shape (k, r)."""
    return np.stack([np.ones(factor.rank) if factor.weights is None else factor.weights for factor in factors])


def split(problem: Problem, max_rank: int) -> tuple[Factored | None, list[int], list[int]]:
    """Factor what has a low rank: return the pairs for which both sides do, their numbers, and those of the others."""
    left, right = problem.left.factors(max_rank), problem.right.factors(max_rank)
    low = [p for p, (i, j) in enumerate(problem.pairs) if left[i] is not None and right[j] is not None]
    others = [p for p in range(len(problem.pairs)) if p not in low]
    if not low:
        return None, low, others
    lefts, rights = problem.index_sets(low)
    factors = centered([left[i] for i in lefts]), centered([right[j] for j in rights])
    return Factored(problem.restricted(low), *factors), low, others


def centered(factors: Sequence[Factor | None]) -> list[Factor]:
    """Center factors, in place if writable."""
    known = [factor for factor in factors if factor is not None]
    means = {id(factor.rows): factor.rows.mean(axis=1) for factor in known}
    rows = {id(factor.rows): factor.rows for factor in known}
    for key, matrix in rows.items():
        rows[key] = np.subtract(matrix, means[key][:, None], out=matrix if matrix.flags.writeable else None)
    return [replace(factor, rows=rows[id(factor.rows)]) for factor in known]


def most_rank(shape: Shape) -> int:
    """Return the highest rank that factors may have."""
    return highest_rank(shape.n, shape.kernels[0] + shape.kernels[1] + 1)


def highest_rank(n: int, held: int) -> int:
    """Return the same for so many factors that are held at once; by sizes alone, since permutations depend on it."""
    return min(n, _MOST_NUMBERS // (n * held))
