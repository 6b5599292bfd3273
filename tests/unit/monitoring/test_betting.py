"""Ranks, bets and what is promised of them, each against its definition."""

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import logsumexp

from kernelmean.inference.monitoring.bag import Bag
from kernelmean.inference.monitoring.betting import BROKE, N_BETS, Wealth, log_gains
from kernelmean.inference.monitoring.gamblers import FixedGamblers, Known, LearningGamblers
from kernelmean.inference.monitoring.guarantee import Guarantee


@pytest.mark.parametrize("bet", range(N_BETS))
def test_every_bet_is_a_density(bet):
    total, _ = quad(lambda p: np.exp(log_gains(np.array([[p]]), N_BETS)[0, 0, bet]), 0.0, 1.0, limit=400)
    assert total == pytest.approx(1.0, abs=1e-7)


def test_the_wealth_is_what_the_payments_became():
    rng = np.random.default_rng(0)
    ranks, money = rng.random((7, 2)), rng.random((7, 2))
    owned = Wealth.of(np.array([0.3, 0.2]))
    gains = np.exp(log_gains(ranks, N_BETS))
    after, path = owned.bet(ranks, money)
    shares = np.exp(owned.log_shares)
    prior = np.exp(Wealth.of(np.ones(1)).log_shares[0])
    for t in range(7):
        shares = (shares + money[t][:, None] * prior) * gains[t]
        assert np.exp(path[t]) == pytest.approx(shares.sum(axis=1))
    assert np.exp(after.log_shares) == pytest.approx(shares)
    alone, _ = owned.bet(ranks)
    assert np.exp(alone.log_shares) == pytest.approx(np.exp(owned.log_shares) * gains.prod(axis=0))


def test_bets_in_parts_are_bets_at_once():
    ranks, money = np.random.default_rng(1).random((2, 9, 3))
    owned = Wealth(np.full((3, N_BETS), BROKE))
    whole, path = owned.bet(ranks, money)
    first, begun = owned.bet(ranks[:4], money[:4])
    last, ended = first.bet(ranks[4:], money[4:])
    assert np.concatenate([begun, ended]) == pytest.approx(path)
    assert last.log_shares == pytest.approx(whole.log_shares)


@pytest.mark.parametrize("tied", [False, True])
def test_ranks_are_uniform_and_independent_over_all_orders(tied):
    """Every order of six rows, three of them the reference: a row among equals takes any of its places."""
    cells = np.array([0, 1, 1, 1, 4, 4] if tied else [0, 2, 3, 5, 7, 8])[:, None]
    counts: dict[tuple[int, ...], float] = {}
    for order in permutations(range(6)):
        rows = cells[list(order)]
        below = [Bag.of(rows[:3]).ranks(rows[3:], np.full((3, 1), u))[:, 0] for u in (0.0, 1.0)]
        lowest, highest = (np.rint(own * [4, 5, 6]).astype(int) for own in below)
        for place in product(*(range(a, b) for a, b in zip(lowest, highest, strict=True))):
            counts[place] = counts.get(place, 0.0) + 1.0 / np.prod(highest - lowest)
    assert len(counts) == 4 * 5 * 6
    assert list(counts.values()) == pytest.approx([factorial(6) / 120] * 120)


def test_ranks_in_parts_are_ranks_at_once():
    rng = np.random.default_rng(2)
    cells, uniforms = rng.integers(0, 9, (11, 4)), rng.random((11, 4))
    bag = Bag.of(rng.integers(0, 9, (20, 4)))
    expected = bag.ranks(cells, uniforms)
    parts = [bag.ranks(cells[:5], uniforms[:5]), (bag + Bag.of(cells[:5])).ranks(cells[5:], uniforms[5:])]
    assert np.concatenate(parts) == pytest.approx(expected)
    assert ((bag + Bag.of(cells)).counts.sum(axis=1) == 31).all()


def test_no_rank_is_rounded_to_1_in_a_bag_of_very_many_rows():
    counts = Bag.of(np.zeros((1, 1), dtype=np.int64)).counts * 10**14
    rank = Bag(counts).ranks(np.full((1, 1), 5), np.full((1, 1), 1.0 - 2.0**-53))
    assert rank < 1.0
    assert np.isfinite(log_gains(rank, N_BETS)).all()


def test_a_level_is_paid_once_and_a_run_length_for_ever():
    level, length = Guarantee.of(0.05, None), Guarantee.of(None, 100.0)
    n = np.array([0, 1, 10, 10**4, 10**12])
    assert level.paid(n)[0] == 0.0
    assert (np.diff(level.paid(n)) > 0).all()
    assert level.paid(n)[-1] <= 1.0
    assert (length.paid(n) == n).all()
    assert (level.log_threshold, length.log_threshold) == pytest.approx((np.log(20.0), np.log(200.0)))
    assert Guarantee.of(None, None) == level


@pytest.mark.parametrize("length", [1, 7, 50, 1234.5])
def test_the_threshold_of_a_run_length_gives_that_length(length):
    """If an alarm by row n has probability n/c at most, its mean row is at least the sum of the rest."""
    threshold = np.exp(Guarantee.of(None, length).log_threshold)
    n = np.arange(int(threshold) + 1)
    assert (1.0 - n / threshold).sum() >= length


def test_no_more_is_paid_to_those_who_learn_than_their_share():
    rng = np.random.default_rng(0)
    known = Known(rng.normal(size=(20, 3)), rng.normal(size=(30, 3)), np.ones((2, 3)))
    for guarantee in (Guarantee.of(0.05, None), Guarantee.of(None, 100.0)):
        own, begun = LearningGamblers.start(known, 0.4), 0.0
        for row in range(1, 1025):
            before = len(own.births)
            own.learn(rng.normal(size=(1, 3)), row, guarantee)
            new = own.births == row
            assert before == 0 or row % 16 or new.any()
            begun += float(np.exp(logsumexp(own.wealth.log_shares[np.repeat(new, 2)]))) if new.any() else 0.0
            assert begun <= 0.4 * float(guarantee.paid(np.array(row))) * (1 + 1e-9)
        assert begun > 0.2 * float(guarantee.paid(np.array(1024)))
        fixed = FixedGamblers.start(np.array([0.3, 0.3]), rng.normal(size=(20, 2)), rng.normal(size=(30, 2)))
        assert np.exp(fixed.wealth.log_shares).sum() == 0.0
