"""Kernel thinning to any number of points: rounds of halving, near-linear on many points; and swaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from ...core.array import Array, IntArray
from .atoms import Atoms
from .halving import halve

DENSE = 8192
"""Points up to which all pairs are looked at."""
_LEAF = 256
_OVERSAMPLING = 4


@final
@dataclass(frozen=True)
class Stage:
    """Points that remain, by their numbers, with weights; ``moved`` bounds their distance from those at the start."""

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

    Compress++ of Shetty, Dwivedi & Mackey (2022), algorithms 1 and 2: quarters are compressed and their union is
    halved, down to quarters of about max(256, 16 m²/n) points, then the result is thinned. O(n log n) time for m ~ √n.
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
    """Replace one point after the other by the candidate that brings the weighted sum nearest to the target.

    Parameters
    ----------
    candidates : Atoms
        c of them.
    values : array of shape (c,)
        ⟨ξ_z, μ⟩ of every candidate with the target.
    rows, weights : array of shape (m,)
        The points, by their numbers among the candidates.

    Notes
    -----
    KT-SWAP, Dwivedi & Mackey (2024), algorithm 1; O(c m) kernel values. No step makes the distance larger.
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
