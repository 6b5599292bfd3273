"""Bins hold equally many rows, hardly any row stays outside, and features are fitted to as many rows of each."""

from __future__ import annotations

import numpy as np
import pytest

from kernelmean.inference.units.dealing import MOST_BINS, PILOT, Deals
from kernelmean.tables.shuffle import shuffled, unshuffled

SIZES = [
    *[
        (1, 1),
        (1, 2),
        (1, 5000),
        (2, 3),
        (7, 7),
        (255, 256),
        (256, 257),
        (300, 300),
        (511, 513),
        (512, 512),
        (600, 500),
    ],
    *[(1024, 1025), (5000, 20), (5000, 300), (300, 10**6), (10**6, 257), (10**5, 99_999), (20_001, 20_003), (600, 500)],
    *[(10**6, 10**6), (123_457, 7919), (40_000, 255), (3 * 10**6, 2001)],
]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 17, 64, 1000, 4097])
@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_rows_are_permuted_and_found_again(n: int, seed: int) -> None:
    rows = np.arange(n)
    places = shuffled(rows, n, seed)
    np.testing.assert_array_equal(np.sort(places), rows)
    np.testing.assert_array_equal(unshuffled(places, n, seed), rows)
    np.testing.assert_array_equal(shuffled(unshuffled(rows, n, seed), n, seed), rows)


@pytest.mark.parametrize("sizes", [*SIZES, *(sizes[::-1] for sizes in SIZES)], ids=str)
def test_bins_are_of_one_size_and_take_almost_all_rows(sizes: tuple[int, int]) -> None:
    deals = Deals.dealt(sizes, seed=5).each
    assert len({own.size for own in deals}) == 1
    assert len({own.pilot for own in deals}) == 1
    assert sum(own.bins for own in deals) <= MOST_BINS
    for own, n in zip(deals, sizes, strict=True):
        assert own.n == n
        assert own.bins >= 1
        assert own.left_over == n - own.bins * own.size >= 0
    small = min(deals, key=lambda own: own.n)
    assert small.bins >= min(small.n, 64)
    assert small.left_over <= 0.005 * small.n
    if sizes[0] == sizes[1]:
        assert deals[0] == deals[1]


@pytest.mark.slow
def test_every_small_size_is_dealt_as_well() -> None:
    """Where there are a few bins only, a bad division would leave a large part of a sample outside."""
    worst = 0.0
    for n in range(1, 1100, 13):
        for m in range(1, 4000, 97):
            first, second = Deals.dealt((n, m), 0).each
            assert first.size == second.size >= 1
            assert first.bins + second.bins <= MOST_BINS
            assert min(first.left_over, second.left_over) >= 0
            small = first if n <= m else second
            worst = max(worst, small.left_over / small.n)
    assert worst <= 0.005


@pytest.mark.parametrize("sizes", [(5, 9), (300, 1000), (3000, 2000), (20_000, 300), (60_000, 50_000)], ids=str)
def test_rows_fall_into_bins_by_their_number(sizes: tuple[int, int]) -> None:
    for own in Deals.dealt(sizes, seed=11).each:
        bins = own.unit_of(np.arange(own.n))
        counts = np.bincount(bins, minlength=own.bins + 1)
        assert (counts[: own.bins] == own.size).all()
        assert counts[own.bins :].tolist() == [own.left_over]
        some = np.arange(1, own.n, 3)
        np.testing.assert_array_equal(own.unit_of(some), bins[some])


@pytest.mark.parametrize(
    "sizes", [(5, 9), (40_000, 255), (123_457, 7919), (2891, 3289, 226), (1185, 28, 855, 22)], ids=str
)
@pytest.mark.parametrize("drawn", [False, True])
def test_every_unit_holds_as_many_rows_as_its_deal_says(sizes: tuple[int, ...], drawn: bool) -> None:
    """What two of three samples have left over beside the smallest one is bins, too."""
    deals, rng = Deals.dealt(sizes, seed=3), np.random.default_rng(1)
    if drawn:
        deals = deals.around(
            [rng.permutation(n)[: own.bins * own.pilot] for n, own in zip(sizes, deals.each, strict=True)]
        )
    units = np.concatenate([deals.of(sample, 0, n)[0] for sample, n in enumerate(sizes)])
    np.testing.assert_array_equal(np.bincount(units, minlength=deals.count), deals.held)
    np.testing.assert_array_equal(deals.labels[units], np.repeat(np.arange(len(sizes)), sizes))


@pytest.mark.parametrize("sizes", [(5, 9), (300, 1000), (3000, 2000), (20_000, 300), (60_000, 50_000)], ids=str)
def test_features_are_fitted_to_as_many_rows_of_every_bin(sizes: tuple[int, int]) -> None:
    deals = Deals.dealt(sizes, seed=11).each
    for own in deals:
        rows = own.fitted_to
        assert (np.diff(rows) > 0).all()
        assert rows[0] >= 0
        assert rows[-1] < own.n
        counts = np.bincount(own.unit_of(rows), minlength=own.bins)
        assert counts.tolist() == [own.pilot] * own.bins
    fitted_to = sum(len(own.fitted_to) for own in deals)
    bins = sum(own.bins for own in deals)
    assert min(PILOT, deals[0].size * bins) <= fitted_to < PILOT + bins


def test_neighboring_rows_fall_into_different_bins() -> None:
    """Rows of a sorted file are spread over all bins: of the first hundredth about one in every fifth bin."""
    own, _ = Deals.dealt((100_000, 100_000), seed=2).each
    assert 200 < len(np.unique(own.unit_of(np.arange(1000)))) <= own.bins
    means = np.bincount(own.unit_of(np.arange(own.n)), weights=np.arange(own.n), minlength=own.bins)[: own.bins]
    deviation = np.std(means / own.size) / (own.n / np.sqrt(12 * own.size))
    assert 0.85 < deviation < 1.15
