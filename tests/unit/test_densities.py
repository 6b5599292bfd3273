"""Density estimates side by side: what is held out, what is told, and units."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.studies import Densities, fit_densities
from kernelmean.tables import Table

RNG = np.random.default_rng(5)
VALUES = np.concatenate([RNG.normal([0.0, 100.0], [1.0, 5.0], (50, 2)), RNG.normal([6.0, 130.0], [0.5, 5.0], (30, 2))])
TABLE = Table(VALUES, ("a", "b"))


def quick(table: object = TABLE, **options: object) -> Densities:
    return fit_densities(options.pop("table", table), **{"estimator": "mkme", "n_components": [2], **options})  # type: ignore[arg-type]


@functools.cache
def plain() -> Densities:
    """Return the fit with these options alone, which several tests look at."""
    return quick()


@pytest.fixture(autouse=True, scope="module")
def few_settings() -> Iterator[None]:
    """Let scikit-learn's models choose among few settings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelmean.studies.density._COMPONENTS", (1, 2))
        yield


@pytest.fixture(scope="module", params=["spherical", "full"])
def fits(request: pytest.FixtureRequest) -> Densities:
    return plain() if request.param == "spherical" else quick(covariance_type=request.param)


def test_three_densities_lowest_loss_first(fits: Densities) -> None:
    assert {c.name for c in fits.candidates} == {"kernel mean matching", "GaussianMixture", "KernelDensity"}
    losses = [candidate.loss for candidate in fits.candidates]
    assert losses == sorted(losses)
    assert fits.sizes == (56, 24)


def test_the_mixture_in_units_of_the_table_is_the_model(fits: Densities) -> None:
    points = VALUES[:7]
    logs = fits.model.score_samples((points - fits.center) / fits.unit) - np.log(fits.unit).sum()
    np.testing.assert_allclose(fits.mixture().logpdf(points), logs, rtol=1e-10)
    np.testing.assert_allclose(fits.embedding().logpdf(points), logs, rtol=1e-10)


def test_marginals_are_integrals_of_the_mixture(fits: Densities) -> None:
    b = np.linspace(0.0, 300.0, 6001)
    for a in (0.0, 5.0):
        joint = np.exp(fits.mixture().logpdf(np.column_stack([np.full_like(b, a), b])))
        assert np.exp(fits.marginal([0]).logpdf(np.array([[a]])))[0] == pytest.approx(np.trapezoid(joint, b), rel=1e-8)


def test_draws_follow_the_data(fits: Densities) -> None:
    drawn = fits.sample(20_000, rng=1)
    np.testing.assert_allclose(drawn.mean(axis=0), VALUES.mean(axis=0), rtol=0.1)
    np.testing.assert_array_equal(drawn, fits.sample(20_000, rng=1))


def test_rows_held_out_are_not_seen() -> None:
    order = np.random.default_rng(0).permutation(80)
    moved = VALUES.copy()
    moved[order[:24]] += 50.0
    first, second = plain(), quick(Table(moved, TABLE.names))
    assert [c.choice for c in sorted(first.candidates, key=lambda c: c.name)] == [
        c.choice for c in sorted(second.candidates, key=lambda c: c.name)
    ]
    np.testing.assert_array_equal(first.unit, second.unit)


def test_the_loss_is_that_of_the_rows_held_out() -> None:
    fits = plain()
    order = np.random.default_rng(0).permutation(80)
    train, held = ((VALUES[rows] - fits.center) / fits.unit for rows in (order[24:], order[:24]))
    loss = {candidate.name: candidate.loss for candidate in fits.candidates}["kernel mean matching"]
    from sklearn.base import clone

    assert loss == pytest.approx(-clone(fits.model).fit(train).score(held), rel=1e-9)


def test_units_do_not_matter_where_columns_are_scaled() -> None:
    other = Table(VALUES * [1e-3, 1e4] + [7.0, 0.0], TABLE.names)
    for one, two in zip(plain().candidates, quick(other).candidates, strict=True):
        assert one.name == two.name
        assert one.loss == pytest.approx(two.loss, abs=1e-3)


def test_constant_columns_are_left_out_and_told(unsearched_peers: None) -> None:
    fits = quick(Table(np.column_stack([VALUES, np.ones(80)]), ("a", "b", "c")))
    assert fits.table.names == ("a", "b")
    assert fits.notes == ("constant, so left out: c",)


def test_result_as_json(fits: Densities) -> None:
    content = json.loads(json.dumps(fits.to_dict(), allow_nan=False))
    assert content["rows"] == {"training": 56, "held out": 24}
    assert np.sum(content["mixture"]["weights"]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"table": VALUES[:9]}, "9 rows; at least 10"),
        ({"table": np.ones((20, 2))}, "every column is constant"),
        ({"held_out": 1.0}, "held_out is 1.0"),
        ({"estimator": "best"}, "best"),
        ({"covariance_type": "round"}, "round"),
    ],
    ids=["rows", "constant", "share", "estimator", "covariance"],
)
def test_refusals(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        quick(**options)  # type: ignore[arg-type]


def test_the_default_tries_the_recommended_settings(unsearched_peers: None) -> None:
    fits = fit_densities(RNG.normal(size=(24, 1)), held_out=0.5)
    assert isinstance(fits.model, km.density.KernelMeanMatching)
    assert fits.model.n_components_ <= 3


def test_new_rows_are_scored_in_the_units_of_the_table(fits: Densities) -> None:
    """By the change of variables: the density of the standardised rows over the product of the units."""
    rows = VALUES[:5] + 0.25
    expected = fits.model.score_samples((rows - fits.center) / fits.unit) - np.log(fits.unit).sum()
    np.testing.assert_allclose(fits.score_samples(rows), expected, rtol=1e-10)
    frame = pd.DataFrame({"other": ["?"] * 5, "b": rows[:, 1], "a": rows[:, 0]})
    np.testing.assert_array_equal(fits.score_samples(frame), fits.score_samples(rows))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([[1.0]], "X has 1 column; pass those of the table, in this order: a, b"),
        (pd.DataFrame({"a": [1.0]}), "'b'"),
        (pd.DataFrame({"a": [1.0], "b": [np.nan]}), "missing|blank"),
    ],
)
def test_rows_that_cannot_be_scored(rows: object, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        plain().score_samples(rows)


def test_the_mixture_of_the_training_rows_is_judged_by_the_rows_held_out(unsearched_peers: None) -> None:
    assert plain().check is None
    assert plain().to_dict()["check"] is None
    result = quick(check=True)
    assert result.check is not None
    assert result.check.sizes == (24,)
    assert ("check", f"the rows held out may come from the fitted mixture: p = {result.check.origin}") in result.facts()
    skewed = np.random.default_rng(0).exponential(size=(80, 1)) ** 2
    poor = quick(table=skewed, n_components=[1], check=True)
    assert poor.check is not None
    assert poor.check.pvalue <= 0.05
    assert "do not come from the fitted mixture" in str(poor)
    assert "Whether the rows held out come from the mixture" in poor.to_html()
