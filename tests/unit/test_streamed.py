"""Tables that are compared batch by batch: encoding, statistics and descriptions are those of memory, of all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from scipy.stats import binom

import kernelmean as km
from in_batches import in_batches
from kernelmean.kernels import Gaussian
from kernelmean.tables import Encoding, as_frames
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
QUICK: dict[str, Any] = {"n_frequencies": 64, "n_resamples": 99}


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
    codings, kept, missing = encoding.fit(as_frames((A, B), ("A", "B")))
    expected = {coding.name: coding for coding in codings}
    for size in (37, 5000):
        tables = (km.read(table, batch_rows=size, in_memory=False) for table in (A, B))
        found = km.compare(*tables, missing=rule, n_frequencies=4, n_resamples=9)
        assert (found.sizes, found.missing) == ((len(kept[0]), len(kept[1])), missing)
        assert found.encoded.constant == ("same",)
        assert [coding.name for coding in found.encoded.codings] == sorted(set(expected) - {"same"})
        for coding in found.encoded.codings:
            one, other = vars(coding), vars(expected[coding.name])
            for key, value in one.items():
                assert value == (pytest.approx(other[key], rel=1e-9) if isinstance(value, float) else other[key])
            np.testing.assert_allclose(
                coding.coordinates(kept[0]), expected[coding.name].coordinates(kept[0]), rtol=1e-9, atol=1e-9
            )


def test_columns_are_described_as_in_memory() -> None:
    streamed = in_batches(A, B, missing="category", **QUICK)
    whole = km.compare(A, B, missing="category", estimator="kme", n_resamples=19)
    expected = {column.name: column for column in whole.columns}
    assert streamed.columns[0].name == "dose"
    for column in streamed.columns:
        other = expected[column.name]
        np.testing.assert_allclose(column.means, other.means, rtol=1e-12)
        assert column.gap == pytest.approx(other.gap, rel=1e-6, abs=1e-9, nan_ok=True)
        assert column.kind == other.kind
        assert [(each.category, pytest.approx(each.shares)) for each in column.shares] == [
            (each.category, each.shares) for each in other.shares
        ]
    assert streamed.missing == whole.missing
    assert streamed.sizes == whole.sizes


@pytest.mark.parametrize("seeds", [6, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("estimator", ["kme", "mkme"])
def test_the_statistic_is_that_of_all_rows_to_the_stated_error(estimator: str, seeds: int) -> None:
    ratios = []
    for seed in range(seeds):
        result = in_batches(A, B, missing="category", seed=seed, estimator=estimator, **QUICK)
        whole = [coordinates(result, frame) for frame in as_frames((A, B), "AB")]
        exact = float(mmd_null(*whole, [result.test.kernel], n_resamples=1, rng=0).values[0, 0])
        ratios.append((result.test.statistic - exact) / float(result.test.notes[-1].split(": ")[-1]))
    assert 0.4 < np.sqrt(np.mean(np.square(ratios))) < 1.8


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["kme", "mkme", "mmkme"])
def test_long_files_give_the_statistic_of_memory_to_the_stated_error(tmp_path: Path, estimator: str) -> None:
    """40 000 rows of ten float32 columns in one pass, beside all pairs of them; benchmarks/scale.py takes a million."""
    rng = np.random.default_rng(8)
    samples = [rng.normal(shift, 1.0, size=(20_000, 10)).astype(np.float32) for shift in (0.0, 0.01)]
    for name, rows in zip("xy", samples, strict=True):
        columns = {f"x{j}": column for j, column in enumerate(rows.T.copy())}
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet", row_group_size=4000)
    ratios = []
    for seed in range(4):
        result = in_batches(tmp_path / "x.parquet", tmp_path / "y.parquet", estimator=estimator, seed=seed)
        assert any("read once" in note for note in result.notes)
        scales = [coding.scale for coding in result.encoded.codings]
        exact = km.mmd_test(*(rows / scales for rows in samples), kernel=result.test.kernel, n_resamples=1, rng=0)
        ratios.append((result.test.statistic - exact.statistic) / float(result.test.notes[-1].split(": ")[-1]))
    assert np.abs(ratios).max() < 4.0
    assert 0.2 < np.sqrt(np.mean(np.square(ratios))) < 2.0


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
        in_batches(A, B, **options),
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


@pytest.mark.parametrize("passes", [1, 2])
def test_numbers_take_one_pass_or_two(files: Path, passes: int) -> None:
    result = in_batches(files / "x.parquet", files / "y.parquet", passes=passes, **QUICK)
    assert result.sizes == (1700, 1300)
    assert any(f"read {['once', 'twice'][passes - 1]}" in note for note in result.notes)
    for column in result.columns:
        first, second = NUMBERS[column.name][:1700], NUMBERS[column.name][1700:]
        np.testing.assert_allclose(column.means, (first.mean(), second.mean()), rtol=1e-12)
        gap = (first.mean() - second.mean()) / NUMBERS[column.name].std(ddof=0)
        assert column.gap == pytest.approx(gap, rel=1e-9)
    default = in_batches(files / "x.parquet", files / "y.parquet", **QUICK)
    assert (default.test.statistic == result.test.statistic) is (passes == 1)


def test_every_row_is_used_once(files: Path) -> None:
    """The mean feature of the sums is that of all rows, the pilot among them."""
    seen = []
    result = in_batches(
        files / "x.parquet",
        files / "y.parquet",
        checkpoint=files / "sums.npz",
        progress=lambda label, done, total: seen.append((done, total)),
        **QUICK,
    )
    stream = km.load(files / "sums.npz").stream
    assert (stream.first.total_rows, stream.second.total_rows) == (1700, 1300)
    assert stream.first.fixed[0] > 50
    rows = coordinates(result, *as_frames((NUMBERS[:1700],), "A"))
    joint = stream.features.joint
    total = stream.first.total[4 : 4 + joint.size] / 1700
    np.testing.assert_allclose(total, joint(rows).mean(axis=0), atol=1e-7)
    assert (3000, 3000) in seen


@pytest.mark.parametrize("tables", [("x", "y"), ("a", "b")])
def test_a_comparison_that_was_stopped_goes_on_and_loses_nothing(
    files: Path, tmp_path: Path, tables: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.inference.streaming.table_pass._BATCH_NUMBERS", 1000)
    options = {"missing": "category" if tables[0] == "a" else "error", **QUICK}
    paths = [files / f"{name}.parquet" for name in tables]
    whole = in_batches(*paths, **options)
    read: list[int] = []

    def stop_after(rows: int) -> Any:
        def progress(label: str, done: int, total: int) -> None:
            if label.startswith("sums"):
                read.append(done)
                if done - read[0] >= rows:
                    raise RuntimeError("stopped")

        return progress

    before = 0
    for _ in range(2):
        with pytest.raises(RuntimeError, match="stopped"):
            in_batches(*paths, checkpoint=tmp_path / "sums.npz", progress=stop_after(200), **options)
        assert read[0] > before
        before = read[-1]
        read.clear()
    result = in_batches(*paths, checkpoint=tmp_path / "sums.npz", **options)
    assert result.test.pvalue == whole.test.pvalue
    assert result.test.statistic == pytest.approx(whole.test.statistic, rel=1e-9)
    np.testing.assert_allclose(result.test.null_distribution, whole.test.null_distribution, rtol=1e-6, atol=1e-12)
    for one, other in zip(result.columns, whole.columns, strict=True):
        assert (one.name, one.pvalue, one.kind) == (other.name, other.pvalue, other.kind)
        np.testing.assert_allclose(one.means, other.means, rtol=1e-12)
    with pytest.raises(ValueError, match="not of this test"):
        in_batches(*paths, checkpoint=tmp_path / "sums.npz", seed=1, **options)


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_first_pass_that_was_complete_is_not_repeated(
    files: Path, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths, options = [files / f"{name}.{ending}" for name in "ab"], {"missing": "category", **QUICK}
    options["ordinal"] = {"size": ["low", "mid", "high"]}

    def stop(label: str, done: int, total: int) -> None:
        if label == "sums of features":
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        in_batches(*paths, checkpoint=tmp_path / "sums.npz", progress=stop, **options)
    whole = in_batches(*paths, **options)
    labels: list[str] = []
    again = in_batches(
        *paths, checkpoint=tmp_path / "sums.npz", progress=lambda label, *_: labels.append(label), **options
    )
    assert not any(label.startswith("first pass") for label in labels)
    assert again.test.pvalue == whole.test.pvalue
    assert again.test.statistic == pytest.approx(whole.test.statistic, rel=1e-9)
    assert (again.missing, again.notes[:-1]) == (whole.missing, whole.notes[:-1])
    described = [[(c.name, c.pvalue, c.describe(), c.shares) for c in result.columns] for result in (again, whole)]
    assert described[0] == described[1]
    for one, other in zip(again.encoded.frames, whole.encoded.frames, strict=True):
        pd.testing.assert_frame_equal(pd.DataFrame(dict(one.cells)), pd.DataFrame(dict(other.cells)))
        assert (one.row_numbers() == other.row_numbers()).all()
    with pytest.raises(ValueError, match="not of this test"):
        in_batches(*paths, checkpoint=tmp_path / "sums.npz", **(options | {"scale": False}))


@pytest.mark.parametrize("order", ["random", "sorted"])
@pytest.mark.parametrize("passes", [1, 2])
@pytest.mark.parametrize("trials", [30, pytest.param(60, marks=pytest.mark.slow)])
def test_the_level_holds_for_sorted_files_too(tmp_path: Path, order: str, passes: int, trials: int) -> None:
    rng, pvalues = np.random.default_rng(7), []
    for seed in range(trials):
        for name, n in (("x", 330), ("y", 240)):
            values = rng.exponential(size=n)
            values = np.sort(values) if order == "sorted" else values
            parquet.write_table(pa.table({"a": values}), tmp_path / f"{name}.parquet", row_group_size=12)
        found = in_batches(
            tmp_path / "x.parquet", tmp_path / "y.parquet", n_frequencies=8, n_resamples=19, seed=seed, passes=passes
        )
        pvalues.append(found.test.pvalue)
    for level in (0.05, 0.1, 0.25):
        assert np.sum(np.array(pvalues) <= level) <= binom.isf(1e-4, trials, level)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: in_batches(A, B), r"column 'dose' is blank or NaN"),
        (lambda: in_batches(A, B, missing="noise"), "all rows in memory"),
        (lambda: in_batches(A, B, missing="category", estimator="adaptive"), "kme, mkme, mmkme"),
        (lambda: in_batches(A, B, missing="category", bandwidth="scott"), "all rows in memory"),
        (lambda: in_batches(A, B, missing="category", passes=1), "missing cells must be counted first"),
        (lambda: in_batches(A, A, passes=3), "passes is 3"),
        (lambda: in_batches(A, B.rename(columns={"dose": "z"})), "different columns"),
        (lambda: in_batches(A, B.assign(dose="x"), missing="drop"), "column 'dose' is numeric in"),
        (lambda: in_batches(A[["same"]], B[["same"]]), "nothing to compare"),
        (lambda: in_batches(NUMBERS[:2], NUMBERS), "too few|too small|too unequal"),
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
