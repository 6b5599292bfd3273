"""The choice of a scheme, the memory it announces, and the errors it raises."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference import SCHEMES, custom_null, hsic_null, memory_estimate, mmd_null, mmd_test, relabelings
from kernelmean.inference.engine import automatic
from kernelmean.inference.sizes import Shape
from kernelmean.kernels import Gaussian
from kernelmean.kernels.gaussian import ExponentialBlocks

KERNEL = Gaussian(1.5)


def normal(n, dim=2, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


@pytest.mark.parametrize(
    ("sizes", "n_resamples", "expected"),
    [
        ((5, 6), 461, "exact"),  # there are 462
        ((5, 6), 460, "gemm"),
        ((1, 999), 999, "exact"),
        ((50, 50), 999, "gemm"),
        ((50, 51), 999, "cyclic"),
        ((4000, 4001), 999, "blocks"),
        ((3, 9000), 999, "cyclic"),  # too unequal for bins
        ((6,), 719, "exact"),
        ((6,), 718, "gather"),
        ((33,), 999, "cyclic"),
        ((10**6,), 999, "cyclic"),
    ],
)
def test_the_rule(sizes, n_resamples, expected):
    shape = Shape(sum(sizes), 3, n_resamples, sizes[0] if len(sizes) == 2 else None)
    assert automatic(shape) == expected


def test_large_samples_take_factors_where_the_rank_is_low_and_blocks_elsewhere(monkeypatch):
    monkeypatch.setattr("kernelmean.inference.engine._BLOCKS_ROWS", 1000)
    X = normal(700, 1)
    smooth = mmd_null(X, X + 0.05, [KERNEL], rng=0)
    rough = mmd_null(X, X + 0.05, [KERNEL, Gaussian(1e-4)], rng=0, memory=64 * 2**20)
    assert (smooth.scheme, rough.scheme) == ("cyclic-low-rank", "blocks")
    same = mmd_null(X, X + 0.05, [KERNEL], scheme="cyclic-tiles", rng=0)
    np.testing.assert_array_equal(smooth.pvalues, same.pvalues)
    again = mmd_null(X, X + 0.05, [KERNEL, Gaussian(1e-4)], scheme="blocks", rng=0)
    np.testing.assert_array_equal(rough.values, again.values)


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("gemm", (900, 700)),
        ("low-rank", (900, 700)),
        ("cyclic", (900, 700)),
        ("cyclic-tiles", (3000, 2500)),
        ("cyclic-low-rank", (3000, 2500)),
        ("blocks", (3000, 2500)),
        ("cyclic", (1200,)),
        ("cyclic-tiles", (1200,)),
        ("gather", (300,)),
    ],
)
def test_the_announced_memory_suffices(name, sizes):
    X, Y = normal(sizes[0]), normal(sizes[-1], seed=1)
    scheme, announced = memory_estimate(sizes, 2 if len(sizes) == 2 else 4, scheme=name)
    assert scheme == name
    tracemalloc.start()
    try:
        if len(sizes) == 2:
            mmd_null(X, Y, [KERNEL], scheme=name, rng=0)
        else:
            hsic_null(X, Y, [(KERNEL, KERNEL)], scheme=name, rng=0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used <= announced


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((-5, 3), {}, "sizes is -5, an integer ≥ 1"),
        ((1,), {}, "sizes is 1, an integer ≥ 2"),
        ((3, 3, 3), {}, r"sizes is \(3, 3, 3\); pass \(n, m\)"),
        (3, {}, r"sizes is 3; pass \(n, m\)"),
        ((3, 3), {"n_resamples": 0}, "n_resamples is 0"),
        ((3, 3), {"dim": -2}, "dim is -2, an integer ≥ 1"),
        ((3, 3), {"kernels": (0, 1)}, "kernels is 0, an integer ≥ 1"),
        ((3, 3), {"kernels": 2}, "kernels is 2; pass how many"),
    ],
)
def test_the_memory_of_impossible_calls_is_not_estimated(sizes, options, message):
    with pytest.raises(ValueError, match=message):
        km.memory_estimate(sizes, **{"dim": 1, **options})


def test_memory_does_not_grow_with_the_square():
    for scheme in ("gemm", "blocks", "cyclic", "cyclic-tiles"):
        small, large = (memory_estimate((n, n), 20, scheme=scheme)[1] for n in (100_000, 400_000))
        assert large < 5 * small
        assert small < 2**30 or scheme == "gemm"
    assert memory_estimate((10**5,), 40, scheme="cyclic")[1] < 2**30


def test_too_little_memory_says_how_much_is_needed():
    with pytest.raises(
        MemoryError, match=r"'cyclic-tiles' may need \d+ MiB for 2000 rows, the limit is 1 MiB; pass memory="
    ):
        hsic_null(normal(2000), normal(2000), [(KERNEL, KERNEL)], scheme="cyclic-tiles", memory=2**20)
    with pytest.raises(ValueError, match=r"not of low rank.*more than \d, which is what the memory"):
        mmd_null(normal(900), normal(900), [KERNEL], scheme="low-rank", memory=2**20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "fast"}, r"scheme is 'fast'; pass 'auto' or one of 'exact', 'gemm'"),
        ({"scheme": "gather"}, r"serves independence tests; use 'gemm' or 'cyclic'"),
        ({"scheme": "exact"}, r"more than 2,000,000 relabelings to enumerate; use scheme='auto'"),
        ({"n_resamples": 0}, r"n_resamples is 0; a whole number from 1"),
        ({"n_resamples": 99.5}, r"n_resamples is 99.5"),
        ({"n_resamples": "99"}, r"n_resamples is '99'; a whole number"),
        ({"n_resamples": None}, r"n_resamples is None; a whole number"),
        ({"n_resamples": float("nan")}, r"n_resamples is nan; a whole number"),
        ({"n_resamples": float("inf")}, r"n_resamples is inf; a whole number"),
        ({"n_jobs": 0}, r"n_jobs is 0; pass 1"),
        ({"n_jobs": "2"}, r"n_jobs is '2'; pass 1"),
        ({"n_jobs": 1.5}, r"n_jobs is 1.5; pass 1"),
        ({"memory": -1}, r"memory is -1"),
        ({"memory": "1GB"}, r"memory is '1GB'; pass a number of bytes"),
    ],
)
def test_bad_options_say_what_to_write(options, message):
    with pytest.raises(ValueError, match=message):
        mmd_test(normal(30), normal(30), **options)


def test_little_memory_is_told_in_bytes():
    with pytest.raises(MemoryError, match=r"may need \d+ KiB for 24 rows, the limit is 10 bytes; pass memory="):
        mmd_test(normal(12), normal(12, seed=1), memory=10)


@pytest.mark.parametrize("test", [km.mmd_test, km.hsic_test, km.paired_mmd_test])
def test_an_unknown_estimator_is_told_of_the_adaptive_ones(test):
    with pytest.raises(ValueError, match=r"estimator is 'adaptiv'; pass .*'kme', .*'adaptive', 'fuse', 'aggregate'"):
        test(normal(9), normal(9), estimator="adaptiv")


def test_numbers_of_things_are_counted_in_words():
    for test, message in ((km.k_sample_test, "1 sample was passed"), (km.dhsic_test, "1 variable was passed")):
        with pytest.raises(ValueError, match=message):
            test(normal(9))


def test_schemes_for_two_samples_refuse_pairs():
    for name in ("gemm", "blocks"):
        with pytest.raises(ValueError, match="two-sample tests; use"):
            hsic_null(normal(40), normal(40), [(KERNEL, KERNEL)], scheme=name)
    with pytest.raises(ValueError, match="at most 5000 rows; use 'cyclic'"):
        hsic_null(normal(5001), normal(5001), [(KERNEL, KERNEL)], scheme="gather")


def test_blocks_refuse_very_unequal_samples():
    with pytest.raises(ValueError, match="3 rows against 9000 it needs too many bins"):
        mmd_null(normal(3), normal(9000), [KERNEL], scheme="blocks")


def test_several_kernels_share_the_relabelings():
    X, Y = normal(60), normal(80, seed=1)
    kernels = [Gaussian(0.3), Gaussian(3.0)]
    for scheme in ("gemm", "cyclic", "blocks"):
        together = mmd_null(X, Y, kernels, scheme=scheme, rng=4)
        assert together.values.shape == (2, together.values.shape[1])
        for k, kernel in enumerate(kernels):
            alone = mmd_null(X, Y, [kernel], scheme=scheme, rng=4)
            np.testing.assert_allclose(together.values[k], alone.values[0], rtol=1e-12, atol=1e-15)


def test_every_scheme_has_a_name_and_a_summary():
    assert {name: scheme.name for name, scheme in SCHEMES.items()} == {name: name for name in SCHEMES}
    assert all(scheme.summary for scheme in SCHEMES.values())


def test_a_custom_statistic_over_all_labelings_and_over_random_ones():
    labels, x = np.repeat([1.0, 0.0], [3, 4]), np.arange(7.0)[::-1]

    def mean_gap(permutations):
        moved = labels[permutations]
        return (moved @ x / 3 - (1 - moved) @ x / 4)[None]

    exact = custom_null(mean_gap, relabelings((3, 4), 99), "gap", batch=10)
    assert exact.scheme == "exact"
    assert exact.pvalues[0] == 1 / 35
    drawn = relabelings((3, 4), 20, rng=0)
    assert custom_null(mean_gap, drawn, "gap").values.shape == (1, 21)
    assert relabelings((3,), 5).count == 6


def test_bin_sums_are_those_of_the_kernel_with_and_without_its_separated_form(monkeypatch):
    X, Y = normal(300, seed=1), normal(170, seed=2)
    quick = mmd_null(X, Y, [KERNEL], scheme="blocks", n_resamples=99, rng=0)
    monkeypatch.setattr(ExponentialBlocks, "separated", lambda self: None)
    plain = mmd_null(X, Y, [KERNEL], scheme="blocks", n_resamples=99, rng=0)
    np.testing.assert_allclose(quick.values, plain.values, rtol=1e-9, atol=1e-15)
