"""Feature embeddings: merging, inner products, files, and leaving one out."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.embedding.features.compensated import Total
from kernelmean.kernels import Gaussian, Laplacian, Matern
from kernelmean.noise import Laplace, Normal, Uniform

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
PHI = features.fourier(Gaussian(1.0), 2, 32)
LANDMARKS = features.nystrom(Gaussian(1.0), X, 12)
MAPS = pytest.mark.parametrize("phi", [PHI, LANDMARKS], ids=["fourier", "landmarks"])


@MAPS
def test_the_mean_is_the_mean_of_explicit_features(phi):
    weights = RNG.random(60)
    mu = features.embed(X, phi, weights=weights)
    np.testing.assert_allclose(mu.mean, weights @ phi(X) / weights.sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mu(X[:3]), phi(X[:3]) @ mu.mean, rtol=1e-12)
    assert mu.norm() == pytest.approx(np.sqrt(mu @ mu), rel=1e-13)
    nu = features.embed(X[:7], phi)
    assert mu.distance(nu) ** 2 == pytest.approx(mu.squared_distance(nu).value, rel=1e-12)


@MAPS
def test_a_thousand_merges_in_any_order_and_grouping_agree(phi):
    rows = np.random.default_rng(1).normal(size=(1000, 2))
    rng = np.random.default_rng(2)
    singles = [
        features.embed(rows[i : i + 1], phi, weights=[w]) for i, w in enumerate(rng.lognormal(sigma=3, size=1000))
    ]

    def merged(parts):
        parts = [parts[i] for i in rng.permutation(len(parts))]
        while len(parts) > 1:
            i = int(rng.integers(len(parts) - 1))
            parts[i : i + 2] = [parts[i] + parts[i + 1]]
        return parts[0]

    first, *others = (merged(singles) for _ in range(3))
    for other in others:
        np.testing.assert_allclose(other.sums.value, first.sums.value, rtol=1e-12)
        assert other.count == first.count == 1000


def test_sums_cancel_without_losing_digits():
    values = np.array([1e16, 1.0, -1e16, 1e-8])
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 3, 0, 2]):
        total = Total.of([0.0])
        for i in order:
            total = total + Total.of(values[[i]])
        assert total.value[0] == 1.0 + 1e-8


def test_a_doubled_weight_is_a_duplicated_row():
    doubled = features.embed(X[:3], PHI, weights=[1.0, 2.0, 1.0])
    repeated = features.embed(X[[0, 1, 1, 2]], PHI)
    np.testing.assert_allclose(doubled.mean, repeated.mean, rtol=1e-13, atol=1e-16)


@MAPS
def test_threads_change_no_digit(phi):
    rows = np.random.default_rng(3).normal(size=(5000, 2))
    one, two = (features.embed(rows, phi, plan=km.Plan(threads=t)) for t in (1, 2))
    np.testing.assert_array_equal(one.sums.high, two.sums.high)


@MAPS
def test_files_give_back_the_same(phi, tmp_path):
    mu = features.embed(X, phi, noise=Normal(0.1))
    km.save(mu, tmp_path / "mu.npz")
    again = km.load(tmp_path / "mu.npz")
    assert again @ mu == mu @ mu
    assert (again + mu).count == 120
    assert repr(again) == repr(mu)


def test_files_with_other_shapes_are_refused():
    mu = features.embed(X, PHI)
    with pytest.raises(ValueError, match="do not fit"):
        features.FeatureEmbedding(PHI, mu.noise, 60, Total.of(np.ones(5)))
    with pytest.raises(ValueError, match="no mean"):
        features.FeatureEmbedding(PHI, mu.noise, 0, mu.sums)
    with pytest.raises(ValueError, match="go together"):
        features.Fourier(Gaussian(1.0), np.ones((3, 2)), ((1.0, 2, 1),), np.zeros(2), "plain")
    with pytest.raises(ValueError, match="go together"):
        features.Landmarks(Gaussian(1.0), np.ones((3, 2)), np.eye(2), "")


def test_what_does_not_go_together_is_said():
    mu = features.embed(X, PHI)
    with pytest.raises(ValueError, match="different features"):
        mu @ features.embed(X, features.fourier(Gaussian(1.0), 2, 32, rng=1))
    with pytest.raises(ValueError, match="different noises"):
        mu + features.embed(X, PHI, noise=Normal(0.1))
    with pytest.raises(TypeError, match="no FeatureEmbedding"):
        mu + km.embed(X, Gaussian(1.0))
    with pytest.raises(ValueError, match="3 columns"):
        mu(np.ones((1, 3)))
    with pytest.raises(ValueError, match="3 columns"):
        features.embed(np.ones((1, 3)), PHI)
    with pytest.raises(ValueError, match="negative"):
        features.embed(X[:2], PHI, weights=[1.0, -1.0])
    with pytest.raises(TypeError, match=r"features\.fourier"):
        features.embed(X, Gaussian(1.0))
    with pytest.raises(ValueError, match="confidence"):
        mu.inner(mu, confidence=1.0)
    with pytest.raises(ValueError, match="NaN"):
        features.embed([[np.nan, 1.0]], PHI)


def leave_one_out(phi, rows, noise):
    """The definition, on explicit feature vectors."""
    clean, noisy = phi(rows), phi(rows, noise)
    losses = [np.sum((clean[i] - np.delete(noisy, i, axis=0).mean(axis=0)) ** 2) for i in range(len(rows))]
    return np.mean(losses)


@pytest.mark.parametrize(
    "noise", [None, Normal(0.2), Normal.diagonal([0.1, 2.0]), Laplace(0.3), Uniform(0.7)], ids=repr
)
@pytest.mark.parametrize("kernel", [Gaussian(1.0), Matern(1.5, 1.0), Gaussian(1.0) + Laplacian(2.0)], ids=repr)
def test_leaving_one_out_is_its_definition(kernel, noise):
    phi = features.fourier(kernel, 2, 20)
    rows = X[:13]
    found = features.embed(rows, phi).loocv(noise).score().value
    assert found == pytest.approx(leave_one_out(phi, rows, noise), rel=1e-12)


def test_leaving_one_out_of_landmarks_is_its_definition():
    found = features.embed(X, LANDMARKS).loocv().score().value
    assert found == pytest.approx(leave_one_out(LANDMARKS, X, None), rel=1e-12)


def test_leaving_one_out_needs_plain_rows():
    with pytest.raises(ValueError, match="weighted"):
        features.embed(X, PHI, weights=np.linspace(0.5, 1.5, 60)).loocv()
    with pytest.raises(ValueError, match="already"):
        features.embed(X, PHI, noise=Normal(0.1)).loocv()
    with pytest.raises(ValueError, match="at least two"):
        features.embed(X[:1], PHI).loocv()
    with pytest.raises(ValueError, match="'diagonal'"):
        features.choose_noise(features.embed(X, PHI), "full")


def test_the_damped_score_is_the_score_and_its_gradient():
    mu = features.embed(X, PHI)
    damped = features.DampedScore(PHI, mu.mean, mu.count)
    for variances in (np.array([0.01, 0.02]), np.array([0.5, 3.0])):
        value, gradient = damped(variances)
        gain = mu.loocv(Normal.diagonal(variances)).score().value - mu.loocv().score().value
        assert value == pytest.approx(gain, rel=1e-9)
        steps = 1e-6 * np.eye(2)
        numeric = [(damped(variances + h)[0] - damped(variances - h)[0]) / 2e-6 for h in steps]
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6)


@pytest.mark.parametrize("theta", [0.05, 0.5, 2.0])
def test_the_chosen_noise_is_the_best_on_a_fine_grid(theta):
    phi = features.fourier(Gaussian(theta), 2, 128)
    mu = features.embed(X, phi)
    chosen = features.choose_noise(mu)
    damped = features.DampedScore(phi, mu.mean, mu.count)
    grid = np.exp(np.linspace(math.log(1e-6), math.log(1e3), 2000)) * theta**2
    best = min(damped(s * np.ones(2))[0] for s in grid)
    own = damped(chosen.variances(2))[0]
    assert own <= best + 1e-12 * abs(best)
    assert damped(features.choose_noise(mu, "diagonal").variances(2))[0] <= own


def test_the_chosen_noise_is_that_of_mkme():
    """With many features the kernel of the features is the kernel."""
    rows = np.random.default_rng(4).normal(size=(300, 2))
    phi = features.fourier(Gaussian(1.0), 2, 2**13, design="quasi")
    mu = features.embed(rows, phi)
    exact = km.MKME(bandwidth=1.0).fit(rows)
    assert features.choose_noise(mu).covariance == pytest.approx(exact.noise_.covariance, rel=0.02)
    assert mu.loocv(exact.noise_).score().value == pytest.approx(exact.loocv_, rel=2e-3)
    both = km.MMKME(bandwidth=1.0).fit(rows)
    np.testing.assert_allclose(features.choose_noise(mu, "diagonal").variances(2), both.noise_.variances(2), rtol=0.03)


def test_rows_without_spread_need_no_noise():
    mu = features.embed(np.ones((20, 2)), PHI)
    assert features.choose_noise(mu).covariance == 0.0
    assert not features.choose_noise(mu, "diagonal").variances(2).any()


def test_noise_shrinks_as_one_over_n():
    """Also for more rows than any sample holds: a hundred million copies of the same distribution."""
    mu = features.embed(np.random.default_rng(5).normal(size=(4000, 2)), PHI)
    noises = [features.DampedScore(PHI, mu.mean, n).isotropic() for n in (10**6, 10**8)]
    assert 99 < noises[0] / noises[1] < 101
