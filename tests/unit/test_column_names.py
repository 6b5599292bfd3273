"""Columns with names are matched by name, whatever these are; columns of arrays have none, and keep their places."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import explained
import in_bins
import kernelmean as km
from checkered import checkered, mostly_slow
from in_batches import in_batches

KERNEL = km.kernels.Gaussian(2.0)
rng = np.random.default_rng(0)
LAW = {"x0": 0.0, "x1": 10.0}
A, B = (pd.DataFrame({name: rng.normal(mean, 1.0, 40) for name, mean in LAW.items()}) for _ in range(2))
PLACES = pd.DataFrame({"x0": [0.0, 1.0], "x1": [9.0, 10.0]})


def pvalue(test: Callable[..., Any], **options: Any) -> Callable[[Any, Any], Any]:
    return lambda X, Y: test(X, Y, **options).pvalue


def monitored(X: Any, Y: Any) -> Any:
    return km.DriftMonitor(X, seed=0).update(Y).log_wealth


def encoded(X: Any, Y: Any) -> Any:
    encoder = km.TableEncoder().fit_tables(X, Y)
    return encoder.transform(X).mean(axis=0) - encoder.transform(Y).mean(axis=0)


def attributed(X: Any, Y: Any) -> Any:
    return sorted((each.name, each.pvalue) for each in explained.attribute(X, Y, n_resamples=19, rng=0).columns)


GROUPS = np.repeat([0, 1], 20)
TESTS: dict[str, Callable[[Any, Any], Any]] = {
    "mmd_test": pvalue(km.mmd_test, n_resamples=99, rng=0),
    "mmd_test of strata": pvalue(km.mmd_test, design=km.Design(strata=(GROUPS, GROUPS)), n_resamples=99, rng=0),
    "mmd_test of weights": pvalue(
        km.mmd_test, design=km.Design(weights=(1.0 + GROUPS, 2.0 - GROUPS)), n_resamples=99, rng=0
    ),
    "mmd_test, adaptive": pvalue(km.mmd_test, estimator="adaptive", n_resamples=99, rng=0),
    "mmd_test, s-kmse": pvalue(km.mmd_test, estimator="s-kmse", n_resamples=99, rng=0),
    "k_sample_test": lambda X, Y: km.k_sample_test(X, Y, A, n_resamples=99, rng=0, estimator="kme").pvalue,
    "mmd_test of pairs": pvalue(km.mmd_test, design=km.Design(paired=True), n_resamples=99, rng=0),
    "mmd_test of series": pvalue(km.mmd_test, design=km.Design(series=2.0), n_resamples=99, rng=0),
    "mmd_test in bins": pvalue(in_bins.mmd, kernel=KERNEL, n_resamples=99),
    "compare": lambda X, Y: km.compare(X, Y, n_resamples=99).test.pvalue,
    "compare in batches": lambda X, Y: in_batches(X, Y, n_resamples=99).test.statistic,
    "attribute": attributed,
    "effect_size": lambda X, Y: explained.effect_size(X, Y, n_resamples=99, rng=0).statistic,
    "equivalence_test": pvalue(explained.equivalence_test, margin=0.9, n_resamples=99, rng=0),
    "contributions": lambda X, Y: explained.contributions(X, Y).statistic,
    "witness": lambda X, Y: explained.witness(X, Y)(PLACES),
    "witness, f-kmse": lambda X, Y: explained.witness(X, Y, estimator="f-kmse")(PLACES),
    "witness_bands": lambda X, Y: explained.witness_bands(X, Y, PLACES, n_resamples=99, rng=0).adjusted,
    "DriftMonitor": monitored,
    "TableEncoder": encoded,
    "expected": lambda X, Y: km.expected(KERNEL, X, Y).mean(),
}
POINTS: dict[str, Callable[[Any, Any], Any]] = {
    "embed": lambda X, Y: km.embed(X, KERNEL)(Y),
    "fit_embedding": lambda X, Y: [
        trial.score
        for trial in km.KernelMeanMatching(2, random_state=0).fit_embedding(km.embed(X, KERNEL), X_val=Y).trials_
    ],
}
BY_NAME = {**TESTS, **POINTS}
IN_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    "mu @ nu": lambda X, Y: km.embed(X, KERNEL) @ km.embed(Y, KERNEL),
    "mu - nu": lambda X, Y: (km.embed(X, KERNEL) - km.embed(Y, KERNEL)).norm(),
    "embedding_": lambda X, Y: km.KME(KERNEL).fit(X).embedding_ @ km.KME(KERNEL).fit(Y).embedding_,
    "score_samples": lambda X, Y: km.KernelMean(KERNEL, noise=km.noise.Normal(1.0)).fit(X).evaluate(Y),
    "KernelMeanMatching": lambda X, Y: km.KernelMeanMatching(2, random_state=0, max_iter=3).fit(X).score(Y),
}
THREE = ("k_sample_test",)  # the third table has names as well
MOVED = {"B reordered": (A, B[["x1", "x0"]]), "A reordered": (A[["x1", "x0"]], B)}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("moved", "name"), checkered(list(MOVED), list(BY_NAME)))
def test_columns_are_matched_by_name_although_they_are_called_x0_and_x1(name: str, moved: str) -> None:
    function = BY_NAME[name]
    expected = function(A, B)
    found = function(*MOVED[moved])
    if name == "compare in batches":  # the waves are drawn by column
        assert np.abs(found - expected) < 0.1
    elif moved == "A reordered" and name in ("TableEncoder",):
        np.testing.assert_allclose(found, expected[::-1], rtol=1e-9)
    elif moved == "A reordered" and name in ("DriftMonitor", "fit_embedding"):
        assert np.all(np.isfinite(found))
        np.testing.assert_allclose(found, function(A[["x1", "x0"]], B[["x1", "x0"]]), rtol=1e-9)
    elif name == "attribute":
        assert found == expected
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6)  # λ of f-kmse is searched


@pytest.mark.parametrize("moved", MOVED)
@pytest.mark.parametrize("name", IN_ORDER)
def test_columns_in_another_order_are_refused_where_nothing_moves_them(name: str, moved: str) -> None:
    IN_ORDER[name](A, B)
    with pytest.raises(ValueError, match=r"(?i)order"):
        IN_ORDER[name](*MOVED[moved])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", {**BY_NAME, **IN_ORDER})
def test_other_names_are_refused_although_one_table_has_those_that_arrays_get(name: str) -> None:
    function = {**BY_NAME, **IN_ORDER}[name]
    other = B.rename(columns={"x0": "age", "x1": "income"})
    for X, Y in ((A, other), (other, A)):
        with pytest.raises(ValueError, match=r"column|feature names"):
            function(X, Y)
    with pytest.raises(ValueError, match=r"column|feature"):
        function(A, B.assign(age=1.0))


@pytest.mark.filterwarnings(
    "ignore:X does not have valid feature names", "ignore::sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("name", [name for name in {**BY_NAME, **IN_ORDER} if name not in ("TableEncoder", *THREE)])
def test_an_array_has_no_names_and_is_matched_by_position(name: str) -> None:
    function = {**BY_NAME, **IN_ORDER}[name]
    named = A.rename(columns={"x0": "age", "x1": "income"})
    places = "witness" in name
    if places:
        return  # whose points have names here, see below
    for first in (A, named):
        if name == "attribute":
            assert [p for _, p in function(first, B.to_numpy())] == [p for _, p in function(A, B)]
        else:
            np.testing.assert_allclose(function(first, B.to_numpy()), function(A, B), rtol=1e-9)


def test_a_table_encoder_that_was_fitted_to_a_table_refuses_an_array() -> None:
    encoder = km.TableEncoder().fit(A)
    with pytest.raises(ValueError, match="without column names"):
        encoder.transform(B.to_numpy())


def test_labels_that_are_numbers_are_names() -> None:
    """``pandas.DataFrame(array)`` calls its columns 0, 1, …: those of two such tables are matched as any others."""
    first, second = pd.DataFrame(A.to_numpy()), pd.DataFrame(B.to_numpy())
    assert (
        km.mmd_test(first, second[[1, 0]], rng=0, estimator="kme").pvalue
        == km.mmd_test(A, B, rng=0, estimator="kme").pvalue
    )
    estimator = km.KME(KERNEL).fit(first)
    np.testing.assert_array_equal(estimator.evaluate(second), km.KME(KERNEL).fit(A).evaluate(B))
    np.testing.assert_array_equal(estimator.evaluate(B.to_numpy()), estimator.evaluate(second))
    with pytest.raises(ValueError, match=r"columns of X are \(1, 0\), KernelMean was fitted to \(0, 1\)"):
        estimator.evaluate(second[[1, 0]])
    assert km.KME(KERNEL).fit(second[[1, 0]]).evaluate(first[[1, 0]]).shape == (40,)


def test_labels_of_mixed_types_are_names_and_equal_ones_are_refused() -> None:
    mixed = [pd.DataFrame(table.to_numpy(), columns=["a", 0]) for table in (A, B)]
    assert (
        km.mmd_test(mixed[0], mixed[1][[0, "a"]], rng=0, estimator="kme").pvalue
        == km.mmd_test(A, B, rng=0, estimator="kme").pvalue
    )
    for columns in (["a", "a"], ["0", 0], ["a", " a"]):
        twice = pd.DataFrame(A.to_numpy(), columns=columns)
        for call in (
            lambda t: km.mmd_test(t, t, estimator="kme"),
            lambda t: km.compare(t, t),
            lambda t: km.embed(t, KERNEL),
        ):
            with pytest.raises(ValueError, match="twice"):
                call(twice)


def test_batches_of_an_iterable_either_all_have_names_or_none() -> None:
    with pytest.raises(ValueError, match="array without names"):
        list(km.read(iter([A, B.to_numpy()])))
    batches = list(km.read(iter([A, B[["x1", "x0"]]])))
    np.testing.assert_array_equal(batches[1], B.to_numpy())


COLUMN = A[["x0"]].to_numpy(), B[["x0"]].to_numpy()


@cache
def of_one_column(name: str) -> Any:
    """Return what a function finds in arrays of one column."""
    return {**BY_NAME, **IN_ORDER}[name](*COLUMN)


SERIES = {
    "pandas": lambda cells, name: pd.Series(cells, name=name),
    "polars": lambda cells, name: pl.Series(name, cells),
    "an Arrow array": lambda cells, _: pa.array(cells),
    "chunks of Arrow": lambda cells, _: pa.chunked_array([cells[:5], cells[5:]]),
    "pandas without a name": lambda cells, _: pd.Series(cells),
}


@pytest.mark.filterwarnings("ignore:θ² is")
@pytest.mark.parametrize("kind", mostly_slow(SERIES, "pandas", "polars", "chunks of Arrow"))
def test_a_series_is_one_column(kind: str) -> None:
    """Wherever arrays are taken; with its name, which need not be that of another Series."""
    x, y = COLUMN
    X, Y = SERIES[kind](x[:, 0], "before"), SERIES[kind](y[:, 0], "after")
    for name, function in {**BY_NAME, **IN_ORDER}.items():
        if "witness" in name or name == "k_sample_test" or (name == "KernelMeanMatching" and "pandas" in kind):
            continue
        if name in ("score_samples", "KernelMeanMatching", "embedding_"):  # scikit-learn wants the name of the fit
            Y = SERIES[kind](y[:, 0], "before")
        if name == "attribute":
            assert function(X, Y)[0][1] == function(x, y)[0][1]
            continue
        np.testing.assert_allclose(function(X, Y), of_one_column(name), rtol=1e-9, err_msg=name)
    named = "x0" if "Arrow" in kind or "without" in kind else "before"
    assert [column.name for column in km.compare(X, Y, n_resamples=19).columns] == [named]
    assert explained.witness(X, Y)(Y).shape == (40,)
    for test in (km.hsic_test, km.dhsic_test):
        assert test(X, Y, rng=0).pvalue == test(x, y, rng=0).pvalue
    assert in_bins.hsic(X, Y, kernel=KERNEL).pvalue == in_bins.hsic(x, y, kernel=KERNEL).pvalue
    assert km.median_bandwidth(X) == km.median_bandwidth(x)
    assert getattr(km.KME().fit(X), "feature_names_in_", [named])[0] == named
