"""Tables that are compared batch by batch: encoding, statistics and descriptions are those of memory, of all rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.stats import binom

import kernelmean as km
from checkered import mostly_slow
from in_batches import in_batches
from kernelmean.inference.units.dealing import MOST_PILOT, Deals
from kernelmean.kernels import Gaussian
from kernelmean.studies.rows.first_look import learn
from kernelmean.tables import Encoding, as_frames
from kernelmean.tables.columns.scan import TableScan
from nulls import mmd_null

N, M = 900, 700


def mixed(rng: np.random.Generator, n: int, shift: float = 0.0) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "dose": rng.gamma(2.0, 30.0, n) + shift,
            "arm": rng.choice(["a", "b", "c", "rare"], n, p=[0.4, 0.3, 0.299, 0.001]),
            "flag": rng.random(n) < 0.4,
            "size": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "visit": pd.Timestamp("2024-03-01 00:00:01") + pd.to_timedelta(rng.integers(0, 99, n), "h"),
            "same": 3.0,
        }
    )
    table["arm"] = table["arm"].astype(str)
    blank = rng.random((n, 3)) < 0.1
    return table.assign(**{name: table[name].mask(blank[:, j]) for j, name in enumerate(("dose", "arm", "visit"))})


A, B = mixed(np.random.default_rng(1), N), mixed(np.random.default_rng(2), M, 25.0)
NUMBERS = pd.DataFrame(np.random.default_rng(3).normal(size=(3000, 3)) * [1, 5, 0.1] + [0, 100, 7], columns=list("abc"))
QUICK: dict[str, Any] = {"n_resamples": 99}


def coordinates(result: Any, frame: Any) -> Any:
    return np.concatenate([coding.coordinates(frame) for coding in result.encoded.codings], axis=1)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, table in (("a", A), ("b", B)):
        parquet.write_table(pa.Table.from_pandas(table), folder / f"{name}.parquet", row_group_size=100)
        table.to_csv(folder / f"{name}.csv", index=False)
    for name, table in (("x", NUMBERS[:1700]), ("y", NUMBERS[1700:])):
        parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), folder / f"{name}.parquet", 90)
    return folder


@pytest.mark.parametrize("rule", ["category", "drop"])
def test_the_first_pass_finds_the_codings_of_all_rows(rule: str) -> None:
    """Whatever the batches: means, deviations, categories and missing cells of the tables as a whole."""
    encoding = Encoding(rule, None, (), True)
    scan, kept = TableScan.of(as_frames((A, B), ("A", "B")), encoding)
    expected = {coding.name: coding for coding in scan.codings()}
    for size in (37, 5000):
        tables = (km.read(table, batch_rows=size) for table in (A, B))
        found = in_batches(*tables, missing=rule, estimator="kme", n_resamples=9)
        assert (found.sizes, found.missing) == ((len(kept[0]), len(kept[1])), scan.missing)
        assert found.encoded.constant == ("same",)
        assert {coding.name for coding in found.encoded.codings} == {*expected} - {"same"}
        for coding in found.encoded.codings:
            one, other = vars(coding), vars(expected[coding.name])
            for key, value in one.items():
                assert value == (pytest.approx(other[key], rel=1e-9) if isinstance(value, float) else other[key])
            np.testing.assert_allclose(
                coding.coordinates(kept[0]), expected[coding.name].coordinates(kept[0]), rtol=1e-9, atol=1e-9
            )


@pytest.mark.parametrize("estimator", mostly_slow(["kme", "mkme", "mmkme"], "kme", "mmkme"))
def test_the_statistic_is_that_of_all_rows_as_far_as_features_hold_the_kernel(estimator: str) -> None:
    result = in_batches(A, B, missing="category", estimator=estimator, **QUICK)
    whole = [coordinates(result, frame) for frame in as_frames((A, B), "AB")]
    exact = float(mmd_null(*whole, [result.test.kernel], n_resamples=1, rng=0).values[0, 0])
    (share,) = (float(note.split(" hold ")[1].split()[0]) for note in result.notes if "landmarks instead" in note)
    assert share > 95.0
    assert result.test.statistic == pytest.approx(exact, rel=0.02)


def test_the_statistic_of_a_column_is_that_of_its_gaussian_kernel_over_all_rows() -> None:
    result = in_batches(A, B, missing="category", **QUICK)
    encoded = km.tables.columns.encode((A, B), "AB", Encoding("category"))
    for name in ("dose", "visit", "size"):
        first, second = encoded.coordinates([name])
        found = next(column.statistic for column in result.columns if column.name == name)
        theta = km.median_bandwidth(np.concatenate([first, second]))
        near = [mmd_null(first, second, [Gaussian(u * theta)], n_resamples=1, rng=0).values[0, 0] for u in (0.95, 1.05)]
        low, high = sorted(near)
        slack = 0.02 * abs(low) + 1e-5
        assert low - slack < found < high + slack


def test_categories_alone_are_tested_exactly() -> None:
    result = in_batches(A, B, missing="category", **QUICK)
    encoded = km.tables.columns.encode((A, B), "AB", Encoding("category"))
    for name in ("arm", "flag"):
        first, second = encoded.coordinates([name])
        points = np.unique(np.concatenate([first, second]), axis=0)
        theta = km.median_bandwidth(points)
        exact = mmd_null(first, second, [Gaussian(theta)], n_resamples=1, rng=0).values[0, 0]
        statistic = next(column.statistic for column in result.columns if column.name == name)
        assert statistic == pytest.approx(exact, rel=1e-6)


def test_files_arrays_and_frames_give_the_same_whatever_the_order_of_columns(files: Path) -> None:
    options = {"missing": "category", **QUICK}
    expected = in_batches(files / "a.parquet", files / "b.parquet", **options)
    shuffled = B[["flag", "same", "visit", "dose", "size", "arm"]]
    others = [
        in_batches(A, shuffled, **options),
        in_batches(km.read(A[shuffled.columns], batch_rows=41), shuffled, **options),
    ]
    for other in others:
        assert other.test.pvalue == expected.test.pvalue
        assert other.test.statistic == pytest.approx(expected.test.statistic, rel=1e-6)
        assert [c.name for c in other.columns] == [c.name for c in expected.columns]
    ordinal = {"size": ["low", "mid", "high"]}
    text = in_batches(files / "a.csv", files / "b.csv", ordinal=ordinal, **options)
    assert text.test.pvalue == expected.test.pvalue
    assert {column.name: column.kind for column in text.columns} == {c.name: c.kind for c in expected.columns}


def test_every_row_is_used_once(files: Path) -> None:
    seen = []
    result = in_batches(
        files / "x.parquet",
        files / "y.parquet",
        progress=lambda label, done, total: seen.append((done, total)),
        **QUICK,
    )
    assert result.sizes == (1700, 1300)
    assert (3000, 3000) in seen
    for column in result.columns:
        x, y = NUMBERS[column.name][:1700], NUMBERS[column.name][1700:]
        np.testing.assert_allclose(column.means, (x.mean(), y.mean()), rtol=1e-12)
        within = np.sqrt((1699 * x.var(ddof=1) + 1299 * y.var(ddof=1)) / 2998)
        assert column.gap == pytest.approx((x.mean() - y.mean()) / within, rel=1e-9)


@pytest.mark.parametrize(("n", "m"), [(2, 2), (2, 700), (30, 3000), (1700, 1300), (9000, 400), (5200, 5300)])
def test_rows_are_dealt_around_those_that_were_drawn(n: int, m: int) -> None:
    """Every bin has one size and as many drawn rows, every row one bin; the rest of the rows is dealt at random."""
    rng = np.random.default_rng(n)
    for own in Deals.dealt((n, m), seed=4).each:
        drawn = rng.permutation(own.n)[:MOST_PILOT]
        around = own.around(drawn)
        bins = around.unit_of(np.arange(own.n))
        np.testing.assert_array_equal(np.bincount(bins, minlength=own.bins + 1)[:-1], own.size)
        pilot = drawn[: own.bins * own.pilot]
        np.testing.assert_array_equal(bins[pilot], np.repeat(np.arange(own.bins), own.pilot))
        np.testing.assert_array_equal(
            np.concatenate([around.unit_of(part) for part in np.array_split(np.arange(own.n), 7)]), bins
        )


def test_what_is_fitted_stays_as_it_is_when_bins_change_places() -> None:
    """Scale, categories, bandwidth, noise and landmarks, which is why permutations of bins give exact p-values."""
    rng = np.random.default_rng(6)
    tables = [
        mixed(rng, n, shift)[["dose", "flag", "visit"]].ffill().bfill() for n, shift in ((3300, 0.0), (2900, 40.0))
    ]
    options: dict[str, Any] = {"estimator": "mmkme", "n_resamples": 19, "seed": 3}
    sources = tuple(map(km.read, tables))
    deals = learn(sources, Encoding(), 3, lambda *_: None).deals(3).each
    places = [places_of(own) for own in deals]
    assert all(len(rows) == deals[0].size for own in places for rows in own)
    pooled = pd.concat(tables, ignore_index=True)
    slots = [*places[0], *(rows + len(tables[0]) for rows in places[1])]
    order = np.arange(len(pooled))
    for slot, other in zip(slots, rng.permutation(len(slots)), strict=True):
        order[slot] = slots[other]
    assert (order != np.arange(len(pooled))).mean() > 0.5
    moved = pooled.take(order).reset_index(drop=True)
    changed = moved[: len(tables[0])], moved[len(tables[0]) :].reset_index(drop=True)
    one, other = in_batches(*tables, **options), in_batches(*changed, **options)
    assert one.bandwidth == pytest.approx(other.bandwidth, rel=1e-9)
    np.testing.assert_allclose(one.test.noise.variances(3), other.test.noise.variances(3), rtol=1e-3)  # of a search
    assert [note for note in one.notes if "landmarks" in note] == [note for note in other.notes if "landmarks" in note]
    assert one.test.statistic != pytest.approx(other.test.statistic, rel=1e-3)
    spoilt = [table.sample(frac=1.0, random_state=k, ignore_index=True) for k, table in enumerate(tables)]
    assert in_batches(*spoilt, **options).bandwidth != pytest.approx(
        one.bandwidth, rel=1e-9
    )  # any other order does not


def places_of(own: Any) -> list[Any]:
    """Return the rows of every bin, those that features are fitted to first."""
    bins, drawn = own.unit_of(np.arange(own.n)), own.drawn.reshape(own.bins, own.pilot)
    others = [np.setdiff1d(np.flatnonzero(bins == k), drawn[k]) for k in range(own.bins)]
    return [np.append(first, rest) for first, rest in zip(drawn, others, strict=True)]


def rows_of(kind: str, rng: np.random.Generator, n: int) -> pd.DataFrame:
    if kind == "skewed":
        return pd.DataFrame({"a": rng.exponential(size=n)})
    if kind == "ties":
        return pd.DataFrame({"a": rng.integers(0, 3, n), "b": rng.poisson(0.2, n)})
    return mixed(rng, n)[["dose", "arm", "visit"]]  # the ones with blank cells


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_slow(["skewed", "ties", "mixed", "mixed, dropped"], "mixed, dropped"))
@pytest.mark.parametrize("order", mostly_slow(["sorted", "random"], "sorted"))
@pytest.mark.parametrize("trials", mostly_slow([20, 200], 20))
def test_the_level_holds_whatever_the_order_of_rows(trials: int, order: str, kind: str) -> None:
    joint: list[float] = []
    alone: list[float] = []
    least: list[float] = []
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        tables = [rows_of(kind, rng, n) for n in (130, 90)]
        if order == "sorted":
            tables = [table.sort_values(list(table), ignore_index=True) for table in tables]
        missing = {"skewed": "error", "ties": "error", "mixed": "category"}.get(kind, "drop")
        found = in_batches(*tables, n_resamples=19, seed=seed, missing=missing, keep="a" if kind == "ties" else ())
        joint.append(found.test.pvalue)
        alone += [column.pvalue for column in found.columns if column.name in ("a", "dose")]
        least.append(min(column.adjusted for column in found.columns))
    for pvalues in (joint, alone, least):
        assert len(pvalues) == trials
        for level in (0.05, 0.1, 0.25):
            assert np.sum(np.array(pvalues) <= level) <= binom.isf(1e-4, trials, level)


@pytest.mark.slow
def test_the_order_of_rows_costs_no_power() -> None:
    """A table that is sorted, or whose differing rows stand at its end, is found to differ as surely as in memory."""
    found: dict[str, list[float]] = {"memory": [], "sorted": [], "at the end": []}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(900, 2)), rng.normal(size=(900, 2))
        Y[-300:] += [0.5, 0.0]
        rising = X[np.argsort(X[:, 0])], Y[np.argsort(Y[:, 0])]
        for order, two in (("sorted", rising), ("at the end", (X, Y))):
            found[order].append(in_batches(*two, n_resamples=99).test.pvalue)
        found["memory"].append(km.mmd_test(X, Y, n_resamples=99, rng=0).pvalue)
    powers = {order: np.mean(np.array(own) <= 0.05) for order, own in found.items()}
    assert powers["memory"] > 0.6
    for order in ("sorted", "at the end"):
        assert powers[order] > powers["memory"] - 0.3


@pytest.mark.parametrize("estimator", mostly_slow(["adaptive", "aggregate", "mmkme"], "adaptive"))
def test_what_differs_in_one_column_is_found_there(estimator: str) -> None:
    rng = np.random.default_rng(0)
    n = 1200
    X, Y = (mixed(rng, n).drop(columns="same") for _ in range(2))
    X["spread"], Y["spread"] = rng.normal(size=n), rng.normal(size=n) * 1.3
    Y["arm"] = Y["arm"].mask(rng.random(n) < 0.15, "c")
    found = in_batches(X, Y, missing="category", estimator=estimator)
    assert found.test.pvalue <= 0.01
    assert {column.name for column in found.columns if column.adjusted <= 0.05} == {"spread", "arm"}


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: in_batches(A, B), r"column 'dose' is blank or NaN"),
        (lambda: in_batches(A, B, missing="noise"), "all rows in memory"),
        (lambda: in_batches(A, B, missing="category", bandwidth=2.0), "brings its own bandwidths"),
        (lambda: in_batches(A, B, missing="category", estimator="kme", bandwidth="scott"), "all rows in memory"),
        (lambda: in_batches(A, B.rename(columns={"dose": "z"})), "different columns"),
        (lambda: in_batches(A, B.assign(dose="x"), missing="drop"), "column 'dose' is numeric in"),
        (lambda: in_batches(A[["same"]], B[["same"]]), "nothing to compare"),
        (lambda: in_batches(NUMBERS[:1], NUMBERS), "has 1 row; a comparison needs at least 2"),
        (lambda: in_batches(NUMBERS.assign(a=np.inf), NUMBERS), "infinite"),
        (lambda: in_batches(NUMBERS.assign(a=[f"id{i}" for i in range(3000)]), A), "different columns"),
        (
            lambda: in_batches(*[NUMBERS.assign(a=[f"id{i}" for i in range(3000)])] * 2),
            "different categories",
        ),
        (lambda: in_batches(A.assign(dose=np.nan), B, missing="drop"), "every row has a blank cell"),
    ],
)
def test_what_is_wrong_is_said(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_a_huge_cell_in_a_later_batch_is_told_with_its_deviation() -> None:
    values = np.random.default_rng(0).normal(size=400)
    values[-1] = 1e250
    batches = [pd.DataFrame({"x": part}) for part in np.array_split(values, 4)]
    with pytest.raises(ValueError, match=r"standard deviation [\d.]+e\+248"):
        km.compare(batches, pd.DataFrame({"x": values[:100]}), n_resamples=19)


def test_rows_that_were_not_drawn_fall_into_any_bin_alike() -> None:
    (own, _), counts = Deals.dealt((60, 60), seed=0).each, np.zeros((60, 60))
    own = replace(own, size=6, bins=10, pilot=2)
    for seed in range(600):
        drawn = np.random.default_rng(seed).permutation(60)
        counts[np.arange(60), replace(own, seed=seed).around(drawn).unit_of(np.arange(60))] += 1
    assert counts[:, 10:].sum() == 0
    assert np.square(counts[:, :10] - 60).sum() / 60 / 0.9 < 730  # chi-square of 540 degrees or so: 1e-6 beyond


@pytest.mark.slow
def test_batches_do_not_tell_which_of_two_samples_of_categories_is_first() -> None:
    rng, levels, n = np.random.default_rng(0), np.array(list("abcdefgh")), 5000
    tables = [
        pd.DataFrame({"x": rng.normal(size=n), "arm": levels[rng.integers(8, size=n)]}) for _ in range(2)
    ]  # k(x, x) of a category is the same for all rows, and the sums of both samples differ by rounding alone
    found = set()
    for sizes in ((n, n), (1250, 123), (777, 50)):
        batches = [[own[k : k + size] for k in range(0, n, size)] for own, size in zip(tables, sizes, strict=True)]
        result = in_batches(*batches, n_resamples=199, rng=1)
        found.add(tuple(sorted((column.name, column.pvalue) for column in result.columns)))
    assert len(found) == 1
