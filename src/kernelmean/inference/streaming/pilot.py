"""The rows that a bandwidth is chosen by before a pass: which ones, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.array import Array, IntArray
from ...core.words import count
from ...tables.source import Source


def pilot_rows(lengths: Sequence[int | None], pilot: int) -> list[int]:
    """Return how many rows of every sample a rule looks at: ``pilot`` each where a length is unknown.

    Where all are known so many on average, a tenth of all rows at most, and the same share of every sample.
    """
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return [pilot] * len(lengths)
    share = min(pilot * len(known) / max(sum(known), 1), 0.1)
    return [max(1, round(share * length)) for length in known]


def check_left(sizes: Sequence[int], taken: Sequence[int]) -> None:
    """Raise when no row of a sample moves once a rule has looked at some."""
    if min(n - many for n, many in zip(sizes, taken, strict=True)) < 1:
        raise ValueError(
            f"samples of {tuple(sizes)} rows are too small to choose a bandwidth by some; pass a number, such as "
            "kernel=Gaussian(1.0)"
        )


def drawn_rows(batches: Source, n: int, many: int, seed: int) -> tuple[Array, Iterator[Array]]:
    """Return rows drawn at random out of n, for which the batches are read once, and a pass over the others.

    First rows would not do: of sorted samples they are the smallest ones, and what is left is cut off at two places.
    """
    drawn = drawn_numbers(n, many, seed)
    head = [batch[rows] for batch, rows in _located(batches, drawn)]
    return np.concatenate(head), (np.delete(batch, rows, axis=0) for batch, rows in _located(batches, drawn))


def drawn_numbers(n: int, many: int, seed: int) -> IntArray:
    """Return the ascending numbers of rows drawn at random out of n."""
    return np.sort(np.random.default_rng([seed, n]).choice(n, min(many, n), replace=False, shuffle=False))


def _located(batches: Source, rows: IntArray) -> Iterator[tuple[Array, IntArray]]:
    """Yield every batch with the positions in it of some rows, given by their ascending numbers."""
    start = 0
    for batch in batches:
        first, last = np.searchsorted(rows, [start, start + len(batch)])
        yield batch, rows[first:last] - start
        start += len(batch)


def left_out_note(rows: int) -> str:
    """Say that rows which a rule looked at take no part in the test."""
    return f"{count(rows, 'row')} that the bandwidth was chosen by left out"


def kept_note(rows: int) -> str:
    """Say that rows which a rule looked at take part in the test, and do not move."""
    return f"{count(rows, 'row')} that the bandwidth was chosen by stay in their sample under every permutation"
