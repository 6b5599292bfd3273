"""Weights for a target: the programme against other solvers, the test against enumeration, and bad input."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import kernelmean as km
from kernelmean.core.capped_qp import on_capped_simplex, solve_capped_qp
from kernelmean.core.simplex_qp import solve_simplex_qp

RNG = np.random.default_rng(0)
X, TARGET = RNG.normal(size=(120, 2)), RNG.normal([0.5, 0.0], 0.8, size=(80, 2))
PLAIN = km.TableEncoder(scale=False)
KERNEL = km.kernels.Gaussian(1.0)


# -- the programme -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_without_a_cap_it_is_the_programme_on_the_simplex(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    features, target = 10.0 ** rng.uniform(-2, 2) * rng.normal(3.0, 1.0, (n, r)), rng.normal(size=r)
    ridge = 10.0 ** rng.uniform(-4, 1) * np.square(features).mean()
    found = solve_capped_qp(features, target, ridge, 1.0)
    other = solve_simplex_qp(features @ features.T + ridge * np.eye(n), features @ target)
    np.testing.assert_allclose(found, other, atol=1e-6)


@pytest.mark.parametrize("cap", [1.0 / 8, 1.001 / 8, 0.2, 0.25, 0.5])
def test_with_a_cap_no_other_weights_are_better(cap: float) -> None:
    rng = np.random.default_rng(1)
    features, target = rng.normal(size=(8, 3)), np.array([1.0, 0.5, 0.0])

    def value(w: Any) -> float:
        return float(0.5 * np.square(features.T @ w - target).sum() + 0.05 * w @ w)

    found = solve_capped_qp(features, target, 0.1, cap)
    sum_is_1 = {"type": "eq", "fun": lambda w: w.sum() - 1.0}
    other = minimize(value, np.full(8, 0.125), bounds=[(0, cap)] * 8, constraints=sum_is_1, options={"ftol": 1e-12})
    assert value(found) == pytest.approx(other.fun, rel=1e-7)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert 0.0 <= found.min() <= found.max() <= cap * (1 + 1e-12)


def test_projections_are_the_nearest_weights() -> None:
    for values in RNG.normal(size=(20, 6)) * np.logspace(-3, 6, 20)[:, None]:
        weights = on_capped_simplex(values, 0.3)
        assert weights.sum() == pytest.approx(1.0, abs=1e-15 * np.abs(values).max() + 1e-12)
        free = (weights > 0) & (weights < 0.3)
        shift = (values - weights)[free]
        assert shift.max(initial=-np.inf) - shift.min(initial=np.inf) < 1e-9 * np.abs(values).max()


# -- the weights -------------------------------------------------------------------------------------------------------


def test_weights_sum_to_one_and_stay_optimal_with_a_small_ridge() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        features, target, cap, ridge = rng.normal(size=(30, 6)), rng.normal(size=6), 0.1, 10.0 ** rng.uniform(-7, -5)
        weights = solve_capped_qp(features, target, ridge, cap)
        assert abs(weights.sum() - 1.0) < 1e-14
        slopes = (features - target) @ (weights @ features - target) + ridge * weights
        best = np.sort(slopes)[:10].mean()  # of all weights at most 1/10 that sum to 1
        assert slopes @ weights - best < 1e-7


def test_distances_are_those_of_embeddings() -> None:
    found = km.match_weights(X, TARGET, kernel=KERNEL, encoder=PLAIN, rng=0)
    goal = km.embed(TARGET, KERNEL)
    after = (km.embed(X, KERNEL, weights=found.weights / len(X)) - goal).norm()
    assert found.mmd_before == pytest.approx((km.embed(X, KERNEL) - goal).norm(), rel=1e-7)
    assert found.mmd_after == pytest.approx(after, rel=1e-4)
    assert found.mmd_after < 0.1 * found.mmd_before
    assert found.weights.mean() == pytest.approx(1.0, abs=1e-12)
    assert found.effective_sample_size == pytest.approx(len(X) ** 2 / np.square(found.weights).sum(), rel=1e-12)
    assert found.held == pytest.approx(1.0, abs=1e-8)


def test_two_categories_get_the_ratio_of_their_shares() -> None:
    rows, goal = pd.DataFrame({"arm": list("aaaab") * 10}), pd.DataFrame({"arm": list("ab") * 10})
    found = km.match_weights(rows, goal, ridge=1e-8, rng=0)
    np.testing.assert_allclose(found.weights, np.tile([0.625] * 4 + [2.5], 10), rtol=1e-5)
    _, before, after = found.balance[0]
    assert (abs(before), after) == (pytest.approx(0.6), pytest.approx(0.0, abs=1e-5))


def test_columns_may_be_mixed_and_rows_in_any_order() -> None:
    rows = pd.DataFrame({"x": X[:, 0], "arm": RNG.choice(list("abc"), 120)})
    goal = pd.DataFrame({"arm": RNG.choice(list("ab"), 80), "x": TARGET[:, 0]})
    found, order = km.match_weights(rows, goal, rng=0), RNG.permutation(120)
    turned = km.match_weights(rows.iloc[order], goal, rng=0)
    np.testing.assert_allclose(turned.weights, found.weights[order], atol=1e-5)
    assert [name for name, _, _ in found.balance] == ["x", "arm=a", "arm=b", "arm=c"]


def test_caps_hold_and_a_ridge_spreads_the_weights() -> None:
    sizes = [km.match_weights(X, TARGET, ridge=ridge, rng=0).effective_sample_size for ridge in (0.01, 0.1, 1.0)]
    assert sizes == sorted(sizes)
    capped = km.match_weights(X, TARGET + 1.0, cap=2.0, rng=0)
    assert capped.weights.max() == pytest.approx(2.0)
    np.testing.assert_allclose(km.match_weights(X, TARGET, cap=1.0, rng=0).weights, 1.0)


def test_one_column_may_be_a_vector() -> None:
    found, other = (km.match_weights(X[:, rows], TARGET[:, rows], rng=0) for rows in (0, [0]))
    np.testing.assert_array_equal(found.weights, other.weights)


def test_offsets_and_units_change_nothing() -> None:
    found = km.match_weights(X, TARGET, rng=0)
    moved = km.match_weights(1e6 + 1000.0 * X, 1e6 + 1000.0 * TARGET, rng=0)
    np.testing.assert_allclose(moved.weights, found.weights, atol=1e-4)


def test_a_line_that_does_not_fit_everywhere_fits_the_target() -> None:
    rng = np.random.default_rng(3)
    rows, goal = rng.normal(0.5, 0.5, size=(150, 1)), rng.normal(0.0, 0.3, size=(150, 1))
    y, truth = (-x[:, 0] + x[:, 0] ** 3 for x in (rows, goal))
    weights = km.match_weights(rows, goal, rng=0).weights
    errors = []
    for w in (np.ones(150), weights):
        line = np.polyfit(rows[:, 0], y + 0.1 * rng.normal(size=150), 1, w=np.sqrt(w))
        errors.append(np.square(np.polyval(line, goal[:, 0]) - truth).mean())
    assert errors[1] < 0.2 * errors[0]


# -- what remains ------------------------------------------------------------------------------------------------------


def test_the_pvalue_counts_the_halves_of_the_target() -> None:
    goal = TARGET[:6]
    found = km.match_weights(X, goal, kernel=KERNEL, encoder=PLAIN, rng=0)
    halves = [list(half) for half in combinations(range(6), 3)]
    gaps = [
        (km.embed(goal[half], KERNEL) - km.embed(np.delete(goal, half, axis=0), KERNEL)).norm() ** 2 for half in halves
    ]
    assert found.n_resamples == 19
    assert min(abs(np.array(gaps) - found.between_halves)) < 1e-9
    own = int(np.argmin(abs(np.array(gaps) - found.between_halves)))
    others = [gap for number, gap in enumerate(gaps) if number != own]
    assert found.pvalue == pytest.approx((1 + sum(gap >= found.statistic - 1e-9 for gap in others)) / 20)


def test_rows_that_are_all_alike_to_a_kernel_have_p_1() -> None:
    remaining = km.match_weights(X[:9], TARGET[:7], kernel=lambda A, B: np.full((len(A), len(B)), 0.3))
    assert (remaining.statistic, remaining.pvalue) == (0.0, 1.0)


def test_rows_that_match_perfectly_are_a_half_of_the_target() -> None:
    found = km.match_weights(TARGET[:10], TARGET[:10], ridge=1e-9, rng=0)
    assert found.verdict().startswith("Weights take away 0 %")  # of nothing, whatever rounding leaves
    assert found.statistic == pytest.approx(found.between_halves, rel=1e-3)


def test_a_target_that_rows_do_not_reach_has_a_small_pvalue() -> None:
    found = km.match_weights(X, TARGET + 4.0, rng=0)
    assert found.pvalue <= 0.01
    assert found.effective_sample_size < 10.0


# -- bad input ---------------------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a cap below 1": (lambda: km.match_weights(X, TARGET, cap=0.5), "cap of 1 or more"),
    "no cap": (lambda: km.match_weights(X, TARGET, cap=np.nan), "cap is nan"),
    "two caps": (lambda: km.match_weights(X, TARGET, cap=[1.0, 2.0]), "a single number"),  # type: ignore[arg-type]
    "another encoder": (lambda: km.match_weights(X, TARGET, encoder=km.KernelMean()), "pass a TableEncoder"),  # type: ignore[arg-type]
    "a seed of text": (lambda: km.match_weights(X, TARGET, rng="a"), "rng is 'a'"),  # type: ignore[arg-type]
    "no ridge": (lambda: km.match_weights(X, TARGET, ridge=0.0), "ridge is 0"),
    "one row": (lambda: km.match_weights(X[:1], TARGET), "1 row was passed"),
    "three target rows": (lambda: km.match_weights(X, TARGET[:3]), "which is halved"),
    "other columns": (lambda: km.match_weights(X, TARGET[:, :1]), "X has 2 columns and target has 1"),
    "other names": (lambda: km.match_weights(pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"b": [1.0] * 4})), "'?b'?"),
    "a blank cell": (lambda: km.match_weights(np.where(X > 1, np.nan, X), TARGET), "blank"),
    "infinity": (lambda: km.match_weights(np.where(X > 1, np.inf, X), TARGET), "row 4, column .x0. is infinite"),
    "noise in blank cells": (
        lambda: km.match_weights(X, TARGET, encoder=km.TableEncoder(missing="noise")),
        "missing='noise'",
    ),
    "a path": (lambda: km.match_weights("a.csv", TARGET), "read_table"),
    "equal rows": (lambda: km.match_weights(np.ones((5, 1)), np.ones((5, 1))), "all 10 rows are equal"),
    "a matrix": (lambda: km.match_weights(X, TARGET, kernel="precomputed"), "rows with columns"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused(what: str) -> None:
    call, words = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=words):
        call()


def test_rows_and_target_may_be_constants_that_differ() -> None:
    found = km.match_weights(np.zeros((5, 1)), np.ones((6, 1)), rng=0)
    np.testing.assert_allclose(found.weights, 1.0)
    assert found.mmd_after == pytest.approx(found.mmd_before)
    assert found.pvalue == 1.0 / (1.0 + found.n_resamples)
