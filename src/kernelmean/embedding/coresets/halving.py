"""Balanced halving: of every pair of weighted points one takes the weight of both, so that errors cancel."""

from __future__ import annotations

import math

import numpy as np

from ...core.array import Array, IntArray
from ...kernels.blocks import Blocks
from .atoms import Atoms

_BLOCK = 128


def halve(atoms: Atoms, size: int, rng: np.random.Generator) -> tuple[IntArray, Array, float]:
    r"""Return the numbers (``size``,) and weights of the atoms that remain, and the norm of what that changes.

    The n - ``size`` merges take the lightest atoms, in pairs of neighbours by weight, random among equals. Of atoms
    with weights w and w' one gets w + w': the first with probability w/(w + w'), moved by at most the smaller of the
    two probabilities so that the error so far is reduced. The sum of the weights stays. In expectation every atom
    keeps its weight: exactly where at most one pair has unequal weights, as for samples of any size; otherwise up to
    coins that became certain.

    Notes
    -----
    The self-balancing walk of kernel halving, Dwivedi & Mackey (2024), algorithm 1 (KT-SPLIT), which is the case of
    equal weights; its threshold without the factor √(2 log(2/δ)), which makes errors about 1.6 times as large. O(n²)
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
        slopes, gram = _slopes(blocks, rows, signed), _differences(blocks(rows, rows))
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


def _differences(gram: Array) -> Array:
    """Return the Gram matrix of the differences within pairs."""
    rows = gram[0::2] - gram[1::2]
    return np.ascontiguousarray(rows[:, 0::2] - rows[:, 1::2])
