"""Feature embeddings: merging, inner products, files, and leaving one out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kernelmean as km
from kernelmean import features
from kernelmean.estimators import feature_rows
from kernelmean.kernels import Gaussian, Laplacian, Matern
from kernelmean.noise import Dirac, Laplace, Normal, Uniform

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
PHI = features.fourier(Gaussian(1.0), 2, 32)
LANDMARKS = features.nystrom(Gaussian(1.0), X, 12)
MAPS = pytest.mark.parametrize("phi", [PHI, LANDMARKS], ids=["fourier", "landmarks"])


@MAPS
def test_the_mean_is_the_mean_of_explicit_features(phi):
    weights = RNG.random(60)
    mu = features.embed(X, phi, weights=weights)
    np.testing.assert_allclose(mu.parts[0].vector, weights @ phi(X) / weights.sum(), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(mu(X[:3]), phi(X[:3]) @ mu.parts[0].vector, rtol=1e-12)
    assert mu.norm() == pytest.approx(np.sqrt(mu @ mu), rel=1e-13)
    gap = mu - features.embed(X[:7], phi)
    assert gap.norm() ** 2 == pytest.approx(features.inner(gap, gap).value, rel=1e-12)


@MAPS
def test_feature_embeddings_are_vectors_as_all_embeddings_are(phi):
    mu, nu = features.embed(X, phi), features.embed(X[:7] + 1.0, phi, noise=Normal(0.1))
    left, right = phi(X).mean(axis=0), phi(X[:7] + 1.0, Normal(0.1)).mean(axis=0)
    mixed = 3.0 * (mu - nu) / 2.0 + mu
    explicit = 1.5 * (left - right) + left
    np.testing.assert_allclose(mixed(X[:5]), phi(X[:5]) @ explicit, rtol=1e-12, atol=1e-15)
    assert mixed @ -nu == pytest.approx(-explicit @ right, rel=1e-12)
    assert mixed.norm() == pytest.approx(np.linalg.norm(explicit), rel=1e-13)
    assert (mu - mu).norm() == 0.0
    np.testing.assert_allclose(mu.witness(nu)(X[:5]), phi(X[:5]) @ (left - right) / np.linalg.norm(left - right))
    assert repr(mixed).startswith("Embedding(n=127, d=2, kernel=Gaussian(bandwidth=1.0), ")
    assert mixed.summary().endswith("weights   sum 1")
    assert (mu.shape, mu.kernel, mu.features) == ((60, 2), Gaussian(1.0), phi)


@MAPS
def test_the_bound_of_a_sum_is_that_of_its_terms(phi):
    mu, nu = features.embed(X, phi), features.embed(X[:7] + 1.0, phi)
    kernel = phi.kernel
    exact = km.embed(X, kernel) - 2.0 * km.embed(X[:7] + 1.0, kernel)
    found = features.inner(mu - 2.0 * nu, mu - 2.0 * nu)
    assert abs(found.value - exact @ exact) <= found.bound
    assert features.inner(3.0 * mu, nu).bound == pytest.approx(3.0 * features.inner(mu, nu).bound, rel=1e-9)


@MAPS
def test_pooled_rows_are_not_a_sum_of_functions(phi):
    mu, nu = features.embed(X[:40], phi), features.embed(X[40:], phi)
    whole = features.embed(X, phi)
    np.testing.assert_allclose(features.pooled(mu, nu)(X[:3]), whole(X[:3]), rtol=1e-12)
    np.testing.assert_allclose((mu + nu)(X[:3]), mu(X[:3]) + nu(X[:3]), rtol=1e-12)
    np.testing.assert_allclose(((40 * mu + 20 * nu) / 60)(X[:3]), whole(X[:3]), rtol=1e-12)
    for call in (features.pooled, features.inner):
        with pytest.raises(TypeError, match=r"write features.embed\(X, features\) first"):
            call(mu, km.embed(X, Gaussian(1.0)))
    for other in (mu + nu, 2.0 * nu):
        with pytest.raises(ValueError, match="not the mean of rows that is needed"):
            features.pooled(mu, other)
    with pytest.raises(ValueError, match="not the mean of rows that is needed"):
        feature_rows.leave_one_out(mu - nu)


@MAPS
def test_what_needs_points_is_refused_in_one_line(phi):
    mu = features.embed(X, phi)
    calls = (
        lambda: mu.points,
        lambda: mu.weights,
        lambda: mu.sample(3, rng=0),
        lambda: mu.logpdf(X),
        lambda: km.linear_form(mu),
    )
    for call in calls:
        with pytest.raises(TypeError, match=r"the 60 rows were added up as .* and not kept.*km\.embed\(X, kernel\)"):
            call()


def test_names_of_columns_are_kept(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    mu = features.embed(frame, PHI)
    np.testing.assert_array_equal(mu(frame[["b", "a"]]), mu(X))
    km.save(mu, tmp_path / "mu.npz")
    assert km.load(tmp_path / "mu.npz").names == ("a", "b")
    with pytest.raises(ValueError, match="pass the same columns in one order"):
        features.pooled(mu, features.embed(frame[["b", "a"]], PHI))


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
            parts[i : i + 2] = [features.pooled(parts[i], parts[i + 1])]
        return parts[0]

    first, *others = (merged(singles) for _ in range(3))
    for other in others:
        np.testing.assert_allclose(other.parts[0].terms[0].sums.value, first.parts[0].terms[0].sums.value, rtol=1e-12)
        assert other.shape == first.shape == (1000, 2)


def test_sums_cancel_without_losing_digits():
    values = np.array([1e16, 1.0, -1e16, 1e-8])
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [1, 3, 0, 2]):
        total = features.Total.of([0.0])
        for i in order:
            total = total + features.Total.of(values[[i]])
        assert total.value[0] == 1.0 + 1e-8


def test_a_doubled_weight_is_a_duplicated_row():
    doubled = features.embed(X[:3], PHI, weights=[1.0, 2.0, 1.0])
    repeated = features.embed(X[[0, 1, 1, 2]], PHI)
    np.testing.assert_allclose(doubled.parts[0].vector, repeated.parts[0].vector, rtol=1e-13, atol=1e-16)


@MAPS
def test_threads_change_no_digit(phi):
    rows = np.random.default_rng(3).normal(size=(5000, 2))
    one, two = (features.embed(rows, phi, plan=km.Plan(threads=t)) for t in (1, 2))
    np.testing.assert_array_equal(one.parts[0].terms[0].sums.high, two.parts[0].terms[0].sums.high)


@MAPS
def test_files_give_back_the_same(phi, tmp_path):
    mu = features.embed(X, phi, noise=Normal(0.1))
    km.save(mu, tmp_path / "mu.npz")
    again = km.load(tmp_path / "mu.npz")
    assert again @ mu == mu @ mu
    assert features.pooled(again, mu).shape == (120, 2)
    assert repr(again) == repr(mu)


def test_files_with_other_shapes_are_refused():
    mean = features.embed(X, PHI).parts[0].terms[0]
    with pytest.raises(ValueError, match="do not fit"):
        features.FeaturePart(PHI, (replace(mean, sums=features.Total.of(np.ones(5))),))
    with pytest.raises(ValueError, match="no mean"):
        features.FeaturePart(PHI, (replace(mean, count=0),))
    with pytest.raises(ValueError, match="go together"):
        features.Fourier(Gaussian(1.0), np.ones((3, 2)), ((1.0, 2, 1),), np.zeros(2), "plain")
    with pytest.raises(ValueError, match="go together"):
        features.Landmarks(Gaussian(1.0), np.ones((3, 2)), np.eye(2), "")


def test_what_does_not_go_together_is_said():
    mu = features.embed(X, PHI)
    with pytest.raises(ValueError, match="different features"):
        mu @ features.embed(X, features.fourier(Gaussian(1.0), 2, 32, rng=1))
    with pytest.raises(ValueError, match="different noises"):
        features.pooled(mu, features.embed(X, PHI, noise=Normal(0.1)))
    with pytest.raises(ValueError, match=r"features.embed\(X, features\)"):
        mu + km.embed(X, Gaussian(1.0))
    with pytest.raises(ValueError, match="different spaces"):
        mu + features.embed(X, features.fourier(Laplacian(1.0), 2, 32))
    with pytest.raises(ValueError, match="3 columns"):
        mu(np.ones((1, 3)))
    with pytest.raises(ValueError, match="3 columns"):
        features.embed(np.ones((1, 3)), PHI)
    with pytest.raises(ValueError, match="negative"):
        features.embed(X[:2], PHI, weights=[1.0, -1.0])
    with pytest.raises(TypeError, match=r"features\.fourier"):
        features.embed(X, Gaussian(1.0))
    with pytest.raises(ValueError, match="confidence"):
        features.inner(mu, mu, confidence=1.0)
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
    found = feature_rows.leave_one_out(features.embed(rows, phi), noise or Dirac()).score().value
    assert found == pytest.approx(leave_one_out(phi, rows, noise), rel=1e-12)


def test_leaving_one_out_of_landmarks_is_its_definition():
    found = feature_rows.leave_one_out(features.embed(X, LANDMARKS)).score().value
    assert found == pytest.approx(leave_one_out(LANDMARKS, X, None), rel=1e-12)


def test_leaving_one_out_needs_plain_rows():
    with pytest.raises(ValueError, match="weighted"):
        feature_rows.leave_one_out(features.embed(X, PHI, weights=np.linspace(0.5, 1.5, 60)))
    with pytest.raises(ValueError, match="already"):
        feature_rows.leave_one_out(features.embed(X, PHI, noise=Normal(0.1)))
    with pytest.raises(ValueError, match="at least two"):
        feature_rows.leave_one_out(features.embed(X[:1], PHI))
