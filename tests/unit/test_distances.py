"""Squared distances of blocks are accurate wherever the data lie."""

from __future__ import annotations

import numpy as np
import pytest

from checkered import checkered
from kernelmean.kernels import Gaussian, Scaled, squared_distance_blocks

EVERYTHING = slice(None)
N = 240


def tables(columns):
    rng = np.random.default_rng(columns)
    X = rng.standard_normal((N, columns))
    outliers = np.where(rng.random((N, 1)) < 0.03, 1e4, 1.0) * X
    duplicates = 100.0 * X
    duplicates[80:160] = duplicates[:80] + 1e-6 * X[:80]
    duplicates[160:] = duplicates[:80]
    clusters = X + 1e5 * (np.arange(N)[:, None] % 2)
    return {
        "usual": 0.2 * X,
        "wide": 40.0 * X,
        "very wide": 1e6 * X,
        "offset": X + 1e6,
        "outliers": outliers,
        "near duplicates": duplicates,
        "clusters": clusters,
        "heavy tails": rng.standard_cauchy((N, columns)),
        "huge": 1e170 * X,
    }


def exact(X, Y):
    X, Y = X.astype(np.longdouble), Y.astype(np.longdouble)
    return ((X[:, None] - Y) ** 2).sum(-1)


@pytest.mark.parametrize(
    ("columns", "name", "floor", "dtype"),
    checkered([1, 2, 5, 6, 20], list(tables(1)), [0.0, 1.0], ["float64", "float32"]),
)
def test_the_error_is_small_beside_every_distance(columns, name, floor, dtype):
    X = tables(columns)[name]
    truth = exact(X, X)
    squared = squared_distance_blocks(X, X, floor=floor, dtype=dtype)(EVERYTHING, EVERYTHING)
    assert squared.dtype == dtype
    assert squared.min() >= 0.0
    loss = 1e-13 if dtype == "float64" else 2.5e-7
    expressible = truth < np.finfo(dtype).max
    assert (np.abs(squared - truth) <= 5 * loss * np.maximum(floor, truth))[expressible].all()
    assert np.isposinf(squared[~expressible]).all()


def test_the_product_alone_would_fail_these_tests():
    X = tables(20)["near duplicates"]
    X = X - X.mean(0)
    norm = (X**2).sum(1)
    product = norm[:, None] + norm - 2 * X @ X.T
    truth = exact(X, X)
    assert np.abs(product - truth).max() > 1e-13
    assert (np.abs(product - truth) > 1e-6 * truth).any()


@pytest.mark.parametrize("columns", [2, 6, 20])
@pytest.mark.parametrize("name", ["usual", "outliers", "wide"])
def test_blocks_are_parts_of_the_whole(columns, name):
    X = tables(columns)[name]
    Y = X[::-1][:150] + 0.5
    blocks = squared_distance_blocks(X, Y, floor=1.0)
    whole = blocks(EVERYTHING, EVERYTHING)
    for i in (slice(0, 7), slice(100, 240)):
        for j in (slice(0, 1), slice(3, 150)):
            np.testing.assert_allclose(blocks(i, j), whole[i, j], rtol=1e-12, atol=1e-12)


def test_tables_without_rows():
    blocks = squared_distance_blocks(np.zeros((0, 3)), np.ones((4, 3)))
    assert blocks(EVERYTHING, EVERYTHING).shape == (0, 4)


@pytest.mark.parametrize("columns", [1, 2, 20])
@pytest.mark.parametrize("name", tables(1))
def test_a_gaussian_kernel_never_exceeds_one_and_is_one_on_the_diagonal(columns, name):
    X = tables(columns)[name]
    gram = Gaussian(1.0)(X, X)
    assert gram.max() <= 1.0
    np.testing.assert_allclose(np.diagonal(gram), 1.0, atol=1e-13)
    np.testing.assert_allclose(gram, gram.T, atol=1e-13)
    np.testing.assert_allclose(gram, np.exp(-0.5 * exact(X, X)).astype(float), atol=3e-13)


@pytest.mark.parametrize("factor", [1.0, 0.3])
def test_the_separated_form_of_the_gaussian_kernel_has_the_same_entries(factor):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(7, 3)) + 1e3, rng.normal(size=(5, 3)) + 1e3
    kernel = Gaussian(np.array([1.5, 2.0, 3.0]))
    blocks = Scaled(factor, kernel).blocks(X, Y)
    left, middle, right = blocks.separated()
    part = slice(2, 6), slice(1, 5)
    entries = left[part[0], None] * middle(*part) * right[part[1]]
    np.testing.assert_allclose(entries, factor * kernel(X, Y)[part], rtol=1e-11)


def test_there_is_no_separated_form_where_it_would_lose_digits():
    near, far = np.zeros((3, 1)), np.array([[0.0], [0.5], [4.1]])
    assert Gaussian(1.0).blocks(near, near + 3.9).separated() is not None
    assert Gaussian(1.0).blocks(near, far).separated() is None
    assert Gaussian(1.0).blocks(near, near).unit("float32").separated() is None
