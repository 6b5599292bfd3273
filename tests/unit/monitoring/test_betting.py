"""Wealth: the mixture that the docstring defines, and a martingale, by enumeration of all signs."""

from itertools import product

import numpy as np
import pytest

from kernelmean.inference import monitoring

BETS = (0.0, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 0.95)
"""The shares that the strategies bet."""


def test_wealth_is_the_average_of_products_over_strategies():
    payoffs = np.random.default_rng(0).uniform(-1, 1, size=(7, 3))
    wealth = monitoring.Wealth.start(3)
    path = wealth.bet(payoffs)
    prior = [0.2, *[0.8 / 5] * 5]
    for t in range(7):
        products = [[np.prod(1 + bet * payoffs[: t + 1, w]) for bet in BETS] for w in range(3)]
        expected = np.mean([np.dot(prior, own) for own in products])
        assert np.exp(path[t]) == pytest.approx(expected, rel=1e-12)
    assert wealth.log == pytest.approx(path[-1], rel=1e-12)
    assert wealth.log_peak == max(0.0, path.max())


def test_dealing_anew_changes_no_wealth_and_helps_after_a_change():
    losing, winning = np.full((300, 1), -0.5), np.full((30, 1), 0.5)
    plain, switching = monitoring.Wealth.start(1), monitoring.Wealth.start(1)
    for t in range(0, 300, 10):
        for wealth in (plain, switching):
            wealth.bet(losing[t : t + 10])
        before = switching.log
        switching.switch(10 / (t + 10))
        assert switching.log == pytest.approx(before, abs=1e-12)
    assert switching.bet(winning)[-1] > plain.bet(winning)[-1] + 2.0


def test_the_average_wealth_over_all_signs_is_one():
    sizes = np.random.default_rng(1).uniform(0, 1, size=(8, 2))
    ends, peaks = [], []
    for signs in product([-1.0, 1.0], repeat=8):
        wealth = monitoring.Wealth.start(2)
        for block in (slice(0, 3), slice(3, 8)):
            wealth.bet(sizes[block] * np.array(signs)[block, None])
            wealth.switch(0.3)
        ends.append(np.exp(wealth.log))
        peaks.append(np.exp(wealth.log_peak))
    assert np.mean(ends) == pytest.approx(1.0, rel=1e-12)
    for alpha in (0.1, 0.2, 0.3, 0.5, 0.9):
        assert np.mean(np.array(peaks) >= 1 / alpha) <= alpha
    assert max(peaks) > 5.0
