"""Fit to a known distribution: exchangeable statistics, exact means, what may be passed, refusals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.mixture import GaussianMixture

import kernelmean as km
from kernelmean.inference.adaptive.candidates import candidates
from kernelmean.inference.adaptive.coordinates import Columns
from kernelmean.inference.adaptive.many_kernels import Adaptive
from kernelmean.known import KnownDistribution, fit_test
from kernelmean.known.fit import exact_means, means_over, statistics

PLANE = stats.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 2.0]])
COVARIANCES = ("full", "tied", "diag", "spherical")


@pytest.fixture(autouse=True)
def few_rows_to_fit_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fit features to fewer rows of the distribution, which takes a third of the time."""
    monkeypatch.setattr("kernelmean.known.fit.PILOT", 512)


def fitted_columns(known: KnownDistribution, dim: int) -> Columns:
    rng = np.random.default_rng(0)
    found = candidates(Adaptive(), (known.sample(500, dim, rng),), 40.0, rng)
    return Columns.of(found.sources[0], found.views[0], [kernel for own in found.kernels for kernel in own])


def test_the_statistic_of_a_sample_does_not_depend_on_which_one_was_observed() -> None:
    known = KnownDistribution.of(lambda n, rng: rng.gamma(2.0, size=(n, 2)))
    rng = np.random.default_rng(1)
    samples = [known.sample(15, 2, rng) for _ in range(6)]
    columns = fitted_columns(known, 2)
    exact = exact_means(columns, known)
    values = statistics(columns, samples[0], samples[1:], exact, None, rng).values
    order = [3, 0, 5, 1, 4, 2]
    others = statistics(columns, samples[3], [samples[i] for i in order[1:]], exact, None, rng).values
    np.testing.assert_allclose(others, values[:, order], rtol=1e-9, atol=1e-14)


def test_means_are_those_of_the_columns_of_every_row() -> None:
    known = KnownDistribution.of(PLANE)
    columns = fitted_columns(known, 2)
    rows = known.sample(70, 2, np.random.default_rng(2))
    starts = np.array([0, 20, 50])
    sums = columns.grouped(rows, starts)[:, : columns.size]
    np.testing.assert_allclose(columns.means(rows, starts), sums / np.array([[20], [30], [20]]), atol=1e-12)


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_exact_means_are_those_of_many_rows(covariance: str) -> None:
    X = np.random.default_rng(3).normal(size=(60, 2)) * [1.0, 30.0] + [5.0, 0.0]
    known = KnownDistribution.of(GaussianMixture(2, covariance_type=covariance, random_state=0).fit(X))
    columns = fitted_columns(known, 2)
    exact = exact_means(columns, known)
    known_columns = ~np.isnan(exact)
    assert 100 < known_columns.sum() < len(exact)
    rows = known.sample(10_000, 2, np.random.default_rng(4))
    gaps = (means_over(columns, [rows])[0] - exact)[known_columns]
    deviation = np.std(means_over(columns, np.split(rows, 50)), axis=0)[known_columns] / np.sqrt(50)
    assert np.abs(gaps / deviation).max() < 5.0


@pytest.mark.parametrize("covariance", COVARIANCES)
def test_a_fitted_mixture_draws_what_it_was_fitted_to(covariance: str) -> None:
    X = np.random.default_rng(5).normal(size=(80, 2)) @ [[1.0, 0.5], [0.0, 2.0]]
    model = GaussianMixture(2, covariance_type=covariance, random_state=0).fit(X)
    known = KnownDistribution.of(model)
    grid = np.random.default_rng(6).normal(size=(5, 2))
    assert known.mixture is not None
    np.testing.assert_allclose(known.mixture.logpdf(grid), model.score_samples(grid), rtol=1e-10)


def matching() -> km.KernelMeanMatching:
    return km.KernelMeanMatching(1, kernel=km.kernels.Gaussian(2.0), early_stopping=False).fit(
        PLANE.rvs(50, random_state=1)
    )


MIXTURE = km.embed([[1.0, -2.0]], km.kernels.Gaussian(9.0), noise=km.noise.Normal(np.array([[1.0, 0.6], [0.6, 2.0]])))


@pytest.mark.parametrize(
    "distribution",
    [PLANE, MIXTURE, lambda n, rng: PLANE.rvs(n, random_state=rng)],
    ids=["scipy", "embedding", "sampler"],
)
def test_the_true_distribution_is_kept_and_another_refused(distribution: Any) -> None:
    X = PLANE.rvs(40, random_state=7)
    assert fit_test(X, distribution, n_resamples=49, rng=0).pvalue > 0.05
    result = fit_test(X + np.array([0.0, 2.0]), distribution, n_resamples=49, rng=0)
    assert result.pvalue == 0.02
    assert result.kind is not None
    assert result.kind.name == "means"


@pytest.mark.parametrize(("variable", "frozen"), [("Normal", stats.norm(1.0, 2.0)), ("Uniform", stats.uniform(1, 2))])
def test_random_variables_of_scipy_are_their_frozen_distributions(variable: str, frozen: Any) -> None:
    options = {"mu": 1.0, "sigma": 2.0} if variable == "Normal" else {"a": 1.0, "b": 3.0}
    distribution = getattr(stats, variable)(**options)
    known = KnownDistribution.of(distribution)
    assert known.name == f"scipy.stats.{variable}"
    rows = known.sample(500, 1, np.random.default_rng(0))
    assert stats.kstest(rows[:, 0], frozen.cdf).pvalue > 0.01
    if variable == "Normal":
        kernel = km.kernels.Gaussian(1.5)
        first, same = (replace(one.mixture, kernel=kernel) for one in (known, KnownDistribution.of(frozen)))
        assert (first - same).norm() == pytest.approx(0.0, abs=1e-7)
    assert fit_test(frozen.rvs(40, random_state=1), distribution, n_resamples=49, rng=0).pvalue > 0.05
    assert fit_test(frozen.rvs(40, random_state=1), stats.Normal(mu=9.0), n_resamples=49, rng=0).pvalue == 0.02


def test_a_matched_mixture_is_a_distribution() -> None:
    assert fit_test(PLANE.rvs(40, random_state=8), matching(), n_resamples=19, rng=0).n_resamples == 19


def test_the_kernel_of_an_embedding_does_not_matter() -> None:
    X = PLANE.rvs(20, random_state=9)
    other = km.embed(MIXTURE.points, km.kernels.Laplacian(0.1), noise=MIXTURE.noise)
    assert [*fit_test(X, MIXTURE, n_resamples=19, rng=0)] == [*fit_test(X, other, n_resamples=19, rng=0)]


def test_few_rows_and_constant_ones_have_pvalues() -> None:
    for n in (1, 2, 3):
        assert fit_test(np.full((n, 2), 9.0), PLANE, n_resamples=19, rng=0).pvalue == 0.05
    assert fit_test(np.zeros(4), lambda n, rng: np.zeros(n), n_resamples=19, rng=0).pvalue == 1.0
    assert fit_test(np.ones(4), lambda n, rng: np.zeros(n), n_resamples=19, rng=0).pvalue == 0.05


def test_a_far_origin_and_float32_change_nothing() -> None:
    X = np.round(np.random.default_rng(10).normal(0.4, 1.0, size=40), 3)
    whole = fit_test(X, stats.norm(0, 1), n_resamples=99, rng=0).pvalue
    assert fit_test(X.astype(np.float32), stats.norm(0, 1), n_resamples=99, rng=0).pvalue == whole
    assert fit_test(X + 2.0**20, stats.norm(2.0**20, 1), n_resamples=99, rng=0).pvalue == whole


def test_rows_stay_as_they_are_and_the_seed_decides() -> None:
    X = PLANE.rvs(20, random_state=11)
    before = X.copy()
    first, second = (fit_test(X, PLANE, n_resamples=19, rng=5) for _ in range(2))
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(first.null_distribution, second.null_distribution)


def test_a_sample_cut_into_parts_has_the_same_means(monkeypatch: pytest.MonkeyPatch) -> None:
    X = PLANE.rvs(50, random_state=12)
    whole = fit_test(X, PLANE, n_resamples=9, rng=0)
    monkeypatch.setattr("kernelmean.known.fit._AT_ONCE", 16)
    np.testing.assert_allclose(fit_test(X, PLANE, n_resamples=9, rng=0).statistic, whole.statistic, rtol=1e-9)


REFITS: dict[str, Any] = {
    "estimator": GaussianMixture(1),
    "function": lambda rows: stats.norm(rows.mean(), rows.std()),
}


@pytest.mark.parametrize("refit", REFITS)
def test_a_fitted_family_is_named_asymptotic(refit: str) -> None:
    rng = np.random.default_rng(13)
    result = fit_test(rng.normal(3.0, 2.0, size=(60, 1)), refit=REFITS[refit], n_resamples=19, rng=0)
    assert "asymptotic" in result.method
    assert "asymptotic" in result.origin
    assert result.pvalue > 0.05
    assert fit_test(rng.exponential(size=(60, 1)), refit=REFITS[refit], n_resamples=19, rng=0).pvalue == 0.05


def test_an_estimator_that_is_refitted_stays_as_it_is() -> None:
    model = GaussianMixture(1)
    first, second = (fit_test(np.arange(9.0), refit=model, n_resamples=9, rng=0).statistic for _ in range(2))
    assert first == second
    assert model.random_state is None
    assert not hasattr(model, "means_")


def draws(shape: Callable[[int], Any]) -> Callable[[int, Any], Any]:
    return lambda n, rng: np.full(shape(n), np.nan) if shape(n) == (n, 3) else np.zeros(shape(n))


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "nothing": (None, ValueError, "either distribution"),
    "a family": (stats.norm, TypeError, "freeze it"),
    "a family of several columns": (stats.multivariate_normal, TypeError, "multivariate_normal of scipy.stats"),
    "several of one column": (stats.norm([0.0, 1.0], 1.0), ValueError, "arrays of parameters"),
    "random variables": (stats.Normal(mu=[0.0, 1.0, 2.0]), ValueError, "arrays of parameters"),
    "a name": ("norm", TypeError, "is str, not a distribution; pass"),
    "a class": (dict, TypeError, "is type, not a distribution"),
    "a density": (stats.gaussian_kde([0.0, 1.0]), TypeError, "is gaussian_kde, not a distribution"),
    "a function of one": (lambda n: np.zeros((n, 3)), TypeError, "function .n, rng."),
    "no variance": (stats.norm(0.0, -1.0), ValueError, "must be positive"),
    "rows": (np.zeros((5, 3)), TypeError, "is ndarray, not a distribution"),
    "a sample": (km.embed(np.eye(3), km.kernels.Gaussian(1.0)), TypeError, r"km\.mmd_test\(X, Y\)"),
    "too much weight": (2.0 * MIXTURE, ValueError, "sum to 2 "),
    "not fitted": (GaussianMixture(2), ValueError, "not fitted"),
    "not matched": (km.KernelMeanMatching(), ValueError, "not fitted"),
    "other columns": (PLANE, ValueError, "with the 3 columns of X"),
    "fewer rows": (draws(lambda n: (n - 1, 3)), ValueError, "one row for each row asked for"),
    "the same rows again": (
        lambda n, rng: np.random.default_rng(0).normal(size=(n, 3)),
        ValueError,
        "same rows every time",
    ),
    "numbers that are none": (draws(lambda n: (n, 3)), ValueError, "NaN or infinite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_distribution_is_refused(case: str) -> None:
    distribution, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        fit_test(np.eye(3), distribution, n_resamples=9, rng=0)


def test_a_function_may_fill_one_array_again_and_again() -> None:
    held = np.empty((5000, 1))

    def filled(n: int, rng: np.random.Generator) -> Any:
        held[:n] = rng.normal(size=(n, 1))
        return held[:n]

    X = np.linspace(-1.5, 1.0, 8)[:, None]
    first = fit_test(X, filled, n_resamples=19, rng=0)
    again = fit_test(X, lambda n, rng: rng.normal(size=(n, 1)), n_resamples=19, rng=0)
    assert (first.statistic, first.pvalue) == (again.statistic, again.pvalue)


def test_both_and_what_cannot_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="not both"):
        fit_test(np.eye(2), PLANE, refit=GaussianMixture(1))
    with pytest.raises(TypeError, match="pass a function from rows to a distribution"):
        fit_test(np.eye(2), refit=GaussianMixture)
    with pytest.raises(TypeError, match="what refit returned is float"):
        fit_test(np.eye(2), refit=lambda rows: float(rows.sum()))
    with pytest.raises(ValueError, match="n_resamples is 0"):
        fit_test(np.eye(2), PLANE, n_resamples=0)


@pytest.mark.parametrize("X", [[], [[np.nan, 1.0]], [["a", "b"]], [[1.0, np.inf]]])
def test_bad_rows_are_refused(X: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="X "):
        fit_test(X, PLANE, n_resamples=9)


def test_columns_of_a_frame_are_those_of_the_mixture() -> None:
    named = km.embed(pd.DataFrame({"a": [0.0], "b": [0.0]}), km.kernels.Gaussian(1.0), noise=km.noise.Normal(1.0))
    fitted = GaussianMixture(1).fit(pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 2.0]}))
    for distribution in (named, fitted):
        with pytest.raises(ValueError, match="pass the same columns in one order"):
            fit_test(pd.DataFrame({"b": [0.0, 1.0], "a": [0.0, 1.0]}), distribution, n_resamples=9)


def test_the_result_has_the_surface_of_every_result(tmp_path: Path) -> None:
    result = fit_test(PLANE.rvs(30, random_state=14), PLANE, n_resamples=99, rng=0)
    assert "drawn samples" in str(result)
    assert "permut" not in str(result)
    assert result.to_dict()["scheme"] == "drawn samples"
    assert result.to_frame().shape[0] == 1
    page = result.to_html()
    assert "rows were drawn" in page
    assert "permut" not in page.split("<body")[1].split("A kernel says")[0]
    result.save(tmp_path / "fit.km")
    assert km.load(tmp_path / "fit.km").pvalue == result.pvalue
    with pytest.raises(ValueError, match="holds no data"):
        result.effect_size()
