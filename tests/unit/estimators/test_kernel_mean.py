import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.stats import multivariate_normal

import kernelmean as km
from kernelmean.estimators import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    VPMKME,
    BayesianKernelMean,
    KernelMean,
    MedianOfMeans,
    NuMethod,
    loocv,
)
from kernelmean.kernels import Gaussian, Linear
from kernelmean.noise import Dirac, Normal


def sample(n=30, dim=3):
    return np.random.default_rng(n).normal(size=(n, dim)) * np.array([1.0, 2.0, 0.5])[:dim]


def test_points_of_the_design():
    X = sample()
    assert isinstance(KME().fit(X).noise_, Dirac)
    assert MKME().fit(X).noise_.form == "isotropic"
    assert MMKME().fit(X).noise_.form == "diagonal"
    assert KernelMean(noise="full").fit(X).noise_.form == "full"
    assert np.ptp(SKMSE().fit(X).weights_) == 0
    assert np.ptp(FKMSE().fit(X).weights_) > 0


def test_full_covariance_is_a_multiple_of_the_sample_covariance():
    fitted = KernelMean(noise="full").fit(sample())
    ratio = fitted.noise_.covariance / np.cov(sample().T, bias=True)
    np.testing.assert_allclose(ratio, ratio[0, 0], rtol=1e-9)


def test_contraction_preserves_the_variance_when_tied():
    X = sample()
    fitted = VPMKME(contraction="tied").fit(X)
    assert 0 < fitted.contraction_ < 1
    spread = fitted.embedding_.points.var(axis=0).mean() + fitted.noise_.covariance
    assert spread == pytest.approx(X.var(axis=0).mean(), rel=1e-12)
    np.testing.assert_allclose(fitted.embedding_.points.mean(axis=0), X.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("noise", [None, "isotropic", "diagonal", "full", Normal(0.1)])
def test_shrinking_as_well_never_hurts_the_score(noise):
    X = sample()
    plain, shrunk = KernelMean(noise=noise).fit(X), KernelMean(noise=noise, filter="scale").fit(X)
    assert shrunk.criterion_ <= plain.criterion_ or shrunk.loocv_ == pytest.approx(plain.loocv_, rel=1e-9)
    assert shrunk.weights_.sum() == pytest.approx(1 / (1 + shrunk.strength_), rel=1e-9)


def test_the_risk_criterion_reports_the_leave_one_out_score_too():
    X = sample()
    by_risk, by_loocv = MMKME(criterion="risk").fit(X), MMKME().fit(X)
    assert by_loocv.loocv_ < by_risk.loocv_ < by_loocv.loocv_ + 1e-3
    assert by_risk.criterion_.constant == 0.0
    fixed = MMKME().fit(X).set_params(noise=by_risk.noise_).fit(X)
    assert fixed.loocv_ == pytest.approx(by_risk.loocv_, rel=1e-12)


def test_the_printed_criterion_chooses_another_strength():
    X = sample()
    printed, exact = KernelMean(filter="ridge", criterion="printed").fit(X), FKMSE().fit(X)
    assert printed.strength_ != pytest.approx(exact.strength_, rel=0.1)
    assert exact.loocv_ < printed.loocv_
    near = [KernelMean(filter="ridge", strength=factor * printed.strength_).fit(X) for factor in (0.9, 1.1)]
    values = [
        float(loocv.printed_scores(loocv.GramSpectrum.of(exact.kernel_(X, X), 1.0), np.array([f.strength_]))[0])
        for f in near
    ]
    assert printed.criterion_.value < min(values)


def test_unsquared_convention_and_rules():
    X = sample()
    assert MKME(bandwidth="median-unsquared").fit(X).bandwidth_ == pytest.approx(
        float(km.median_bandwidth(X, squared=False))
    )
    per_axis = KernelMean(bandwidth="silverman", noise="isotropic").fit(X)
    assert np.shape(per_axis.bandwidth_) == (3,)
    assert per_axis.noise_.form == "isotropic"


# -- densities --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["isotropic", "diagonal", "full"])
def test_log_densities_are_those_of_the_mixture(noise):
    X = sample()
    fitted = KernelMean(noise=noise, bandwidth=0.3, filter="scale").fit(X)
    covariance = fitted.noise_.matrices(3)
    exact = np.log(np.mean([multivariate_normal(x, covariance).pdf(X[:5]) for x in X], axis=0))
    np.testing.assert_allclose(fitted.score_samples(X[:5]), exact, rtol=1e-10)
    assert fitted.score(X[:5]) == pytest.approx(exact.mean(), rel=1e-10)


def test_samples_have_the_moments_of_the_mixture():
    fitted = MMKME(bandwidth=0.3).fit(sample())
    draws = fitted.sample(40_000, random_state=0)
    covariance = np.cov(sample().T, bias=True) + fitted.noise_.matrices(3)
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05 * np.abs(covariance).max())
    np.testing.assert_array_equal(draws[:3], fitted.sample(40_000, random_state=0)[:3])
    assert KME().fit(sample()).sample(5, random_state=np.random.default_rng(0)).shape == (5, 3)


def test_a_wide_kernel_warns_and_says_what_to_do():
    X = sample()
    with pytest.warns(UserWarning, match="fit with bandwidth='likelihood'"):
        MMKME().fit(X).score(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MMKME(bandwidth=0.1 * km.median_bandwidth(X)).fit(X).score(X)
        MMKME(bandwidth="likelihood").fit(X).score(X)


def test_without_noise_there_is_no_density():
    X = sample()
    assert not hasattr(KME(), "score_samples")
    with pytest.raises(AttributeError) as caught:
        KME().fit(X).score_samples(X)
    assert "write KernelMean(noise='diagonal')" in str(caught.value.__cause__)
    assert not hasattr(KernelMean(noise=Normal(0.1), filter=NuMethod()), "score_samples")


def test_without_a_density_the_score_is_minus_the_held_out_distance():
    X, Z = sample(30), sample(7)
    fitted = FKMSE().fit(X)
    singles = [km.embed(z[None], fitted.kernel_) for z in Z]
    distances = [(single - fitted.embedding_).norm() ** 2 for single in singles]
    assert fitted.score(Z) == pytest.approx(-np.mean(distances), rel=1e-10)


def test_a_variance_of_zero_is_no_density():
    X = np.column_stack([sample()[:, 0], np.full(30, 2.0)])
    fitted = KernelMean(noise=Normal.diagonal([0.1, 0.0]), bandwidth=0.1).fit(X)
    with pytest.raises(ValueError, match="variance 0 in a direction"):
        fitted.score_samples(X)


# -- kernels other than Gaussian --------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", ["isotropic", "full"])
def test_other_kernels_are_searched_numerically(noise):
    X = sample()
    kernel = Gaussian(1.0) + Gaussian(3.0)
    fitted, plain = KernelMean(kernel, noise=noise, filter="scale").fit(X), KernelMean(kernel, filter="scale").fit(X)
    assert fitted.loocv_ <= plain.loocv_
    near = [Normal(factor * fitted.noise_.covariance) for factor in (0.9, 1.1)]
    assert all(fitted.loocv_ < KernelMean(kernel, noise=v, filter="scale").fit(X).loocv_ for v in near)


def test_a_gaussian_in_disguise_gives_the_same_noise():
    X = sample()
    theta = float(km.median_bandwidth(X))
    exact, generic = MKME(theta_kernel(theta)).fit(X), MKME(1.0 * theta_kernel(theta)).fit(X)
    assert generic.noise_.covariance == pytest.approx(float(exact.noise_.covariance), rel=1e-3)
    assert generic.loocv_ == pytest.approx(exact.loocv_, rel=1e-10)


def theta_kernel(theta):
    return Gaussian(theta)


def test_the_risk_of_another_kernel_is_that_of_the_gaussian_in_disguise():
    X, kernel = sample(), theta_kernel(2.0)
    options = {"noise": Normal(0.3), "filter": "scale", "criterion": "risk"}
    exact, generic = KernelMean(kernel, **options).fit(X), KernelMean(1.0 * kernel, **options).fit(X)
    for name in ("value", "constant"):
        assert getattr(generic.criterion_, name) == pytest.approx(getattr(exact.criterion_, name), rel=1e-10)
    assert generic.loocv_ == pytest.approx(exact.loocv_, rel=1e-10)
    assert generic.strength_ == pytest.approx(exact.strength_, rel=1e-8)


def test_a_family_takes_the_bandwidth():
    assert KernelMean(Gaussian, bandwidth=2.0).fit(sample()).kernel_ == Gaussian(2.0)


# -- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"noise": "gaussian"}, "write None, 'isotropic'"),
        ({"filter": "lasso"}, "write None, 'scale', 'ridge'"),
        ({"criterion": "aic"}, "write 'loocv', 'risk' or 'printed'"),
        ({"criterion": "printed"}, "filter='ridge' with a stationary kernel"),
        ({"criterion": "printed", "filter": "ridge", "noise": Normal(0.1)}, "write noise=None"),
        ({"strength": "cv"}, "write 'loocv' or a number"),
        ({"strength": -1.0, "filter": "scale"}, "non-negative"),
        ({"filter": "ridge", "strength": 0}, "strength is 0"),
        ({"strength": 2.0}, "there is no filter; write filter='scale' or 'ridge'"),
        ({"strength": 2.0, "noise": "isotropic"}, "there is no filter"),
        ({"noise": "isotropic", "filter": "ridge"}, "pass a fixed noise"),
        ({"filter": "ridge", "criterion": "risk"}, "no unbiased risk"),
        ({"contraction": "tied"}, "write noise='isotropic'"),
        ({"contraction": "loose", "noise": "isotropic"}, "'tied' or 'free'"),
        ({"contraction": "tied", "noise": "isotropic", "bandwidth": [1.0, 2.0, 3.0]}, "one bandwidth for all"),
        ({"contraction": "tied", "noise": "isotropic", "criterion": "risk"}, "no risk estimate"),
        ({"kernel": Linear(), "noise": "diagonal"}, "exists for Gaussian kernels only"),
        ({"kernel": "rbf"}, "write 'gaussian'"),
        ({"bandwidth": "wide"}, "bandwidth is 'wide'"),
        ({"bandwidth": [1.0, 2.0], "noise": "diagonal"}, "2 bandwidths, the data have 3 columns"),
        ({"bandwidth": "likelihood"}, "a noise to search"),
    ],
)
def test_what_does_not_go_together_is_refused(options, text):
    with pytest.raises(ValueError, match=text):
        KernelMean(**options).fit(sample())


@pytest.mark.parametrize("make", [KME, SKMSE, FKMSE, MKME, MMKME, VPMKME])
def test_a_score_of_few_digits_is_flagged(make):
    X = sample()
    median = km.median_bandwidth(X)
    for ratio in (1e6, 1e8):
        with pytest.warns(UserWarning, match="choose a narrower bandwidth"):
            assert make(bandwidth=ratio * median).fit(X).loocv_ >= 0
    squared = -np.expm1(-0.5 * pdist(X, "sqeuclidean") / (1e4 * median) ** 2)  # 1 - k, with all its digits
    n = len(X)
    wide = make(bandwidth=1e4 * median).fit(X)  # so wide that nothing is gained over the empirical mean
    assert wide.loocv_ == pytest.approx(2 * squared.sum() / (n - 1) ** 2, rel=1e-4)


@pytest.mark.filterwarnings("ignore:loocv_ is:UserWarning")
@pytest.mark.parametrize("make", [KME, SKMSE, FKMSE, MKME, MMKME, VPMKME])
@pytest.mark.parametrize("bandwidth", [1e-100, 1e-9, 1e6, 1e12])
def test_absurd_bandwidths_give_no_nonsense(make, bandwidth):
    fitted = make(bandwidth=bandwidth).fit(sample())
    assert -1e-12 < fitted.loocv_ <= 1 + 1 / 29
    assert (fitted.weights_ >= 0).all()
    assert (fitted.weights_ <= 1 / 30 + 1e-12).all()


@pytest.mark.parametrize("make", [KME, FKMSE, MKME, MMKME, VPMKME, BayesianKernelMean, MedianOfMeans])
@pytest.mark.parametrize("scale", [1e160, 1e-160, 1e-200])
def test_squares_must_neither_overflow_nor_vanish(make, scale):
    with pytest.raises(ValueError, match=r"outside 1e-150 to 1e\+150.*; rescale the columns"):
        make().fit(scale * sample())


@pytest.mark.parametrize("make", [MKME, MMKME, VPMKME])
@pytest.mark.parametrize("scale", [1e-149, 1e140])
def test_the_unit_of_the_data_is_arbitrary_between(make, scale):
    plain, scaled = make().fit(sample()), make().fit(scale * sample())
    assert scaled.loocv_ == pytest.approx(plain.loocv_, rel=1e-9)
    np.testing.assert_allclose(scaled.noise_.covariance / scale / scale, plain.noise_.covariance, rtol=1e-5)


def test_a_bandwidth_whose_square_vanishes_is_refused():
    with pytest.raises(ValueError, match="the bandwidth is 1e-200, outside"):
        MKME(bandwidth=1e-200).fit(sample())
    with pytest.raises(ValueError, match="rescale the columns"):
        km.estimators.likelihood_bandwidth(1e-200 * sample())


def test_duplicated_rows_and_constant_columns():
    X = np.repeat(sample(10), 3, axis=0)
    X[:, 1] = 4.0
    for make in (KME, SKMSE, FKMSE, MKME, MMKME, VPMKME):
        assert np.isfinite(make().fit(X).loocv_)


# -- large samples ----------------------------------------------------------------------------------------------------


def test_beyond_5000_points_memory_does_not_grow_with_their_square():
    X = np.random.default_rng(0).normal(size=(5200, 2))
    tracemalloc.start()
    try:
        fitted = MKME(bandwidth=1.0).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # the distances alone would be 108 MB
    part = KernelMean(noise=fitted.noise_, bandwidth=1.0).fit(X[:5000])
    assert fitted.loocv_ == pytest.approx(part.loocv_, rel=1e-2)


def test_filters_stop_at_5000_points_and_name_alternatives():
    with pytest.raises(ValueError, match="use a marginalized estimator"):
        KernelMean(bandwidth=1.0, filter=NuMethod()).fit(np.random.default_rng(0).normal(size=(5001, 1)))


@pytest.mark.parametrize("make", [MMKME, VPMKME, MedianOfMeans, BayesianKernelMean])
def test_a_plan_changes_who_adds_up_and_no_number(make):
    plan = km.Plan(threads=1, block=(7, 9))
    X = np.random.default_rng(11).normal(size=(60, 2))
    fixed = {"random_state": 0} if make is MedianOfMeans else {}
    mine, own = (make(**fixed).fit(X, plan=each) for each in (plan, None))
    np.testing.assert_allclose(mine.weights_, own.weights_, rtol=1e-12)
    assert repr(mine.noise_) == repr(own.noise_)
    assert (mine.embedding_.plan, own.embedding_.plan) == (plan, km.Plan())


def test_the_sums_of_a_fit_run_by_its_plan():
    X = np.random.default_rng(12).normal(size=(60, 2))
    with pytest.raises(ValueError, match="this plan allows at most 50 × 50"):
        FKMSE().fit(X, plan=km.Plan(max_dense=50))
    FKMSE().fit(X)  # which is no longer under that plan


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_and_infinite_values_are_refused_with_what_helps_here(bad: float) -> None:
    rows = np.ones((5, 2))
    rows[2, 1] = bad
    for estimator in (MKME(), km.KernelMeanMatching(2)):
        with pytest.raises(ValueError, match=r"^X holds 1 NaN or infinite value \(the first at \(2, 1\)\); drop or "):
            estimator.fit(rows)
