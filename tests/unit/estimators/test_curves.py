"""The score along parameters: that of the estimator which was given them, with its minimum at what was chosen."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import Cutoff, IteratedRidge, KernelMean, Landweber, sample_of, score_curves
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Normal

X = np.random.default_rng(2).normal(size=(25, 3)) * [1.0, 3.0, 0.3]
THETA = (0.5, 1.5, 0.2)


def refitted(curve, make, criterion="loocv"):
    """Return the scores that estimators have which were given every third value."""
    return curve.values[::12], curve.scores[::12], [make(float(v)).fit(X).criterion_.value for v in curve.values[::12]]


CASES = {
    "mkme": (km.MKME(Gaussian(0.8)), lambda s: KernelMean(Gaussian(0.8), noise=Normal(s**2))),
    "risk": (
        km.MKME(Gaussian(0.8), criterion="risk"),
        lambda s: KernelMean(Gaussian(0.8), noise=Normal(s**2), criterion="risk"),
    ),
    "scaled too": (
        KernelMean(Gaussian(0.8), noise="isotropic", filter="scale"),
        lambda s: KernelMean(Gaussian(0.8), noise=Normal(s**2), filter="scale"),
    ),
    "bandwidths": (km.MKME(Gaussian(THETA)), lambda s: KernelMean(Gaussian(THETA), noise=Normal(s**2))),
    "laplacian": (
        KernelMean(Laplacian(1.0), noise="isotropic"),
        lambda s: KernelMean(Laplacian(1.0), noise=Normal(s**2)),
    ),
    "full": (
        KernelMean(Gaussian(0.8), noise="full"),
        lambda s: KernelMean(Gaussian(0.8), noise=Normal(np.cov(X.T, bias=True) * s**2 / np.mean(X.var(axis=0)))),
    ),
    "s-kmse": (km.SKMSE(Gaussian(0.8)), lambda s: km.SKMSE(Gaussian(0.8), strength=s)),
    "s-kmse, laplacian": (km.SKMSE(Laplacian(1.0)), lambda s: km.SKMSE(Laplacian(1.0), strength=s)),
    "s-kmse, laplacian, risk": (
        KernelMean(Laplacian(1.0), filter="scale", criterion="risk"),
        lambda s: KernelMean(Laplacian(1.0), filter="scale", criterion="risk", strength=s),
    ),
    "f-kmse": (km.FKMSE(Gaussian(0.8)), lambda s: km.FKMSE(Gaussian(0.8), strength=s)),
    "f-kmse, noise": (
        KernelMean(Gaussian(0.8), noise=Normal(0.1), filter="ridge"),
        lambda s: KernelMean(Gaussian(0.8), noise=Normal(0.1), filter="ridge", strength=s),
    ),
    "iterated": (
        KernelMean(Gaussian(0.8), filter=IteratedRidge(2)),
        lambda s: KernelMean(Gaussian(0.8), filter=IteratedRidge(2), strength=s),
    ),
    "cutoff": (
        KernelMean(Gaussian(0.8), filter=Cutoff()),
        lambda s: KernelMean(Gaussian(0.8), filter=Cutoff(), strength=s),
    ),
    "landweber": (
        KernelMean(Gaussian(0.8), filter=Landweber()),
        lambda s: KernelMean(Gaussian(0.8), filter=Landweber(), strength=s),
    ),
}


@pytest.mark.parametrize(("estimator", "given"), CASES.values(), ids=CASES)
def test_a_curve_is_the_score_of_the_estimator_that_was_given_the_value(estimator, given):
    found = score_curves(estimator.fit(X))
    (curve,) = found.curves
    values, scores, expected = refitted(curve, given)
    assert len(values) >= 5
    np.testing.assert_allclose(scores, expected, rtol=1e-10)
    assert found.score == estimator.criterion_.value


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("landweber", "cutoff")])
def test_what_was_chosen_is_on_the_curve_and_nothing_is_below_it(name):
    found = score_curves(CASES[name][0].fit(X))
    (curve,) = found.curves
    at = np.flatnonzero(curve.values == curve.chosen)
    assert len(at) == 1
    assert curve.scores[at[0]] == pytest.approx(found.score, rel=1e-9)
    assert curve.scores.min() >= found.score - 1e-9 * abs(found.score)
    assert found.score <= found.without


def test_a_noise_per_column_has_a_curve_for_each_with_the_others_as_chosen():
    fitted = km.MMKME(Gaussian(THETA)).fit(X)
    found = score_curves(fitted, ["x2", "x0"])
    assert [curve.name for curve in found.curves] == ["x2", "x0"]
    for curve, j in zip(found.curves, (2, 0), strict=True):
        assert curve.chosen == pytest.approx(np.sqrt(fitted.noise_.covariance[j]))

        def given(sigma, j=j):
            variances = np.where(np.arange(3) == j, sigma**2, fitted.noise_.covariance)
            return KernelMean(Gaussian(THETA), noise=Normal.diagonal(variances))

        _, scores, expected = refitted(curve, given)
        np.testing.assert_allclose(scores, expected, rtol=1e-10)
        assert curve.scores.min() >= found.score - 1e-9
    assert found.without == pytest.approx(km.KME(Gaussian(THETA)).fit(X).loocv_, rel=1e-12)


@pytest.mark.parametrize("form", ["tied", "free"])
def test_a_contraction_is_undone_and_its_curve_ends_at_no_contraction(form):
    fitted = km.VPMKME(Gaussian(0.8), contraction=form).fit(X)
    np.testing.assert_allclose(sample_of(fitted), X, atol=1e-12)
    found = score_curves(fitted)
    (curve,) = found.curves
    assert curve.scores[curve.values == curve.chosen][0] == pytest.approx(fitted.loocv_, rel=1e-9)
    assert curve.scores.min() >= fitted.loocv_ - 1e-9
    assert found.parameter == ("contraction" if form == "tied" else "noise")
    if form == "tied":
        assert curve.values[-1] == 1.0
        assert curve.scores[-1] == pytest.approx(km.KME(Gaussian(0.8)).fit(X).loocv_, rel=1e-12)


def test_the_printed_score_has_the_printed_curve():
    fitted = KernelMean(Gaussian(0.8), filter="ridge", criterion="printed").fit(X)
    (curve,) = score_curves(fitted).curves
    assert curve.scores.min() == pytest.approx(fitted.criterion_.value, rel=1e-9)


def test_no_noise_and_an_estimate_of_zero_have_curves_over_what_could_have_been():
    far = 1e3 * np.eye(6)  # nothing beats 0 under a narrow kernel
    curves = score_curves(km.FKMSE(Gaussian(1.0)).fit(far)).curves
    assert np.isinf(curves[0].chosen)
    assert np.isfinite(curves[0].scores).all()
    same = np.concatenate([np.zeros((8, 1)), np.ones((8, 1))])
    fitted = km.MKME(Gaussian(10.0)).fit(same)
    (curve,) = score_curves(fitted).curves
    assert np.isfinite(curve.scores).all()


@pytest.mark.parametrize(
    ("estimator", "words"),
    [(km.KME(), "chose nothing"), (KernelMean(noise=Normal(0.1)), "chose nothing"), (km.SKMSE(strength=1.0), "chose")],
)
def test_who_chose_nothing_has_no_curve(estimator, words):
    with pytest.raises(ValueError, match=words):
        score_curves(estimator.fit(X))


def test_unknown_columns_are_named():
    with pytest.raises(ValueError, match="there is no column 'age'; the estimator was fitted to x0, x1"):
        score_curves(km.MMKME().fit(X), ["age"])


@pytest.mark.parametrize("make", [km.MKME, km.MMKME, km.FKMSE, km.VPMKME])
def test_rows_of_another_library_have_the_same_curves(make):
    torch = pytest.importorskip("torch")
    ours, theirs = (score_curves(make().fit(rows)) for rows in (X, torch.tensor(X)))
    for one, other in zip(ours.curves, theirs.curves, strict=True):
        np.testing.assert_allclose(one.values, other.values, rtol=1e-6)
        np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9)
