"""Rotations are a group that acts on the rows, and transforms sum over it."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.permutation_groups import Rotations

CASES = pytest.mark.parametrize(("n", "order"), [(23, 5), (12, 12)])


def is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def block_length(n, count):
    return Rotations.draw(n, count, np.random.default_rng(0)).order


def make(n, order, cosets=1):
    rng = np.random.default_rng(0)
    orders = np.array([np.arange(n)] + [rng.permutation(n) for _ in range(cosets - 1)])
    return Rotations(rng.permutation(n), orders, order)


@CASES
def test_the_elements_form_a_group_of_permutations(brute, n, order):
    group = make(n, order)
    elements = {tuple(row) for row in brute.orbit(group, brute.rotate(group))}
    assert tuple(range(n)) in elements
    assert len(elements) == order
    for first in elements:
        assert sorted(first) == list(range(n))
        for second in elements:
            assert tuple(np.array(first)[list(second)]) in elements


@CASES
def test_correlations_are_sums_over_all_permutations(brute, n, order):
    group = make(n, order, cosets=3)
    left, right = np.random.default_rng(1).standard_normal((2, 2, n))
    orders = brute.orbit(group, brute.rotate(group))
    expected = np.einsum("mi,mpi->mp", left, right[:, orders])
    moved = group.correlations(left[:, group.shuffle], right[:, group.shuffle])
    np.testing.assert_allclose(moved, expected, atol=1e-13)


@pytest.mark.parametrize("rows", [2, 5])
@pytest.mark.parametrize("at_once", [1, 50, 10**6])
def test_many_correlations_are_made_in_parts_that_are_those_of_single_rows(
    at_once: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.inference.permutation_groups._AT_ONCE", at_once)
    group = make(23, 5, cosets=2)
    left, right = np.random.default_rng(1).standard_normal((2, rows, 23))
    expected = [group.correlations(row[None], other[None])[0] for row, other in zip(left, right, strict=True)]
    np.testing.assert_allclose(group.correlations(left, right), expected, atol=1e-13)
    for_all = [group.correlations(row[None], right[:1])[0] for row in left]
    np.testing.assert_allclose(group.correlations(left, right[:1]), for_all, atol=1e-13)


def test_few_rows_get_enough_permutations_from_cosets():
    for n in (2, 3, 10, 77, 500):
        group = Rotations.draw(n, 1000, np.random.default_rng(0))
        assert 1000 <= group.count < 1000 + group.order
        assert (group.cosets[0] == np.arange(n)).all()


@pytest.mark.slow
def test_blocks_are_long_enough_fast_and_leave_few_rows():
    for n in [*range(2, 3000, 7), 9973, 10_007, 99_991, 200_000]:
        for count in (20, 1000, 1700, 20_000):
            length = block_length(n, count)
            assert 1 <= length <= min(n, 2560)
            assert n % length <= max(4, n // 40)
            if n > 128:
                assert max(factor for factor in range(1, length + 1) if length % factor == 0 and is_prime(factor)) <= 19


def test_blocks_cover_the_rows_and_the_rest_stays_in_place():
    rotations = make(23, 5)
    assert (rotations.n, rotations.blocks, rotations.rest, rotations.count) == (23, 4, slice(20, 23), 5)


def test_a_draw_has_no_more_cosets_than_it_needs_and_shuffles_each_of_them():
    for n, count in ((10, 37), (30, 1000), (64, 64)):
        group = Rotations.draw(n, count, np.random.default_rng(3))
        assert len(group.cosets) == -(-count // group.order)
        np.testing.assert_array_equal(np.sort(group.cosets, axis=1), np.tile(np.arange(n), (len(group.cosets), 1)))
        np.testing.assert_array_equal(np.sort(group.shuffle), np.arange(n))
        np.testing.assert_array_equal(group.cosets[0], np.arange(n))
        assert len({tuple(row) for row in group.cosets}) == len(group.cosets)


def test_values_are_turned_as_the_rows_are(brute):
    group = make(23, 5, cosets=2)
    turned = np.concatenate([group.turned(coset) for coset in group.cosets])
    number = np.argsort(group.shuffle)
    orbit = brute.orbit(group, brute.rotate(group))
    np.testing.assert_array_equal(group.shuffle[turned][:, number], orbit)
