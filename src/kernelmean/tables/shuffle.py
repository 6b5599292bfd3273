"""A random permutation of any number of rows, computed row by row and never stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.array import IntArray

_ROUNDS = 8


def shuffled(rows: IntArray, n: int, seed: int) -> IntArray:
    """Return π(rows) for a permutation π of range(n) drawn with the seed; O(1) memory besides the rows.

    Notes
    -----
    A Feistel network of eight rounds on the smallest power of two that is at least n. Numbers that fall outside are
    permuted again until they fall inside (Black & Rogaway 2002, "cycle walking"), at most twice on average.

    Examples
    --------
    >>> sorted(int(i) for i in shuffled(np.arange(5), 5, seed=1))
    [0, 1, 2, 3, 4]
    """
    return _walked(rows, n, seed, forwards=True)


def unshuffled(places: IntArray, n: int, seed: int) -> IntArray:
    """Return the rows that :func:`shuffled` sends to some places.

    Examples
    --------
    >>> rows = np.arange(5)
    >>> unshuffled(shuffled(rows, 5, seed=1), 5, seed=1).tolist()
    [0, 1, 2, 3, 4]
    """
    return _walked(places, n, seed, forwards=False)


def _walked(numbers: IntArray, n: int, seed: int, *, forwards: bool) -> IntArray:
    bits = max(2, int(n - 1).bit_length())
    keys = np.random.default_rng([seed, n]).integers(0, 2**64, _ROUNDS, dtype=np.uint64)
    rounds = [(number % 2 == 1, key) for number, key in enumerate(keys)][:: 1 if forwards else -1]
    out = np.asarray(numbers, dtype=np.uint64)
    outside = np.arange(len(out))
    while len(outside):
        out[outside] = _permuted(out[outside], bits, rounds)
        outside = outside[out[outside] >= n]
    return out.astype(np.int64)


def _permuted(values: IntArray, bits: int, rounds: Sequence[tuple[bool, Any]]) -> IntArray:
    """Permute range(2**bits): in each round, a hash of one half changes the other, which can be undone."""
    low_bits, high_bits = np.uint64(bits // 2), np.uint64(bits - bits // 2)
    low_mask, high_mask = ((np.uint64(1) << size) - np.uint64(1) for size in (low_bits, high_bits))
    low, high = values & low_mask, values >> low_bits
    for change_high, key in rounds:
        if change_high:
            high = high ^ (hashed(low ^ key) & high_mask)
        else:
            low = low ^ (hashed(high ^ key) & low_mask)
    return (high << low_bits) | low


def hashed(values: IntArray) -> IntArray:
    """Mix all bits of 64-bit integers: the finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    mixed = values ^ (values >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed = mixed ^ (mixed >> np.uint64(27))
    mixed = mixed * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
