"""All estimators on one table, and estimates in the units of the table."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import NAMED
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.noise import Normal, Uniform
from kernelmean.studies import fit_all, rescaled
from kernelmean.studies.estimate import Fits

RNG = np.random.default_rng(3)
X = RNG.normal(size=(25, 3)) * [1.0, 100.0, 0.01]


@cache
def of_x() -> Fits:
    return fit_all(X)


def test_scores_and_parameters_are_those_of_the_estimators() -> None:
    fits, unit = of_x(), X.std(axis=0)
    for name, make in NAMED.items():
        alone = make().fit(X / unit)
        assert fits.estimators[name].loocv_ == pytest.approx(alone.loocv_, rel=1e-9)
    assert fits.best == min(fits.estimators, key=lambda name: fits.estimators[name].loocv_)
    assert fits.parameters("kme") == {}
    assert fits.parameters("s-kmse").keys() == {"strength"}
    assert fits.parameters("vpmkme").keys() == {"contraction", "noise"}
    noise = np.sqrt(fits.estimators["mkme"].noise_.variances(3))
    np.testing.assert_allclose(fits.parameters("mkme")["noise"], noise * unit)


@pytest.mark.parametrize("name", NAMED)
def test_an_estimate_is_the_same_function_in_the_units_of_the_table(name: str) -> None:
    fits, unit = of_x(), X.std(axis=0)
    ours, scaled = fits.embedding(name), fits.estimators[name].embedding_
    np.testing.assert_allclose(ours(X[:5]), scaled(X[:5] / unit), rtol=1e-9)
    assert ours.norm() == pytest.approx(scaled.norm(), rel=1e-9)


def test_the_gain_is_the_share_of_the_error_of_kme_that_is_saved() -> None:
    """By the definition: the error of the mean of n - 1 rows is their variance in the feature space over n - 1."""
    fits, n = replace(of_x(), again={}), len(X)
    rows = X / X.std(axis=0)
    gram = fits.estimators["kme"].kernel_(rows, rows)
    variance = np.trace(gram) / n - gram[~np.eye(n, dtype=bool)].mean()
    saved = fits.estimators["kme"].loocv_ - fits.estimators["mkme"].loocv_
    assert fits.relative_gain("mkme") == pytest.approx(saved / (variance / (n - 1)), rel=1e-9)
    assert 0.01 < fits.relative_gain("mkme") < 0.5
    assert fits.relative_gain("kme") == 0.0


def test_of_few_rows_parameters_are_chosen_again_without_the_row_left_out() -> None:
    few = X[:8]
    fits, rows = fit_all(few), few / few.std(axis=0)
    kernel = fits.estimators["kme"].kernel_
    for name, make in NAMED.items():
        without = [make(kernel).fit(np.delete(rows, i, axis=0)).embedding_ for i in range(8)]
        scores = [(mu - km.embed(rows[i : i + 1], kernel)).norm() ** 2 for i, mu in enumerate(without)]
        assert fits.again[name] == pytest.approx(np.mean(scores), rel=1e-9)
    assert fits.again["kme"] == pytest.approx(fits.estimators["kme"].loocv_, rel=1e-9)
    share = 8 * (fits.again["kme"] - fits.again[fits.best]) / fits.again["kme"]
    assert fits.relative_gain(fits.best) == pytest.approx(share, rel=1e-9)
    assert share < replace(fits, again={}).relative_gain(fits.best) / 2  # what the lowest score alone would promise
    assert "of so few rows that is rough" in fits.verdict() or "too few to tell" in fits.verdict()
    assert not fit_all(np.random.default_rng(0).normal(size=(51, 1))).again


def test_where_kme_is_best_no_gain_is_claimed() -> None:
    fits = of_x()
    alone = replace(fits, estimators={"kme": fits.estimators["kme"]})
    assert alone.verdict() == "No estimator has a lower leave-one-out score than kme, the plain mean."


def test_constant_columns_are_left_out_and_told(no_refits: None) -> None:
    fits = fit_all(np.insert(X, 0, 0.1, axis=1))
    assert fits.table.names == ("x1", "x2", "x3")
    assert any("left out: x0" in note for note in fits.notes)


def test_narrow_kernels_are_ranked_by_what_lies_below_rounding(no_refits: None) -> None:
    fits = fit_all(X, bandwidth=0.05)
    scores = {name: fit.criterion_ for name, fit in fits.estimators.items()}
    assert all(scores[fits.best] <= score for score in scores.values())
    assert fits.best != "kme"


def test_the_dictionary_is_json() -> None:
    content = json.loads(json.dumps(of_x().to_dict(), allow_nan=False))
    assert set(content["estimators"]) == set(NAMED)
    assert content["rows"] == 25


def test_bad_tables() -> None:
    with pytest.raises(ValueError, match="1 row; at least 2"):
        fit_all(X[:1])
    with pytest.raises(ValueError, match="every column is constant"):
        fit_all(np.ones((4, 2)))
    with pytest.raises(ValueError, match="'best'"):
        of_x().embedding("best")


def test_only_gaussian_kernels_and_axis_aligned_noise_change_units() -> None:
    with pytest.raises(TypeError, match="only Gaussian kernels"):
        rescaled(km.embed(X, Laplacian(1.0)), np.ones(3))
    for noise in (Uniform(1.0), Normal(np.eye(3))):
        with pytest.raises(TypeError, match="no variance per column"):
            rescaled(km.embed(X, Gaussian(1.0), noise=noise), np.ones(3))


def test_landmarks_stand_for_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = fit_all(rows := np.random.default_rng(0).normal(size=(51, 1)))
    monkeypatch.setattr("kernelmean.studies.estimate.LIMIT", 50)
    fits = fit_all(rows)
    assert set(fits.estimators) == set(NAMED)
    assert "landmarks (randomly pivoted Cholesky) stand for 51 rows" in fits.notes[0]
    assert len({id(fit.features_) for fit in fits.estimators.values()}) == 1
    for name, fit in fits.estimators.items():
        off = (fit.embedding_ - exact.estimators[name].embedding_).norm()
        assert off < (1e-3 if name == "f-kmse" else 1e-4)  # whose strength is of a grid
