"""The max-T adjustment against its definition in loops."""

from __future__ import annotations

import numpy as np

from kernelmean.inference import max_t


def by_loops(values):
    d, P = values.shape
    order = sorted(range(d), key=lambda j: -values[j, 0])
    adjusted, so_far = {}, 0.0
    for k, j in enumerate(order):
        count = sum(max(values[row, b] for row in order[k:]) >= values[j, 0] - 1e-9 for b in range(P))
        so_far = max(so_far, count / P)
        adjusted[j] = so_far
    return np.array([adjusted[j] for j in range(d)])


def test_loops_agree():
    rng = np.random.default_rng(0)
    for trial in range(30):
        values = np.round(rng.normal(size=(1 + trial % 6, 40)), trial % 3)
        values[:, 0] += rng.integers(0, 4, size=len(values))
        np.testing.assert_array_equal(max_t(values), by_loops(values))


def test_one_row_is_not_adjusted():
    values = np.array([[2.0, 3.0, 1.0, 2.0]])
    assert max_t(values) == [0.75]


def test_a_copy_of_a_row_costs_nothing():
    values = np.random.default_rng(1).normal(size=(3, 99))
    values[:, 0] = [2.5, 2.0, 0.0]
    np.testing.assert_array_equal(max_t(np.vstack([values, values[:1]]))[:3], max_t(values))


def test_never_below_the_single_p_value_and_never_zero():
    values = np.random.default_rng(2).normal(size=(8, 50))
    values[:, 0] = 100.0
    assert (max_t(values) == 1 / 50).all()
