"""Polynomial, categorical, replacing and composite rules equal quadrature or exact enumeration."""

from itertools import product

import numpy as np
import pytest

from kernelmean.expected import NoClosedFormError, expected, smoothed
from kernelmean.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Linear,
    Polynomial,
    Product,
    QuadraticGaussian,
    RationalQuadratic,
    TensorProduct,
)
from kernelmean.noise import Blankout, Dirac, Normal, Sampled, Switch

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(5)  # exact to degree 9 in every variable
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()


def atoms(noise, x):
    """Return points and probabilities of a discrete law of the same expectations (Gauss-Hermite for Normal)."""
    dim = len(x)
    if isinstance(noise, Normal):
        values, vectors = np.linalg.eigh(noise.matrices(dim))
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        nodes = np.array(list(product(NODES, repeat=dim)))
        weights = np.array([np.prod(w) for w in product(NODE_WEIGHTS, repeat=dim)])
        return x + nodes @ root.T, weights
    if isinstance(noise, Dirac):
        return x[None], np.ones(1)
    choices = []
    for axis in range(dim):
        if isinstance(noise, Blankout):
            p = np.broadcast_to(noise.probability, dim)[axis]
            choices.append([(1 - p, x[axis]), (p, np.broadcast_to(noise.value, dim)[axis])])
        else:
            p, levels = noise.probability, noise.levels
            choices.append([(1 - p, x[axis])] + [(p / levels, float(level)) for level in range(levels)])
    combinations = list(product(*choices))
    points = np.array([[value for _, value in one] for one in combinations])
    return points, np.array([np.prod([p for p, _ in one]) for one in combinations])


def oracle(kernel, X, Y, v, w):
    def pair(x, y):
        (a, p), (b, q) = atoms(v, x), atoms(w, y)
        return p @ kernel(a, b) @ q

    return np.array([[pair(x, y) for y in Y] for x in X])


COVARIANCE = np.array([[0.5, 0.2, 0.0], [0.2, 0.8, -0.1], [0.0, -0.1, 0.3]])
NORMALS = [Dirac(), Normal(0.7), Normal.diagonal([0.1, 0.9, 0.4]), Normal(COVARIANCE)]
BLANKS = [Blankout(0.3), Blankout([0.1, 0.5, 0.9], [0.3, -1.0, 2.0]), Dirac()]


@pytest.mark.parametrize("w", NORMALS, ids=repr)
@pytest.mark.parametrize("v", NORMALS, ids=repr)
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3, 0.5), Polynomial(5, 0.2)], ids=repr)
def test_polynomial_under_normal(kernel, v, w):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    np.testing.assert_allclose(expected(kernel, X, Y, v, w), oracle(kernel, X, Y, v, w), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("w", BLANKS, ids=repr)
@pytest.mark.parametrize("v", BLANKS, ids=repr)
@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(0.8),
        Gaussian([0.5, 1.0, 3.0]),
        Polynomial(3),
        Linear(),
        Categorical(0.2),
        2.0 * Gaussian(1.0) + Linear(),
    ],
    ids=repr,
)
def test_blankout_equals_enumeration(kernel, v, w):
    rng = np.random.default_rng(1)
    for scale in (1e-3, 1.0, 1e3):
        X, Y = scale * rng.normal(size=(3, 3)), scale * rng.normal(size=(2, 3))
        if isinstance(kernel, Categorical):
            X, Y = X.round(), Y.round()
        np.testing.assert_allclose(expected(kernel, X, Y, v, w), oracle(kernel, X, Y, v, w), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("p", "q"), [(0.0, 0.4), (0.3, 0.0), (0.3, 0.4), (1.0, 1.0)])
def test_switching_categories_equals_enumeration(p, q):
    rng = np.random.default_rng(2)
    X, Y = rng.integers(4, size=(5, 3)).astype(float), rng.integers(4, size=(4, 3)).astype(float)
    for similarity in (0.0, 0.3):
        kernel, v, w = Categorical(similarity), Switch(p, 4), Switch(q, 4)
        np.testing.assert_allclose(expected(kernel, X, Y, v, w), oracle(kernel, X, Y, v, w), rtol=1e-13)


def test_blankout_on_one_side_and_normal_on_the_other():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    v, w = Blankout([0.2, 0.6], 0.5), Normal.diagonal([0.3, 0.6])
    points, weights = zip(*(atoms(v, x) for x in X), strict=True)
    truth = np.array([p @ expected(Gaussian(0.9), a, Y, Dirac(), w) for a, p in zip(points, weights, strict=True)])
    np.testing.assert_allclose(expected(Gaussian(0.9), X, Y, v, w), truth, rtol=1e-13)


def test_products_of_gaussians_fuse():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    combined = 3.0 * Gaussian(1.0 / np.sqrt(1 / 0.49 + np.array([1.0, 1 / 4.0])))
    for noise in (Normal(0.3), Normal(COVARIANCE[:2, :2]), Blankout(0.2)):
        found = expected(3.0 * (Gaussian(0.7) * Gaussian([1.0, 2.0])), X, Y, noise)
        np.testing.assert_allclose(found, expected(combined, X, Y, noise), rtol=1e-12)


def test_products_within_products_and_their_factors_fuse():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    nested = Product((2.0 * Product((3.0 * Gaussian(0.7), Gaussian([1.0, 2.0]))), 5.0 * Gaussian(0.5)))
    combined = 30.0 * Gaussian(1.0 / np.sqrt(1 / 0.49 + 4.0 + np.array([1.0, 1 / 4.0])))
    for noise in (Normal(0.3), Normal(COVARIANCE[:2, :2])):
        np.testing.assert_allclose(expected(nested, X, Y, noise), expected(combined, X, Y, noise), rtol=1e-12)
        np.testing.assert_allclose(expected(nested, X, Y, w=noise), expected(combined, X, Y, w=noise), rtol=1e-12)


def test_precisions_of_full_and_of_plain_gaussians_add_up():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    covariance = COVARIANCE[:2, :2] + np.eye(2)
    inverse = np.linalg.inv(covariance) + np.diag([1 / 0.49, 4.0])
    combined = 6.0 * QuadraticGaussian(np.linalg.inv(inverse))
    product = Product((2.0 * QuadraticGaussian(covariance), 3.0 * Gaussian([0.7, 0.5])))
    np.testing.assert_allclose(product(X, Y), combined(X, Y), rtol=1e-12)
    for noise in (Normal(0.3), Normal(COVARIANCE[:2, :2])):
        np.testing.assert_allclose(expected(product, X, Y, noise), expected(combined, X, Y, noise), rtol=1e-12)


def test_tensor_products_part_under_independent_noise():
    rng = np.random.default_rng(5)
    X, Y = (np.column_stack([rng.normal(size=(n, 3)), rng.integers(3, size=n)]) for n in (4, 5))
    kernel = TensorProduct((Gaussian(0.7), Polynomial(2), Categorical(0.1)), ((0, 2), (1,), (3,)))
    noise = Normal.diagonal([0.1, 0.2, 0.3, 0.0])
    truth = (
        expected(Gaussian(0.7), X[:, [0, 2]], Y[:, [0, 2]], Normal.diagonal([0.1, 0.3]))
        * expected(Polynomial(2), X[:, [1]], Y[:, [1]], Normal(0.2))
        * Categorical(0.1)(X[:, [3]], Y[:, [3]])
    )
    kernel_plain = TensorProduct((Gaussian(0.7), Polynomial(2)), ((0, 2), (1,)))
    np.testing.assert_allclose(
        expected(kernel_plain, X, Y, noise) * Categorical(0.1)(X[:, [3]], Y[:, [3]]), truth, rtol=1e-13
    )
    with pytest.raises(NoClosedFormError, match="Categorical"):
        expected(kernel, X, Y, noise)


def test_tensor_products_refuse_noise_that_ties_their_blocks():
    X = np.zeros((2, 3))
    kernel = TensorProduct((Gaussian(1.0), Gaussian(1.0)), ((0,), (1, 2)))
    with pytest.raises(NoClosedFormError, match="correlates columns"):
        expected(kernel, X, X, Normal(COVARIANCE))
    tied_within = np.diag(np.diag(COVARIANCE))
    tied_within[1, 2] = tied_within[2, 1] = 0.1
    assert expected(kernel, X, X, Normal(tied_within)).shape == (2, 2)


def test_a_missing_pair_raises_and_says_what_to_write():
    X = np.zeros((2, 2))
    with pytest.raises(NoClosedFormError, match=r"noise\.Sampled\(Normal\(0\.1\)"):
        expected(RationalQuadratic(1.0, 1.0), X, X, Normal(0.1))
    with pytest.raises(NoClosedFormError, match=r"for Product under Normal\(0\.1\); none is known; "):
        expected(Linear() * Gaussian(1.0), X, X, Normal(0.1))


@pytest.mark.slow
def test_sampled_noise_approaches_the_closed_form_and_stays_positive():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(8, 2))
    sampled = Sampled(Normal(0.5), n_samples=100)
    gram = expected(Gaussian(1.0), X, X, sampled, sampled)
    np.testing.assert_allclose(gram, expected(Gaussian(1.0), X, X, Normal(0.5), Normal(0.5)), atol=0.06)
    assert np.linalg.eigvalsh(gram).min() > -1e-13
    one_sided = expected(Gaussian(1.0), X, X, Sampled(Normal(0.5), n_samples=2_500))
    np.testing.assert_allclose(one_sided, expected(Gaussian(1.0), X, X, Normal(0.5)), atol=0.024)


@pytest.mark.parametrize("sides", ["left", "right", "both"])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, 0.3), Polynomial(5, 0.2)], ids=repr)
def test_polynomial_under_one_full_covariance_per_point(kernel, sides):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    shared = Normal(COVARIANCE)
    left = [Normal(COVARIANCE * scale) for scale in (0.5, 1.0, 2.0)] if sides != "right" else [shared] * 3
    right = [Normal(COVARIANCE * scale) for scale in (0.3, 3.0)] if sides != "left" else [shared] * 2
    v = shared if sides == "right" else Normal(np.stack([noise.covariance for noise in left]))
    w = shared if sides == "left" else Normal(np.stack([noise.covariance for noise in right]))
    truth = [
        [oracle(kernel, x[None], y[None], p, q)[0, 0] for y, q in zip(Y, right, strict=True)]
        for x, p in zip(X, left, strict=True)
    ]
    np.testing.assert_allclose(expected(kernel, X, Y, v, w), truth, rtol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(0.9), Polynomial(2, 0.3), Gaussian(0.9) * Gaussian(2.0)], ids=repr)
def test_sampled_noise_is_the_average_over_its_draws(kernel):
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    v, w, plain = Sampled(Normal(0.5), n_samples=3, seed=1), Sampled(Normal(0.2), n_samples=2, seed=2), Normal(0.3)
    left, right = v.copies(X), w.copies(Y)
    one = np.mean([expected(kernel, A, Y, w=plain) for A in left], axis=0)
    np.testing.assert_allclose(expected(kernel, X, Y, v, plain), one, rtol=1e-12)
    np.testing.assert_allclose(expected(kernel, Y, X, plain, v), one.T, rtol=1e-12)
    both = np.mean([expected(kernel, A, B) for A in left for B in right], axis=0)
    np.testing.assert_allclose(expected(kernel, X, Y, v, w), both, rtol=1e-12)


def test_a_full_covariance_that_is_diagonal_serves_products_over_axes():
    rng = np.random.default_rng(7)
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    for kernel in (Laplacian(0.8), Gaussian(0.7) * Laplacian(0.8)):
        found = expected(kernel, X, Y, Normal(np.diag([0.1, 0.4])))
        np.testing.assert_allclose(found, expected(kernel, X, Y, Normal.diagonal([0.1, 0.4])), rtol=1e-14)


def test_smoothing_goes_into_sums_products_and_factors():
    rng = np.random.default_rng(8)
    X, Y = rng.normal(size=(4, 2)), rng.normal(size=(3, 2))
    noise = Normal.diagonal([0.1, 0.4])
    for kernel in (
        Gaussian(0.7) + 2.0 * Laplacian(0.8),
        3.0 * (Gaussian(0.7) * Gaussian(1.5)),
        3.0 * (2.0 * Gaussian(0.7)),
        Gaussian(0.7) * Laplacian(0.8),
    ):
        found = smoothed(kernel, noise, 2)(X, Y)
        np.testing.assert_allclose(found, expected(kernel, X, Y, noise), rtol=1e-13)
        np.testing.assert_allclose(smoothed(kernel, Dirac(), 2)(X, Y), kernel(X, Y), rtol=1e-14)
    parts = 5.0 * smoothed(Gaussian(0.7), noise, 2)(X, Y) + 2.0 * smoothed(Laplacian(0.8), noise, 2)(X, Y)
    np.testing.assert_allclose(smoothed(5.0 * Gaussian(0.7) + 2.0 * Laplacian(0.8), noise, 2)(X, Y), parts, rtol=1e-13)


def test_axes_of_separable_kernels_keep_their_widths_where_one_side_is_blanked_out():
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(3, 2)), rng.normal(size=(4, 2))
    v, w = Blankout([0.2, 0.6], 0.5), Normal.diagonal([0.3, 0.6])
    points, weights = zip(*(atoms(v, x) for x in X), strict=True)
    for kernel in (Laplacian([0.5, 2.0]), Gaussian([0.5, 2.0])):
        truth = np.array([p @ expected(kernel, a, Y, w=w) for a, p in zip(points, weights, strict=True)])
        np.testing.assert_allclose(expected(kernel, X, Y, v, w), truth, rtol=1e-12)
        np.testing.assert_allclose(expected(kernel, Y, X, w, v), truth.T, rtol=1e-12)
