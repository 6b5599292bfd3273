"""Permutations within cells, of whole units, and flips of signs: every one once, the given one first."""

from __future__ import annotations

import math
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from kernelmean.inference.permutations import (
    AllPermutations,
    AllWithinCells,
    Expanded,
    SignFlips,
    WithinCells,
    within_cells,
)

CELLS = np.array([0, 0, 0, 1, 1, 2])
"""The last cell holds a single unit."""


def every(listed: Any, size: int, axis: int = 0) -> np.ndarray:
    """All of them, from full batches."""
    batches = list(listed.batches(size))
    assert [batch.shape[axis] for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert 0 < batches[-1].shape[axis] <= size
    found = np.concatenate(batches, axis=axis)
    assert found.shape[axis] == listed.count
    return found


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("size", [1, 5, 100])
def test_all_permutations_within_cells_once_each(size: int) -> None:
    rows = every(AllWithinCells(CELLS), size)
    expected = [(*a, *b, 5) for a, b in product(permutations(range(3)), permutations((3, 4)))]
    assert [tuple(row) for row in rows] == expected


def test_random_permutations_leave_every_unit_in_its_cell_whatever_the_batch() -> None:
    listed = WithinCells(CELLS, 50, rng(3))
    runs = [every(listed, size) for size in (1, 7, 100)]
    for run in runs:
        np.testing.assert_array_equal(run, runs[0])
    np.testing.assert_array_equal(runs[0][0], np.arange(6))
    np.testing.assert_array_equal(np.sort(runs[0], axis=1), np.tile(np.arange(6), (50, 1)))
    np.testing.assert_array_equal(CELLS[runs[0]], np.tile(CELLS, (50, 1)))
    assert len({tuple(row) for row in runs[0]}) == 12


@pytest.mark.parametrize("cells", [256, 257, 65_537])
def test_cells_may_be_more_than_a_byte_counts(cells: int) -> None:
    rows = every(WithinCells(np.arange(cells), 3, rng()), 2)
    np.testing.assert_array_equal(rows, np.tile(np.arange(cells), (3, 1)))


def test_units_of_several_rows_move_as_they_are() -> None:
    sizes = np.array([2, 1, 2, 1])
    expected = [[0, 1, 2, 3, 4, 5], [3, 4, 2, 0, 1, 5]]

    class Swapped:
        count = 2

        def batches(self, size: int) -> Any:
            yield np.array([[0, 1, 2, 3], [2, 1, 0, 3]])

    np.testing.assert_array_equal(every(Expanded(Swapped(), sizes), 2), expected)
    pairs = Expanded(AllPermutations(3), np.array([2, 2, 2]))
    assert (pairs.n, pairs.count) == (6, 6)
    expected = [[row for unit in order for row in (2 * unit, 2 * unit + 1)] for order in permutations(range(3))]
    np.testing.assert_array_equal(every(pairs, 4), expected)


def test_everything_is_listed_if_it_is_no_more_than_was_asked_for_or_if_exact_is() -> None:
    def chosen(n_resamples: int, scheme: str) -> tuple[str, int]:
        found = within_cells(CELLS, n_resamples, rng(), scheme)
        return found.scheme, found.count

    assert chosen(11, "auto") == ("exact", 12)
    assert chosen(10, "auto") == ("random", 11)
    assert chosen(2, "exact") == ("exact", 12)
    assert chosen(99, "random") == ("random", 100)
    assert AllWithinCells(np.repeat([0, 1], [30, 2])).count == 2 * math.factorial(30)


def test_more_than_two_million_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^there are more than 2,000,000 permutations to enumerate"):
        within_cells(np.zeros(10, dtype=int), 99, rng(), "exact")
    with pytest.raises(ValueError, match=r"^there are more than 2,000,000 permutations to enumerate"):
        SignFlips.choose(22, 99, rng(), "exact")
    with pytest.raises(ValueError, match=r"^scheme is 'rotations'; pass one of 'auto'"):
        SignFlips.choose(5, 99, rng(), "rotations")


@pytest.mark.parametrize(
    ("n_resamples", "scheme", "expected"),
    [
        (16, "auto", (16, True)),
        (15, "auto", (16, True)),
        (14, "auto", (15, False)),
        (3, "exact", (16, True)),
        (99, "random", (100, False)),
    ],
)
def test_all_signs_but_the_first_are_flipped_if_they_are_few(
    n_resamples: int, scheme: str, expected: tuple[int, bool]
) -> None:
    flips = SignFlips.choose(5, n_resamples, rng(), scheme)
    assert (flips.count, flips.exact) == expected
    if scheme == "auto":
        assert SignFlips.choose(5, n_resamples, rng()).count == flips.count


@pytest.mark.parametrize("scheme", ["exact", "random"])
def test_flips_are_the_same_in_batches_of_any_size_and_the_first_flips_nothing(scheme: str) -> None:
    listed = SignFlips.choose(5, 14, rng(3), scheme)
    runs = [every(listed, size, axis=1) for size in (1, 7, 100)]
    for run in runs:
        np.testing.assert_array_equal(run, runs[0])
    assert (runs[0][:, 0] == 1.0).all()
    assert set(runs[0].ravel()) == {1.0, -1.0}
    if scheme == "exact":
        assert (runs[0][0] == 1.0).all()
        assert len({tuple(signs) for signs in runs[0].T}) == 16
