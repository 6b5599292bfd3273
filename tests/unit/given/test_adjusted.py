"""Differences of two samples beyond what other columns explain: by their definition, levels, coverage, refusals."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import kernelmean as km
from kernelmean.conditional.smoothing import typical_distance
from kernelmean.inference import AdjustedResult
from kernelmean.inference.given.adjusted import adjusted_test
from kernelmean.kernels import Gaussian

Rows = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def confounded(seed: int, n: int = 40, shift: float = 0.0) -> Rows:
    """Rows of a sample whose share follows z, and outcomes that follow z."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(8 * n, 2))
    label = rng.random(8 * n) < 1.0 / (1.0 + np.exp(-1.5 * z[:, 0]))
    y = np.column_stack([z[:, 0] + z[:, 1] + 0.5 * rng.normal(size=8 * n), rng.normal(size=8 * n)])
    y[:, 0] += shift * label
    first, second = np.flatnonzero(label)[:n], np.flatnonzero(~label)[:n]
    return y[first], y[second], z[first], z[second]


X, Y, ZX, ZY = confounded(0)
STRATA = np.arange(40) % 3, np.arange(40) ** 2 % 3


def test_the_test_is_that_of_the_label_given_the_known_columns() -> None:
    result = km.mmd_test(X, Y, given=(ZX, ZY), rng=3)
    label = np.repeat([1.0, 0.0], 40)
    other = km.ci_test(label, np.vstack([X, Y]), np.vstack([ZX, ZY]), rng=3)
    assert (result.statistic, result.pvalue, result.test.r2) == (other.statistic, other.pvalue, other.r2)
    assert tuple(result) == (result.statistic, result.pvalue)
    within = adjusted_test(X, Y, None, design=km.Design(strata=STRATA), rng=3)
    exact = km.ci_test(label, np.vstack([X, Y]), strata=np.concatenate(STRATA), rng=3)
    assert within.exact
    assert within.pvalue == exact.pvalue


def test_known_categories_of_frames_are_strata() -> None:
    halves = np.arange(40) % 2, np.arange(40) // 20
    names = [np.array(["low", "high"])[half] for half in halves]
    frames = [pd.DataFrame({"half": half, "z": z[:, 0]}) for half, z in zip(names, (ZX, ZY), strict=True)]
    mixed = km.mmd_test(X, Y, given=frames, rng=0)
    apart = km.mmd_test(X, Y, given=(ZX[:, 0], ZY[:, 0]), design=km.Design(strata=halves), rng=0)
    assert (mixed.pvalue, mixed.test.n_strata) == (apart.pvalue, 2)
    exact = km.mmd_test(X, Y, given=[frame[["half"]] for frame in frames], rng=0)
    strata = adjusted_test(X, Y, None, design=km.Design(strata=halves), rng=0)
    assert exact.exact
    for one, other in zip(exact.differences, strata.differences, strict=True):
        np.testing.assert_allclose(one.adjusted, other.adjusted, rtol=1e-10)
    both = km.mmd_test(X, Y, given=[frame[["half"]] for frame in frames], design=km.Design(strata=STRATA), rng=0)
    assert both.test.n_strata == 6
    with pytest.raises(ValueError, match=r"given\[1\] has 1 row with a blank cell"):
        km.mmd_test(X, Y, given=(frames[0], frames[1].replace({"half": {"low": None}}).iloc[19:]), rng=0)


def test_within_strata_the_difference_is_that_of_cochran_mantel_and_haenszel() -> None:
    result = adjusted_test(X, Y, None, design=km.Design(strata=STRATA), n_resamples=9, rng=0)
    found, total = np.zeros(2), 0.0
    for stratum in range(3):
        of_x, of_y = X[STRATA[0] == stratum], Y[STRATA[1] == stratum]
        if len(of_x) and len(of_y):
            weight = len(of_x) * len(of_y) / (len(of_x) + len(of_y))
            found, total = found + weight * (of_x.mean(axis=0) - of_y.mean(axis=0)), total + weight
    np.testing.assert_allclose([each.adjusted for each in result.differences], found / total, rtol=1e-10)
    np.testing.assert_allclose([each.raw for each in result.differences], X.mean(axis=0) - Y.mean(axis=0), rtol=1e-10)


def test_along_lines_the_difference_is_the_coefficient_of_the_label() -> None:
    of_x, of_y, *known = confounded(1, n=200, shift=0.4)
    result = km.mmd_test(of_x, of_y, given=tuple(known), n_resamples=9, rng=0)
    design = np.column_stack([np.repeat([1.0, 0.0], 200), np.ones(400), np.vstack(known)])
    coefficients = np.linalg.lstsq(design, np.vstack([of_x, of_y]), rcond=None)[0][0]
    np.testing.assert_allclose([each.adjusted for each in result.differences], coefficients, atol=0.02)


def test_the_squared_distance_is_that_of_kernel_means_less_what_noise_adds() -> None:
    result = km.mmd_test(X, Y, given=(ZX, ZY), n_resamples=9, rng=0)
    rows = np.vstack([X, Y])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    order = np.lexsort(np.column_stack([np.vstack([ZX, ZY]), np.vstack([X, Y])]).T[::-1])
    kernel = Gaussian(typical_distance(rows[order]))
    first, second, cross = kernel(rows[:40], rows[:40]), kernel(rows[40:], rows[40:]), kernel(rows[:40], rows[40:])
    squared = first.mean() + second.mean() - 2.0 * cross.mean()
    noise = sum(np.trace(gram) / 40 - gram.mean() for gram in (first, second)) / 40
    np.testing.assert_allclose(result.mmd2[0], squared - noise, rtol=1e-6)
    assert abs(result.mmd2[1]) < 0.5 * result.mmd2[0]


@pytest.mark.slow
def test_it_rejects_at_the_level_where_confounding_alone_separates_the_samples() -> None:
    runs = 30
    found = [confounded(100 + run) for run in range(runs)]
    results = [km.mmd_test(*pair[:2], given=pair[2:], rng=0, n_resamples=99) for pair in found]
    assert sum(result.pvalue <= 0.05 for result in results) <= binom.ppf(0.999, runs, 0.07)
    plain = sum(km.mmd_test(*pair[:2], rng=0, n_resamples=99).pvalue <= 0.05 for pair in found)
    assert plain > binom.ppf(0.999, runs, 0.05)
    covered = sum(result.differences[0].low <= 0.0 <= result.differences[0].high for result in results)
    assert covered >= binom.ppf(0.001, runs, 0.93)


def test_a_difference_that_confounding_hides_is_found() -> None:
    hidden = confounded(2, n=100, shift=-1.2)
    assert km.mmd_test(*hidden[:2], given=hidden[2:], rng=0).pvalue <= 0.01
    difference = km.mmd_test(*hidden[:2], given=hidden[2:], rng=0).differences[0]
    assert difference.low <= -1.2 <= difference.high < 0.0 < 0.5 + difference.raw


def test_order_units_and_sides_change_nothing_else() -> None:
    first = km.mmd_test(X, Y, given=(ZX, ZY), rng=0)
    mixed = np.random.default_rng(1).permutation(40)
    moved = km.mmd_test(X[mixed], Y, given=(ZX[mixed], ZY), rng=0)
    scaled = km.mmd_test(1e3 * X + 1e6, 1e3 * Y + 1e6, given=(ZX * [3.0, 1e-3], ZY * [3.0, 1e-3]), rng=0)
    swapped = km.mmd_test(Y, X, given=(ZY, ZX), rng=0)
    for other, factor in ((moved, 1.0), (scaled, 1e3), (swapped, -1.0)):
        assert other.pvalue == first.pvalue
        for one, two in zip(first.differences, other.differences, strict=True):
            ends = sorted((factor * one.low, factor * one.high))
            np.testing.assert_allclose((two.adjusted, two.low, two.high), (factor * one.adjusted, *ends), rtol=1e-5)
    np.testing.assert_allclose(
        moved.weights, np.concatenate([first.weights[:40][mixed], first.weights[40:]]), atol=1e-9
    )


def test_weights_say_how_much_of_both_samples_is_alike() -> None:
    result = km.mmd_test(X, Y, given=(ZX, ZY), n_resamples=9, rng=0)
    np.testing.assert_allclose([result.weights[:40].sum(), result.weights[40:].sum()], 1.0)
    assert all(10.0 < rows < 40.0 for rows in result.effective_rows)
    assert any(name == "overlap" for name, _ in result.facts())
    noise = np.random.default_rng(0).normal(size=(2, 40, 1))
    alike = km.mmd_test(X, Y, given=tuple(noise), n_resamples=9, rng=0)
    assert min(alike.effective_rows) > 35.0


def test_few_effective_rows_are_told() -> None:
    few = km.mmd_test(X[:6], Y, given=(ZX[:6], ZY), n_resamples=9, rng=0)
    assert any("fewer than 20 effective rows" in note for note in few.describe().notes)
    one = km.mmd_test(X[:1], Y, given=(ZX[2:3, 1], ZY[:, 1]), n_resamples=9, rng=0)
    assert np.isnan(one.differences[0].low)
    assert one.rows()[0]["low"] is None
    assert "not known" in str(one)


def test_it_says_what_it_found() -> None:
    frames = [pd.DataFrame(rows, columns=["dose", "age"]) for rows in (X, Y)]
    result = km.mmd_test(*frames, given=(pd.Series(ZX[:, 0]), pd.Series(ZY[:, 0])), rng=0)
    assert isinstance(result, AdjustedResult)
    assert "beyond what is explained by Z" in result.verdict()
    assert [row["of"] for row in result.rows()] == ["dose", "age"]
    assert result.to_dict()["sizes"] == [40, 40]
    assert "asymptotic" in str(result)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "no overlap": ({"given": (ZX[:, 0] + 9.0, ZY[:, 0])}, "no overlap"),
    "known rows": ({"given": (ZX[:30], ZY)}, r"X has 40 rows and given\[0\] 30"),
    "constant": ({"given": (np.ones(40), np.ones(40))}, "given is constant"),
    "other columns": ({"given": (ZX, ZY[:, :1])}, r"given\[0\]"),
    "NaN": ({"given": (np.full(40, np.nan), ZY[:, 0])}, "NaN or infinite"),
    "constant outcomes": ({"X": np.ones((40, 2)), "Y": np.ones((40, 2))}, "is constant"),
    "an outcome that is known": (
        {"given": (X[:, :1], Y[:, :1]), "X": X[:, :1], "Y": Y[:, :1]},
        "determines the columns",
    ),
    "a kernel": ({"kernel": Gaussian(1.0)}, "leave kernel= out"),
    "a scheme": ({"scheme": "exact"}, "leave scheme= out"),
    "clusters": ({"design": km.Design(clusters=STRATA)}, "strata only"),
    "pairs": ({"design": km.Design(paired=True)}, "strata only"),
    "few rows": ({"X": X[:5], "Y": Y[:5], "given": (ZX[:5], ZY[:5])}, "at least 20"),
    "small strata": ({"design": km.Design(strata=(np.arange(40) % 9, np.arange(40) % 9))}, "the stratum 0 has 10 rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    changed, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        km.mmd_test(**{"X": X, "Y": Y, "given": (ZX, ZY), **changed})


def test_one_table_of_known_columns_is_refused() -> None:
    with pytest.raises(TypeError, match=r"given=\(Zx, Zy\)"):
        km.mmd_test(X, Y, given=ZX)  # type: ignore[call-overload]
