"""Rotations and translations are groups that act on the rows, and their transforms sum over them."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.rotations import Rotations, block_length
from kernelmean.inference.translations import Translations, translation_order, walsh

CASES = [
    pytest.param(Rotations, "rotate", 23, 5, id="rotations"),
    pytest.param(Rotations, "rotate", 12, 12, id="one block"),
    pytest.param(Translations, "translate", 23, 8, id="translations"),
    pytest.param(Translations, "translate", 16, 4, id="no rest"),
]


def is_prime(number):
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def make(cls, n, order, cosets=1):
    rng = np.random.default_rng(0)
    orders = np.array([np.arange(n)] + [rng.permutation(n) for _ in range(cosets - 1)])
    return cls(rng.permutation(n), orders, order)


@pytest.mark.parametrize(("cls", "act", "n", "order"), CASES)
def test_the_elements_form_a_group_of_permutations(brute, cls, act, n, order):
    group = make(cls, n, order)
    elements = {tuple(row) for row in brute.orbit(group, getattr(brute, act)(group))}
    assert tuple(range(n)) in elements
    assert len(elements) == order
    for first in elements:
        assert sorted(first) == list(range(n))
        for second in elements:
            assert tuple(np.array(first)[list(second)]) in elements


@pytest.mark.parametrize(("cls", "act", "n", "order"), CASES)
def test_correlations_are_sums_over_all_relabelings(brute, cls, act, n, order):
    group = make(cls, n, order, cosets=3)
    left, right = np.random.default_rng(1).standard_normal((2, 2, n))
    orders = brute.orbit(group, getattr(brute, act)(group))
    expected = np.einsum("mi,mpi->mp", left, right[:, orders])
    moved = group.correlations(left[:, group.shuffle], right[:, group.shuffle])
    np.testing.assert_allclose(moved, expected, atol=1e-13)


@pytest.mark.parametrize("cls", [Rotations, Translations])
def test_few_rows_get_enough_relabelings_from_cosets(cls):
    for n in (2, 3, 10, 77, 500):
        group = cls.draw(n, 1000, np.random.default_rng(0))
        assert 1000 <= group.count < 1000 + group.order
        assert (group.cosets[0] == np.arange(n)).all()


def test_blocks_are_long_enough_fast_and_leave_few_rows():
    for n in [*range(2, 3000, 7), 9973, 10_007, 99_991, 200_000]:
        for count in (20, 1000, 1700, 20_000):
            length = block_length(n, count)
            assert 1 <= length <= min(n, 2560)
            assert n % length <= max(4, n // 40)
            if n > 128:
                assert max(factor for factor in range(1, length + 1) if length % factor == 0 and is_prime(factor)) <= 19


def test_translations_move_every_row_but_at_most_one():
    for n in (2, 3, 13, 100, 1000, 3001):
        group = Translations.draw(n, 1000, np.random.default_rng(0))
        assert sum(block.stop - block.start for block in group.blocks) == n
        assert sum(block.stop - block.start == 1 for block in group.blocks) <= 1
        assert group.order == translation_order(n, 1000) <= n


def test_walsh_is_the_hadamard_matrix():
    values = np.random.default_rng(0).standard_normal((3, 8))
    hadamard = np.array([[(-1) ** bin(i & j).count("1") for j in range(8)] for i in range(8)])
    np.testing.assert_allclose(walsh(values), values @ hadamard, atol=1e-14)
