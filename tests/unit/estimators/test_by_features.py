"""Estimators of any number of rows: held to the exact ones within their bound, and to definitions in feature space."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered, mostly_slow
from kernelmean import features
from kernelmean.estimators import FKMSE, NAMED, VPMKME, KernelMean, by_features
from kernelmean.estimators.by_features import FeatureRidge
from kernelmean.estimators.feature_rows import LandmarkRows, leave_one_out
from kernelmean.estimators.filters import Landweber
from kernelmean.estimators.fitting import noise_for
from kernelmean.kernels import Gaussian, Laplacian, Linear
from kernelmean.noise import Dirac, Laplace, Normal

DRAWS = np.random.default_rng(0)
CLUSTERS = np.concatenate([DRAWS.normal(size=(1200, 2)), 0.3 * DRAWS.normal(size=(800, 2)) + [4.0, 0.0]])
LONG_TAILS = DRAWS.standard_t(4, size=(2000, 6)) * [1.0, 2.0, 0.5, 1.0, 1.0, 3.0]
X = CLUSTERS[::50] + np.array([100.0, 0.0])
PHI = features.nystrom(Gaussian(1.5), X, 8)


def at_the_same_parameters(fit: KernelMean, rows: np.ndarray) -> km.embedding.Embedding:
    """Return what an estimator makes of all rows with the parameters that were found by features."""
    center = rows.mean(axis=0)
    if fit.filter == "ridge":
        return KernelMean(fit.kernel_, filter="ridge", strength=fit.strength_).fit(rows).embedding_
    points = center + fit.contraction_ * (rows - center)
    scale = 1.0 if fit.strength_ is None else 1.0 / (1.0 + fit.strength_)
    return scale * km.embed(points, fit.kernel_, noise=fit.noise_)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "rows"), checkered(list(NAMED), [CLUSTERS, LONG_TAILS]))
def test_the_exact_estimate_is_within_the_bound(name, rows):
    distances, rows = [], rows[::2]
    for rank in (10, 40, 160):
        fit = NAMED[name](features=rank).fit(rows)
        distances.append((at_the_same_parameters(fit, rows) - fit.embedding_).norm())
        assert 0.3 * fit.error_ < distances[-1] <= fit.error_ or name == "f-kmse"
        assert distances[-1] <= fit.error_ < 0.4
    assert distances[2] < distances[1] / 2 < distances[0] / 4


@pytest.mark.parametrize("name", mostly_slow(sorted({*NAMED} - {"f-kmse"}), "kme", "s-kmse", "mmkme"))
def test_many_landmarks_give_the_exact_estimator_with_its_parameters(name):
    """But not F-KMSE, whose λ gains 1e-9 of the score of these rows, less than features leave out."""
    rows = CLUSTERS[::2]
    exact, fit = NAMED[name]().fit(rows), NAMED[name](features=200).fit(rows)
    assert (exact.embedding_ - fit.embedding_).norm() < 1e-5
    assert fit.loocv_ == pytest.approx(exact.loocv_, rel=1e-7)
    gain = KernelMean().fit(rows).loocv_ - exact.loocv_
    found = KernelMean(features=200).fit(rows).loocv_ - fit.loocv_
    assert found == pytest.approx(gain, rel=0.01, abs=1e-15)
    assert (exact.error_, exact.notes_, exact.features_) == (0.0, (), None)


@pytest.mark.parametrize("name", ["kme", "s-kmse", "f-kmse"])
def test_kernels_that_are_not_gaussian(name):
    rows = CLUSTERS[::2]
    fit = NAMED[name](Laplacian(2.0), features=100).fit(rows)
    assert (at_the_same_parameters(fit, rows) - fit.embedding_).norm() <= fit.error_ < 0.2
    linear = NAMED[name](Linear(), features=5).fit(X)
    assert (at_the_same_parameters(linear, X) - linear.embedding_).norm() < 1e-4 * linear.embedding_.norm()


def test_a_fixed_noise_goes_with_every_kernel_of_differences():
    fit = KernelMean(Laplacian(2.0), noise=Normal(0.3), features=100).fit(CLUSTERS)
    assert (at_the_same_parameters(fit, CLUSTERS) - fit.embedding_).norm() <= fit.error_
    with pytest.raises(TypeError, match="kernel of x - y"):
        KernelMean(Linear(), noise=Normal(0.3), features=5).fit(X)


# -- leaving one out ---------------------------------------------------------------------------------------------------


def left_out(rows: np.ndarray, noise, contraction: float = 1.0) -> float:
    """Return the score by its definition: every row is a sum of landmarks, which noise and contraction move.

    The mean of the others is that of all less y/(n-1) for a row y from there, and so for the landmarks of the row.
    """
    weights, n, center = PHI.weights(PHI(rows)), len(rows), rows.mean(axis=0)
    apart = PHI.points - center
    target, points = center + (1 + (1 - contraction) / (n - 1)) * apart, center + contraction * apart
    losses = []
    for i in range(n):
        others = np.delete(weights, i, axis=0).mean(axis=0)
        own, moved = (km.embed(at, PHI.kernel, weights=weights[i]) for at in (PHI.points, target))
        rest = km.embed(points, PHI.kernel, weights=others, noise=noise)
        losses.append(own @ own - 2 * (moved @ rest) + rest @ rest)
    return float(np.mean(losses))


@pytest.mark.parametrize("noise", [Dirac(), Normal(0.4), Normal.diagonal([0.1, 2.0]), Laplace(0.5)], ids=repr)
@pytest.mark.parametrize("contraction", [1.0, 0.8])
def test_scores_of_sums_are_those_of_rows_left_out(noise, contraction):
    mu = features.embed(X, PHI, moments=True)
    found = LandmarkRows.of(mu, PHI).means(noise, contraction).score().value
    assert found == pytest.approx(left_out(X, noise, contraction), rel=1e-9)
    if contraction == 1.0:
        assert leave_one_out(mu, noise).score().value == pytest.approx(found, rel=1e-9)


def test_scores_of_the_ridge_are_those_of_rows_left_out():
    phi, strengths, vectors, n = PHI, np.array([1e-6, 0.03, 1.0, 50.0]), PHI(X), len(X)
    mu = features.embed(X, phi, moments=True)
    ridge = FeatureRidge.of(n, mu.parts[0].vector, mu.parts[0].terms[0].moments_of(phi).second)

    def estimate(rows: np.ndarray, strength: float) -> np.ndarray:
        second = rows.T @ rows
        return np.linalg.solve(second + strength * np.eye(phi.size), second @ rows.mean(axis=0))

    found = ridge.scores(phi, iter([X[:13], X[13:]]), strengths, km.Plan(threads=1))
    for strength, score in zip(strengths, found, strict=True):
        losses = [np.sum((vectors[i] - estimate(np.delete(vectors, i, axis=0), strength)) ** 2) for i in range(n)]
        assert score == pytest.approx(np.mean(losses) - np.mean(np.square(vectors).sum(axis=1)), rel=1e-8)
        np.testing.assert_allclose(ridge.coordinates(strength), estimate(vectors, strength), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("theta", [1e-3, 0.05])
def test_narrow_kernels_neither_overflow_nor_underflow(theta):
    """All rows are landmarks, so the scores are those of the exact estimators."""
    kernel = Gaussian(theta)
    for make in (km.MKME, VPMKME):
        fit, exact = make(features=features.nystrom(kernel, X, len(X))).fit(X), make(kernel).fit(X)
        assert fit.loocv_ == pytest.approx(exact.loocv_, rel=1e-6)
        np.testing.assert_allclose(fit.noise_.variances(2), exact.noise_.variances(2), rtol=0.05)


def test_noise_shrinks_as_one_over_n():
    """Also for more rows than any file holds."""
    kernel = Gaussian(1.5)
    found = [noise_for(n, CLUSTERS, kernel, km.MKME().options(kernel))[0].covariance for n in (10**6, 10**8)]
    assert 99 < found[0] / found[1] < 101


@pytest.mark.parametrize("name", ["mkme", pytest.param("mmkme", marks=pytest.mark.slow)])
def test_a_noise_from_rows_drawn_has_nearly_the_gain_of_the_best(name, monkeypatch):
    """Where all rows are drawn, it is the best."""
    phi = features.nystrom(Gaussian(3.0), LONG_TAILS, 100)
    losses = [km.KME(features=phi).fit(LONG_TAILS).loocv_]
    for drawn in (2000, 500):
        monkeypatch.setattr(by_features, "DRAWN", drawn)
        losses.append(NAMED[name](features=phi).fit(LONG_TAILS).loocv_)
    assert losses[0] - losses[2] > 0.8 * (losses[0] - losses[1]) > 0


def test_what_is_best_for_the_rows_drawn_and_not_for_all_is_left_out(monkeypatch):
    monkeypatch.setattr(by_features, "DRAWN", 20)
    phi = features.nystrom(Gaussian(3.0), LONG_TAILS, 100)
    fit = VPMKME(features=phi).fit(LONG_TAILS)
    assert (fit.noise_, fit.contraction_) == (Dirac(), 1.0)
    assert fit.loocv_ == km.KME(features=phi).fit(LONG_TAILS).loocv_


# -- where rows come from ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", mostly_slow(NAMED, "kme", "mkme"))
def test_rows_may_come_from_anywhere(name, tmp_path):
    path = tmp_path / "rows.csv"
    np.savetxt(path, CLUSTERS, delimiter=",", header="a,b", comments="", fmt="%.17g")
    whole = NAMED[name](features=30).fit(CLUSTERS)
    batches = NAMED[name](features=30).fit([CLUSTERS[i : i + 300] for i in range(0, 2000, 300)])
    of_file = NAMED[name](features=30).fit(path)
    for fit in (batches, of_file):
        np.testing.assert_allclose(fit.weights_, whole.weights_, rtol=1e-6, atol=1e-12)
        assert fit.loocv_ == pytest.approx(whole.loocv_, rel=1e-10)
        assert fit.error_ == pytest.approx(whole.error_, rel=0.3)
    assert of_file.feature_names_in_.tolist() == ["a", "b"]
    assert of_file.embedding_.names == ("a", "b")
    exact = NAMED[name]().fit(path)
    assert exact.features_ is None
    np.testing.assert_array_equal(exact.weights_, NAMED[name]().fit(CLUSTERS).weights_)


def test_what_can_be_read_once_only(monkeypatch):
    for name in ("ADAPTIVE_LIMIT", "TEST_LIMIT"):
        monkeypatch.setattr(by_features, name, 500)
    monkeypatch.setattr(by_features, "LIMIT", 400)
    monkeypatch.setattr(by_features, "DRAWN", 700)
    shuffled = np.random.default_rng(1).permutation(CLUSTERS)[:1000]

    def batches():
        return (shuffled[i : i + 300] for i in range(0, 1000, 300))

    for name in set(NAMED) - {"f-kmse"}:
        fit = NAMED[name]().fit(batches())
        assert fit.notes_[1] == "landmarks of the first 700 rows"
        assert (at_the_same_parameters(fit, shuffled) - fit.embedding_).norm() <= fit.error_ < 1e-4
    with pytest.raises(ValueError, match=r"reads the rows twice.*strength=<number>"):
        FKMSE().fit(batches())
    fit = FKMSE(strength=0.1).fit(batches())
    assert (at_the_same_parameters(fit, shuffled) - fit.embedding_).norm() <= fit.error_ < 1e-3
    assert np.isnan(fit.loocv_)
    again = FKMSE().fit(list(batches()))
    assert again.notes_[1] == "landmarks of 700 rows drawn at random"
    assert (at_the_same_parameters(again, shuffled) - again.embedding_).norm() <= again.error_ < 1e-3
    with pytest.raises(ValueError, match="'silverman' looks at all rows"):
        km.KME(bandwidth="silverman").fit(batches())


def test_short_rows_are_fitted_exactly_and_long_ones_by_landmarks(monkeypatch):
    monkeypatch.setattr("kernelmean.estimators.kernel_mean._SHORT", 30)
    monkeypatch.setattr(by_features, "ADAPTIVE_LIMIT", 35)
    assert km.MKME().fit(X[:35]).features_ is None
    assert km.MKME().fit(X).notes_[0].startswith("32 landmarks")
    assert km.KME().fit(X).features_ is None
    assert km.MKME(features=0).fit(X).features_ is None, "which asks for none"
    assert KernelMean(noise="full").fit(X).features_ is None, "which landmarks do not serve"


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(by_features, "ADAPTIVE_LIMIT", 2000)
    monkeypatch.setattr(by_features, "DRAWN", 200)
    peaks = []
    for count in (6, 30):
        batches = (np.random.default_rng(i).normal(size=(1000, 3)) for i in range(count))
        tracemalloc.start()
        fit = km.MMKME(Gaussian(1.0), features=30).fit(batches, plan=km.Plan(threads=1))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert f"stand for {1000 * count:,} rows" in fit.notes_[0]
    assert peaks[1] < 1.1 * peaks[0]


# -- sums --------------------------------------------------------------------------------------------------------------


def test_a_thousand_merges_in_any_order_give_one_fit(tmp_path):
    rows, rng = CLUSTERS[:1000], np.random.default_rng(3)
    phi = features.nystrom(Gaussian(1.5), rows, 12)
    singles = [features.embed(rows[i : i + 1], phi, moments=True) for i in range(1000)]

    def merged() -> km.embedding.Embedding:
        parts = [singles[i] for i in rng.permutation(1000)]
        while len(parts) > 1:
            i = int(rng.integers(len(parts) - 1))
            parts[i : i + 2] = [features.pooled(parts[i], parts[i + 1])]
        return parts[0]

    first, other = merged(), merged()
    km.save(other, tmp_path / "sums.npz")
    other = km.load(tmp_path / "sums.npz")
    one, two = (mu.parts[0].terms[0] for mu in (first, other))
    np.testing.assert_allclose(two.sums.value, one.sums.value, rtol=1e-12)
    np.testing.assert_allclose(two.moments.value, one.moments.value, rtol=1e-12)
    whole = features.embed(rows, phi, moments=True).parts[0].terms[0]
    np.testing.assert_allclose(one.moments.value, whole.moments.value, rtol=1e-10)
    fits = [KernelMean(noise=Normal.diagonal([0.1, 0.2])).fit(mu) for mu in (first, other)]
    np.testing.assert_allclose(fits[1].weights_, fits[0].weights_, rtol=1e-12)


def test_one_pass_serves_all_estimators(tmp_path):
    rows = CLUSTERS[::2]
    phi = features.random_cholesky(Gaussian(1.5), rows, 60)
    mu = features.embed(rows, phi, moments=True)
    for options in ({}, {"filter": "scale"}, {"noise": Normal(0.1)}):
        fit, own = KernelMean(**options).fit(mu), KernelMean(**options, features=phi).fit(rows)
        assert (fit.embedding_ - own.embedding_).norm() < 1e-8
        assert fit.error_ >= own.error_ * (1 - 1e-9)
        km.save(fit, tmp_path / "fit.npz")
        again = km.load(tmp_path / "fit.npz")
        assert (again.error_, again.notes_, again.features_) == (fit.error_, fit.notes_, phi)
        np.testing.assert_array_equal(again.weights_, fit.weights_)
    fit = FKMSE(strength=0.2).fit(mu)
    assert (at_the_same_parameters(fit, rows) - fit.embedding_).norm() <= fit.error_


@pytest.mark.parametrize("name", mostly_slow(["kme", "s-kmse", "mkme", "mmkme"], "kme", "s-kmse"))
def test_fourier_features_say_their_standard_error(name, tmp_path):
    phi = features.fourier(Gaussian(1.5), 2, 2048, design="quasi")
    fit, exact = NAMED[name](features=phi).fit(CLUSTERS), NAMED[name](Gaussian(1.5)).fit(CLUSTERS)
    assert fit.loocv_ == pytest.approx(exact.loocv_, rel=5e-3)
    assert "has the standard error" in fit.notes_[0]
    assert np.isnan(fit.error_)
    assert fit.embedding_ @ fit.embedding_ == pytest.approx(exact.embedding_ @ exact.embedding_, rel=5e-3)
    km.save(fit, tmp_path / "fit.npz")
    assert km.load(tmp_path / "fit.npz").embedding_.norm() == fit.embedding_.norm()


SUMS = features.embed(X, PHI, moments=True)
REFUSED = {
    "no moments": (lambda: KernelMean(noise=Normal(0.1)).fit(features.embed(X, PHI)), "moments=True"),
    "no rows to search in": (lambda: km.MKME().fit(SUMS), "fit the rows, or pass a Noise"),
    "weights": (lambda: km.KME().fit(features.embed(X, PHI, weights=np.arange(1.0, 41.0))), "without weights"),
    "noise already": (lambda: km.KME().fit(features.embed(X, PHI, noise=Normal(0.1))), "without noise first"),
    "one row": (lambda: km.KME().fit(features.embed(X[:1], PHI)), "at least two"),
    "a filter and a noise": (lambda: KernelMean(noise="isotropic", filter="scale").fit(SUMS), "without a filter"),
    "the covariance": (lambda: KernelMean(noise="full").fit(SUMS), "'isotropic' or 'diagonal'"),
    "another score": (lambda: km.MKME(criterion="risk").fit(SUMS), "criterion='loocv'"),
    "another filter": (lambda: KernelMean(filter=Landweber(), strength=3).fit(SUMS), "'scale' and 'ridge'"),
    "no rows": (lambda: FKMSE().fit(SUMS), "reads the rows twice"),
    "another kernel": (lambda: km.KME(Gaussian(2.0)).fit(SUMS), "leave kernel= out"),
    "another bandwidth": (lambda: km.KME(bandwidth=2.0).fit(SUMS), "leave bandwidth= out"),
    "features twice": (lambda: km.KME(features=9).fit(SUMS), "leave features= out"),
    "waves that move": (lambda: VPMKME(features=features.fourier(Gaussian(1.0), 2)).fit(X), "pass landmarks"),
    "noise besides": (lambda: features.embed(X, PHI, noise=Normal(1.0), moments=True), "without noise"),
    "moments of waves": (lambda: features.embed(X, features.fourier(Gaussian(1.0), 2), moments=True), "for landmarks"),
    "a test": (lambda: km.mmd_test(X, X + 1.0, estimator=km.MKME(features=9)), "leave features= out"),
    "nothing": (lambda: km.KME(features=-1).fit(X), "features"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_features_cannot_do_is_said(case):
    call, words = REFUSED[case]
    with pytest.raises((ValueError, TypeError), match=words):
        call()


def test_no_density_is_made_of_weights_of_either_sign():
    fit = km.MKME(features=9).fit(X)
    assert not hasattr(fit, "score_samples")
    assert fit.score(X) < 0
