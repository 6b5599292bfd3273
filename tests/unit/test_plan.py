"""Tiled sums against dense brute force: every shape, any number of threads, little memory."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from kernelmean.kernels import Gaussian, Scaled
from kernelmean.plan import DEFAULT, Plan

SHAPES = [(1, 1), (1, 2500), (2500, 1), (256, 1024), (257, 1025), (700, 513), (40, 40)]
SMALL = Plan(block=(32, 48), threads=2)


def points(n, dim=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, dim))


def brute_force(X, Y, bandwidth=1.3):
    return np.exp(-0.5 * ((X[:, None] - Y) ** 2).sum(-1) / bandwidth**2)


def opaque(matrix):
    """Return a block function of which the plan knows nothing."""
    return lambda i, j: matrix[i, j]


def blas_threads():
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.mark.parametrize("plan", [DEFAULT, SMALL, Plan(block=(7, 5), threads=3)], ids=["default", "small", "tiny"])
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_matmul_equals_the_dense_product(plan, n, m):
    X, Y, W = points(n), points(m, seed=1), points(m, 4, seed=2)
    gram = brute_force(X, Y)
    for blocks in (Gaussian(1.3).blocks(X, Y), opaque(gram)):
        np.testing.assert_allclose(plan.matmul(blocks, n, m, W), gram @ W, atol=1e-12 * m)


@pytest.mark.parametrize("shape", [(90,), (90, 1), (90, 0), (90, 3)])
def test_weights_keep_their_shape(shape):
    gram = brute_force(points(50), points(90, seed=1))
    W = np.random.default_rng(2).standard_normal(shape)
    product = SMALL.matmul(opaque(gram), 50, 90, W)
    assert product.shape == (50, *shape[1:])
    np.testing.assert_allclose(product, gram @ W, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 5, 17])
@pytest.mark.parametrize("n", [1, 31, 33, 300])
def test_a_symmetric_matrix_needs_half_of_the_tiles(n, k):
    gram, W, seen = brute_force(points(n), points(n)), points(n, k, seed=1), []

    def blocks(i, j):
        seen.append(gram[i, j].size)
        return gram[i, j]

    product = SMALL.matmul(blocks, n, n, W, symmetric=True)
    np.testing.assert_allclose(product, gram @ W, atol=1e-12 * n)
    assert sum(seen) <= (0.5 * n * (n + 32) if k <= 16 else n * n)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("columns", [2, 20])
def test_no_bit_depends_on_the_number_of_threads(dtype, symmetric, columns):
    X, W = points(1500, columns), points(1500, 3, seed=1)
    blocks = Gaussian(np.sqrt(columns)).blocks(X, X)
    plans = [Plan(block=(64, 128), threads=threads, dtype=dtype) for threads in (1, 2, 3, 7)]
    first, *others = [plan.matmul(blocks, 1500, 1500, W, symmetric=symmetric) for plan in plans]
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_bilinear_form():
    X, Y = points(300), points(170, seed=1)
    beta, gamma = points(300, 1, seed=2)[:, 0], points(170, 1, seed=3)[:, 0]
    truth = beta @ brute_force(X, Y) @ gamma
    assert SMALL.bilinear(Gaussian(1.3).blocks(X, Y), beta, gamma) == pytest.approx(truth, abs=1e-11)
    square = Gaussian(1.3).blocks(X, X)
    once, twice = (SMALL.bilinear(square, beta, beta[::-1], symmetric=flag) for flag in (True, False))
    assert once == pytest.approx(twice, abs=1e-11)


@pytest.mark.parametrize("symmetric", [False, True])
def test_gram_is_dense_only_as_far_as_the_plan_allows(symmetric):
    X = points(100)
    plan = Plan(block=(32, 48), threads=2, max_dense=100)
    gram = plan.gram(Gaussian(1.3).blocks(X, X), 100, 100, symmetric=symmetric)
    np.testing.assert_allclose(gram, brute_force(X, X), atol=1e-13)
    with pytest.raises(ValueError, match=r"plan\.matmul"):
        plan.gram(Gaussian(1.3).blocks(X, X), 101, 100)


@pytest.mark.parametrize("symmetric", [pytest.param(False, marks=pytest.mark.slow), True])
def test_memory_stays_far_below_the_matrix(symmetric):
    n, threads = 20_000, 2
    X = points(n, 2)
    plan = Plan(threads=threads, use_fast=False)
    tile = 8 * plan.block[0] * plan.block[1]
    tracemalloc.start()
    try:
        plan.matmul(Gaussian(1.3).blocks(X, X), n, n, np.ones(n), symmetric=symmetric)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    vectors = 8 * n * (2 * (2 + 4 + 4) + 20)  # scaled, centered, and as factors; sums and their accumulators
    assert peak < 2 * threads * tile + vectors < 8 * n * n / 200


@pytest.mark.parametrize("columns", [1, 2, 5, 20])
@pytest.mark.parametrize("narrow", [1.0, 6.0, 100.0])
@pytest.mark.parametrize("symmetric", [False, True])
def test_float32_keeps_six_digits_of_the_sum(columns, narrow, symmetric):
    X = points(1200, columns)
    blocks = Gaussian(np.sqrt(2 * columns) / narrow).blocks(X, X)
    single, double = (
        Plan(block=(256, 512), dtype=dtype).matmul(blocks, 1200, 1200, np.ones(1200), symmetric=symmetric)
        for dtype in ("float32", "float64")
    )
    np.testing.assert_allclose(single, double, rtol=1e-6)
    assert not np.array_equal(single, double) or narrow == 100.0


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_factor_of_a_scaled_kernel_costs_nothing_and_is_exact(dtype):
    X = points(90)
    kernel, plan = Gaussian(1.3), Plan(dtype=dtype)
    plain = plan.matmul(kernel.blocks(X, X), 90, 90, np.ones(90))
    tiny = plan.matmul(Scaled(1e-100, kernel).blocks(X, X), 90, 90, np.ones(90))
    np.testing.assert_allclose(tiny, 1e-100 * plain, rtol=1e-6 if dtype == "float32" else 1e-14)
    everything = slice(None)
    np.testing.assert_allclose(
        Scaled(2.0, Scaled(3.0, kernel)).blocks(X, X)(everything, everything), 6.0 * kernel(X, X)
    )


def test_a_row_of_nothing():
    nothing = opaque(np.zeros((0, 5)))
    assert SMALL.matmul(nothing, 0, 5, np.ones(5)).shape == (0,)
    np.testing.assert_array_equal(SMALL.matmul(opaque(np.zeros((5, 0))), 5, 0, np.ones((0, 2))), np.zeros((5, 2)))


@pytest.mark.parametrize(
    "options", [{"block": (0, 5)}, {"block": (4,)}, {"threads": 0}, {"max_dense": 0}, {"dtype": "float16"}]
)
def test_impossible_plans_are_refused(options):
    with pytest.raises(ValueError, match=r"block|threads|dtype"):
        Plan(**options)


def test_weights_that_do_not_fit_are_refused():
    blocks = opaque(np.ones((4, 5)))
    with pytest.raises(ValueError, match=r"\(5,\) or \(5, k\)"):
        DEFAULT.matmul(blocks, 4, 5, np.ones(4))
    with pytest.raises(ValueError, match="cannot be symmetric"):
        DEFAULT.matmul(blocks, 4, 5, np.ones(5), symmetric=True)
    with pytest.raises(ValueError, match="cannot be symmetric"):
        DEFAULT.gram(blocks, 4, 5, symmetric=True)


def test_blas_has_one_thread_inside_and_its_own_number_outside():
    inside, X = [], points(100)

    def blocks(i, j):
        inside.append(blas_threads())
        return X[i] @ X[j].T

    before = blas_threads()
    SMALL.matmul(blocks, 100, 100, np.ones(100))  # in this thread first, which must not keep the others from it
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(3) as pool:  # reductions that overlap
        own = blas_threads()
        runs = [pool.submit(SMALL.matmul, blocks, 100, 100, np.ones(100)) for _ in range(3)]
        assert all(run.result().shape == (100,) for run in runs)
        assert blas_threads() == own <= {2}
    assert inside
    assert all(threads <= {1} for threads in inside)
    assert blas_threads() == before


def test_an_error_inside_a_tile_comes_out():
    before = blas_threads()

    def blocks(i, j):
        raise ArithmeticError("in a tile")

    with pytest.raises(ArithmeticError, match="in a tile"):
        SMALL.matmul(blocks, 100, 100, np.ones(100))
    assert blas_threads() == before


def test_importing_the_plan_does_not_import_the_compiler():
    code = "import sys, kernelmean.plan; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
