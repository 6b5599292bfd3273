"""The adaptive tests against their definition over all permutations, and what their p-values must not depend on."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

import kernelmean as km
from dense_members import combined, viewed
from kernelmean.inference import Adaptive, Member, PairMember
from kernelmean.inference.adaptive.many_kernels import COMBINATIONS, evidence
from kernelmean.inference.adaptive.views import view
from kernelmean.inference.designs.joint import ManyVariables
from kernelmean.inference.null import standardized
from kernelmean.kernels import DistanceInduced, Gaussian, Linear, Polynomial
from nulls import hsic_test, mmd_null, mmd_test

TWO = (
    Member("data", Gaussian(0.5), 3.0),
    Member("ranks", Gaussian(0.25), 1.0),
    Member("scores", DistanceInduced(), 2.0),
    Member("radius", Linear(), 1.0),
)
PAIRS = (
    PairMember(Member("data", Gaussian(0.5)), Member("ranks", DistanceInduced()), 2.0),
    PairMember(Member("scores", Polynomial(2, 0.0)), Member("scores", Linear()), 1.0),
    PairMember(Member("ranks", Gaussian(1.0)), Member("data", Gaussian(1.0)), 1.0),
)


@pytest.mark.parametrize(("sizes", "dim"), [((4, 4), 2), ((3, 5), 1), ((6, 2), 2)])
def test_two_samples_equal_the_definition_over_all_labelings(brute, sizes, dim):
    rng = np.random.default_rng(sum(sizes) + dim)
    X, Y = rng.normal(size=(sizes[0], dim)), rng.normal(size=(sizes[1], dim)) + 0.6
    result = mmd_test(X, Y, estimator=Adaptive(members=TWO), n_resamples=999)
    pooled, n = np.vstack([X, Y]), sum(sizes)
    chosen = list(combinations(range(n), sizes[0]))
    labels = np.array([np.isin(np.arange(n), rows) for rows in chosen], dtype=float)
    grams = [member.kernel(*[viewed(pooled, member.view)] * 2) for member in TWO]
    values = np.array([[brute.mmd(gram, row, "u") for row in labels] for gram in grams])
    expected = combined(values, [member.weight for member in TWO])
    assert result.scheme == "exact"
    assert result.statistic == pytest.approx(expected[0], abs=1e-8)
    assert result.pvalue == np.mean(expected >= expected[0] - 1e-9)
    assert [member.pvalue for member in result.members] == [brute.pvalue(row) for row in values]


@pytest.mark.parametrize("n", [4, 5, 6])
def test_independence_equals_the_definition_over_all_permutations(brute, n):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 1))
    Y = X**2 + 0.3 * rng.normal(size=(n, 1))
    result = hsic_test(X, Y, estimator=Adaptive(members=PAIRS), n_resamples=999)
    grams = [
        (pair.x.kernel(*[viewed(X, pair.x.view)] * 2), pair.y.kernel(*[viewed(Y, pair.y.view)] * 2)) for pair in PAIRS
    ]
    orders = [list(order) for order in permutations(range(n))]
    values = np.array([[brute.hsic(K, Z[np.ix_(o, o)], "v") for o in orders] for K, Z in grams])
    expected = combined(values, [pair.weight for pair in PAIRS])
    assert result.statistic == pytest.approx(expected[0], abs=1e-8)
    assert result.pvalue == np.mean(expected >= expected[0] - 1e-9)


@pytest.mark.parametrize("rule", COMBINATIONS)
@pytest.mark.parametrize(("factor", "offset"), [(1000.0, 0.0), (1e-7, 3e-6), (2.0**40, 0.0), (1.7, -50.0)])
def test_units_do_not_change_p(rule, factor, offset):
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(21, 2)), 1.4 * rng.normal(size=(17, 2)) + 0.3
    pvalues = [
        mmd_test(factor * X + shift, factor * Y + shift, estimator=Adaptive(rule), n_resamples=199, rng=3).pvalue
        for factor, shift in ((1.0, 0.0), (factor, offset))
    ]
    assert pvalues[0] == pvalues[1]
    x, y = X[:, :1], np.sin(3 * X[:, :1]) + Y[:1, :1]
    first = hsic_test(x, y, estimator=Adaptive(rule), n_resamples=199, rng=3).pvalue
    assert first == hsic_test(x, factor * y + offset, estimator=Adaptive(rule), n_resamples=199, rng=3).pvalue


def test_swapping_the_samples_changes_nothing():
    rng = np.random.default_rng(2)
    X, Y = rng.normal(size=(15, 2)), rng.normal(size=(40, 2)) * 1.5
    one, two = mmd_test(X, Y, estimator="adaptive", rng=0), mmd_test(Y, X, estimator="adaptive", rng=0)
    assert one.pvalue == two.pvalue
    assert one.statistic == pytest.approx(two.statistic, rel=1e-12)


def test_kernels_evaluated_in_parts_are_permuted_alike(monkeypatch):
    evaluated = []
    null = ManyVariables.null
    monkeypatch.setattr(ManyVariables, "null", lambda *given: evaluated.append(len(given[2])) or null(*given))
    rng = np.random.default_rng(3)
    tables, how = [rng.normal(size=(60, 2)) for _ in range(3)], {"n_resamples": 199, "rng": 0}
    free = km.dhsic_test(*tables, **how)
    tight = km.dhsic_test(*tables, plan=km.Plan(threads=1, memory=2 * 8 * 4 * 60**2), **how)
    single = km.dhsic_test(*tables, plan=km.Plan(threads=1, memory=1), **how)
    assert evaluated == [4, 2, 2, 1, 1, 1, 1]
    for own in (tight, single):
        np.testing.assert_allclose(free.null_distribution, own.null_distribution, rtol=1e-9)


def test_members_report_what_a_test_of_their_own_finds():
    rng = np.random.default_rng(4)
    X, Y = rng.normal(size=(30, 1)), rng.normal(size=(33, 1)) + 0.5
    result = mmd_test(X, Y, estimator=Adaptive(members=TWO), n_resamples=199, rng=0)
    table = viewed(np.vstack([X, Y]), "scores")
    alone = mmd_null(table[:30], table[30:], [DistanceInduced()], n_resamples=199, rng=0)
    found = result.members[2]
    assert found.label == "DistanceInduced(exponent=1.0) on scores"
    assert found.pvalue == alone.pvalues[0]
    assert found.statistic == pytest.approx(alone.values[0, 0], rel=1e-9)
    assert sum(member.weight for member in result.members) == pytest.approx(1.0)
    assert found.label not in result.summary()
    assert found.label in dict(result.details())["strongest kernels"] + result.to_html()
    assert len(json.loads(result.to_json())["members"]) == 4


def test_every_column_is_looked_at_on_its_own():
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(30, 6)), rng.normal(size=(32, 6))  # few enough that no rows are drawn for units
    Y[:, 4] += 1.0
    result = mmd_test(X, Y, estimator=Adaptive(members=[Member("axes", Linear())]), n_resamples=199, rng=0)
    scores = view(np.vstack([X, Y]), "scores")[:, [4]]
    alone = mmd_null(scores[:30], scores[30:], [Linear()], n_resamples=199, rng=0).values
    assert result.members[0].statistic == pytest.approx(standardized(alone)[0, 0], rel=1e-9)


def test_it_finds_what_the_median_bandwidth_misses():
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, (60, 1))
    y = np.sin(4 * np.pi * x) + 0.5 * rng.normal(size=(60, 1))
    assert hsic_test(x, y, estimator="kme", rng=0).pvalue > 0.1
    assert hsic_test(x, y, estimator="adaptive", rng=0).pvalue < 0.01
    X = rng.normal(size=(80, 2))
    Y = rng.normal(size=(80, 2)) @ np.linalg.cholesky([[1, 0.7], [0.7, 1]]).T
    assert mmd_test(X, Y, estimator="kme", rng=0).pvalue > 0.02
    assert mmd_test(X, Y, estimator="adaptive", rng=0).pvalue < 0.01


@pytest.mark.parametrize("case", ["fast sine", "exclusive or", "random scale"])
def test_members_for_fast_functions_and_products_and_spreads(case):
    rng = np.random.default_rng(16)
    if case == "fast sine":
        x = rng.uniform(-1, 1, (80, 1))
        y = np.sin(8 * np.pi * x) + 0.3 * rng.normal(size=(80, 1))
    elif case == "exclusive or":
        x = rng.normal(size=(80, 2))
        y = np.sign(x[:, :1] * x[:, 1:]) + 0.7 * rng.normal(size=(80, 1))
    else:
        scale = np.exp(rng.normal(size=(80, 1)))
        x, y = scale * rng.normal(size=(2, 80, 1))
    result = hsic_test(x, y, estimator="adaptive", n_resamples=199, rng=0)
    kind = {"fast sine": "curve", "exclusive or": "several columns", "random scale": "spread"}[case]
    strongest = max(result.members, key=lambda member: member.standardized)
    assert result.pvalue <= 0.01
    assert strongest.pvalue <= 0.01
    assert strongest.group == kind
    if case == "fast sine":  # y is a function of x, and not x of y: what is regularized is x
        found = {member.label: member for member in result.members}
        x_side, y_side = strongest.label.split(" | ")
        assert "λ" in x_side
        assert "λ" not in y_side
        assert found[f"{y_side} | {x_side}"].pvalue > 0.1


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Adaptive("median"), ValueError, "pass one of 'harmonic'"),
        (lambda: Adaptive(members=()), ValueError, "at least one Member"),
        (lambda: Adaptive(members=[Member("data", Linear(), 0.0)]), ValueError, "positive number"),
        (lambda: Adaptive(members=[Member("fourier", Linear())]), ValueError, "'fourier' is unknown"),
        (
            lambda: Adaptive(members=[Member("data", np.minimum)]),
            TypeError,
            r"has the kernel <ufunc 'minimum'>; pass a K",
        ),
        (
            lambda: Adaptive(members=[Member("data", Linear)]),
            TypeError,
            r"Gaussian\(1.0\), or KernelFunction\(function\)",
        ),
        (lambda: Adaptive(members=[Member("data", Linear(), ridge=-0.1)]), ValueError, "has ridge -0.1, a positive"),
        (lambda: Adaptive(members=[Member("data", Linear(), ridge=np.nan)]), ValueError, "has ridge nan"),
        (
            lambda: mmd_test([[0.0]] * 3, [[1.0]] * 3, estimator="adaptive", kernel=Linear()),
            ValueError,
            "leave kernel=",
        ),
        (lambda: mmd_test([[0.0]] * 3, [[1.0]] * 3, estimator=Adaptive(members=PAIRS)), TypeError, "not PairMember"),
        (lambda: hsic_test([[0.0]] * 3, [[1.0]] * 3, estimator=Adaptive(members=TWO)), TypeError, "PairMember"),
        (
            lambda: mmd_test([[0.0]] * 3, [[1.0]] * 3, estimator=Adaptive(members=[Member("white", Linear())])),
            ValueError,
            "no member is left",
        ),
    ],
)
def test_errors_say_what_to_pass(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_rules_are_their_definitions():
    rng = np.random.default_rng(10)
    values, weights = rng.gamma(0.7, size=(3, 400)), np.array([0.5, 0.3, 0.2])
    z = (values - values.mean(1, keepdims=True)) / values.std(1, keepdims=True)
    ranks = np.array([[(row >= value).mean() for value in row] for row in values])
    np.testing.assert_allclose(COMBINATIONS["max"](values, weights), z.max(0), rtol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["mean"](values, weights), weights @ z, atol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["log-mean-exp"](values, weights), np.log(weights @ np.exp(z)), rtol=1e-12)
    np.testing.assert_allclose(COMBINATIONS["aggregate"](values, weights), -np.log((ranks / weights[:, None]).min(0)))
    np.testing.assert_allclose(COMBINATIONS["harmonic"](values, weights), combined(values, weights), rtol=1e-9)


def test_evidence_is_nearly_the_true_tail_of_a_chi_square_law():
    values = np.random.default_rng(11).chisquare(3, size=(1, 20000))
    found = evidence(standardized(values))[0]
    exact = -stats.chi2.logsf(values[0], 3)
    middle = (exact > 0.5) & (exact < 5)
    np.testing.assert_allclose(found[middle], exact[middle], rtol=0.05)


@pytest.mark.parametrize("many", [300, 12_000])
@pytest.mark.parametrize("freedom", [0.01, 1, 5, 50, 5000])
def test_evidence_of_many_values_is_read_off_polynomials_that_are_as_exact(freedom, many):
    values = np.random.default_rng(0).chisquare(freedom, size=(2, many))
    values[0, 0] = 40.0 + freedom  # a strong one
    scores = standardized(values)
    skewness = stats.skew(scores, axis=1)[:, None]
    shape = 4.0 / np.maximum(skewness, 0.05) ** 2
    places = shape + scores * np.sqrt(shape)
    literal = -stats.gamma.logsf(np.maximum(places, 0.1 * shape), shape) - 1e-6 * np.maximum(1 - 10 * places / shape, 0)
    np.testing.assert_allclose(evidence(scores), literal, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(evidence(scores, 1), literal[:, :1], rtol=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_a_large_pvalue_of_two_values_is_no_tie(seed):
    """Fisher's exact test gives .772 and .961: below the gamma's pole values still rise."""
    for data, exact in ((3, 0.772), (1, 0.961)):
        rng = np.random.default_rng(data)
        x, first = rng.random(2000) < 0.3, rng.random(2000) < 0.5
        found = km.mmd_test(*(x[rows, None].astype(float) for rows in (first, ~first)), n_resamples=499, rng=seed)
        assert abs(found.pvalue - exact) < 0.07


def test_constant_data_and_constant_columns():
    ones = np.ones((6, 2))
    assert mmd_test(ones, ones, estimator="adaptive", rng=0).pvalue == 1.0
    assert hsic_test(np.ones((7, 1)), np.arange(7.0)[:, None], estimator="adaptive", rng=0).pvalue == 1.0
    rng = np.random.default_rng(6)
    X, Y = rng.normal(size=(12, 1)), rng.normal(size=(12, 1)) + 3
    joined = [np.hstack([Z, np.full((12, 1), 5.0)]) for Z in (X, Y)]
    assert mmd_test(*joined, estimator="adaptive", n_resamples=199, rng=0).pvalue == 0.005
