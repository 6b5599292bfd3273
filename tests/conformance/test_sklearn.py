"""The estimators are scikit-learn citizens: all of its checks, searches, pipelines, data frames."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelmean.density import KernelMeanMatching
from kernelmean.estimators import (
    FKMSE,
    KME,
    MKME,
    MMKME,
    SKMSE,
    VPMKME,
    BayesianKernelMean,
    KernelMean,
    Landweber,
    MedianOfMeans,
)
from kernelmean.noise import Normal

ESTIMATORS = [
    KME(),
    SKMSE(),
    FKMSE(),
    MKME(),
    MMKME(),
    VPMKME(),
    *(kind(features=8) for kind in (KME, FKMSE, MMKME)),
    KernelMean(noise="full", filter="scale"),
    KernelMean(noise=Normal(0.1), filter=Landweber()),
    BayesianKernelMean(),
    MedianOfMeans(n_blocks=3, random_state=0),
]
ALIKE = [kind(features=8) for kind in (SKMSE, MKME, VPMKME)]
"""Go the same way as those with features above: a sum, with a damped one between, or with noise."""


# the checks score densities at the default bandwidth, which is what the warning is about
@pytest.mark.filterwarnings("ignore:θ² is:UserWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:θ² is:UserWarning")
@parametrize_with_checks(ALIKE)
def test_scikit_learn_checks_of_those_alike(estimator, check):
    check(estimator)


def sample(n=40, dim=3):
    return np.random.default_rng(0).normal(size=(n, dim))


def test_grid_search_over_the_bandwidth_of_a_density():
    search = GridSearchCV(MMKME(), {"bandwidth": [0.05, 0.2]}, cv=3).fit(sample())
    assert search.best_params_["bandwidth"] in (0.05, 0.2)
    assert np.isfinite(search.best_score_)


def test_grid_search_over_the_strength_of_a_shrinkage():
    search = GridSearchCV(FKMSE(bandwidth=2.0), {"strength": [1e-3, 0.3, 1e4]}, cv=4).fit(sample())
    assert search.best_params_["strength"] == 0.3
    assert search.best_score_ < 0


def test_the_last_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MMKME(bandwidth="likelihood")).fit(sample())
    assert pipeline.score_samples(sample()).shape == (40,)
    assert np.isfinite(pipeline.score(sample()))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_carry_their_names(frame):
    table = frame({"a": sample()[:, 0], "b": sample()[:, 1]})
    fitted = MKME().fit(table)
    assert list(fitted.feature_names_in_) == ["a", "b"]
    assert fitted.evaluate(table).shape == (40,)
    with pytest.raises(ValueError, match="feature names"):
        fitted.evaluate(frame({"b": sample()[:, 0], "a": sample()[:, 1]}))


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *ALIKE], ids=repr)
def test_clone_and_pickle(estimator):
    fitted = clone(estimator).fit(sample())
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.weights_, fitted.weights_)
    assert copy.noise_ == fitted.noise_
    assert clone(fitted).get_params() == estimator.get_params()


@pytest.mark.parametrize("bad", [np.full((5, 2), np.nan), np.zeros((5, 0)), np.zeros((1, 2)), np.array([["a"], ["b"]])])
def test_bad_input_is_refused(bad):
    with pytest.raises((ValueError, TypeError)):
        MMKME().fit(bad)


MASKED = np.ma.array(sample(), mask=np.arange(120).reshape(40, 3) == 0)


@pytest.mark.parametrize("estimator", [*ESTIMATORS, *ALIKE, KernelMeanMatching()], ids=repr)
@pytest.mark.parametrize(
    ("bad", "error", "text"),
    [
        (MASKED, ValueError, "masked cells"),
        (sample().astype(str), TypeError, "numbers are needed"),
        (sample().astype(str).astype(object), TypeError, "holds values of type str"),
        (sample().astype("datetime64[s]"), TypeError, "datetime64"),
        (pd.DataFrame(sample()).astype(str), TypeError, "numbers are needed"),
        (pd.DataFrame({"a": pd.date_range("2020", periods=40), "b": 1.0}), TypeError, "holds values of type Timestamp"),
        (2**53 + np.arange(1, 121).reshape(40, 3), ValueError, r"beyond 2\^53"),
        ((2**53 + np.arange(1, 121).reshape(40, 3)).astype(object), ValueError, r"beyond 2\^53"),
    ],
    ids=["masked", "text", "text objects", "dates", "text frame", "dates in a frame", "integers", "integer objects"],
)
def test_no_numbers_are_made_up(estimator, bad, error, text):
    with pytest.raises(error, match=text):
        clone(estimator).fit(bad)


def test_no_numbers_are_made_up_of_new_rows():
    fitted = MMKME(bandwidth=0.3).fit(sample())
    for method in (fitted.evaluate, fitted.score_samples, fitted.score):
        with pytest.raises(ValueError, match="masked cells"):
            method(MASKED)
        with pytest.raises(TypeError, match="numbers are needed"):
            method(sample().astype(str))


def test_constant_data_need_a_bandwidth():
    with pytest.raises(ValueError, match="rows are equal"):
        MKME().fit(np.ones((5, 2)))
    assert MKME(bandwidth=1.0).fit(np.ones((5, 2))).loocv_ == pytest.approx(0.0, abs=1e-15)
