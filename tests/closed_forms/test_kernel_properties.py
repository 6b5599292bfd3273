"""What every kernel promises: symmetry, positive semi-definiteness, one diagonal, blocks that equal the whole."""

import numpy as np
import pytest

from kernelmean.expected import kernel_examples
from kernelmean.kernels import (
    Categorical,
    DistanceInduced,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    RationalQuadratic,
    Scaled,
    Stationary,
    Sum,
    TensorProduct,
    Wendland,
)

PLAIN = [*kernel_examples(), 0.5 * Gaussian(2.0), Gaussian(0.01), RationalQuadratic(0.5, 2.0)]


def points(kernel, n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(3, size=(n, 2)).astype(float) if isinstance(kernel, Categorical) else rng.normal(size=(n, 2))


@pytest.mark.parametrize("kernel", PLAIN, ids=repr)
def test_gram_is_symmetric_and_positive_semi_definite(kernel):
    X = points(kernel, 40)
    gram = kernel(X, X)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-13, atol=1e-14)
    assert np.linalg.eigvalsh(gram).min() > -1e-13 * np.abs(gram).max() * len(X)


@pytest.mark.parametrize("kernel", PLAIN, ids=repr)
def test_diagonal_and_blocks_equal_the_gram_matrix(kernel):
    X, Y = points(kernel, 7), points(kernel, 5, seed=1)
    np.testing.assert_allclose(kernel.diag(X), np.diag(kernel(X, X)), rtol=1e-13)
    blocks = kernel.blocks(X, Y)
    whole = kernel(X, Y)
    assert whole.shape == (7, 5)
    for i, j in [(slice(0, 3), slice(2, 5)), (slice(6, 7), slice(0, 1)), (slice(None), slice(None))]:
        np.testing.assert_allclose(blocks(i, j), whole[i, j], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("kernel", [kernel for kernel in PLAIN if isinstance(kernel, Stationary)], ids=repr)
def test_stationary_kernels_do_not_see_an_offset(kernel):
    X, Y = points(kernel, 6), points(kernel, 4, seed=1)
    np.testing.assert_allclose(kernel(X + 1e6, Y + 1e6), kernel(X, Y), rtol=1e-6, atol=1e-12)


NARROW = ["bool", "uint8", "int16", "int32", "float16", "float32"]


@pytest.mark.parametrize("kernel", [*PLAIN, Gaussian(30.0) + Linear(), 2.0 * Polynomial(3)], ids=repr)
@pytest.mark.parametrize("dtype", NARROW)
def test_whole_numbers_and_short_floats_do_not_overflow(kernel, dtype):
    whole = np.random.default_rng(0).integers(0, 120, size=(6, 2)).astype(dtype)
    gram, diagonal = kernel(whole.astype(float), whole.astype(float)), kernel.diag(whole.astype(float))
    np.testing.assert_array_equal(kernel(whole, whole[:4]), kernel(whole.astype(float), whole[:4].astype(float)))
    np.testing.assert_array_equal(kernel(whole.tolist(), whole), gram)
    np.testing.assert_array_equal(kernel.diag(whole), diagonal)


@pytest.mark.parametrize("kernel", PLAIN, ids=repr)
def test_rows_that_are_none_are_refused(kernel):
    rows = points(kernel, 5)
    for call in (lambda: kernel(rows[:, 0], rows), lambda: kernel(rows, rows[0]), lambda: kernel.diag(rows[:, 0])):
        with pytest.raises(ValueError, match=r"has shape \(\d,\), rows of shape \(n, d\) are needed; write [XY]\["):
            call()
    with pytest.raises(TypeError, match="numbers are needed"):
        kernel([["a", "b"]], rows)


def test_values_match_their_formulas():
    x, y = np.array([[0.3, -1.0]]), np.array([[1.0, 0.5]])
    gap = np.abs(x - y)[0]
    assert Gaussian(0.7)(x, y)[0, 0] == pytest.approx(np.exp(-(gap @ gap) / (2 * 0.49)), rel=1e-14)
    assert Laplacian(0.7)(x, y)[0, 0] == pytest.approx(np.exp(-gap.sum() / 0.7), rel=1e-14)
    r = np.sqrt(3) * gap / 0.7
    assert Matern(1.5, 0.7)(x, y)[0, 0] == pytest.approx(np.prod((1 + r) * np.exp(-r)), rel=1e-14)
    r = np.sqrt(5) * gap / 0.7
    assert Matern(2.5, 0.7)(x, y)[0, 0] == pytest.approx(np.prod((1 + r + r**2 / 3) * np.exp(-r)), rel=1e-14)
    assert Matern(0.5, 0.7)(x, y)[0, 0] == pytest.approx(Laplacian(0.7)(x, y)[0, 0], rel=1e-14)
    r = gap / 2.0
    assert Wendland(0, 2.0)(x, y)[0, 0] == pytest.approx(np.prod(1 - r), rel=1e-14)
    assert Wendland(2, 2.0)(x, y)[0, 0] == pytest.approx(np.prod((1 - r) ** 3 * (3 * r + 1)), rel=1e-14)
    truth = (1 + gap @ gap / (2 * 1.5 * 0.49)) ** -1.5
    assert RationalQuadratic(0.7, 1.5)(x, y)[0, 0] == pytest.approx(truth, rel=1e-14)


def test_kernels_are_values():
    assert Gaussian(1.0) == Gaussian(1.0) != Gaussian(2.0)
    assert Gaussian([1.0, 2.0]) == Gaussian((1, 2))
    assert len({Gaussian([1.0, 2.0]), Gaussian([1.0, 2.0]), 2.0 * Gaussian(1.0)}) == 2
    assert repr(2.0 * Gaussian(1.0) + Laplacian(1.0)) == "(2.0 * Gaussian(bandwidth=1.0) + Laplacian(bandwidth=1.0))"


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "wide", [[1.0]], [1.0, 0.0]])
@pytest.mark.parametrize("family", [Gaussian, Laplacian])
def test_bandwidths_must_be_positive(family, bad):
    with pytest.raises((ValueError, TypeError), match="bandwidth"):
        family(bad)


def test_a_bandwidth_per_axis_must_fit_the_data():
    with pytest.raises(ValueError, match="3 columns"):
        Gaussian([1.0, 2.0])(np.zeros((1, 3)), np.zeros((1, 3)))


@pytest.mark.parametrize("kernel", [*PLAIN, DistanceInduced()], ids=repr)
def test_tables_of_different_columns_are_refused(kernel):
    with pytest.raises(ValueError, match="X has 2 columns and Y has 3"):
        kernel(np.ones((4, 2)), np.ones((5, 3)))


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Gaussian([]), ValueError, "bandwidth is empty"),
        (lambda: Gaussian(1 + 0j), TypeError, "complex numbers"),
        (lambda: Laplacian("1"), ValueError, "bandwidth is .1.; pass a number, one per column, or one of .median."),
        (lambda: Matern(np.inf, 1.0), ValueError, "nu is inf"),
        (lambda: Matern("a", 1.0), TypeError, "nu is"),
        (lambda: Matern(1.0, 1.0), ValueError, "one of 0.5, 1.5"),
        (lambda: Categorical("a"), TypeError, "similarity is"),
        (lambda: DistanceInduced(np.nan), ValueError, "exponent is nan"),
        (lambda: Scaled(1.0, "x"), TypeError, "kernel is 'x'"),
        (lambda: Sum("x"), TypeError, "one of terms is 'x'"),
        (lambda: Product(()), ValueError, "factors is empty"),
        (lambda: TensorProduct((Gaussian,), ((0,),)), TypeError, "one of kernels"),
    ],
)
def test_parameters_are_checked_where_they_are_given(make, error, text):
    with pytest.raises(error, match=text):
        make()


def test_the_algebra_refuses_what_is_no_kernel():
    with pytest.raises(ValueError, match="factor"):
        -1.0 * Gaussian(1.0)
    with pytest.raises(TypeError):
        Gaussian(1.0) + 1.0
    assert isinstance(Gaussian(1.0) * Gaussian(1.0), Kernel)
