"""Conditional independence: statistics by their definition, exact strata, levels, what it finds, refusals."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import kernelmean as km
from kernelmean.conditional.smoothing import STRENGTHS, Basis, Smoother, gaussian_features
from kernelmean.inference import ConditionalResult, ci_test
from kernelmean.inference.given.products import ResidualColumns, signed_statistics, widening

RNG = np.random.default_rng(0)
N = 120
Z = RNG.normal(size=(N, 2))
X, Y = Z[:, 0] + RNG.normal(size=N), Z[:, 1] ** 2 + RNG.normal(size=N)
STRATA = np.arange(N) % 3


def columns(q: int) -> ResidualColumns:
    return ResidualColumns(RNG.normal(size=(N, q)), RNG.random(q), 1.0 + 20.0 * RNG.random(q))


def test_a_statistic_is_the_weighted_norm_of_its_definition() -> None:
    x, y, of_z = columns(2), columns(3), RNG.normal(size=(N, 2))
    statistics = signed_statistics(
        [x.times(y), x.times(y).times(ResidualColumns(of_z, np.ones(2), np.full(2, np.inf)))],
        1,
        np.random.default_rng(0),
    )
    cross = np.einsum("ia,ib->ab", x.values, y.values) / np.sqrt(N)
    by_z = np.einsum("ia,ib,ic->abc", x.values, y.values, of_z) / np.sqrt(N)
    both = np.outer(x.weights, y.weights)
    expected = [np.sum(both * cross**2), np.sum(both[:, :, None] * by_z**2)]
    np.testing.assert_allclose(statistics[:, 0], expected, rtol=1e-12)


def test_signs_are_widened_as_residuals_of_projections_vary() -> None:
    """Sums of products of residuals of noise have the variance n - r; random signs alone give (n - r)² / n."""
    n, r, draws = 60, 30, 4000
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(n, r)))[0]
    rng = np.random.default_rng(2)
    left = rng.normal(size=(2, n, draws))
    left = left - basis @ (basis.T @ left)
    sums = np.einsum("id,id->d", *left)
    signed = np.einsum("id,id->d", left[0] ** 2, left[1] ** 2)
    one = ResidualColumns(np.ones((n, 1)), np.ones(1), np.array([float(r)]))
    widened = signed.mean() * widening(one.times(one).freedom, n)[0] ** 2
    assert abs(sums.var() / widened - 1.0) < 0.1 < abs(sums.var() / signed.mean() - 1.0)


def test_a_residual_is_that_of_the_best_ridge_by_cross_validation() -> None:
    """By brute force: solves with Gram matrices, for every basis and strength."""
    smoother, target = Smoother.of(Z), (Y - Y.mean())[:, None]
    found, center = [], np.eye(N) - 1.0 / N
    for basis in smoother.bases[0]:
        gram = (basis.functions * basis.values) @ basis.functions.T
        for strength in STRENGTHS:
            hat = gram @ np.linalg.inv(gram + strength * np.eye(N))
            freedom = 1.0 + np.trace(hat)
            error = np.mean(((center - hat) @ target) ** 2) / (1.0 - freedom / N) ** 2
            weaker = gram @ np.linalg.inv(gram + strength / 3.0 * np.eye(N))
            found.append((error if freedom <= 0.6 * N else np.inf, (center - weaker) @ target))
    residual = min(found, key=lambda fit: float(fit[0]))[1]
    np.testing.assert_allclose(smoother(target).residuals, residual, atol=1e-8)


def test_the_share_that_z_predicts_is_that_of_the_best_fits_without_the_row() -> None:
    """By brute force: every basis and strength is fitted again without each row."""
    n, total = 40, 0.0
    smoother, target = Smoother.of(Z[:n]), Y[:n]
    (bases,) = smoother.bases
    errors = np.zeros((len(bases), len(STRENGTHS)))
    for row in range(n):
        others = np.delete(np.arange(n), row)
        mean = target[others].mean()
        total += (target[row] - mean) ** 2
        for b, basis in enumerate(bases):
            features = basis.functions * np.sqrt(basis.values)
            middle = features[others].mean(axis=0)
            rows = features[others] - middle
            for s, strength in enumerate(STRENGTHS):
                inverse = np.linalg.inv(rows.T @ rows + strength * np.eye(rows.shape[1]))
                error = target[row] - mean - (features[row] - middle) @ inverse @ rows.T @ (target[others] - mean)
                errors[b, s] += error**2
    np.testing.assert_allclose(smoother.r2(target[:, None]), 1.0 - errors.min() / total, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_rows_apart_from_all_others_do_not_hide_what_z_predicts(seed: int) -> None:
    """In the population Z predicts .68 of X; of these rows, the exact conditional mean leaves what it leaves."""
    rng = np.random.default_rng(seed)
    z, (u, v) = rng.normal(size=300), rng.normal(size=(2, 300))
    x = (z + 0.5 * u) ** 3 / 3.0
    exact = 1.0 - np.mean((x - (z**3 + 0.75 * z) / 3.0) ** 2) / x.var()
    found = ci_test(x, np.tanh(z + 0.5 * v), z, rng=0, n_resamples=9).r2
    assert found is not None
    assert abs(found[0] - exact) < 0.1
    line = ci_test(z + 0.5 * u, z + v, z, rng=0, n_resamples=9).r2
    np.testing.assert_allclose(line or 0.0, [0.8, 0.5], atol=0.16)


def test_factors_give_the_gram_matrix() -> None:
    factor = gaussian_features(Z[:40], 1.0, 40)(Z[:40])
    distances = np.square(Z[:40, None] - Z[None, :40]).sum(axis=-1)
    np.testing.assert_allclose(factor @ factor.T, np.exp(-distances / 2.0), atol=1e-5)
    basis = Basis.of(factor)
    np.testing.assert_allclose(basis.functions.T @ basis.functions, np.eye(len(basis.values)), atol=1e-7)


def law(rng: np.random.Generator, *, dependent: bool = False) -> Any:
    z, (u, v) = rng.normal(size=60), 0.4 * rng.normal(size=(2, 60))
    return np.sin(z) + u, z**2 + v + (0.8 * u if dependent else 0.0), z


def test_it_rejects_at_the_level_and_finds_dependence() -> None:
    runs = 40
    found = np.array(
        [
            [ci_test(*law(np.random.default_rng([s, i]), dependent=s), rng=i, n_resamples=99).pvalue for s in (0, 1)]
            for i in range(runs)
        ]
    )
    rejected = (found <= 0.05).sum(axis=0)
    assert rejected[0] <= binom.ppf(0.999, runs, 0.07)
    assert rejected[1] >= 0.8 * runs


def test_dependence_that_changes_its_sign_with_z_is_found() -> None:
    rng = np.random.default_rng(3)
    z, u, v = rng.normal(size=(3, 300))
    assert ci_test(z + u, z + np.sign(z) * u + v, z, rng=0).pvalue <= 0.01
    assert ci_test(z + u, z + v, z, rng=0).pvalue > 0.05


def test_rows_units_sides_and_precision_change_nothing() -> None:
    first = ci_test(X, Y, Z, rng=0)
    mixed = np.random.default_rng(1).permutation(N)
    others = [
        ci_test(X[mixed], Y[mixed], Z[mixed], rng=0),
        ci_test(1e6 * X + 1e9, -1e-5 * Y, Z * [3.0, 1e-3] + 7.0, rng=0),
        ci_test(Y, X, Z, rng=0),
        ci_test(X, Y, np.column_stack([Z, np.ones(N)]), rng=0),
    ]
    for other in others:
        np.testing.assert_allclose(other.statistic, first.statistic, rtol=1e-6)
        assert other.pvalue == first.pvalue
    np.testing.assert_allclose(ci_test(X.astype("f4"), Y, Z, rng=0).statistic, first.statistic, rtol=1e-3)
    assert len({ci_test(X, Y, Z, rng=seed).pvalue for seed in range(4)}) > 1


def test_inputs_stay_as_they_are() -> None:
    before = [data.copy() for data in (X, Y, Z)]
    ci_test(X, Y, Z, rng=0, n_resamples=19, size_runs=1, strata=STRATA)
    for data, copy in zip((X, Y, Z), before, strict=True):
        np.testing.assert_array_equal(data, copy)


def test_strata_alone_are_the_exact_test_within_them() -> None:
    result = ci_test(X, Y, strata=np.array(list("abc"))[STRATA], rng=0)
    exact = km.hsic_test(X, Y, design=km.Design(strata=STRATA), rng=0)
    assert result.exact
    assert result.r2 is None
    assert (result.statistic, result.pvalue) == (exact.statistic, exact.pvalue)


def test_strata_with_z_have_regressions_of_their_own() -> None:
    """The slope differs between strata, so that one regression would leave it in both residuals."""
    rng = np.random.default_rng(5)
    z, strata = rng.normal(size=300), np.arange(300) % 2
    x, y = ((2.0 * strata - 1.0) * z + 0.5 * rng.normal(size=300) for _ in range(2))
    assert ci_test(x, y, z, rng=0).pvalue <= 0.01
    result = ci_test(x, y, z, strata=strata, rng=0)
    assert result.pvalue > 0.05
    assert result.n_strata == 2
    assert not result.exact


def test_categories_of_a_frame_are_encoded_and_known_ones_are_strata() -> None:
    letters = np.array(list("abc"))[STRATA]
    known = pd.DataFrame({"group": letters, "z": Z[:, 0]})
    mixed, apart = ci_test(X, Y, known, rng=0), ci_test(X, Y, Z[:, 0], strata=letters, rng=0)
    assert (mixed.pvalue, mixed.n_strata, mixed.exact) == (apart.pvalue, 3, False)
    alone = ci_test(X, Y, known["group"], strata=np.arange(N) // 60, rng=0)
    assert (alone.exact, alone.n_strata) == (True, 6)
    x = pd.DataFrame({"sort": np.where(X.mean() < X, "high", "low"), "x": X, "none": ["-"] * N})
    result = ci_test(x, pd.Series(Y > 1.0), Z, rng=0)
    assert result.shape == (N, 2, 1, 2)
    assert any("none" in note for note in result.notes)
    assert ci_test(pd.Series(letters), pd.Series(letters), Z, rng=0).pvalue <= 0.01


def test_columns_that_z_determines_say_nothing() -> None:
    """Their residuals are errors of the regressions, which are alike on both sides."""
    plain = ci_test(X, Y, Z, rng=0)
    both = ci_test(np.c_[X, np.sin(Z[:, 0])], np.c_[Y, np.cos(Z[:, 0])], Z, rng=0)
    np.testing.assert_allclose(both.statistic, plain.statistic, rtol=1e-6)
    assert both.pvalue == plain.pvalue


def test_the_size_on_data_like_these() -> None:
    result = ci_test(X, Y + 2.0 * X, Z, rng=0, n_resamples=99, size_runs=40)
    assert result.pvalue <= 0.05
    assert result.size is not None
    assert result.size_interval is not None
    assert result.size <= 0.2
    hits = round(40 * result.size)
    low, high = result.size_interval
    np.testing.assert_allclose(binom.cdf(hits, 40, high), 0.025, atol=1e-9)
    assert not hits or abs(binom.sf(hits - 1, 40, low) - 0.025) < 1e-9
    assert any(name == "size" for name, _ in result.facts())


def test_the_result_says_what_holds() -> None:
    result = ci_test(X, Y, Z, rng=0)
    assert isinstance(result, ConditionalResult)
    assert tuple(result) == (result.statistic, result.pvalue)
    assert result.r2 is not None
    assert 0.2 < result.r2[0] < 0.7
    assert 0.3 < result.r2[1] < 0.9
    assert "asymptotic" in result.method
    assert "asymptotic, not exact" in str(result)
    assert "given Z" in ci_test(X, Y + X, Z, rng=0).verdict()
    assert "given the stratum" in ci_test(X, Y + 2.0 * X, strata=STRATA, rng=0).verdict()
    assert len(result.members) == 6
    assert {*result.to_dict()["members"]} == {one.name for one in result.members}


def test_what_is_left_has_a_direction_and_a_size() -> None:
    rng = np.random.default_rng(4)
    z, u, v, other = rng.normal(size=(4, 400))
    frame = pd.DataFrame({"other": other, "x": np.sin(z) + u})
    y = pd.DataFrame({"y": z**2 - 0.75 * u + v})
    result = ci_test(frame, y, z, rng=0, n_resamples=9)
    assert result.left is not None
    assert result.left.shape == (2, 1)
    assert result.left[1, 0] == pytest.approx(-0.6, abs=0.08)  # of u and -.75 u + v
    assert abs(result.left[0, 0]) < 0.12
    assert any(name == "correlation left" and text.endswith("x and y") for name, text in result.facts())
    assert result.to_dict()["columns"] == [("other", "x"), ("y",)]
    strata = np.arange(400) % 3
    within = ci_test(frame["x"], y, strata=strata, rng=0, n_resamples=9)
    means = [frame["x"].groupby(strata).transform("mean"), y["y"].groupby(strata).transform("mean")]
    assert within.left is not None
    expected = np.corrcoef(frame["x"] - means[0], y["y"] - means[1])[0, 1]
    assert within.left[0, 0] == pytest.approx(expected)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": ({"X": np.where(np.arange(N) == 3, np.nan, X)}, "NaN or infinite"),
    "infinite": ({"Z": np.full((N, 1), np.inf)}, "NaN or infinite"),
    "constant X": ({"X": np.ones(N)}, "X is constant"),
    "constant Z": ({"Z": np.ones(N)}, r"Z is constant .* write hsic_test"),
    "nothing known": ({"Z": None}, "neither Z nor strata"),
    "few rows": ({"X": X[:19], "Y": Y[:19], "Z": Z[:19]}, "at least 20"),
    "other rows": ({"Y": Y[:50]}, "X has 120 rows and Y has 50"),
    "other rows of Z": ({"Z": pd.Series(["a", "b"] * 25)}, "X has 120 rows and Z 50"),
    "blank category": ({"Z": pd.Series(["a", None] * 60)}, "Z has 60 rows with a blank cell, the first is row 2"),
    "constant category": ({"X": pd.Series(["a"] * N)}, "X is constant in 120 rows"),
    "many columns": ({"Z": RNG.normal(size=(N, 61))}, "at most 60 columns"),
    "Z determines X": ({"X": np.sin(Z[:, 0])}, "Z determines X"),
    "z determines sine": ({"X": pd.DataFrame({"sine": np.sin(Z[:, 0])})}, r"Z determines X \(sine\)"),
    "Z determines Y": ({"Y": 2.0 * Z[:, 1] + 3.0}, "Z determines Y"),
    "Z and the strata determine X": ({"X": STRATA, "strata": STRATA}, "Z and the strata determine X"),
    "one row a stratum": ({"Z": None, "strata": range(N)}, "one row"),
    "a blank stratum": ({"strata": [None] * N}, "no label in row 1"),
    "few labels": ({"strata": [1, 2]}, r"strata has shape \(2,\)"),
    "small strata": ({"strata": np.arange(N) // 12}, "the stratum 0 has 12 rows.*at least 20.*merge strata"),
    "no resamples": ({"n_resamples": 0}, "n_resamples"),
    "a size that is known": ({"Z": None, "strata": STRATA, "size_runs": 3}, "size_runs"),
    "huge": ({"X": 1e300 * X}, "another unit"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    changed, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        ci_test(**{"X": X, "Y": Y, "Z": Z, **changed})


@pytest.mark.parametrize("name", ["Y", "Z", "strata"])
def test_indexes_in_another_order_are_refused(name: str) -> None:
    frames = {"X": pd.Series(X), "Y": pd.Series(Y), "Z": pd.DataFrame(Z), "strata": pd.Series(STRATA)}
    frames[name] = frames[name].sample(frac=1.0, random_state=0)
    with pytest.raises(ValueError, match=rf"row i of \w+ and row i of {name} are one unit, and their indexes differ"):
        ci_test(**frames)


def test_text_is_refused() -> None:
    with pytest.raises(TypeError, match="numbers are needed"):
        ci_test(["a"] * N, Y, Z)
