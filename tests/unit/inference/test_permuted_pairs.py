"""The choice of a scheme, and the errors it raises."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference import mmd_test, permuted_pairs
from kernelmean.inference.resampling import Resampling, Resources, resources_of
from kernelmean.inference.rotations import tiles
from kernelmean.inference.units.layout import Layout
from kernelmean.inference.units.samples import Labelings
from kernelmean.kernels import Gaussian
from nulls import TWO_SAMPLES, hsic_null, mmd_null

KERNEL = Gaussian(1.5)


def normal(n, dim=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


@pytest.mark.parametrize(
    ("sizes", "n_resamples", "expected"),
    [
        ((5, 6), 461, "exact"),  # there are 462
        ((5, 6), 460, "random"),
        ((1, 999), 999, "exact"),
        ((50, 50), 999, "random"),
        ((50, 51), 999, "rotations"),
        ((500, 524), 999, "rotations"),
        ((500, 525), 999, "bins"),
        ((3, 1022), 999, "bins"),
        ((30, 30), 3 * 10**6, "random"),  # more than are counted
        ((6,), 719, "exact"),
        ((6,), 718, "random"),
        ((32,), 999, "random"),
        ((33,), 999, "rotations"),
    ],
)
def test_the_rule(sizes, n_resamples, expected):
    if len(sizes) == 1:
        X = normal(*sizes)
        assert hsic_null(X, X, [(KERNEL, KERNEL)], n_resamples=n_resamples, rng=0).scheme == expected
    else:
        layout = Layout.of(np.repeat([0, 1], sizes), np.ones(sum(sizes)))
        how = Resampling.of("auto", n_resamples, 0)
        assert Labelings.of(None, layout.in_bins(how.rng).units, how).scheme == expected


def test_a_plan_says_how_many_threads_and_bytes(monkeypatch):
    monkeypatch.setattr("kernelmean.inference.resampling.cpu_count", lambda: 8)
    assert resources_of(None) == Resources(1, 2.0**30)
    assert resources_of(km.Plan()) == Resources(8, 2.0**30)
    assert resources_of(km.Plan(threads=2)) == Resources(2, 2.0**30)
    assert resources_of(km.Plan(threads=2, memory=5e8)) == Resources(2, 5e8)


def test_single_precision_counts_more_as_a_tie():
    pytest.importorskip("numpy", "2.0", reason="the strict arrays of another device need it")
    xp = pytest.importorskip("array_api_strict")
    X, Y = (xp.asarray(normal(30, seed=seed).astype(np.float32), device=xp.Device("device1")) for seed in (0, 1))
    X64, Y64 = (xp.astype(Z, xp.float64) for Z in (X, Y))
    single, double = (mmd_null(*pair, [KERNEL], scheme="random", rng=0) for pair in ((X, Y), (X64, Y64)))
    np.testing.assert_allclose(single.values, double.values, atol=1e-6)
    assert 6e-7 < single.tolerance[0] / np.ptp(single.values) < 1e-6
    assert 1e-9 < double.tolerance[0] / np.ptp(double.values) < 1e-8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "rotations"}, r"scheme is 'rotations'; pass one of 'auto', 'exact', 'random'"),
        ({"scheme": "exact"}, r"more than 2,000,000 permutations to enumerate; use scheme='auto'"),
        ({"n_resamples": 0}, r"n_resamples is 0; a whole number from 1"),
        ({"n_resamples": 99.5}, r"n_resamples is 99.5"),
        ({"n_resamples": "99"}, r"n_resamples is '99'; a whole number"),
        ({"n_resamples": None}, r"n_resamples is None; a whole number"),
        ({"n_resamples": float("nan")}, r"n_resamples is nan; a whole number"),
        ({"n_resamples": float("inf")}, r"n_resamples is inf; a whole number"),
        ({"plan": 2}, r"plan is 2; pass a Plan"),
        ({"plan": km.Plan(dtype="float32")}, r"leave dtype='float64'"),
        ({"design": "strata"}, r"design is 'strata'; pass a Design"),
        ({"kernel": KERNEL, "estimator": "mkme"}, r"an estimator brings its kernel; pass it there"),
        ({"kernel": KERNEL, "estimator": "adaptive"}, r"brings its own kernels; leave kernel= out"),
    ],
)
def test_bad_options_say_what_to_write(options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        mmd_test(normal(30), normal(30), **options)


@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test, partial(km.mmd_test, design=km.Design(paired=True))])
def test_an_unknown_estimator_is_told_of_the_adaptive_ones(test):
    with pytest.raises(
        ValueError, match=r"estimator is 'adaptiv'; pass .*'kme', .*'adaptive', 'log-mean-exp', 'aggregate'"
    ):
        test(normal(9), normal(9), estimator="adaptiv")


def test_numbers_of_things_are_counted_in_words():
    for test, message in ((km.k_sample_test, "1 sample was passed"), (km.dhsic_test, "1 variable was passed")):
        with pytest.raises(ValueError, match=message):
            test(normal(9))


def test_several_kernels_share_the_permutations():
    X, Y = normal(60), normal(80, seed=1)
    kernels = [Gaussian(0.3), Gaussian(3.0)]
    for scheme in TWO_SAMPLES:
        together = mmd_null(X, Y, kernels, scheme=scheme, rng=4)
        assert together.values.shape == (2, together.values.shape[1])
        for k, kernel in enumerate(kernels):
            alone = mmd_null(X, Y, [kernel], scheme=scheme, rng=4)
            np.testing.assert_allclose(together.values[k], alone.values[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n", [48, 200, 700])
def test_given_factors_are_used_where_they_cost_less_and_change_no_p_value(n, monkeypatch):
    """For some of the pairs: those of high rank are left to tiles, which may be held whole or come one by one."""
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 1))
    y, options = x**2 + rng.normal(size=(n, 1)), {"n_resamples": 399, "rng": 0}
    used = set()
    for name in ("tile_sums", "factor_sums"):
        run = getattr(permuted_pairs, name)
        monkeypatch.setattr(permuted_pairs, name, lambda *args, run=run, name=name: used.add(name) or run(*args))
    result = km.hsic_test(x, y, **options)
    assert used == {"tile_sums", "factor_sums"}
    for kept, held in ((True, 0), (False, 0), (False, n)):
        monkeypatch.setattr(
            permuted_pairs, "by_factors", lambda own, _, kept=kept: [*range(len(own.problem.pairs) * kept)]
        )
        monkeypatch.setattr(tiles, "_HELD", held)
        other = km.hsic_test(x, y, **options)
        assert (other.pvalue, other.scheme) == (result.pvalue, result.scheme) == (result.pvalue, "rotations")
        np.testing.assert_allclose(other.null_distribution, result.null_distribution, rtol=1e-9)
