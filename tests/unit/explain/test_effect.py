"""Effect sizes, equivalence and the simulation behind them, against explicit matrices."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import kernelmean as km
from explained import dependence_effect_size, dependence_equivalence_test, effect_size, equivalence_test, witness_bands
from kernelmean.kernels import Gaussian, Linear


def samples(n=14, m=9, dim=2, shift=1.0):
    rng = np.random.default_rng(8)
    return rng.normal(size=(n, dim)), rng.normal(shift, 1.4, size=(m, dim))


def test_linear_kernel_gives_classical_numbers():
    X, Y = samples(dim=3)
    found = effect_size(X, Y, Linear(), rng=0)
    gap = X.mean(axis=0) - Y.mean(axis=0)
    variances = [Z.var(axis=0, ddof=1).sum() for Z in (X, Y)]
    squared = gap @ gap - variances[0] / 14 - variances[1] / 9
    assert found.statistic == pytest.approx(squared, rel=1e-12)
    assert found.distance.value == pytest.approx(np.sqrt(squared), rel=1e-12)
    assert found.ratio.value == pytest.approx(squared / np.mean(variances), rel=1e-12)
    assert found.explained.value == pytest.approx(squared / (4 * np.mean(variances) + squared), rel=1e-12)
    assert found.maximum == np.inf


def test_units_and_order_do_not_matter():
    X, Y = samples(60, 40)
    here = effect_size(X, Y, rng=0)
    there = effect_size(4.0 * X + 100.0, 4.0 * Y + 100.0, rng=0)
    back = effect_size(Y, X, rng=0)
    for name in ("distance", "ratio", "explained"):
        a, b, c = (getattr(size, name) for size in (here, there, back))
        np.testing.assert_allclose([a.value, a.low, a.high], [b.value, b.low, b.high], rtol=1e-7)
        assert a.value == pytest.approx(c.value, rel=1e-10)
        assert a.low < a.value < a.high
        assert a.high == pytest.approx(c.high, rel=0.1)
    doubled = effect_size(X, Y, 9.0 * here.kernel, rng=0)
    assert doubled.distance.value == pytest.approx(3 * here.distance.value, rel=1e-10)
    assert doubled.explained.low == pytest.approx(here.explained.low, rel=1e-9)


def test_two_points_are_as_far_apart_as_can_be():
    X, Y = np.zeros((50, 1)), np.full((40, 1), 50.0)
    found = effect_size(X, Y, Gaussian(1.0), rng=0)
    assert found.distance.value == pytest.approx(np.sqrt(2)) == found.maximum == found.distance.high
    assert 1.2 < found.distance.low < 1.41  # some of the 3 / 50 that 50 rows may have missed
    assert 0.7 < found.explained.low < 0.9
    assert found.explained.value == found.explained.high == 1.0
    few = effect_size(
        X[:3], Y[:3], Gaussian(1.0), rng=0
    )  # 20 labelings cannot say that distributions differ at this level
    assert (few.pvalue, few.distance.low, few.explained.low) == (0.1, 0.0, 0.0)
    X, Y = X[:5], Y[:4]
    for kernel in (Gaussian(1.0), 0.1 * Gaussian(1.0), Linear()):
        with pytest.raises(ValueError, match="nothing varies"):
            effect_size(X + 0.3, X[:3] + 0.3, kernel)


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_the_ratio_of_samples_that_are_alike_is_a_little_below_0(shift: float) -> None:
    X = np.arange(10.0)[:, None]
    size = effect_size(X, np.arange(14.0)[:, None] * 0.7 + shift, Gaussian(2.0), n_resamples=99, rng=0)
    assert -2.0 / 10 <= size.ratio.value < 0.0 == size.distance.value == size.ratio.low == size.explained.low
    assert size.explained.value == size.ratio.value / (4.0 + size.ratio.value)
    assert size.ratio.high > 0.0
    unbounded = effect_size(X, X + 1.0, Linear(), n_resamples=99, rng=0)
    assert (unbounded.maximum, "MMD without an upper bound" in str(unbounded)) == (np.inf, True)
    assert "MMD at most 1.414" in str(size)


def test_alignment_is_one_with_itself_and_bounded():
    X, _ = samples(30, 9)
    found = dependence_effect_size(X, X, Gaussian(1.0), rng=0)
    assert found.alignment.value == pytest.approx(1.0, rel=1e-12)
    assert found.alignment.low > 0.5
    assert found.alignment.high == 1.0
    assert "alignment" in found.summary()
    with pytest.raises(ValueError, match="constant"):
        dependence_effect_size(X, np.ones((30, 1)))
    with pytest.raises(ValueError, match="at least 4"):
        dependence_effect_size(X[:3], X[:3])


def test_levels_nest():
    X, Y = samples(30, 20)
    wide, narrow = (effect_size(X, Y, level=level, rng=0).distance for level in (0.99, 0.8))
    assert wide.low < narrow.low < narrow.high < wide.high
    for level in (0.0, 1.0, 95):
        with pytest.raises(ValueError, match=r"such as 0\.95"):
            effect_size(X, Y, level=level)


def test_equivalence_p_falls_with_the_margin_and_agrees_with_the_limit():
    X, Y = samples(80, 60, shift=0.2)
    results = [equivalence_test(X, Y, margin, Gaussian(1.0), rng=0) for margin in np.linspace(0.05, 1.2, 24)]
    pvalues = [result.pvalue for result in results]
    assert pvalues == sorted(pvalues, reverse=True)
    assert pvalues[0] > 0.8
    assert pvalues[-1] == 1 / 1000
    for result in results:
        assert result.equivalent == (result.margin > result.upper) or abs(result.pvalue - 0.05) < 0.002
    assert len({result.upper for result in results}) == 1
    statistic, pvalue = results[3]
    assert (statistic, pvalue) == (results[3].statistic, results[3].pvalue)


def test_equivalence_in_shares_of_variance():
    X, Y = samples(80, 60, shift=0.2)
    size = effect_size(X, Y, Gaussian(1.0), level=0.9, rng=0)
    result = equivalence_test(X, Y, 0.3, Gaussian(1.0), unit="explained", rng=0)
    assert result.upper == pytest.approx(size.explained.high, rel=1e-12)
    assert result.equivalent


def test_impossible_margins_are_refused():
    X, Y = samples()
    for margin, unit in ((1.5, "distance"), (1.0, "explained"), (0.0, "distance"), (-1.0, "explained")):
        with pytest.raises(ValueError, match="margin is"):
            equivalence_test(X, Y, margin, unit=unit)
    with pytest.raises(ValueError, match="unit is"):
        equivalence_test(X, Y, 0.1, unit="squared")
    with pytest.raises(ValueError, match="at least 3 in each"):
        equivalence_test(X[:2], Y, 0.1)


def test_intervals_begin_above_zero_only_where_the_test_rejects():
    rng = np.random.default_rng(3)
    for shift in np.linspace(0.0, 1.5, 7):
        X, Y = rng.normal(size=(15, 1)), rng.normal(shift, size=(12, 1))
        size = effect_size(X, Y, bandwidth=1.0, rng=0, n_resamples=199)
        lows = (size.distance.low, size.ratio.low, size.explained.low)
        assert size.pvalue <= 0.025 or lows == (0.0, 0.0, 0.0)
        pair = dependence_effect_size(X[:12], shift * X[:12] + Y, rng=0, n_resamples=199)
        assert pair.pvalue <= 0.025 or pair.distance.low == pair.alignment.low == 0.0


def test_few_different_rows_leave_the_alignment_open():
    X = np.zeros((8, 1))
    X[0] = 1.0
    found = dependence_effect_size(X, np.arange(8.0)[:, None], Gaussian(1.0), rng=0)
    assert np.isnan(found.alignment.value)
    assert (found.alignment.low, found.alignment.high) == (0.0, 1.0)
    open_ended = dependence_equivalence_test(X, np.arange(8.0)[:, None], 0.9, Gaussian(1.0), unit="alignment", rng=0)
    assert (open_ended.pvalue, open_ended.upper) == (1.0, 1.0)


def test_a_rare_value_that_a_small_sample_missed_stays_possible():
    X, Y = np.zeros((20, 1)), np.repeat([0.0, 1.0], [160, 40])[:, None]
    found = effect_size(X, Y, Gaussian(1.0), level=0.9, rng=0)
    exact = 0.15 * np.sqrt(2 - 2 * np.exp(-0.5))  # coins of .05 and .2
    assert found.distance.low < exact < found.distance.high


def test_dependence_can_be_negligible():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(150, 1)), rng.normal(size=(150, 1))
    size = dependence_effect_size(X, Y, level=0.9, rng=1)
    for unit, estimate in (("distance", size.distance), ("alignment", size.alignment)):
        found = dependence_equivalence_test(X, Y, 0.15, unit=unit, rng=1)
        assert found.upper == pytest.approx(estimate.high, rel=1e-12)
        assert found.equivalent
        assert "shown" in found.summary()
        assert not dependence_equivalence_test(X, X + 0.2 * Y, 0.15, unit=unit, rng=1).equivalent
    with pytest.raises(ValueError, match="constant"):
        dependence_equivalence_test(X, np.ones((150, 1)), 0.1)
    with pytest.raises(ValueError, match="'distance' or 'alignment'"):
        dependence_equivalence_test(X, Y, 0.1, unit="explained")


def test_the_bound_is_mcdiarmids():
    X, Y = samples(80, 60)
    kernel = 4.0 * Gaussian(1.0)
    found = equivalence_test(X, Y, 2.5, kernel, method="bound")
    pooled, a = np.concatenate([X, Y]), np.repeat([1 / 80, -1 / 60], [80, 60])
    distance, radius = np.sqrt(a @ kernel(pooled, pooled) @ a), np.sqrt(4.0 * (1 / 80 + 1 / 60))
    assert found.pvalue == pytest.approx(np.exp(-(((2.5 - distance - radius) / radius) ** 2)), rel=1e-9)
    assert found.upper == pytest.approx(distance + radius * (1 + np.sqrt(np.log(20))), rel=1e-12)
    assert (found.n_resamples, found.equivalent) == (0, found.upper < 2.5)
    assert equivalence_test(X, Y, 0.1, kernel, method="bound").pvalue == 1.0
    for bad in ({"kernel": Linear()}, {"unit": "explained"}):
        with pytest.raises(ValueError, match="bounded kernel"):
            equivalence_test(X, Y, 0.1, method="bound", **bad)
    with pytest.raises(ValueError, match="method is"):
        equivalence_test(X, Y, 0.1, method="exact")


def test_constant_samples_show_no_equivalence_that_the_bound_does_not_show():
    for rows, margin, shown in ((3, 0.05, False), (30, 0.5, False), (300, 0.5, True)):
        X, Y = np.zeros((rows, 1)), np.zeros((rows, 1))
        found, bound = (equivalence_test(X, Y, margin, Gaussian(1.0), method=m) for m in ("simulated", "bound"))
        assert (found.pvalue, found.upper, found.n_resamples) == (bound.pvalue, bound.upper, 0)
        assert found.equivalent is shown
        assert "all rows are equal" in found.method
    for bad in ({"kernel": Linear()}, {"unit": "explained"}):
        with pytest.raises(ValueError, match="nothing to simulate"):
            equivalence_test(X, Y, 0.1, **bad)


def test_equivalence_keeps_its_level_when_constant_samples_are_counted():
    rng, margin = np.random.default_rng(0), 0.1 * np.sqrt(2 - 2 * np.exp(-0.5))
    Y, claims = np.zeros((30, 1)), 0
    for _ in range(100):  # a third of them constant
        X = (rng.random((10, 1)) < 0.1).astype(float)
        claims += equivalence_test(X, Y, margin, bandwidth=1.0, n_resamples=99, rng=0).equivalent
    assert claims <= 12  # exceeded with probability .002 at level .05


def test_bad_numbers_are_refused():
    X, Y = samples()
    for n_resamples in (0, -5, 1, 98, 99.5):
        for call in (effect_size, dependence_effect_size, witness_bands, partial(equivalence_test, margin=0.1)):
            with pytest.raises(ValueError, match="whole number from 99"):
                call(X[:9], Y, n_resamples=n_resamples)
    with pytest.raises(ValueError, match="pass one number"):
        equivalence_test(X, Y, [0.1, 0.2])
    with pytest.raises(ValueError, match="NaN"):
        effect_size(X * np.nan, Y)
    with pytest.raises(ValueError, match="columns"):
        effect_size(X, Y[:, :1])


def test_noise_gives_the_size_of_the_kernel_with_noise():
    X, Y = samples(30, 20)
    with_noise = effect_size(X, Y, estimator="mmkme", rng=0)
    assert with_noise == effect_size(X, Y, with_noise.kernel, rng=0)
    assert with_noise.kernel != effect_size(X, Y, rng=0).kernel


def test_copies_do_not_prove_that_distributions_are_equal():
    X, _ = samples(20, 9)
    copies = effect_size(X, X, Gaussian(1.0), rng=0)
    assert (copies.pvalue, copies.distance.value, copies.distance.low) == (1.0, 0.0, 0.0)
    rng = np.random.default_rng(0)
    usual = [effect_size(X, rng.normal(size=(20, 2)), Gaussian(1.0), rng=0).distance.high for _ in range(9)]
    assert min(usual) / 1.5 < copies.distance.high < max(usual)
    assert not equivalence_test(X, X, 0.2, Gaussian(1.0), rng=0).equivalent


def test_rare_values_have_no_upper_limit_of_dependence() -> None:
    """Nineteen rows of one value say too little of how much the others vary."""
    rare = np.repeat([0.0, 1.0], [18, 2])[:, None]
    often = np.repeat([0.0, 1.0], [10, 10])[:, None]
    kernel = km.kernels.Gaussian(1.0)
    result = km.hsic_test(rare, often, kernel=kernel, n_resamples=19, rng=0)
    size = result.effect_size(rng=0)
    assert size.distance.high == size.maximum == 1.0
    assert size.alignment.high < 1.0
    assert result.equivalence(0.9, rng=0).pvalue == 1.0
    both = km.hsic_test(often, often[::-1], kernel=kernel, n_resamples=19, rng=0).effect_size(rng=0)
    assert both.distance.high < both.maximum


def test_the_upper_limit_of_a_share_is_at_least_that_of_the_distance() -> None:
    """Two rare values of twenty: the scale comes out too small together with the difference."""
    X, Y = (np.repeat([0.0, 1.0], sizes)[:, None] for sizes in ((180, 20), (18, 2)))
    size = km.mmd_test(X, Y, kernel=km.kernels.Gaussian(1.0), n_resamples=19, rng=0).effect_size(rng=0)
    variance = size.statistic / size.ratio.value
    assert size.ratio.high >= size.distance.high**2 / variance - 1e-12
