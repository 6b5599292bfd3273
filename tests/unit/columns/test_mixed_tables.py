"""Comparing mixed tables: exact where nothing differs, the same in every library, with the columns that were passed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom

import kernelmean as km
from kernelmean.kernels import Gaussian
from kernelmean.studies import Comparison
from nulls import mmd_null

N, M = 30, 24


def mixed(rng: np.random.Generator, n: int, shift: float = 0.0, shares: Any = (0.4, 0.3, 0.3)) -> pd.DataFrame:
    """Return a table with a number, a category, a flag, a level and a time, of which only two depend on arguments."""
    table = pd.DataFrame(
        {
            "dose": rng.gamma(2.0, 30.0, n) + 40.0 * shift,
            "arm": rng.choice(["a", "b", "c"], n, p=shares),
            "flag": rng.random(n) < 0.4,
            "size": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "visit": pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(0, 99, n), "h"),
        }
    )
    table["arm"] = table["arm"].astype(str)
    return table


def with_blanks(rng: np.random.Generator, table: pd.DataFrame, share: float = 0.15) -> pd.DataFrame:
    blank = rng.random((len(table), 2)) < share
    return table.assign(dose=table["dose"].mask(blank[:, 0]), arm=table["arm"].mask(blank[:, 1]))


A, B = mixed(np.random.default_rng(1), N), mixed(np.random.default_rng(2), M, 0.0, (0.05, 0.05, 0.9))
BLANK_A, BLANK_B = with_blanks(np.random.default_rng(3), A), with_blanks(np.random.default_rng(4), B)
MIXED_RULES = {"dose": "noise", "arm": "category"}


def quick(first: Any = A, second: Any = B, **options: Any) -> Comparison:
    return km.compare(first, second, **{"n_resamples": 99, "estimator": "kme", **options})


# -- what is found ----------------------------------------------------------------------------------------------------


def test_the_category_that_differs_is_found_and_described() -> None:
    result = km.compare(A, B, n_resamples=199)
    assert result.differ()
    column = result.columns[0]
    assert (column.name, column.kind) == ("arm", "categorical")
    assert [each.category for each in column.shares] == ["a", "b", "c"]
    assert column.shares[2].shares == ((A["arm"] == "c").mean(), (B["arm"] == "c").mean())
    assert np.isnan(column.gap)
    assert column.describe() == tuple(f"{100 * (table['arm'] == 'c').mean():.1f} % c" for table in (A, B))


def test_shares_are_those_of_known_cells_as_means_are_and_blank_cells_have_one_of_all_rows() -> None:
    tables = (BLANK_A, BLANK_B)
    column = next(each for each in quick(*tables, missing=MIXED_RULES).columns if each.name == "arm")
    *known, blank = column.shares
    assert blank.category == "(missing)"
    assert blank.shares == pytest.approx([table["arm"].isna().mean() for table in tables])
    for each in known:
        assert each.shares == pytest.approx([(table["arm"].dropna() == each.category).mean() for table in tables])


def test_every_column_is_named_once_with_its_kind() -> None:
    result = quick()
    kinds = {"dose": "numeric", "arm": "categorical", "flag": "boolean", "size": "ordinal", "visit": "datetime"}
    assert {column.name: column.kind for column in result.columns} == kinds


def test_means_are_in_the_units_of_the_column() -> None:
    found = {column.name: column for column in quick().columns}
    assert found["dose"].means == pytest.approx((A["dose"].mean(), B["dose"].mean()))
    assert found["flag"].means == pytest.approx((A["flag"].mean(), B["flag"].mean()))
    assert found["size"].means == pytest.approx((A["size"].cat.codes.mean(), B["size"].cat.codes.mean()))
    first, second = (T["visit"].mean() for T in (A, B))
    form = "%Y-%m-%d" if first.date() != second.date() else "%Y-%m-%d %H:%M"
    assert found["visit"].describe() == (first.strftime(form), second.strftime(form))
    pooled = pd.concat([A, B])
    for name, values in (("dose", pooled["dose"]), ("flag", pooled["flag"]), ("size", pooled["size"].cat.codes)):
        first, second = values[:N].astype(float), values[N:].astype(float)
        variance = ((len(first) - 1) * first.var() + (len(second) - 1) * second.var()) / (len(values) - 2)
        gap = (first.mean() - second.mean()) / np.sqrt(variance)
        assert found[name].gap == pytest.approx(gap, rel=1e-9)


def test_the_statistic_of_a_category_is_that_of_its_kernel() -> None:
    column = next(column for column in quick(bandwidth=1.5).columns if column.name == "arm")
    cells = pd.concat([A, B])["arm"].to_numpy()
    c = 1.0 / (1.0 - np.square(pd.Series(cells).value_counts(normalize=True)).sum())
    gram = np.where(cells[:, None] == cells, 1.0, np.exp(-c / 1.5**2))
    np.fill_diagonal(gram, 0.0)
    within = gram[:N, :N].sum() / (N * (N - 1)) + gram[N:, N:].sum() / (M * (M - 1))
    assert column.statistic == pytest.approx(within - 2 * gram[:N, N:].mean(), rel=1e-9)


def test_the_joint_statistic_with_noise_is_that_of_the_expected_kernel() -> None:
    result = quick(BLANK_A, BLANK_B, missing=MIXED_RULES, bandwidth=2.0)
    encoder = km.TableEncoder(missing=MIXED_RULES).fit_tables(BLANK_A, BLANK_B)
    points, noise = zip(*((encoder.transform(T), encoder.noise(T)) for T in (BLANK_A, BLANK_B)), strict=True)
    grams = {
        (i, j): km.expected(Gaussian(2.0), points[i], points[j], noise[i], noise[j])
        for i, j in ((0, 0), (1, 1), (0, 1))
    }
    within = sum((gram.sum() - np.trace(gram)) / (len(gram) * (len(gram) - 1)) for gram in (grams[0, 0], grams[1, 1]))
    assert result.test.statistic == pytest.approx(within - 2 * grams[0, 1].mean(), rel=1e-9)


# -- what must not matter ---------------------------------------------------------------------------------------------


def numbers(rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(26, 4)) * [1.0, 1e3, 1e-3, 7.0]


X, Y = numbers(np.random.default_rng(5)), numbers(np.random.default_rng(6))


@pytest.mark.parametrize("estimator", ["adaptive", "kme", "s-kmse"])
def test_numbers_give_the_identical_answer_in_every_library(estimator: str) -> None:
    names = ["z", "b", "m", "a"]  # not in the order of the alphabet, in which arrays are not either
    frames = [pd.DataFrame(values, columns=names) for values in (X, Y)]
    same = [(X, Y), frames, [pl.from_pandas(f) for f in frames], [pl.from_pandas(f).to_arrow() for f in frames]]
    results = [quick(*tables, estimator=estimator) for tables in same]
    for other in results[1:]:
        assert tuple(other.test) == tuple(results[0].test)
        assert sorted(c.pvalue for c in other.columns) == sorted(c.pvalue for c in results[0].columns)
    assert results[1].to_dict() == results[2].to_dict() == results[3].to_dict()


@pytest.mark.parametrize("estimator", ["adaptive", "kme", "mmkme"])
def test_the_order_of_columns_changes_nothing(estimator: str) -> None:
    turned = [table[["size", "arm", "visit", "dose", "flag"]] for table in (A, B)]
    straight, other = quick(estimator=estimator), quick(*turned, estimator=estimator)
    assert straight.to_dict() == other.to_dict()


def test_mixed_tables_give_the_identical_answer_in_every_library() -> None:
    plain = [table.assign(size=table["size"].astype(str)) for table in (BLANK_A, BLANK_B)]
    blank = [table.astype({"arm": object}).where(table.notna(), None) for table in plain]  # older polars takes no NaN
    same = [plain, [pl.from_pandas(t) for t in blank], [pl.from_pandas(t).to_arrow() for t in blank]]
    options: dict[str, Any] = {"ordinal": {"size": ["low", "mid", "high"]}}
    for rule in ("drop", "category", MIXED_RULES):
        results = [quick(*tables, missing=rule, **options).to_dict() for tables in same]
        assert results[0] == results[1] == results[2]


def test_a_category_of_two_is_a_truth_value_is_a_number() -> None:
    as_text = [table.assign(flag=np.where(table["flag"], "yes", "no")) for table in (A, B)]
    as_number = [table.assign(flag=table["flag"].astype(float)) for table in (A, B)]
    results = [quick(*tables) for tables in ((A, B), as_text, as_number)]
    for other in results[1:]:
        assert other.test.pvalue == results[0].test.pvalue
        assert other.test.statistic == pytest.approx(results[0].test.statistic, rel=1e-12)


# -- level ------------------------------------------------------------------------------------------------------------

RUNS, LEVEL = 24, 0.1
MOST = int(binom.ppf(1 - 1e-4, RUNS, LEVEL))  # exceeded once in 10 000 times by a test of exactly this level


@pytest.mark.parametrize(
    "rule", ["drop", *(pytest.param(rule, marks=pytest.mark.slow) for rule in ("category", MIXED_RULES))]
)
def test_tables_of_one_law_are_rarely_called_different(rule: Any) -> None:
    joint = family = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([91, seed])
        pooled = with_blanks(rng, mixed(rng, 24))[["dose", "arm"]]
        result = quick(pooled[:14], pooled[14:], missing=rule, n_resamples=19, rng=seed)
        joint += result.differ(LEVEL)
        family += min(column.adjusted for column in result.columns) <= LEVEL
    assert joint <= MOST
    assert family <= MOST


def test_the_permutation_of_noisy_rows_is_enumerated_exactly() -> None:
    first, second = pd.DataFrame({"x": [0.0, np.nan, 1.0]}), pd.DataFrame({"x": [2.0, 3.5, np.nan]})
    result = quick(first, second, missing="noise", bandwidth=1.0)
    (rows,) = [np.concatenate(result.encoded.points())]
    kernel = result.encoded.kernel(Gaussian(1.0))
    splits = [[i, j, k] for i in range(6) for j in range(i + 1, 6) for k in range(j + 1, 6)]
    values = [
        mmd_null(rows[s], np.delete(rows, s, axis=0), [kernel], n_resamples=1, rng=0).values[0, 0] for s in splits
    ]
    assert result.test.pvalue == pytest.approx(np.mean(np.array(values) >= values[0] - 1e-12))


# -- dependence -------------------------------------------------------------------------------------------------------


def test_a_category_that_depends_on_a_number_is_found() -> None:
    rng = np.random.default_rng(0)
    table = mixed(rng, 60).assign(grade=lambda t: np.where(t["dose"] > 60, "late", "early"))
    result = km.dependence(table, estimator="kme", n_resamples=199)
    assert {result.pairs[0].x, result.pairs[0].y} == {"dose", "grade"}
    assert result.pairs[0].adjusted <= 0.05
    assert result.to_dict()["kinds"]["grade"] == "categorical"


def test_independent_mixed_columns_are_rarely_called_dependent() -> None:
    wrong = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([92, seed])
        table = with_blanks(rng, mixed(rng, 20))[["dose", "arm"]]
        options: dict[str, Any] = {"estimator": "kme", "n_resamples": 19, "rng": seed}
        wrong += bool(km.dependence(table, missing=MIXED_RULES, **options).dependent(LEVEL))
    assert wrong <= MOST


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "options", "text"),
    [
        (BLANK_A, B, {}, "A: row 1, column 'dose' is blank or NaN"),
        (BLANK_A, B, {"missing": MIXED_RULES, "estimator": "adaptive"}, "exact kernel for estimator='kme' only"),
        (BLANK_A, B, {"missing": MIXED_RULES, "estimator": "mmkme"}, "exact kernel for estimator='kme' only"),
        (A, B, {"bandwidth": "silverman"}, "a rule for columns of numbers, and 'arm' takes several coordinates"),
        (A.drop(columns="arm"), B, {}, "only in B: arm"),
        (A.assign(arm="a"), B.assign(arm=1.0), {}, "'arm' is categorical in A ('a' in row 1) and numeric in B"),
        (A[["arm"]].assign(arm="a"), A[["arm"]].assign(arm="a"), {}, "constant and the same in both"),
        (A[:1], B, {}, "A has 1 row"),
    ],
)
def test_what_cannot_be_compared(first: Any, second: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        quick(first, second, **options)


def test_noise_in_a_study_of_dependence_needs_the_plain_estimator() -> None:
    with pytest.raises(ValueError, match="exact kernel for estimator='kme' only"):
        km.dependence(BLANK_A, missing=MIXED_RULES)


def test_a_column_of_numbers_with_the_name_of_that_coordinate_is_compared_like_others() -> None:
    rng = np.random.default_rng(0)
    A, B = (pd.DataFrame({"x is missing": rng.normal(own, size=80), "y": rng.normal(size=80)}) for own in (0.0, 1.0))
    assert km.compare(A, B, n_resamples=99).test.kind.name == "means"
    A["x"] = B["x"] = np.r_[np.nan, rng.normal(size=79)]
    assert km.compare(A, B, missing="category", n_resamples=99).test.kind.name == "means"
