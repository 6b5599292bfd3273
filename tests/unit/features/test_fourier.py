"""Fourier features: spectra, designs, damping by noise, and bounds that hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

import kernelmean as km
from kernelmean import features
from kernelmean.expected import difference
from kernelmean.kernels import (
    Categorical,
    Gaussian,
    Laplacian,
    Matern,
    Product,
    QuadraticGaussian,
    RationalQuadratic,
    Scaled,
    Sum,
    TensorProduct,
    Wendland,
)
from kernelmean.noise import Blankout, Dirac, Laplace, Normal, Uniform

from .problems import fourier_pair, within

KERNELS = (
    Gaussian((0.7, 1.5)),
    QuadraticGaussian([[1.0, 0.6], [0.6, 2.0]]),
    Laplacian((0.8, 2.0)),
    Matern(1.5, 1.2),
    Matern(2.5, (0.5, 2.0)),
    RationalQuadratic(1.1, 0.7),
    Scaled(2.5, Gaussian(1.0)),
    Sum((Gaussian(0.5), 0.3 * Laplacian(1.0))),
    Product((Gaussian(1.0), Matern(0.5, 2.0))),
    TensorProduct((Gaussian(1.0), Laplacian(0.5)), ((1,), (0,))),
)
POINTS = np.array([[0.0, 0.0], [0.3, -0.5], [1.0, 1.0], [-2.0, 0.4]])


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_give_the_kernel_whatever_its_family(kernel):
    phi = features.fourier(kernel, 2, 2**14, design="quasi", rng=1)
    points = [features.embed(POINTS[i : i + 1], phi) for i in range(4)]
    for i in range(4):
        for j in range(i):
            found = features.inner(points[i], points[j])
            assert abs(found.value - kernel(POINTS[[i]], POINTS[[j]])[0, 0]) < 5 * found.standard_error
            assert found.standard_error < 8e-3 * phi.mass
        assert points[i] @ points[i] == pytest.approx(kernel.diag(POINTS)[i], rel=1e-12)


LINES = (
    Gaussian(0.7),
    Laplacian(0.8),
    Matern(1.5, 1.2),
    Matern(3.5, 0.5),
    RationalQuadratic(1.1, 0.7),
    Product((Gaussian(1.0), Matern(1.5, 2.0))),
)


@pytest.mark.parametrize("kernel", LINES, ids=repr)
def test_spectra_by_quadrature(kernel):
    (spectrum,) = features.spectra(kernel, 1)
    size = 2**18 if spectrum.normals == 1 else 600
    nodes = ndtri((np.arange(size) + 0.5) / size)
    Z = np.stack(np.meshgrid(*[nodes] * spectrum.normals), axis=-1).reshape(-1, spectrum.normals)
    gaps = np.array([0.3, 1.0, 2.5])
    found = [np.cos(spectrum.frequencies(Z)[:, 0] * gap).mean() for gap in gaps]
    np.testing.assert_allclose(
        found, kernel(np.zeros((1, 1)), gaps[:, None])[0], atol=4e-5 if spectrum.normals == 1 else 3e-3
    )


def test_spectra_of_a_full_metric():
    C = np.array([[1.0, 0.6], [0.6, 2.0]])
    (spectrum,) = features.spectra(QuadraticGaussian(C), 2)
    A = spectrum.frequencies(np.eye(2))
    np.testing.assert_allclose(A.T @ A, np.linalg.inv(C), rtol=1e-12)


def test_every_sampler_is_tested():
    assert {signature[0] for signature in features.spectral_rules} <= {type(kernel) for kernel in KERNELS}


PAIRS = [
    (Gaussian(1.0), Normal([[0.5, 0.2], [0.2, 0.3]])),
    *(
        (kernel, noise)
        for kernel in (Gaussian(1.0), Laplacian(1.5))
        for noise in (Normal(0.4), Laplace(0.5), Uniform((0.3, 1.0)))
    ),
]


@pytest.mark.parametrize(("kernel", "noise"), PAIRS, ids=repr)
def test_noise_damps_as_closed_forms_say(kernel, noise):
    phi = features.fourier(kernel, 2, 2**14, design="quasi", rng=2)
    found = phi(POINTS, noise)
    np.testing.assert_allclose(found @ found.T, km.expected(kernel, POINTS, POINTS, noise, noise), atol=6e-3)


def test_noise_after_the_pass_equals_noise_before_it():
    phi, noise = features.fourier(Matern(1.5, 1.0), 2, 64), Normal(0.4)
    before, after = features.embed(POINTS, phi, noise=noise), features.smoothed(features.embed(POINTS, phi), noise)
    sums = [each.parts[0].terms[0].sums.value for each in (after, before)]
    np.testing.assert_allclose(*sums, rtol=1e-13, atol=1e-15)
    assert after.noise == before.noise
    twice = features.smoothed(after, Laplace(0.1))
    direct = features.embed(POINTS, phi, noise=difference(noise, Laplace(0.1)))
    np.testing.assert_allclose(twice.parts[0].vector, direct.parts[0].vector, rtol=1e-12, atol=1e-15)


def test_orthogonal_rows_are_orthogonal_and_each_is_normal():
    groups = features.DESIGNS["orthogonal"](4, 4096, np.random.default_rng(0))
    gram = groups @ np.swapaxes(groups, 1, 2)
    off = gram - np.einsum("gij,ij->gij", gram, np.eye(4))
    assert np.abs(off).max() < 1e-12
    flat = groups.reshape(-1, 4)
    np.testing.assert_allclose(np.cov(flat.T), np.eye(4), atol=0.1)
    np.testing.assert_allclose((flat**4).mean(axis=0), 3.0, atol=0.5)


@pytest.mark.parametrize(("design", "dim"), [("orthogonal", 10), ("quasi", 3)])
def test_a_design_has_a_smaller_error_than_independent_frequencies(design, dim):
    X = np.array([np.zeros(dim), np.full(dim, 0.6 / dim**0.5)])
    exact = Gaussian(1.0)(X[:1], X[1:])[0, 0]

    def error(name, seed):
        first, second = features.fourier(Gaussian(1.0), dim, 256, design=name, rng=seed)(X)
        return first @ second - exact

    rms = {name: np.sqrt(np.mean([error(name, seed) ** 2 for seed in range(60)])) for name in ("plain", design)}
    assert rms[design] < 0.65 * rms["plain"]


@pytest.mark.slow
@pytest.mark.parametrize("design", sorted(features.DESIGNS))
def test_bounds_hold_with_their_probability(design):
    """50 random problems, three errors each; 1000 are in the slow test."""
    rng = np.random.default_rng(5)
    held = np.array([within(fourier_pair(rng, design)) for _ in range(50)])
    assert (held.mean(axis=0) >= 0.99).all()


@pytest.mark.slow
@pytest.mark.parametrize(("guarantee", "share"), [("auto", 0.99), ("student", 0.98)])
@pytest.mark.parametrize("design", sorted(features.DESIGNS))
def test_bounds_hold_on_99_of_100_problems(design, guarantee, share):
    """What is reported by default; Student's quantile, where it is asked for, is nearly right for skewed spreads."""
    rng = np.random.default_rng(6)
    held = np.array([within(fourier_pair(rng, design), guarantee=guarantee) for _ in range(1000)])
    assert (held.mean(axis=0) >= share).all()


def test_the_standard_error_is_that_of_repeated_draws():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(20, 3)) + 0.5
    for design in features.DESIGNS:
        phis = [features.fourier(Gaussian(1.0), 3, 128, design=design, rng=seed) for seed in range(120)]
        gaps = [features.embed(X, phi) - features.embed(Y, phi) for phi in phis]
        found = [features.inner(gap, gap) for gap in gaps]
        claimed = np.sqrt(np.mean([estimate.standard_error**2 for estimate in found]))
        assert 0.8 < claimed / np.std([estimate.value for estimate in found], ddof=1) < 1.25


def test_bounds_shrink_with_features_and_grow_with_confidence():
    def bound(count, **options):
        phi = features.fourier(Gaussian(1.0), 2, count)
        mu = features.embed(POINTS, phi)
        return features.inner(mu, mu, **options).bound

    assert bound(4096) < bound(512) < bound(64)
    assert bound(512, confidence=0.9) < bound(512) < bound(512, confidence=0.999)
    assert bound(512, guarantee="student") < bound(512)


def test_float32_is_within_a_millionth_wherever_the_data_lie():
    X = 1e4 + np.random.default_rng(0).normal(size=(50, 3))
    for origin in (0.0, 1e4):
        double, single = (
            features.fourier(Gaussian(1.0), 3, 64, origin=origin, dtype=dtype)(X) * 8
            for dtype in ("float64", "float32")
        )
        assert 0 < np.abs(double - single).max() < 1e-6


def test_a_large_offset_costs_no_digits():
    X = np.random.default_rng(0).normal(size=(10, 2)).round(6)
    near, far = (features.fourier(Gaussian(1.0), 2, 64, origin=o)(X + o) for o in (0.0, 2.0**20))
    np.testing.assert_allclose(far @ far.T, near @ near.T, atol=1e-9)


def test_one_seed_gives_one_map():
    first, second = (features.fourier(Gaussian(1.0), 2, 64, design="quasi", rng=3) for _ in range(2))
    assert first == second
    assert hash(first) == hash(second)
    assert first != features.fourier(Gaussian(1.0), 2, 64, design="quasi", rng=4)


def test_more_columns_than_frequencies():
    phi = features.fourier(Gaussian(5.0), 40, 24, design="orthogonal")
    X = np.random.default_rng(0).normal(size=(3, 40))
    assert phi(X).shape == (3, phi.size)
    assert np.isfinite(features.inner(features.embed(X, phi), features.embed(X[:1], phi)).standard_error)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: features.fourier(Wendland(2.0, 3), 2), TypeError, "no sampler of frequencies"),
        (lambda: features.fourier(Categorical(0.5), 2), TypeError, "nystrom"),
        (lambda: features.fourier(Gaussian(1.0), 0), ValueError, "dim is 0"),
        (lambda: features.fourier(Gaussian(1.0), 2, 0), ValueError, "n_frequencies is 0"),
        (lambda: features.fourier(Gaussian((1.0, 2.0)), 3), ValueError, "2 bandwidths"),
        (lambda: features.fourier(Gaussian(1.0), 2, design="sobol"), ValueError, "'quasi'"),
        (lambda: features.fourier(Gaussian(1.0), 2, dtype="float16"), ValueError, "float32"),
        (lambda: features.fourier(Gaussian(1.0), 2, origin=[1.0, 2.0, 3.0]), ValueError, "origin has shape"),
        (lambda: features.fourier(0.0 * Gaussian(1.0), 2), ValueError, "0 everywhere"),
        (lambda: features.fourier("gaussian", 2), TypeError, "kernels.Gaussian"),
    ],
)
def test_what_is_wrong_is_said(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    ("noise", "error", "text"),
    [
        (Blankout(0.1), TypeError, "not additive"),
        (Normal.isotropic([0.1, 0.2, 0.3, 0.4]), ValueError, "one distribution per point"),
        (Normal.diagonal([0.1, 0.2, 0.3]), ValueError, "made for 3 columns"),
        (0.3, TypeError, "noise.Normal"),
    ],
)
def test_noise_that_damps_nothing_is_refused(noise, error, text):
    with pytest.raises(error, match=text):
        features.embed(POINTS, features.fourier(Gaussian(1.0), 2, 16), noise=noise)


def test_no_noise_is_no_damping():
    phi = features.fourier(Gaussian(1.0), 2, 16)
    np.testing.assert_array_equal(phi(POINTS, Dirac()), phi(POINTS))
    np.testing.assert_array_equal(phi(POINTS, Normal(0.0)), phi(POINTS))


@pytest.mark.parametrize("scale", [1e20, 1e308])
def test_rows_too_far_for_phases_are_refused(scale):
    phi = features.fourier(Gaussian(1.0), 1, 8)
    with pytest.raises(ValueError, match="phase of their waves"):
        phi(np.array([[0.0], [scale]]))
