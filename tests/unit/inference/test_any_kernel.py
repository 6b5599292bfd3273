"""Kernels of any kind: functions and Gram matrices give the numbers of the class, and what they lack is refused."""

from collections.abc import Callable
from typing import Any

import array_api_strict as strict
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import kernelmean as km
from kernelmean.estimators import FKMSE, KME, MKME, SKMSE, MedianOfMeans
from kernelmean.kernels import Gaussian, KernelFunction, Precomputed

rng = np.random.default_rng(0)
X, Y, Z = rng.normal(size=(24, 2)), rng.normal(0.4, 1.2, size=(31, 2)), rng.normal(size=(20, 2))
SAME = rng.normal(0.3, 1.0, size=(24, 2))
KERNEL = Gaussian(1.25)
CLASS = KME(KERNEL)


def function(X: Any, Y: Any) -> Any:
    """The same kernel, as scikit-learn computes it."""
    return rbf_kernel(X, Y, gamma=0.32)


def gram(*samples: Any) -> Any:
    rows = np.vstack(samples)
    return KERNEL(rows, rows)


def rows_of_gram(*samples: Any) -> list[Any]:
    return np.split(gram(*samples), np.cumsum([len(sample) for sample in samples])[:-1])


def pairs(test: Callable[..., Any], *tables: Any, joint: bool, **options: Any) -> list[Any]:
    matrices = rows_of_gram(*tables) if joint else [gram(table) for table in tables]
    return [
        test(*tables, kernel=KERNEL, rng=0, **options),
        test(*tables, kernel=function, rng=0, **options),
        test(*matrices, kernel="precomputed", rng=0, **options),
    ]


STRATA = km.Design(strata=(np.arange(24) % 2, np.arange(31) % 2), weights=(np.arange(1.0, 25.0), np.ones(31)))
TESTS: dict[str, Callable[[], list[Any]]] = {
    "two samples": lambda: pairs(km.mmd_test, X, Y, joint=True),
    "two samples, larger first": lambda: pairs(km.mmd_test, Y, X, joint=True, statistic="v", scheme="random"),
    "few rows": lambda: pairs(km.mmd_test, X[:3], Y[:4], joint=True),
    "strata and weights": lambda: pairs(km.mmd_test, X, Y, joint=True, design=STRATA),
    "pairs": lambda: pairs(km.mmd_test, X, SAME, joint=True, design=km.Design(paired=True)),
    "several samples": lambda: pairs(km.k_sample_test, X, Y, Z, joint=True),
    "independence": lambda: pairs(km.hsic_test, X, SAME + X, joint=False),
    "independence, unbiased": lambda: pairs(km.hsic_test, X, SAME + X, joint=False, statistic="u"),
    "series": lambda: pairs(km.hsic_test, X, SAME + X, joint=False, design=km.Design(series=5)),
    "joint independence": lambda: pairs(km.dhsic_test, X, SAME, X + SAME, joint=False, n_resamples=99),
}


@pytest.mark.parametrize("name", TESTS)
def test_functions_and_matrices_give_the_numbers_of_the_class(name: str) -> None:
    first, *others = TESTS[name]()
    for other in others:
        assert other.statistic == pytest.approx(first.statistic, rel=1e-12, abs=1e-15)
        assert other.pvalue == first.pvalue
        np.testing.assert_allclose(other.null_distribution, first.null_distribution, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("shrunk", [SKMSE, FKMSE])
def test_so_do_tests_of_shrunk_means(shrunk: Callable[..., Any]) -> None:
    first, *others = (
        km.mmd_test(*tables, estimator=shrunk(kernel), rng=0, n_resamples=99)
        for tables, kernel in (((X, Y), KERNEL), ((X, Y), function), (rows_of_gram(X, Y), "precomputed"))
    )
    for other in others:
        assert other.statistic == pytest.approx(first.statistic, rel=1e-12)
        assert other.pvalue == first.pvalue


def test_one_variable_may_have_a_matrix() -> None:
    first = km.hsic_test(X, SAME, kernel=(KERNEL, Gaussian(2.0)), rng=0)
    second = km.hsic_test(gram(X), SAME, kernel=("precomputed", Gaussian(2.0)), rng=0)
    assert (second.statistic, second.pvalue) == (pytest.approx(first.statistic, rel=1e-12), first.pvalue)


@pytest.mark.parametrize("make", [KME, SKMSE, lambda kernel: FKMSE(kernel, strength=0.1)])
def test_estimators_give_the_numbers_of_the_class(make: Callable[..., Any]) -> None:
    first, other, third = make(KERNEL).fit(X), make(function).fit(X), make("precomputed").fit(gram(X))
    for estimate, values in ((other, other.evaluate(Y)), (third, third.evaluate(KERNEL(Y, X)))):
        np.testing.assert_allclose(estimate.weights_, first.weights_, rtol=1e-12)
        np.testing.assert_allclose(values, first.evaluate(Y), rtol=1e-12)
        assert estimate.loocv_ == pytest.approx(first.loocv_, rel=1e-12)
    framed = make("precomputed").fit(pd.DataFrame(gram(X)).add_prefix("row "))
    assert (framed.embedding_.norm(), framed.n_features_in_) == (third.embedding_.norm(), 24)


def test_swapping_samples_of_a_matrix_changes_nothing() -> None:
    swapped = [km.mmd_test(*rows_of_gram(*both), kernel="precomputed", rng=0) for both in ((X, SAME), (SAME, X))]
    assert swapped[0].pvalue == swapped[1].pvalue
    assert swapped[0].statistic == pytest.approx(swapped[1].statistic, rel=1e-12)


def test_results_of_matrices_explain_what_needs_no_columns() -> None:
    first, matrix = (km.mmd_test(*tables, kernel=kernel, rng=0) for tables, kernel in _classes())
    assert matrix.effect_size(rng=0).distance.value == pytest.approx(first.effect_size(rng=0).distance.value, rel=1e-12)
    np.testing.assert_allclose(matrix.contributions().values, first.contributions().values, atol=1e-14)
    for verb in (matrix.witness, matrix.attribute):
        with pytest.raises(ValueError, match="Gram matrix, which knows no columns"):
            verb()


def _classes() -> list[tuple[list[Any], Any]]:
    return [([X, Y], KERNEL), (rows_of_gram(X, Y), "precomputed")]


def test_functions_see_numpy_arrays_wherever_the_rows_are() -> None:
    here = km.mmd_test(X, Y, kernel=function, rng=0)
    there = km.mmd_test(strict.asarray(X), strict.asarray(Y), kernel=function, rng=0)
    assert (there.statistic, there.pvalue) == (pytest.approx(here.statistic, rel=1e-12), here.pvalue)
    np.testing.assert_allclose(KernelFunction(function).diag(np.tile(X, (3, 1))), 1.0)


def test_functions_change_no_rows_and_may_fill_one_array() -> None:
    held, before = np.empty((99, 99)), X.copy()

    def filled(A: Any, B: Any) -> Any:
        held[: len(A), : len(B)] = function(A, B)
        return held[: len(A), : len(B)]

    def greedy(A: Any, B: Any) -> Any:
        gram = function(A, B)
        A *= 0.0
        return gram

    design = km.Design(paired=True)
    first, again = (km.mmd_test(X, SAME, kernel=own, design=design, rng=0) for own in (filled, function))
    assert (first.statistic, first.pvalue) == (again.statistic, again.pvalue)
    np.testing.assert_array_equal(KME(greedy).fit(X).evaluate(Y), KME(function).fit(X).evaluate(Y))
    np.testing.assert_array_equal(X, before)


def test_kernels_of_any_kind_are_values() -> None:
    matrix, kernel = (gram(X) + gram(X).T) / 2, Precomputed(gram(X))
    assert (repr(kernel), repr(KernelFunction(function))) == ("Precomputed(24 rows)", "KernelFunction(function)")
    assert KernelFunction(function) == KernelFunction(function)
    assert (0.5 * KernelFunction(function) + KERNEL)(X, Y) == pytest.approx(1.5 * KERNEL(X, Y), rel=1e-12)
    before = matrix.copy()
    held = Precomputed(matrix)
    matrix[:] = 0.0
    np.testing.assert_array_equal(held.gram, before)
    some = np.array([[3.0], [5.0]])
    np.testing.assert_array_equal(held.blocks(some, held.rows)(slice(1, 2), slice(0, 3)), before[5:6, :3])
    assert (km.embed(some, kernel) - km.embed(some, kernel)).norm() == 0.0
    assert km.embed(X, function).norm() == pytest.approx(km.embed(X, KERNEL).norm(), rel=1e-12)


@pytest.mark.parametrize(("kernel", "rows"), [("precomputed", gram(X)), (function, X)])
def test_files_hold_neither(kernel: Any, rows: Any, tmp_path: Any) -> None:
    for value in (KME(kernel).fit(rows), KME(kernel).fit(rows).embedding_):
        with pytest.raises(TypeError, match="no functions and no Gram matrices"):
            km.save(value, tmp_path / "a.npz")


def _changed(i: int, j: int, value: float, *, both: bool = True) -> Any:
    matrix = gram(X)
    matrix[i, j] = value
    if both:
        matrix[j, i] = value
    return matrix


NOT_SYMMETRIC = np.array([[1.0, 1.0], [0.0, 1.0]])
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "rows instead of matrices": (lambda: km.mmd_test(X, Y, kernel="precomputed"), r"rows: mmd_test\(K\[:n\], K\[n:\]"),
    "two matrices": (lambda: km.mmd_test(gram(X), gram(Y), kernel="precomputed"), r"\(24, 24\), \(31, 31\)"),
    "not square": (lambda: km.hsic_test(X, X, kernel="precomputed"), r"the Gram matrix has shape \(24, 2\)"),
    "not finite": (lambda: KME("precomputed").fit(_changed(1, 2, np.nan)), "NaN"),
    "asymmetric": (lambda: KME("precomputed").fit(_changed(1, 2, 0.0, both=False)), "not symmetric: entry"),
    "indefinite": (lambda: KME("precomputed").fit(_changed(1, 2, 3.0)), "not positive semi-definite"),
    "distances": (lambda: KME("precomputed").fit(np.abs(X[:, :1] - X[:, 0])), "pass exp"),
    "bins": (lambda: km.mmd_test(*rows_of_gram(X, Y), kernel="precomputed", scheme="bins"), "without scheme='bins'"),
    "a noise": (lambda: MKME("precomputed").fit(gram(X)), "no points to add it to"),
    "a bandwidth": (lambda: KME("precomputed", bandwidth=1.0).fit(gram(X)), "leave bandwidth= out"),
    "another estimator": (lambda: MedianOfMeans("precomputed").fit(gram(X)), "tests and KernelMean take"),
    "new points": (lambda: Precomputed(gram(X))(X, X), "numbers, 0 to 23"),
    "a sample": (lambda: KME("precomputed").fit(gram(X)).sample(), "Gram matrix"),
    "a shape": (lambda: km.mmd_test(X, Y, kernel=lambda X, Y: X @ Y[0]), r"returns shape \(55,\)"),
    "nan": (lambda: km.embed(X, lambda X, Y: X @ Y.T + np.nan), "NaN"),
    "an asymmetric function": (lambda: km.mmd_test(X, Y, kernel=lambda X, Y: X @ NOT_SYMMETRIC @ Y.T), "not symmetric"),
    "an indefinite function": (lambda: KME(lambda X, Y: -(X @ Y.T)).fit(X), "not positive semi-definite"),
    "text": (lambda: km.mmd_test(X, Y, kernel=lambda X, Y: "high"), "numbers is needed"),
    "a class": (lambda: KernelFunction(Gaussian), "a function of two arrays"),  # type: ignore[arg-type]
    "a closed form": (lambda: km.embed(X, function, noise=km.noise.Normal(1.0)).norm(), "no closed form"),
    "a noise that is searched": (lambda: km.mmd_test(X, Y, estimator=MKME(function), rng=0), "by closed forms"),
    "matching": (lambda: km.KernelMeanMatching(kernel=function, update="weights").fit(X), "kernels.Gaussian"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_no_kernel_or_needs_more_is_refused(what: str) -> None:
    call, words = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=words):
        call()


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_matrices_have_p_1(value: float) -> None:
    assert km.mmd_test(np.full((3, 7), value), np.full((4, 7), value), kernel="precomputed").pvalue == 1.0


def test_one_row_needs_the_v_statistic() -> None:
    one, others = rows_of_gram(X[:1], Y[:4])
    with pytest.raises(ValueError, match="1 "):
        km.mmd_test(one, others, kernel="precomputed")
    assert km.mmd_test(one, others, kernel="precomputed", statistic="v").n_resamples == 4
