"""Kernel thinning of the weighted functions that make up an embedding, to any number of them: halving, and swaps.

In every pair of weighted points, one takes the weight of both, so that errors cancel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from ...core.array import Array, IntArray
from ...expected import expected_blocks
from ...expected.expectations import expected_diag
from ...kernels.base import Kernel
from ...kernels.distances import Blocks
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan
from ..embedding import Embedding
from ..parts import PointPart


@final
@dataclass(frozen=True, eq=False)
class Atoms:
    r"""The functions :math:`ξ_i = E_{v(·|x_i)} k(\tilde x, ·)`, with their non-negative weights."""

    kernel: Kernel
    points: Array
    """Shape (n, d)."""
    noise: Noise
    weights: Array
    """Shape (n,)."""
    plan: Plan = DEFAULT

    @classmethod
    def of(cls, mu: Embedding) -> Self:
        """Return the atoms of an embedding.

        Raises
        ------
        ValueError
            When weights are negative or all zero, or its parts have different noises.
        """
        if (mu.weights < 0).any() or not mu.weights.any():
            raise ValueError(
                "the embedding has negative weights, or none that is not 0; compress the sample that it was made of, "
                "or herd it with mu.herd(m)"
            )
        return cls(mu.kernel, mu.points, mu.noise, mu.weights, mu.plan)

    @classmethod
    def sample(cls, kernel: Kernel, points: Array) -> Self:
        """Return the atoms of a sample, with equal weights of sum 1."""
        return cls(kernel, points, Dirac(), np.full(len(points), 1.0 / len(points)))

    def __len__(self) -> int:
        return len(self.points)

    def take(self, rows: IntArray) -> Atoms:
        """Return some atoms."""
        noise = self.noise if self.noise.per_point is None else self.noise.take(rows)  # type: ignore[arg-type] # numbers of rows index every array
        return Atoms(self.kernel, self.points[rows], noise, self.weights[rows], self.plan)

    def weighted(self, weights: Array) -> Atoms:
        """Return the atoms with other weights."""
        return Atoms(self.kernel, self.points, self.noise, weights, self.plan)

    def scaled(self, factor: float) -> Atoms:
        """Return the atoms with weights times a factor."""
        return self.weighted(factor * self.weights)

    def blocks(self, other: Atoms | None = None) -> Blocks:
        """Prepare ``f(i, j) = ⟨ξ_i, ξ'_j⟩`` for slices of these atoms and others."""
        other = self if other is None else other
        return expected_blocks(self.kernel, self.points, self.noise, other.points, other.noise)

    def values(self, at: Atoms) -> Array:
        """Return ⟨ξ'_j, Σ w_i ξ_i⟩ for other atoms, in O(n m) time."""
        return self.plan.matmul(at.blocks(self), len(at), len(self), self.weights, symmetric=at is self)

    def diag(self) -> Array:
        """Return |ξ_i|², shape (n,)."""
        if isinstance(self.noise, Dirac):
            return self.kernel.diag(self.points)
        return expected_diag(self.kernel, self.points, self.noise, self.noise)

    def embedding(self) -> Embedding:
        """Return the weighted sum."""
        return Embedding(self.kernel, (PointPart(self.points, self.weights, self.noise),), self.plan)


_BLOCK = 128


def halve(atoms: Atoms, size: int, rng: np.random.Generator) -> tuple[IntArray, Array, float]:
    r"""Return the numbers (``size``,) and weights of the remaining atoms, and the norm of the change.

    The n - ``size`` merges take the lightest atoms, in pairs of neighbours by weight, random among equals. In a pair
    with weights w and w', one atom gets w + w': the first with probability w/(w + w'), shifted by at most the smaller
    of the two probabilities so as to reduce the error so far. The sum of the weights does not change. In expectation,
    every atom keeps its weight: exactly if at most one pair has unequal weights, as for samples of any size; otherwise
    up to coin flips that became certain.

    Notes
    -----
    The self-balancing walk of kernel halving: Dwivedi & Mackey (2024), algorithm 1 (KT-SPLIT), is the case of equal
    weights. The threshold here lacks their factor √(2 log(2/δ)), which makes errors about 1.6 times as large. O(n²)
    kernel values, O(n) memory.
    """
    merges = len(atoms) - size
    shuffled = rng.permutation(len(atoms))
    order = shuffled[np.argsort(atoms.weights[shuffled], kind="stable")]
    pairs, rest = order[: 2 * merges].reshape(-1, 2), order[2 * merges :]
    pairs = rng.permutation(pairs)
    unequal = np.ptp(atoms.weights[pairs], axis=1) > 0
    pairs = np.concatenate([pairs[~unequal], pairs[unequal]])  # last, so that the errors before are symmetric
    kept, norm = _walk(atoms.take(pairs.ravel()), rng)
    rows = np.concatenate([np.where(kept, pairs[:, 0], pairs[:, 1]), rest])
    weights = np.concatenate([atoms.weights[pairs].sum(axis=1), atoms.weights[rest]])
    return rows, weights, norm


def _walk(atoms: Atoms, rng: np.random.Generator) -> tuple[Array, float]:
    """Return which pairs (2i, 2i+1) keep their first atom, and the norm of the error Σ s_i (ξ_2i - ξ_2i+1)."""
    blocks, signed = atoms.blocks(), np.zeros(len(atoms))
    state = _Threshold()
    kept, squared = np.empty(len(atoms) // 2, dtype=bool), 0.0
    for start in range(0, len(atoms), 2 * _BLOCK):
        rows = slice(start, min(start + 2 * _BLOCK, len(atoms)))
        slopes, gram = _slopes(blocks, rows, signed), blocks(rows, rows)
        gram = gram[0::2] - gram[1::2]
        gram = np.ascontiguousarray(gram[:, 0::2] - gram[:, 1::2])
        pairs = atoms.weights[rows].reshape(-1, 2)
        draws = rng.random(len(pairs))
        for i, (first, second) in enumerate(pairs.tolist()):
            slope, square = float(slopes[i]), float(gram[i, i])
            first_stays = draws[i] < state.probability(first, second, slope, square)
            step = second if first_stays else -first
            kept[start // 2 + i] = first_stays
            squared += step * (2.0 * slope + step * square)
            slopes += step * gram[i]
            signed[start + 2 * i] = step
            signed[start + 2 * i + 1] = -step
    return kept, math.sqrt(max(squared, 0.0))


class _Threshold:
    """The size a of slopes at which the walk stops being random, which grows as slowly as its variance σ²."""

    def __init__(self) -> None:
        self._variance = 0.0

    def probability(self, first: float, second: float, slope: float, square: float) -> float:
        """Return the probability that the first atom stays: slope ⟨ψ, f⟩, square |f|² of the difference f."""
        total = first + second
        share, least = first / total, min(first, second) / total
        half = 0.5 * total
        size = half * half * square
        threshold = max(math.sqrt(size * self._variance), size)
        if not threshold > 0.0:
            return share
        growth = size * (1.0 + (size - 2.0 * threshold) * self._variance / threshold**2)
        self._variance += max(growth, 0.0)
        return share - max(-least, min(0.5 * half * slope / threshold, least))


def _slopes(blocks: Blocks, rows: slice, signed: Array) -> Array:
    """Return ⟨ψ, ξ_2i - ξ_2i+1⟩ for the pairs of some rows, ψ the error of all rows before."""
    sums = np.zeros(rows.stop - rows.start)
    for start in range(0, rows.start, 8 * _BLOCK):
        before = slice(start, min(start + 8 * _BLOCK, rows.start))
        sums += blocks(rows, before) @ signed[before]
    return sums[0::2] - sums[1::2]


DENSE = 8192
"""Up to this many points, all pairs are used."""
_LEAF = 256
_OVERSAMPLING = 4


@final
@dataclass(frozen=True)
class Stage:
    """The remaining points, by number, with weights; ``moved`` bounds the distance of their mean from the first one."""

    rows: IntArray
    weights: Array
    moved: float


def split(atoms: Atoms, size: int, rng: np.random.Generator) -> list[Stage]:
    """Return the stages of repeated halving, n/2, n/4 … ``size`` points: KT-SPLIT in O(n²) time."""
    stages = [Stage(np.arange(len(atoms)), atoms.weights, 0.0)]
    while len(stages[-1].rows) > size:
        stages.append(_halved(atoms, stages[-1], max(size, -(-len(stages[-1].rows) // 2)), rng))
    return stages


def compressed(atoms: Atoms, size: int, rng: np.random.Generator, dense: int = DENSE) -> list[Stage]:
    """Return the stages of thinning to ``size`` points, by Compress++ above ``dense`` points.

    Compress++ of Shetty, Dwivedi & Mackey (2022), algorithms 1 and 2: it compresses quarters and halves their union,
    down to quarters of about max(256, 16 m²/n) points, then thins the result. O(n log n) time for m ~ √n.
    """
    n = len(atoms)
    leaf = max(_LEAF, -(-((_OVERSAMPLING * size) ** 2) // n))
    if n <= dense or 4 * leaf > n:
        return split(atoms, size, rng)
    start = Stage(rng.permutation(n), atoms.weights, 0.0)
    start = Stage(start.rows, atoms.weights[start.rows], 0.0)
    middle = _compress(atoms, start, leaf, rng)
    inner = split(atoms.take(middle.rows).weighted(middle.weights), size, rng)[1:]
    return [start, middle, *(Stage(middle.rows[s.rows], s.weights, middle.moved + s.moved) for s in inner)]


def _compress(atoms: Atoms, stage: Stage, leaf: int, rng: np.random.Generator) -> Stage:
    if len(stage.rows) <= leaf:
        return stage
    quarters = [Stage(stage.rows[k::4], stage.weights[k::4], 0.0) for k in range(4)]
    done = [_compress(atoms, quarter, leaf, rng) for quarter in quarters]
    rows, weights = np.concatenate([s.rows for s in done]), np.concatenate([s.weights for s in done])
    union = Stage(rows, weights, sum(s.moved for s in done))
    return _halved(atoms, union, -(-len(rows) // 2), rng)


def _halved(atoms: Atoms, stage: Stage, size: int, rng: np.random.Generator) -> Stage:
    rows, weights, norm = halve(atoms.take(stage.rows).weighted(stage.weights), size, rng)
    return Stage(stage.rows[rows], weights, stage.moved + norm)


def swapped(candidates: Atoms, values: Array, rows: IntArray, weights: Array) -> IntArray:
    """Replace each point in turn by the candidate that brings the weighted sum nearest to the target.

    Parameters
    ----------
    candidates : Atoms
        The c candidates.
    values : array of shape (c,)
        ⟨ξ_z, μ⟩ of every candidate with the target.
    rows, weights : array of shape (m,)
        The points, by their numbers among the candidates, and their weights.

    Notes
    -----
    KT-SWAP, Dwivedi & Mackey (2024), algorithm 1; O(c m) kernel values. No step increases the distance.
    """
    rows, own, blocks = rows.copy(), candidates.diag(), candidates.blocks

    def column(row: int) -> Array:
        return blocks(candidates.take(np.array([row])))(slice(None), slice(None))[:, 0]

    sums = candidates.take(rows).weighted(weights).values(candidates)
    for i, weight in enumerate(weights):
        sums -= weight * column(rows[i])
        cost = weight * own + 2.0 * (sums - values)
        best = int(np.argmin(cost))
        rows[i] = best if cost[best] < cost[rows[i]] else rows[i]
        sums += weight * column(rows[i])
    return rows
