"""The transformer is a scikit-learn citizen, and refuses what it did not see."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

import kernelmean as km

FRAME = pd.DataFrame({"dose": [1.0, 2.0, 4.0, 5.0], "arm": ["a", "b", "c", "b"]}, index=[7, 8, 9, 10])


@parametrize_with_checks([km.TableEncoder(), km.TableEncoder(missing="category", scale=False)])
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    name = getattr(check, "func", check).__name__
    if name == "check_positive_only_tag_during_fit" and parse_version(sklearn.__version__) < parse_version("1.7"):
        pytest.skip("this check subtracts a mean from integers, which NumPy refuses")
    check(estimator)


def test_parameters_survive_cloning_and_pickling() -> None:
    encoder = km.TableEncoder(missing={"dose": "noise"}, ordinal={"arm": ["a", "b", "c"]}, max_categories=9)
    assert clone(encoder).get_params() == encoder.get_params()
    fitted = pickle.loads(pickle.dumps(encoder.fit(FRAME)))
    np.testing.assert_array_equal(fitted.transform(FRAME), encoder.transform(FRAME))


def test_output_is_the_data_frame_that_was_asked_for() -> None:
    encoder = km.TableEncoder().fit(FRAME)
    plain = encoder.transform(FRAME)
    in_pandas = clone(encoder).set_output(transform="pandas").fit_transform(FRAME)
    in_polars = clone(encoder).set_output(transform="polars").fit_transform(pl.from_pandas(FRAME))
    assert list(in_pandas.columns) == in_polars.columns == ["dose", "arm=a", "arm=b", "arm=c"]
    assert list(in_pandas.index) == [7, 8, 9, 10]
    np.testing.assert_array_equal(in_pandas, plain)
    np.testing.assert_array_equal(in_polars, plain)


def test_a_pipeline_goes_from_mixed_columns_to_a_kernel_mean() -> None:
    pipeline = make_pipeline(km.TableEncoder(), km.MKME(bandwidth=1.0)).fit(FRAME)
    assert pipeline[-1].embedding_.points.shape == (4, 4)
    assert pipeline[:-1].get_feature_names_out().tolist() == ["dose", "arm=a", "arm=b", "arm=c"]


def test_several_tables_are_fitted_as_one() -> None:
    parts, whole = km.TableEncoder().fit_tables(FRAME[:1], FRAME[1:]), km.TableEncoder().fit(FRAME)
    assert parts.n_rows_ == whole.n_rows_ == 4
    np.testing.assert_array_equal(parts.transform(FRAME), whole.transform(FRAME))


def test_columns_are_found_by_name() -> None:
    encoder = km.TableEncoder().fit(FRAME)
    np.testing.assert_array_equal(encoder.transform(FRAME[["arm", "dose"]]), encoder.transform(FRAME))


def test_arrays_have_numbered_columns_and_nan_for_missing() -> None:
    X = np.array([[1.0, 5.0], [3.0, np.nan], [2.0, 7.0]])
    encoder = km.TableEncoder(missing="category").fit(X)
    assert encoder.get_feature_names_out().tolist() == ["x0", "x1", "x1 is missing"]
    assert encoder.transform(X)[1, 1:] == pytest.approx([6.0, np.sqrt(1.5)])


def test_constant_columns_keep_their_coordinate() -> None:
    frame = pd.DataFrame({"a": [2.0, 2.0], "b": ["x", "x"], "c": [0.0, 4.0]})
    encoder = km.TableEncoder().fit(frame)
    assert encoder.transform(frame).tolist() == [[2.0, 0.0, 0.0], [2.0, 0.0, 2.0]]
    assert encoder.groups_ == {"a": (0,), "b": (1,), "c": (2,)}


def test_noise_of_cells_that_only_later_are_missing() -> None:
    encoder = km.TableEncoder(missing="noise").fit(FRAME[["dose"]])
    later = pd.DataFrame({"dose": [np.nan, 2.0]})
    assert encoder.noise(later).variances(1).ravel().tolist() == [1.0, 0.0]
    assert encoder.transform(later)[0, 0] == pytest.approx(3.0 / FRAME["dose"].std(ddof=0))


@pytest.mark.parametrize(
    ("table", "text"),
    [
        (FRAME.assign(arm="z"), "column 'arm' holds 'z', which the tables that were fitted did not"),
        (FRAME.assign(arm=None), "column 'arm' has missing cells, which the tables that were fitted did not"),
        (FRAME.assign(dose=np.nan), "column 'dose' has missing cells, which the tables that were fitted did not"),
        (FRAME[["dose"]], "only in the table that was fitted: arm"),
        (FRAME.assign(more=1.0), "only in X: more"),
        (FRAME[["dose"]].to_numpy(), "ndarray without column names"),
    ],
)
def test_what_was_not_fitted_is_refused(table: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        km.TableEncoder(missing="category").fit(FRAME).transform(table)


def test_other_types_than_those_fitted_are_refused() -> None:
    encoder = km.TableEncoder().fit(FRAME)
    with pytest.raises(ValueError, match="column 'dose' is numeric in the table that was fitted, and categorical in X"):
        encoder.transform(FRAME.assign(dose="x"))
    with pytest.raises(ValueError, match="column 'arm' is categorical in the table that was fitted, and numeric in X"):
        encoder.transform(FRAME.assign(arm=1.0))


@pytest.mark.parametrize("missing", ["drop", {"dose": "drop"}])
def test_a_transformer_leaves_no_rows_out(missing: Any) -> None:
    with pytest.raises(ValueError, match="returns as many rows as it takes"):
        km.TableEncoder(missing=missing).fit(FRAME)


def test_no_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"write fit_tables\(A, B\)"):
        km.TableEncoder().fit_tables()
