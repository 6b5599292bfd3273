"""What explains a test of two variables with a design: by slow definitions, and by all permutations of the design."""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.explain.effects import cross_covariance
from kernelmean.inference.explain.pairs import PairSubject
from kernelmean.inference.explain.subjects import subject_of
from kernelmean.plan import DEFAULT

KERNEL = km.kernels.Polynomial(2, 1.0)
GAUSSIAN = km.kernels.Gaussian(1.0)
rng = np.random.default_rng(2)
N = 30
STRATA = np.repeat([0, 1], [17, 13])
CLUSTERS = np.repeat(np.arange(12), [3, 3, 1, 3, 4, 1, 2, 3, 2, 3, 4, 1])
WEIGHTS = rng.uniform(0.5, 2.0, N)
X = rng.normal(size=(N, 1)) + STRATA[:, None]
Y = 0.6 * X + rng.normal(size=(N, 1)) - STRATA[:, None]
DESIGNS: dict[str, km.Design] = {
    "strata": km.Design(strata=STRATA),
    "clusters": km.Design(clusters=CLUSTERS),
    "weights": km.Design(weights=WEIGHTS),
    "strata and weights": km.Design(strata=STRATA, weights=WEIGHTS),
    "clusters in strata, and weights": km.Design(strata=STRATA, clusters=CLUSTERS, weights=WEIGHTS),
}


def the_test(design: Any, first: Any = X, second: Any = Y, **options: Any) -> km.TestResult:
    options = {"kernel": KERNEL, "n_resamples": 99, "rng": 0, **options}
    return km.hsic_test(first, second, design=design, **options)


def subject(design: Any, first: Any = X, second: Any = Y) -> PairSubject:
    found = subject_of(the_test(design, first, second, n_resamples=1), DEFAULT)
    assert isinstance(found, PairSubject)
    return found


def features(rows: Any) -> Any:
    """Return (1, √2 x, x²), whose inner products are those of the kernel (1 + x x')²."""
    return np.stack([np.ones(len(rows)), np.sqrt(2.0) * rows[:, 0], rows[:, 0] ** 2], axis=1)


def parts(design: km.Design) -> tuple[Any, Any, Any]:
    """Return the strata, the units and the weights of sum 1 of all rows."""
    strata = np.zeros(N, dtype=int) if design.strata is None else design.strata
    units = np.arange(N) if design.clusters is None else design.clusters
    weights = np.ones(N) if design.weights is None else design.weights
    return strata, units, weights / weights.sum()


def products(design: km.Design) -> Any:
    """Return the products of features less their weighted means within strata, (N, 9)."""
    strata, _, weights = parts(design)
    centered = [features(X), features(Y)]
    for s, table in product(np.unique(strata), centered):
        own = strata == s
        table[own] -= weights[own] @ table[own] / weights[own].sum()
    return (centered[0][:, :, None] * centered[1][:, None, :]).reshape(N, 9)


@pytest.mark.parametrize("name", DESIGNS)
def test_what_pairs_add_sums_to_the_statistic(name: str) -> None:
    (_, _, weights), rows, result = parts(DESIGNS[name]), products(DESIGNS[name]), the_test(DESIGNS[name])
    mean, found = weights @ rows, result.contributions()
    assert found.statistic == pytest.approx(result.statistic, rel=1e-10)
    assert found.statistic == pytest.approx(mean @ mean, rel=1e-9)
    np.testing.assert_allclose(found.values, weights * (rows @ mean), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.witness, rows @ mean, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="no unbiased statistic"):
        result.contributions("u")


@pytest.mark.parametrize("name", DESIGNS)
def test_the_witness_is_the_mean_covariance_within_strata(name: str) -> None:
    places = rng.normal(size=(5, 1)), rng.normal(size=(5, 1))
    mean, witness = parts(DESIGNS[name])[2] @ products(DESIGNS[name]), the_test(DESIGNS[name]).witness()
    assert witness.norm == pytest.approx(np.linalg.norm(mean), rel=1e-9)
    at = (features(places[0])[:, :, None] * features(places[1])[:, None, :]).reshape(5, 9)
    np.testing.assert_allclose(witness(*places) * witness.norm, at @ mean, rtol=1e-8, atol=1e-10)


def test_rows_of_weight_zero_add_nothing_wherever_they_are() -> None:
    weights = np.where(np.arange(N) % 5 == 0, 0.0, WEIGHTS)
    found = the_test(km.Design(weights=weights, strata=STRATA)).contributions()
    assert found.values.shape == (N,)
    assert (found.values[::5] == 0.0).all()
    kept = weights > 0.0
    others = km.hsic_test(X[kept], Y[kept], design=km.Design(weights=weights[kept], strata=STRATA[kept]), kernel=KERNEL)
    np.testing.assert_allclose(found.values[kept], others.contributions().values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", DESIGNS)
def test_columns_have_the_p_values_of_their_own_tests(name: str) -> None:
    first = np.hstack([rng.normal(size=(N, 1)), X])
    result = the_test(DESIGNS[name], first, Y, kernel=GAUSSIAN)
    found = {c.name: c for c in result.attribute(kernel=GAUSSIAN, rng=3, n_resamples=199).columns}
    for column in (0, 1):
        alone = the_test(DESIGNS[name], first[:, [column]], Y, kernel=GAUSSIAN, rng=3, n_resamples=199)
        own = found[f"x{column}", "x0"]
        assert own.statistic == pytest.approx(alone.statistic, rel=1e-9)
        assert own.pvalue == pytest.approx(alone.pvalue, abs=0.06)
        scales = [the_test(DESIGNS[name], table, table, kernel=GAUSSIAN).statistic for table in (first[:, [column]], Y)]
        assert own.effect == pytest.approx(alone.statistic / np.sqrt(np.prod(scales)), rel=1e-8)


def by_definition(design: km.Design) -> tuple[Any, float]:
    """Return the mean of the unbiased covariances within strata, and tr C, by loops over units."""
    (strata, units, weights), rows = parts(design), products(design)
    mean, noise = np.zeros(9), 0.0
    for s in np.unique(strata):
        own = strata == s
        shares = weights[own] / weights[own].sum()
        of_units = np.array([shares[units[own] == u].sum() for u in np.unique(units[own])])
        second, third = (of_units**2).sum(), (of_units**3).sum()
        center, bigger = shares @ rows[own], weights[own].sum() / (1.0 - second)
        mean += bigger * center
        sums = [shares[units[own] == u] @ (rows[own][units[own] == u] - center) for u in np.unique(units[own])]
        worth = 1.0 / second
        kept = (1 - 2 * third / second + second) * (worth - 2) / (worth - 1)
        noise += bigger**2 * sum(e @ e for e in sums) / kept
    return mean, noise


@pytest.mark.parametrize("name", DESIGNS)
def test_effects_are_those_of_the_definition(name: str) -> None:
    (mean, noise), found = by_definition(DESIGNS[name]), cross_covariance(subject(DESIGNS[name])).mean
    assert found.observed == pytest.approx(mean @ mean, rel=1e-9)
    assert found.spreads == pytest.approx([noise], rel=1e-9)
    size = the_test(DESIGNS[name]).effect_size(n_resamples=99, rng=0)
    assert size.statistic == pytest.approx(mean @ mean - noise, rel=1e-8)
    assert size.distance.value == pytest.approx(np.sqrt(max(mean @ mean - noise, 0.0)), rel=1e-8)
    own = [cross_covariance(subject(DESIGNS[name], table, table)).mean.squared for table in (X, Y)]
    assert size.alignment.value == pytest.approx(size.statistic / np.sqrt(np.prod(own)), rel=1e-8)
    partner = subject(DESIGNS[name]).partner
    strata = parts(DESIGNS[name])[0][subject(DESIGNS[name]).design.rows]  # type: ignore[union-attr]
    assert (strata[partner] == strata).all()


def test_of_independent_pairs_the_statistic_is_0_on_average_over_permutations() -> None:
    strata = np.array([0, 0, 0, 0, 1, 1, 1])
    first, second = X[:7], Y[:7]
    values = []
    for one, other in product(permutations(range(4)), permutations(range(4, 7))):
        own = second[[*one, *other]]
        values.append(cross_covariance(subject(km.Design(strata=strata), first, own)).mean.squared)
    assert abs(np.mean(values)) < 1e-10 * np.abs(values).max()
    assert np.std(values) > 0.0


def test_strata_of_two_are_units() -> None:
    strata = np.arange(N) // 2
    found, rows = cross_covariance(subject(km.Design(strata=strata))).mean, products(km.Design(strata=strata))
    gaps = 2.0 * rows.reshape(N // 2, 2, 9).mean(axis=1)  # what n/(n - 1) makes of a covariance of two pairs
    assert found.observed == pytest.approx(np.square(gaps.mean(axis=0)).sum(), rel=1e-9)
    assert found.spreads == pytest.approx([np.trace(np.cov(gaps.T)) / (N // 2)], rel=1e-9)


def numbers(size: Any) -> list[float]:
    estimates = (size.distance, size.alignment)
    return [size.statistic, size.standard_error, *(v for e in estimates for v in (e.value, e.low, e.high))]


def test_designs_that_say_nothing_agree_and_differ_little_from_plain_pairs() -> None:
    said = [km.Design(strata=np.zeros(N)), km.Design(clusters=np.arange(N)), km.Design(weights=np.full(N, 2.0))]
    found = [numbers(the_test(own, kernel=GAUSSIAN).effect_size(n_resamples=99, rng=0)) for own in said]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-9)
    plain = numbers(the_test(None, kernel=GAUSSIAN).effect_size(n_resamples=99, rng=0))
    np.testing.assert_allclose(found[0], plain, rtol=0.15, atol=0.015)
    copies = km.Design(clusters=np.repeat(np.arange(N), 3))
    tripled = the_test(copies, np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0), kernel=GAUSSIAN)
    np.testing.assert_allclose(numbers(tripled.effect_size(n_resamples=99, rng=0)), found[0], rtol=1e-8)


@pytest.mark.parametrize("name", DESIGNS)
def test_equivalence_has_the_limit_of_the_interval(name: str) -> None:
    result = the_test(DESIGNS[name], kernel=GAUSSIAN)
    size = result.effect_size(level=0.9, n_resamples=199, rng=0)
    for unit, estimate in (("distance", size.distance), ("alignment", size.alignment)):
        found = result.equivalence(0.5, unit=unit, n_resamples=199, rng=0)
        assert found.upper == pytest.approx(estimate.high, rel=1e-9)
        assert found.equivalent == (found.upper < 0.5)
    with pytest.raises(ValueError, match="with a design, write"):
        result.equivalence(0.5, method="bound")


TOO_FEW = {
    "strata": (
        km.Design(strata=np.arange(N) // 10 + 10 * (np.arange(N) > 27)),
        "hold pairs, or clusters, that are wor",
    ),
    "clusters": (km.Design(clusters=np.arange(N) // 10), "worth 3 of equal weight that are drawn independently"),
    "weights": (km.Design(weights=np.where(np.arange(N) < 3, 1.0, 1e-9)), "worth 3 of equal weight"),
}


@pytest.mark.parametrize("name", TOO_FEW)
def test_too_few_units_are_refused(name: str) -> None:
    design, words = TOO_FEW[name]
    for verb, given in (("effect_size", ()), ("equivalence", (0.1,))):
        with pytest.raises(ValueError, match=words):
            getattr(the_test(design), verb)(*given)


def test_adaptive_tests_explain_themselves() -> None:
    for design in DESIGNS.values():
        result = km.hsic_test(X, Y, design=design, n_resamples=99, rng=0)
        assert result.contributions().values.sum() > 0.0
        assert result.witness().norm > 0.0
        assert result.effect_size(n_resamples=99, rng=0).distance.high > 0.0


def test_series_are_refused() -> None:
    series = km.hsic_test(X, Y, design=km.Design(series=3.0), rng=0, n_resamples=99)
    for ask in (series.witness, series.contributions, series.attribute, series.effect_size):
        with pytest.raises(ValueError, match="this test was of series; call hsic_test on rows"):
            ask()
