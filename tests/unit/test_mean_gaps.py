"""Intervals of the difference of two means: those of SciPy without a design, and coverage with strata and clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.datasets import load_wine

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.inference import Design
from kernelmean.studies.comparison.mean_gaps import NumbersInPlaces, Places

RNG = np.random.default_rng(5)
A = pd.DataFrame({"x": RNG.gamma(2.0, size=40), "t": RNG.random(40) < 0.3, "c": RNG.choice(["u", "v"], 40)})
B = pd.DataFrame({"x": RNG.normal(3.0, size=55), "t": RNG.random(55) < 0.6, "c": RNG.choice(["u", "v"], 55)})


def intervals(*tables: Any, **options: Any) -> dict[str, tuple[float, float]]:
    return {own.name: own.interval for own in km.compare(*tables, estimator="kme", n_resamples=9, **options).columns}


def interval(design: Design, values: Any) -> tuple[float, float]:
    """The interval from rows that come in two batches a table."""
    places = Places.of(design, [*map(len, values)])
    seen = NumbersInPlaces(places.count, 0 if places.of_units is None else len(places.of_units))
    for table, cells in enumerate(values):
        for start, stop in ((0, len(cells) // 3), (len(cells) // 3, len(cells))):
            seen.add(cells[start:stop], places.rows(table, start, stop))
    return seen.interval(places.of_units)


def test_without_a_design_it_is_the_interval_of_welch() -> None:
    found = intervals(A, B)
    for name in ("x", "t"):
        first, second = (table[name].to_numpy(float) for table in (A, B))
        expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval()
        assert found[name] == pytest.approx((expected.low, expected.high), rel=1e-9)
    assert np.isnan(found["c"]).all()


def test_batches_have_the_intervals_of_memory() -> None:
    whole = intervals(A, B)
    with every_table_is_long():
        batches = intervals(A, B)
    for name in ("x", "t"):
        assert batches[name] == pytest.approx(whole[name], rel=1e-9)
        assert {type(end) for end in batches[name]} == {float}


def test_pairs_have_the_interval_of_their_differences() -> None:
    before, after = A[["x"]], (A[["x"]] + RNG.normal(0.3, size=(40, 1)))
    expected = stats.ttest_rel(before.x, after.x).confidence_interval()
    assert intervals(before, after, paired=True)["x"] == pytest.approx((expected.low, expected.high), rel=1e-9)
    keys = [f"u{k}" for k in range(40)]
    found = intervals(before.assign(user=keys), after.assign(user=keys)[::-1], strata="user")["x"]
    assert found == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_blank_cells_do_not_count_and_few_rows_have_none() -> None:
    blank = A[["x"]].copy()
    blank.loc[::5, "x"] = np.nan
    known = stats.ttest_ind(blank.x.dropna(), B.x, equal_var=False).confidence_interval()
    found = intervals(blank, B[["x"]], missing="category")["x"]
    assert found == pytest.approx((known.low, known.high), rel=1e-9)
    assert np.isnan(interval(Design(), [np.ones(1), np.arange(5.0)])).all()
    assert np.isnan(interval(Design(), [np.full(2, np.nan), np.arange(5.0)])).all()
    assert interval(Design(), [np.ones(3), np.zeros(4)]) == (1.0, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        huge = [np.array([1e200, -1e200, 0.0]), np.array([0.0, 1e200])]
        assert np.isnan(interval(Design(), huge)).all()


def of_clusters(rng: np.random.Generator) -> tuple[Design, list[np.ndarray[Any, Any]]]:
    """Users of one to four rows in two arms and three countries; the difference is 1 within every country."""
    parts = []
    for arm in (0, 1):
        users = 60 + 30 * arm
        country = rng.choice(3, users, p=(0.6, 0.3, 0.1) if arm else (0.2, 0.3, 0.5))
        rows = rng.integers(1, 5, users)
        level = 3.0 * country + rng.normal(size=users) + (1.0 - arm)
        values = np.repeat(level, rows) + 0.5 * rng.standard_t(4, rows.sum())
        weights = rng.uniform(0.5, 2.0, rows.sum())
        parts.append((values, np.repeat(country, rows), np.repeat(np.arange(users) + 1000 * arm, rows), weights))
    values, strata, clusters, weights = (list(own) for own in zip(*parts, strict=True))
    return Design(strata=tuple(strata), clusters=tuple(clusters), weights=tuple(weights)), values


def covered(design: Design, values: list[np.ndarray[Any, Any]], truth: float) -> bool:
    low, high = interval(design, values)
    return low <= truth <= high


@pytest.mark.slow  # counted at length in benchmarks/gap_coverage.py
def test_intervals_cover_within_strata_with_clusters_and_weights() -> None:
    rng = np.random.default_rng(8)
    drawn = [of_clusters(rng) for _ in range(1000)]
    low, high = stats.binom.ppf((0.0005, 0.9995), 1000, 0.95)
    assert low <= sum(covered(*own, 1.0) for own in drawn) <= high
    without = [covered(Design(strata=own.strata, weights=own.weights), values, 1.0) for own, values in drawn]
    assert sum(without) < low, "rows of a user go together"


def test_unequal_weights_leave_few_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(1000):
        design = Design(weights=tuple(np.exp(rng.normal(size=30)) for _ in range(2)))
        hits += covered(design, [*rng.normal(size=(2, 30))], 0.0)
    low, high = stats.binom.ppf((0.0005, 0.9995), 1000, (0.95, 0.97))
    assert low <= hits <= high
    one = np.array([1.0, *np.full(20, 1e-9)])
    assert np.isnan(interval(Design(weights=(one, one)), [*rng.normal(size=(2, 21))])).all()


def test_pairs_with_blank_cells_have_no_interval() -> None:
    base = 10.0 * RNG.normal(size=40)
    before, after = (pd.DataFrame({"x": base + shift}) for shift in (1.0, 0.0))
    before.loc[base > 0.0, "x"] = np.nan
    assert np.isnan(intervals(before, after, paired=True, missing="category")["x"]).all()


def test_the_gap_within_strata_is_in_deviations_within_tables_and_strata() -> None:
    design, values = of_clusters(np.random.default_rng(1))
    tables = [
        pd.DataFrame({"x": own, "country": strata, "user": users})
        for own, strata, users in zip(values, design.strata, design.clusters, strict=True)
    ]
    found = km.compare(*tables, strata="country", clusters="user", estimator="kme", n_resamples=9).columns[0]
    squares, share = 0.0, 0.0
    for country in range(3):
        parts = [table.x[table.country == country] for table in tables]
        n, m = map(len, parts)
        counted = n * m / (n + m) ** 2
        squares += counted * sum((own - own.mean()).pow(2).sum() for own in parts)
        share += counted * (n + m - 2)
    within = np.sqrt(squares / share)
    assert found.gap == pytest.approx((found.means[0] - found.means[1]) / within, rel=1e-9)
    low, high = found.interval
    assert low < found.means[0] - found.means[1] < high


def pairs_with_blanks(blank: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Forty patients before and after, in another order, with blank cells of one column that the other lacks."""
    rng, keys = np.random.default_rng(3), [f"p{k}" for k in range(40)]
    level = rng.normal(size=40)
    before, after = (
        pd.DataFrame({"id": keys, "ldl": level + shift + 0.3 * rng.normal(size=40), "k": rng.normal(size=40)})
        for shift in (1.0, 0.0)
    )
    before.loc[rng.permutation(40)[:blank], "k"] = np.nan
    return before, after[::-1]


@pytest.mark.parametrize("extra", [(), ("weight",), ("cluster",)])
@pytest.mark.parametrize("each", [1, 5])
def test_partners_of_dropped_rows_go_as_by_hand(extra: tuple[str, ...], each: int) -> None:
    before, after = (pd.concat([own] * each, ignore_index=True) for own in pairs_with_blanks(20))
    rng = np.random.default_rng(1)
    for own, start in ((before, 0), (after, 1000)):
        own["ldl"] += 0.1 * rng.normal(size=len(own))
        own["weight"], own["cluster"] = rng.uniform(0.5, 2.0, len(own)), start + np.arange(len(own))
    tables = [own[["id", "ldl", "k", *extra]] for own in (before, after)]
    said = {f"{name}s": name for name in extra} | {"strata": "id", "n_resamples": 99}
    dropped = km.compare(*tables, missing="drop", **said)
    whole = [own.dropna() for own in tables]
    common = {*whole[0]["id"]} & {*whole[1]["id"]}
    by_hand = km.compare(*(own[own["id"].isin(common)] for own in whole), **said)
    assert dropped.sizes == by_hand.sizes == (20 * each, 20 * each)
    assert (dropped.pvalue, dropped.columns) == (by_hand.pvalue, by_hand.columns)
    assert dropped.missing.rows == (20 * each, 0)


def test_a_column_with_blank_cells_has_the_deviation_of_the_strata_that_it_compares() -> None:
    before, after = pairs_with_blanks(0)
    tables = [pd.concat([own] * 3, ignore_index=True) for own in (before, after)]
    for own in tables:
        own["k"] += 0.1 * np.random.default_rng(4).normal(size=len(own))
    tables[0].loc[tables[0].id < "p2", "k"] = np.nan
    (found,) = (own for own in km.compare(*tables, strata="id", missing="category").columns if own.name == "k")
    (by_hand,) = (
        own for own in km.compare(*(own[own.id >= "p2"] for own in tables), strata="id").columns if own.name == "k"
    )
    assert found.gap == pytest.approx(by_hand.gap, rel=1e-9)


def test_the_gap_of_pairs_named_by_strata_is_that_of_pairs_by_position() -> None:
    before, after = pairs_with_blanks(0)
    by_name = km.compare(before, after, strata="id", n_resamples=99)
    by_place = km.compare(before[["ldl", "k"]], after[::-1][["ldl", "k"]], paired=True, n_resamples=99)
    gaps = [{own.name: own.gap for own in found.columns} for found in (by_name, by_place)]
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-9)
    assert "sd: within the tables" in by_name.grid().title
    assert (
        "gaps are in standard deviations within the tables, not within strata, which have fewer than 4 rows on "
        + ("average")
        in by_name.notes
    )
    country = [own.assign(id=np.arange(40) % 2) for own in (before, after)]
    within = km.compare(*country, strata="id", n_resamples=99)
    assert "sd: within tables and strata" in within.grid().title
    assert not any("gaps are in standard deviations" in note for note in within.notes)


def within(first: Any, second: Any) -> float:
    """The pooled standard deviation of two samples."""
    squares = sum((len(own) - 1) * np.var(own, ddof=1) for own in (first, second))
    return float(np.sqrt(squares / (len(first) + len(second) - 2)))


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_gap_is_the_difference_in_standard_deviations_within_the_tables(in_memory: bool) -> None:
    def gap(first: Any, second: Any) -> float:
        tables = (km.read(pd.DataFrame({"x": own}), in_memory=in_memory) for own in (first, second))
        return km.compare(*tables, estimator="kme", n_resamples=9).columns[0].gap

    rng = np.random.default_rng(0)
    far, near = rng.normal(5.0, size=500), rng.normal(size=300)
    assert gap(far, near) == pytest.approx((far.mean() - near.mean()) / within(far, near), rel=1e-9)
    assert gap(far, near) > 4.5, "it may be far above 2"
    wine = load_wine(as_frame=True)
    first, second = (wine.data.proline[wine.target == kind].to_numpy() for kind in (0, 1))
    assert gap(first, second) == pytest.approx(3.15, abs=0.005)
    coin, other = rng.random(40) < 0.3, rng.random(55) < 0.6
    assert gap(coin, other) == pytest.approx((coin.mean() - other.mean()) / within(coin, other), rel=1e-9)
    for unit in (1e-130, 1e130):  # squares neither overflow nor vanish
        assert gap(unit * far, unit * near) == pytest.approx(gap(far, near), rel=1e-9)


@pytest.mark.parametrize("in_memory", [True, False])
def test_columns_that_do_not_vary_within_tables_have_no_gap(in_memory: bool) -> None:
    rng = np.random.default_rng(0)
    tables = [
        pd.DataFrame({"x": np.full(n, value), "t": np.full(n, value > 0.2), "z": rng.normal(size=n)})
        for n, value in ((50, 0.1), (70, 0.3))
    ]
    found = km.compare(*(km.read(own, in_memory=in_memory) for own in tables), n_resamples=19)
    by_name = {own.name: own for own in found.columns}
    for name in ("x", "t"):
        assert np.isnan(by_name[name].gap)
        assert by_name[name].content()["gap"] is None
    rows = {row[0]: row[1] for row in found.grid().rows}
    assert rows["x"] == rows["t"] == ""
    assert rows["z"].startswith(("+", "−"))


def of_two_strata(seed: int = 0) -> list[pd.DataFrame]:
    """Strata in other shares, with other weights and other differences."""
    rng = np.random.default_rng(seed)
    tables = [
        pd.DataFrame({"x": rng.normal(size=60), "s": rng.choice(list("ab"), 60, p=shares)})
        for shares in ((0.8, 0.2), (0.3, 0.7))
    ]
    tables[0].loc[tables[0].s == "b", "x"] += 3.0
    return [own.assign(w=np.where(own.s == "b", 10.0, 1.0) * rng.uniform(0.5, 1.5, 60)) for own in tables]


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("clusters", [None, "c"])
def test_differences_of_means_are_those_that_tests_with_strata_and_weights_see(
    weights: str | None, clusters: str | None
) -> None:
    first, second = (own.assign(c=1000 * k + np.arange(60)) for k, own in enumerate(of_two_strata()))
    kept = ["x", "s", *filter(None, [weights, clusters])]
    options = {"strata": "s", "weights": weights, "clusters": clusters}
    column = km.compare(first[kept], second[kept], estimator="kme", n_resamples=9, **options).columns[0]
    design = km.Design(
        *(
            None if name is None else (first[name].to_numpy(), second[name].to_numpy())
            for name in ("s", clusters, weights)
        )
    )
    linear: Any = km.kernels.Linear()
    test = km.mmd_test(first[["x"]], second[["x"]], kernel=linear, statistic="v", design=design, n_resamples=9, rng=0)
    assert column.means[0] - column.means[1] == pytest.approx(np.sqrt(test.statistic), rel=1e-9)
    low, high = column.interval
    assert low < column.means[0] - column.means[1] < high
