"""How clearly samples differ in their means, spread, correlations and shape: against simulation, and alone or mixed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference import Design
from kernelmean.inference.adaptive import aspects
from kernelmean.inference.adaptive.aspects import correlations, evidence_of, means, pairs_of_columns, shapes, variances

CLEAR = 4.8


def of_pairs(points: np.ndarray) -> aspects.Aspect:
    return correlations(points, pairs_of_columns([points], np.full(points.shape[1], fill_value=True)))


@pytest.mark.parametrize("aspect", [means, variances, of_pairs, shapes])
def test_variances_of_aspects_are_those_over_many_samples(aspect: Callable[[np.ndarray], aspects.Aspect]) -> None:
    rng = np.random.default_rng(0)
    drawn = [aspect(np.cumsum(rng.gamma(3.0, size=(400, 3)), axis=1)) for _ in range(300)]
    simulated = np.cov(np.stack([own.values for own in drawn]).T)
    own = np.mean([each.covariance for each in drawn], axis=0)
    deviations = np.sqrt(np.diagonal(simulated))
    np.testing.assert_allclose(np.sqrt(np.diagonal(own)), deviations, rtol=0.15)
    np.testing.assert_allclose(
        own / np.outer(deviations, deviations), np.corrcoef(np.stack([own.values for own in drawn]).T), atol=0.25
    )


def test_correlations_of_many_pairs_have_the_variances_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    points = np.random.default_rng(1).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
    few = of_pairs(points)
    monkeypatch.setattr(aspects, "MOST_SUMMED", 2)
    many = of_pairs(points)
    assert many.covariance is None
    np.testing.assert_allclose(many.values, few.values)
    np.testing.assert_allclose(many.variances, few.variances, rtol=1e-9)


@pytest.mark.parametrize("n", [12, 60])
def test_heavy_tails_and_few_rows_are_no_evidence(n: int) -> None:
    rng = np.random.default_rng(2)

    def drawn() -> np.ndarray:
        values = rng.lognormal(0, 1.5, n), rng.standard_t(2, n), rng.poisson(2, n)
        return np.c_[(*values, np.eye(3)[rng.integers(0, 3, n)])]

    found = [evidence_of([drawn(), drawn()]) for _ in range(100)]
    for kind in ("means", "spread", "columns together"):
        assert np.mean([own[kind] >= CLEAR for own in found]) <= 0.08, kind


def test_shares_of_one_category_are_means_only() -> None:
    rng = np.random.default_rng(3)
    X, Y = (np.eye(3)[rng.choice(3, 2000, p=p)] for p in ([0.2, 0.3, 0.5], [0.5, 0.3, 0.2]))
    found = evidence_of([X, Y])
    assert found["means"] > 50
    assert max(own for kind, own in found.items() if kind != "means") == 0.0


def mean(Y: np.ndarray) -> None:
    Y[:, 0] += 0.27


def spread(Y: np.ndarray) -> None:
    Y[:, 1] *= 1.3


def together(Y: np.ndarray) -> None:
    Y[:, 3] = 0.4 * Y[:, 2] + 0.84**0.5 * Y[:, 3]


KINDS = {"means": mean, "spread": spread, "columns together": together}


@pytest.mark.parametrize(
    "kinds",
    [("means",), ("spread",), ("columns together",), ("means", "spread"), ("means", "spread", "columns together")],
)
def test_large_samples_have_all_kinds_that_are_there_and_no_other(kinds: tuple[str, ...]) -> None:
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(2, 1500, 6))
    for kind in kinds:
        KINDS[kind](Y)
    for samples in ((X, Y), (X, np.r_[Y, [[1e3, 0, 0, -1e3, 0, 0]]])):  # one row decides nothing
        found = km.mmd_test(*samples, n_resamples=199, rng=0).kind
        assert {*found.kinds} == {*kinds}
        assert found.name == found.kinds[0] == next(iter(found.shares))


def test_few_rows_have_no_kind() -> None:
    X = np.random.default_rng(5).normal(size=(9, 2))
    result = km.mmd_test(X, X + 5.0, n_resamples=99, rng=0)
    assert result.pvalue <= 0.05
    assert result.kind is None


def test_a_strong_shift_of_few_rows_against_many_is_not_local() -> None:
    rng = np.random.default_rng(0)
    result = km.mmd_test(rng.normal(size=(3000, 2)), rng.normal(size=(12, 2)) + 4.0, n_resamples=199, rng=0)
    assert result.kind.kinds == ("means",)


def test_under_a_design_differences_between_strata_are_none() -> None:
    rng = np.random.default_rng(6)
    strata = [np.r_[np.zeros(30), np.ones(90)], np.r_[np.zeros(90), np.ones(30)]]
    X, Y = (np.c_[5.0 * own, rng.normal(size=120)] for own in strata)
    X, Y = X + 0.01 * rng.normal(size=X.shape), Y + 0.01 * rng.normal(size=Y.shape)
    Y[:, 1] *= 3.0
    result = km.mmd_test(X, Y, estimator="adaptive", design=Design(groups=strata), n_resamples=299, rng=0)
    assert result.kind.kinds == ("spread",)
    assert "means" in evidence_of([X, Y])
