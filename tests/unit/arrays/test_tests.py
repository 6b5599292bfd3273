"""Permutation tests on arrays of other libraries: the statistics of NumPy under the same permutations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean import kernels
from kernelmean.core.array import is_foreign
from kernelmean.inference.permutation_groups import Rotations
from nulls import hsic_test, mmd_test

from .libraries import LIBRARIES, STRICT, TORCH, Library

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(83, 3)), RNG.normal(size=(68, 3)) * 1.2
W = 0.4 * X[:, :2] + RNG.normal(size=(83, 2))

TWO_SAMPLES: dict[str, dict[str, Any]] = {
    "default": {},
    "random": {"scheme": "random"},
    "binned rows": {"scheme": "binned rows"},
    "biased": {"statistic": "v", "kernel": kernels.Laplacian},
    "moments": {"kernel": kernels.Polynomial(2)},
    "a sum": {"kernel": kernels.Gaussian(1.0) + kernels.Linear()},
    "mkme": {"estimator": "mkme"},
    "mmkme": {"estimator": "mmkme", "scheme": "random"},
    "s-kmse": {"estimator": "s-kmse"},
    "f-kmse, fixed": {"estimator": km.estimators.FKMSE(strength=0.1), "n_resamples": 19},
    "f-kmse": {"estimator": "f-kmse", "n_resamples": 9},
    "adaptive": {"estimator": "adaptive"},
    **(BINS := {"bins": {"scheme": "bins"}, "one kernel in bins": {"estimator": "kme", "scheme": "bins"}}),
}
PAIRS: dict[str, dict[str, Any]] = {
    "default": {},
    "random": {"scheme": "random"},
    "rotations": {"scheme": "rotations", "n_resamples": 299},
    "unbiased": {"statistic": "u"},
    "two kernels": {"kernel": (kernels.Laplacian, "gaussian")},
    "mkme": {"estimator": "mkme"},
    "scose": {"estimator": "scose"},
    "fcose": {"estimator": "fcose", "n_resamples": 19},
    "adaptive": {"estimator": "adaptive"},
    **BINS,
}


def _agree(test: Any, library: Library, first: Any, second: Any, **options: Any) -> None:
    options = {"n_resamples": 99, "rng": 1, **options}
    exact = test(library.rounded(first), library.rounded(second), **options)
    found = test(library.make(first), library.make(second), **options)
    assert (found.scheme, found.kernel, found.notes, found.sizes) == (
        exact.scheme,
        exact.kernel,
        exact.notes,
        exact.sizes,
    )
    assert isinstance(found.statistic, float)
    assert type(found.null_distribution) is np.ndarray
    slack = library.tolerance * np.std(exact.null_distribution)
    if "adaptive" in options.values():  # in float64 whatever the type of the points
        slack = 1e-10
    assert found.statistic == pytest.approx(exact.statistic, abs=slack)
    np.testing.assert_allclose(found.null_distribution, exact.null_distribution, rtol=0, atol=slack)
    assert found.pvalue == exact.pvalue


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", TWO_SAMPLES.values(), ids=TWO_SAMPLES)
def test_two_samples_are_compared_as_numpy_does(library: Library, options: dict[str, Any]) -> None:
    _agree(mmd_test, library, X, Y, **options)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", PAIRS.values(), ids=PAIRS)
def test_dependence_is_tested_as_numpy_does(library: Library, options: dict[str, Any]) -> None:
    _agree(hsic_test, library, X, W, **options)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("options", BINS.values(), ids=BINS)
def test_bins_are_added_up_on_a_device_as_in_the_memory_of_the_host(
    library: Library, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("bins.reading", "units.unit_sums", "rotations.stripes"):
        monkeypatch.setattr(f"kernelmean.inference.{module}.in_host_memory", lambda rows: not is_foreign(rows))
    _agree(mmd_test, library, X, Y, **options)
    _agree(hsic_test, library, X, W, **options)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kernel", [None, (kernels.Laplacian, "gaussian")], ids=["on factors", "on tiles"])
def test_blocks_that_turn_and_rows_that_do_not(library: Library, kernel: Any) -> None:
    """307 rows are a block or more, and a rest."""
    rng = np.random.default_rng(5)
    A = rng.normal(size=(307, 1))
    assert Rotations.draw(307, 400, np.random.default_rng(0)).rest.stop > 300
    _agree(hsic_test, library, A, A**2 + rng.normal(size=A.shape), kernel=kernel, scheme="rotations", n_resamples=400)


@pytest.mark.parametrize("library", LIBRARIES)
def test_ties_of_discrete_data_count_whatever_the_precision(library: Library) -> None:
    """Rounding to float32 would break them, in an order that follows the rows."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        A, B = rng.integers(0, 3, size=(5, 2)) / 3.0, rng.integers(0, 3, size=(4, 2)) / 3.0
        C = rng.integers(0, 2, size=(5, 1)) / 3.0
        for test, pair in ((mmd_test, (A, B)), (hsic_test, (A, C))):
            exact = test(*pair, kernel=kernels.Gaussian(0.7))
            assert test(*map(library.make, pair), kernel=kernels.Gaussian(0.7)).pvalue == exact.pvalue


@pytest.mark.parametrize("library", LIBRARIES)
def test_default_schemes_of_any_size_run_where_the_points_live(library: Library) -> None:
    rng = np.random.default_rng(3)
    how, long = {"rng": 0, "estimator": "kme"}, rng.normal(size=(2, 550, 1))
    for name, (A, B) in {
        "exact": (X[:4], Y[:5]),
        "random": (X[:50], Y[:50]),
        "rotations": (X, Y),
        "bins": long,
    }.items():
        assert mmd_test(library.make(A), library.make(B), n_resamples=199, **how).scheme == name
    for n, name in ((5, "exact"), (32, "random"), (83, "rotations")):
        assert hsic_test(library.make(X[:n]), library.make(W[:n]), n_resamples=199, **how).scheme == name


@pytest.mark.parametrize("library", [TORCH, STRICT])
def test_what_does_not_run_there_says_what_to_pass(library: Library) -> None:
    A, B = library.make(X), library.make(Y)
    with pytest.raises(TypeError, match="strata, clusters and weights need NumPy's arrays"):
        mmd_test(A, B, design=km.Design(strata=(np.zeros(83), np.zeros(68))), estimator="kme")
    with pytest.raises(TypeError, match="strata, clusters and weights need NumPy's arrays"):
        hsic_test(A, A, design=km.Design(clusters=np.arange(83)), estimator="kme")
    with pytest.raises(TypeError, match="bring both to one library and device"):
        mmd_test(A, Y, estimator="kme")
    with pytest.raises(TypeError, match="bring both to one library and device"):
        hsic_test(X, A, estimator="kme")
    with pytest.raises(ValueError, match="columns"):
        mmd_test(A, library.make(W), estimator="kme")
    with pytest.raises(ValueError, match="83 rows and Y has 68"):
        hsic_test(A, B, estimator="kme")


@pytest.mark.parametrize("library", [TORCH, STRICT])
def test_other_tests_take_the_arrays_as_those_of_numpy(library: Library) -> None:
    exact = km.k_sample_test(X, Y, rng=0, n_resamples=99, estimator="kme")
    assert (
        km.k_sample_test(library.make(X), library.make(Y), rng=0, n_resamples=99, estimator="kme").pvalue
        == exact.pvalue
    )


def test_tiles_stay_within_the_memory_of_the_call() -> None:
    xp = pytest.importorskip("array_api_strict")
    sizes: list[int] = []

    class Watched(kernels.Gaussian):
        def blocks(self, X: Any, Y: Any) -> Any:
            inner = super().blocks(X, Y)

            def block(i: slice, j: slice) -> Any:
                tile = inner(i, j)
                sizes.append(8 * tile.shape[0] * tile.shape[1])
                return tile

            return block

    points = [xp.asarray(Z, device=xp.Device("device1")) for Z in RNG.normal(size=(2, 1000, 2))]
    mmd_test(*points, kernel=Watched(1.0), scheme="random", n_resamples=9, plan=km.Plan(threads=1, memory=2**23), rng=0)
    assert max(sizes) <= 2**22
    assert len(sizes) > 3
