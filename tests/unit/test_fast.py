"""Compiled sums against tiles of numpy, and the exponential inside against many digits."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from kernelmean.kernels import Gaussian
from kernelmean.plan import Plan

numba = pytest.importorskip("numba")
_fast = pytest.importorskip("kernelmean.plan.compiled")


@pytest.fixture(scope="module")
def powers():
    @numba.njit
    def fill(x, out):
        for i in range(len(x)):
            out[i] = _fast._power_of_two(x[i])

    def evaluate(x):
        out = np.empty_like(x)
        fill(x, out)
        return out

    return evaluate


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float64, -1022), (np.float32, -126)])
def test_the_power_of_two_is_right_to_two_ulp(powers, dtype, lowest):
    rng = np.random.default_rng(0)
    x = np.concatenate([-rng.uniform(0, 1, 1000), rng.uniform(lowest, 0, 1000), [lowest, -0.5, -1.5]]).astype(dtype)
    truth = [mpmath.power(2, float(number)) for number in x]
    relative = [abs(mpmath.mpf(float(p)) / t - 1) for p, t in zip(powers(x), truth, strict=True)]
    assert max(relative) <= 2 * np.finfo(dtype).eps / 2  # an ulp is eps/2 to eps of the number


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_power_of_two_at_its_ends(powers, dtype):
    low = np.finfo(dtype).minexp
    x = np.array([0.0, -0.0, -1.0, low, low - 1, -1e4, np.finfo(dtype).min, -np.inf, np.nan], dtype)
    expected = np.array([1.0, 1.0, 0.5, 2.0**low, 0.0, 0.0, 0.0, 0.0, np.nan], dtype)
    np.testing.assert_array_equal(powers(x), expected)


def both(X, Y, bandwidth, weights, *, symmetric=False, dtype="float64"):
    blocks = Gaussian(bandwidth).blocks(X, Y)
    plans = [Plan(block=(100, 150), threads=2, use_fast=fast, dtype=dtype) for fast in (True, False)]
    return [plan.matmul(blocks, len(X), len(Y), weights, symmetric=symmetric) for plan in plans]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("narrow", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("columns", [1, 2, 3, 8])
def test_fast_is_slow(columns, narrow, symmetric):
    rng = np.random.default_rng(columns)
    X = 5.0 + rng.standard_normal((403, columns))
    Y = X if symmetric else X[rng.permutation(403)][:307] + 0.1 / narrow
    bandwidth = np.linspace(1.0, 2.0, columns) / narrow
    W = rng.standard_normal((len(Y), 2))
    fast, slow = both(X, Y, bandwidth, W, symmetric=symmetric)
    magnitude = both(X, Y, bandwidth, np.abs(W))[1]
    assert slow.any()
    assert (np.abs(fast - slow) <= 1e-12 * magnitude + 1e-300).all()  # numbers below the normal ones are 0


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("narrow", [1.0, 10.0, 1000.0])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_fast_is_slow_in_float32(columns, narrow, symmetric):
    X = np.random.default_rng(columns).standard_normal((403, columns))
    weights = np.full(403, 1e-50)
    fast, slow = both(X, X, 1.0 / narrow, weights, symmetric=symmetric, dtype="float32")
    np.testing.assert_allclose(fast, slow, rtol=1e-6)
    np.testing.assert_allclose(fast, both(X, X, 1.0 / narrow, weights)[1], rtol=1e-6)


@pytest.mark.parametrize("symmetric", [False, True])
def test_no_bit_depends_on_the_number_of_threads(symmetric):
    X = np.random.default_rng(0).standard_normal((1000, 2))
    blocks = Gaussian(1.0).blocks(X, X)
    plans = [Plan(block=(64, 128), threads=threads, use_fast=True) for threads in (1, 2, 5)]
    first, *others = [plan.matmul(blocks, 1000, 1000, np.ones(1000), symmetric=symmetric) for plan in plans]
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_it_runs_where_it_pays_and_only_there(monkeypatch):
    used = []
    original = _fast.tile_sums
    monkeypatch.setattr(_fast, "tile_sums", lambda *args: used.append(args) or original(*args))

    def uses_fast(plan, columns=2, weights=1, n=20):
        used.clear()
        X = np.ones((n, columns))
        plan.matmul(Gaussian(1.0).blocks(X, X), n, n, np.ones((n, weights)))
        return bool(used)

    assert not uses_fast(Plan())
    assert uses_fast(Plan(use_fast=True))
    assert not uses_fast(Plan(use_fast=True), columns=9)
    assert not uses_fast(Plan(use_fast=True), weights=3)
    monkeypatch.setattr("kernelmean.plan.plan._FAST_FROM", 400)
    assert uses_fast(Plan())
    assert not uses_fast(Plan(use_fast=False))
    monkeypatch.setattr("kernelmean.plan.plan.find_spec", lambda name: None)
    assert not uses_fast(Plan())
    with pytest.raises(ImportError, match="install"):
        Plan(use_fast=True)


def test_without_a_folder_for_compiled_code_it_compiles_anew(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    assert _fast.compiled(lambda x: x + 1)(1) == 2
