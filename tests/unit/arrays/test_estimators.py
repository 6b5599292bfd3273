"""Estimators fitted to arrays of other libraries: the parameters of NumPy, the estimate where the arrays live."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import kernelmean as km
from kernelmean import kernels, noise
from kernelmean.core import home, to_numpy
from kernelmean.estimators import loocv

from .libraries import DEVICE, LIBRARIES, Library

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(60, 2)) * [1.0, 2.0], RNG.normal(size=(7, 2))

NAMED = [km.KME, km.estimators.SKMSE, km.estimators.FKMSE, km.MKME, km.MMKME, km.estimators.VPMKME]
OTHERS = {
    "full": lambda: km.KernelMean(noise="full"),
    "noise and scale": lambda: km.KernelMean(noise="isotropic", filter="scale"),
    "free contraction": lambda: km.KernelMean(noise="isotropic", contraction="free"),
    "risk": lambda: km.KernelMean(noise="isotropic", criterion="risk"),
    "bandwidth per axis": lambda: km.KernelMean(bandwidth=[1.0, 3.0], noise="isotropic"),
    "silverman": lambda: km.KernelMean(bandwidth="silverman", noise="diagonal"),
    "likelihood": lambda: km.KernelMean(bandwidth="likelihood", noise="isotropic"),
    "fixed full noise": lambda: km.KernelMean(noise=noise.Normal([[0.3, 0.1], [0.1, 0.2]])),
    "fixed noise per point": lambda: km.KernelMean(noise=noise.Normal.isotropic(np.linspace(0.1, 1.0, 60))),
    "ridge on a noise": lambda: km.KernelMean(noise=noise.Normal(0.1), filter="ridge"),
    "moments": lambda: km.KernelMean(kernels.Polynomial(2), noise=noise.Laplace(0.3)),
    "categories": lambda: km.KernelMean(kernels.Gaussian(1.0), noise=noise.Blankout(0.1)),
}


@pytest.fixture(params=["host", "device"], autouse=True)
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Fit on the host, as points in its memory and few rows are, and on the device, as many rows of it are."""
    if request.param == "device":
        monkeypatch.setattr("kernelmean.estimators.fitting.in_host_memory", lambda _: False)
        monkeypatch.setattr("kernelmean.estimators.fitting.HOST_ROWS", 0)
    return str(request.param)


def _fits(make: Any, library: Library) -> tuple[km.KernelMean, km.KernelMean]:
    return make().fit(library.rounded(X)), make().fit(library.make(X))


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("make", [*NAMED, *OTHERS.values()], ids=[*(e.__name__ for e in NAMED), *OTHERS])
def test_scores_and_estimates_are_those_of_numpy(library: Library, make: Any, where: str) -> None:
    """Searches along several axes end within their tolerance of each other, where rounding differs at all."""
    exact, found = _fits(make, library)
    several = where == "device" and make in (km.MMKME, OTHERS["silverman"], OTHERS["free contraction"])
    close = max(library.tolerance, 1e-7) if several else library.tolerance
    assert found.loocv_ == pytest.approx(exact.loocv_, rel=library.tolerance)
    scale = float(np.abs(exact.kernel_.diag(Z)).max())
    values = to_numpy(found.evaluate(library.make(Z)))
    np.testing.assert_allclose(values, exact.evaluate(library.rounded(Z)), rtol=0, atol=close * scale)
    np.testing.assert_allclose(to_numpy(found.weights_), exact.weights_, rtol=library.tolerance)
    assert home(found.embedding_.points) == home(found.weights_) == home(library.make(X))


@pytest.mark.parametrize("library", LIBRARIES[:2])
@pytest.mark.parametrize("kernel", [kernels.Laplacian, kernels.Matern(1.5, 1.0)])
def test_a_search_by_values_finds_the_score_exactly_and_the_noise_to_its_tolerance(
    library: Library, kernel: Any, where: str
) -> None:
    """Values are flat at a minimum: what they tell of its place is known to half of their digits."""
    exact, found = _fits(lambda: km.KernelMean(kernel, noise="isotropic"), library)
    assert found.loocv_ == pytest.approx(exact.loocv_, rel=library.tolerance)
    half = 0.0 if where == "host" else 1e-6 if library.dtype == "float64" else 1e-3
    assert found.noise_.covariance == pytest.approx(exact.noise_.covariance, rel=half)


@pytest.mark.parametrize("library", LIBRARIES[:2])
@pytest.mark.parametrize("make", [km.MKME, km.MMKME], ids=["MKME", "MMKME"])
def test_more_rows_in_host_memory_than_a_device_leaves_there_have_the_parameters_of_numpy(
    library: Library, make: Any, where: str
) -> None:
    """To the last digit, while a search on a device ends within its tolerance of it: that of half the digits."""
    table = np.random.default_rng(3).normal(size=(1100, 2)) * [1.0, 2.0]
    narrow = make(bandwidth=0.2)  # so that no optimum is flat
    exact, found = clone(narrow).fit(library.rounded(table)), narrow.fit(library.make(table))
    half = 1e-6 if library.dtype == "float64" else 1e-2
    assert found.loocv_ == pytest.approx(exact.loocv_, rel=library.tolerance)
    close = 0.0 if where == "host" and DEVICE == "cpu" else half
    np.testing.assert_allclose(found.noise_.variances(2), exact.noise_.variances(2), rtol=close)


@pytest.mark.parametrize("library", LIBRARIES)
def test_densities_and_scores_are_those_of_numpy(library: Library) -> None:
    exact, found = _fits(lambda: km.KernelMean(bandwidth=0.3, noise="isotropic"), library)
    assert found.score(library.make(Z)) == pytest.approx(exact.score(library.rounded(Z)), rel=10 * library.tolerance)
    assert home(found.score_samples(library.make(Z))) == home(found.sample(3, 0)) == home(library.make(X))
    plain, ours = _fits(km.KME, library)
    assert ours.score(library.make(Z)) == pytest.approx(plain.score(library.rounded(Z)), rel=library.tolerance)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("spread", [1.0, 1e-3])
def test_sums_over_pairs_are_those_of_numpy_however_narrow_the_kernel(library: Library, spread: float) -> None:
    """Sums of 1e-300 and below are told apart by their logarithms."""
    A, B = library.rounded(X / spread), library.rounded(X[::-1] / spread)
    for other in (A, B):
        exact = loocv.pair_sum(A, other)
        own = library.make(X / spread)
        found = loocv.pair_sum(own, own if other is A else library.make(X[::-1] / spread))
        assert found.log == pytest.approx(exact.log, rel=library.tolerance)
        np.testing.assert_allclose(found.left, exact.left, rtol=library.tolerance)
        rounding = library.tolerance * float(exact.left.max())  # gaps are differences of squares
        np.testing.assert_allclose(found.gaps, exact.gaps, rtol=library.tolerance, atol=rounding)


@pytest.mark.parametrize("library", LIBRARIES)
def test_bad_data_are_refused_as_those_of_numpy_are(library: Library) -> None:
    with pytest.raises(ValueError, match="at least 2"):
        km.KME().fit(library.make(X[:1]))
    with pytest.raises(ValueError, match="NaN"):
        km.MKME().fit(library.make([[0.0], [np.nan]]))
    fitted = km.KME().fit(library.make(X))
    with pytest.raises(ValueError, match="1 column, KernelMean was fitted to 2"):
        fitted.evaluate(library.make(Z[:, :1]))
    with pytest.raises(TypeError, match="one library and device"):
        fitted.evaluate(Z)


@pytest.mark.parametrize("library", LIBRARIES)
def test_other_estimators_take_the_arrays_as_those_of_numpy(library: Library) -> None:
    exact = km.estimators.MedianOfMeans(n_blocks=3, random_state=0).fit(library.rounded(X))
    found = km.estimators.MedianOfMeans(n_blocks=3, random_state=0).fit(library.make(X))
    np.testing.assert_array_equal(found.weights_, exact.weights_)
