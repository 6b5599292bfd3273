"""Arrangements of labels within cells: every one once, uniform random ones or rotations, the observed one first."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import chi2

from kernelmean.inference.permutation_groups import Rotations
from kernelmean.inference.units.permuted_labels import (
    AllArrangements,
    Arrangements,
    RandomArrangements,
    RotatedArrangements,
    arrangements,
)

CELLS, LABELS = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 2, 0, 1, 1])
"""The last cell holds a single unit."""


def every(listed: Arrangements, size: int = 1000) -> np.ndarray:
    """The labels of all of them."""
    found = np.concatenate([part.labels for part in listed.parts(size)])
    assert len(found) == listed.count
    np.testing.assert_array_equal(found[0], listed.labels)
    return found


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("size", [1, 5, 100])
def test_all_arrangements_once_each(size: int) -> None:
    expected = {(*a, *b, 1) for a, b in product(permutations((0, 0, 2)), permutations((0, 1)))}
    found = every(AllArrangements(CELLS, LABELS), size)
    assert len(found) == len(expected) == 6
    assert {tuple(row) for row in found.tolist()} == expected


def test_numbers_of_arrangements_are_whole_numbers_of_any_length() -> None:
    halves = AllArrangements(np.repeat([0, 1], [80, 3]), np.array([0] * 40 + [1] * 40 + [0, 0, 1]))
    assert halves.count == 3 * math.comb(80, 40)
    assert len(every(AllArrangements(np.zeros(100, dtype=int), np.repeat([0, 1], [99, 1])), 30)) == 100


def test_random_ones_keep_the_labels_of_every_cell_whatever_the_batch() -> None:
    cells, labels = np.repeat([0, 1, 2], [30, 12, 1]), np.repeat([0, 1, 2, 0, 2, 1], [10, 15, 5, 4, 8, 1])
    listed = RandomArrangements(cells, labels, 200, rng(3))
    runs = [every(listed, size) for size in (1, 7, 199, 200, 1000)]
    for run in runs:
        np.testing.assert_array_equal(run, runs[0])
    for cell in range(3):
        own = runs[0][:, cells == cell]
        np.testing.assert_array_equal(np.sort(own, axis=1), np.tile(labels[cells == cell], (200, 1)))
    assert len(np.unique(runs[0], axis=0)) == 200


@pytest.mark.parametrize(
    ("cells", "labels"),
    [(np.zeros(6, dtype=int), [0, 0, 0, 1, 1, 2]), (np.repeat([0, 1], [4, 3]), [0, 0, 1, 2, 0, 0, 1])],
    ids=["one cell", "two cells"],
)
def test_random_ones_are_uniform(cells: np.ndarray, labels: list[int]) -> None:
    many = AllArrangements(cells, np.array(labels)).count
    drawn = every(RandomArrangements(cells, np.array(labels), 1000 * many + 1, rng()))[1:]
    _, counts = np.unique(drawn, axis=0, return_counts=True)
    assert len(counts) == many
    assert (np.square(counts - 1000) / 1000).sum() < chi2.isf(0.001, many - 1)
    following, pairs = drawn[1:, 0] == labels[0], drawn[:-1, 0] == labels[0]
    share = np.mean(pairs)
    assert np.mean(following & pairs) == pytest.approx(share**2, abs=4 * share / np.sqrt(len(drawn)))


@pytest.mark.parametrize("cells", [256, 257, 65_537])
def test_cells_may_be_more_than_a_byte_counts(cells: int) -> None:
    drawn = every(RandomArrangements(np.repeat(np.arange(cells), 2), np.tile([0, 1], cells), 20, rng()), 3)
    np.testing.assert_array_equal(drawn.reshape(20, cells, 2).sum(axis=2), 1)
    assert drawn[1:, ::2].mean() == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(19 * cells))


def rotated(n: int, still: int, count: int) -> RotatedArrangements:
    """Rotations of n units, and some that stay."""
    labels = np.append(np.repeat([0, 1], [n // 3, n - n // 3]), np.arange(still) % 2)
    return RotatedArrangements(labels, Rotations.draw(n, count, rng(5)))


@pytest.mark.parametrize(("n", "still", "count"), [(101, 0, 99), (150, 2, 400), (300, 1, 999), (2100, 3, 40)])
def test_rotations_move_the_units_of_one_cell_as_their_group_does(brute, n: int, still: int, count: int) -> None:
    listed = rotated(n, still, count)
    found, orders = every(listed), brute.orbit(listed.rotations, brute.rotate(listed.rotations))
    assert len(found) >= count
    np.testing.assert_array_equal(found[:, :n], listed.labels[orders])
    np.testing.assert_array_equal(found[:, n:], np.tile(listed.labels[n:], (len(found), 1)))


def test_rotations_are_a_group_so_any_of_them_may_be_the_observed_one() -> None:
    listed = rotated(120, 0, 100)
    found = every(listed)
    orbit = {tuple(row) for row in found.tolist()}
    for labels in found[::7]:
        assert {tuple(row) for row in every(RotatedArrangements(labels, listed.rotations)).tolist()} == orbit


@pytest.mark.parametrize(
    "listed",
    [
        AllArrangements(np.repeat([0, 1], [5, 2]), np.array([0, 0, 1, 1, 1, 0, 1])),
        RandomArrangements(np.repeat([0, 1], [50, 20]), np.repeat([0, 1, 0, 1], [20, 30, 5, 15]), 99, rng()),
        rotated(101, 3, 400),
        rotated(2100, 1, 40),
    ],
    ids=lambda listed: listed.scheme,
)
def test_products_are_those_of_the_labels(listed: Arrangements) -> None:
    rows = rng(1).normal(size=(3, len(listed.labels)))
    for part in listed.parts(20):
        np.testing.assert_allclose(part.products(rows), rows @ part.labels.T, rtol=0, atol=1e-11)


def test_what_is_chosen_depends_on_numbers_of_units_alone() -> None:
    def chosen(sizes: list[int], labels: list[int], n_resamples: int = 99, scheme: str = "auto") -> tuple[str, int]:
        found = arrangements(np.repeat(np.arange(len(sizes)), sizes), np.array(labels), n_resamples, rng(), scheme)
        return found.scheme, found.count

    assert chosen([3, 2, 1], LABELS.tolist(), 5) == ("exact", 6)
    assert chosen([3, 2, 1], LABELS.tolist(), 4) == ("random", 5)
    assert chosen([3, 2, 1], LABELS.tolist(), 4, "exact") == ("exact", 6)
    assert chosen([3, 2, 1], LABELS.tolist(), 99, "random") == ("random", 100)
    half = [0] * 50 + [1] * 50
    assert chosen([100], half) == ("random", 100)
    assert chosen([101], [*half, 1]) == ("rotations", 101)
    assert chosen([101], [*half, 1], 99, "random") == ("random", 100)
    assert chosen([101, 1, 2], [*half, 1, 0, 1, 1]) == ("rotations", 101)  # of which only one cell can move
    assert chosen([101, 2], [*half, 1, 0, 1]) == ("random", 100)
    assert chosen([200], [0] * 200) == ("exact", 1)


def test_what_cannot_be_listed_or_has_no_such_name_is_refused() -> None:
    cells, labels = np.zeros(40, dtype=int), np.repeat([0, 1], 20)
    with pytest.raises(ValueError, match=r"^there are more than 2,000,000 permutations to enumerate"):
        arrangements(cells, labels, 99, rng(), "exact")
    with pytest.raises(ValueError, match=r"^scheme is 'rotations'; pass one of 'auto', 'exact', 'random'"):
        arrangements(cells, labels, 99, rng(), "rotations")
