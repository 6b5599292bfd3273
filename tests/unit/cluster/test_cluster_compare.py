"""Comparisons of tables on a cluster: what one process finds, of columns of any kind, whatever the partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from checkered import checkered
from in_batches import in_batches
from kernelmean.cli import main

dd = pytest.importorskip("dask.dataframe", reason="clusters need the extra 'dask'")
pytestmark = pytest.mark.filterwarnings("default")

QUICK: dict[str, Any] = {"n_resamples": 49, "rng": 3}


def table(n: int, seed: int, shift: float = 0.0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "dose": rng.gamma(2.0, 30.0, n) + shift,
            "arm": rng.choice(["a", "b", "c"], n),
            "flag": rng.random(n) < 0.4,
            "visit": pd.Timestamp("2024-03-01 00:00:01") + pd.to_timedelta(rng.integers(0, 99, n), "h"),
        }
    )
    blank = rng.random((n, 3)) < 0.05
    return found.assign(**{name: found[name].mask(blank[:, j]) for j, name in enumerate(("dose", "arm", "visit"))})


A, B = table(900, 1), table(700, 2, 4.0)


@pytest.fixture
def long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few rows be many."""
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 150)
    monkeypatch.setattr("kernelmean.tables.limits.TEST_LIMIT", 150)


def there(rows: pd.DataFrame, parts: int) -> Any:
    return dd.from_pandas(rows, npartitions=parts, sort=False)


def same(far: Any, near: Any) -> None:
    assert (far.names, far.sizes, far.missing) == (near.names, near.sizes, near.missing)
    assert (far.test.pvalue, far.test.scheme) == (near.test.pvalue, near.test.scheme)
    assert far.test.statistic == pytest.approx(near.test.statistic, rel=1e-9)
    for one, other in zip(far.columns, near.columns, strict=True):
        assert (one.name, one.pvalue) == (other.name, other.pvalue)
        assert one.statistic == pytest.approx(other.statistic, rel=1e-10, abs=1e-14)
        np.testing.assert_allclose(one.means, other.means, rtol=1e-12)
        for each, as_well in zip(one.shares, other.shares, strict=True):
            np.testing.assert_allclose(each.shares, as_well.shares, rtol=1e-12)


@pytest.mark.parametrize(
    ("parts", "options"),
    checkered([(1, 1), (5, 12)], [{"missing": "category"}, {"missing": "drop", "estimator": "mkme"}]),
)
def test_mixed_columns_and_missing_cells(
    plan: Any, long: None, parts: tuple[int, int], options: dict[str, Any]
) -> None:
    far = km.compare(there(A, parts[0]), there(B, parts[1]), plan=plan, **options, **QUICK)
    same(far, in_batches(A, B, **options, **QUICK))
    assert f"on a Dask cluster: all rows of {sum(parts)} partitions" in far.notes[0]


def of_users(rows: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Rows of users in two countries, and in one that the other table lacks, with weights, some of them zero."""
    rng, n = np.random.default_rng(seed), len(rows)
    country = rng.choice(["u", "v", f"w{seed}"], n, p=[0.6, 0.35, 0.05])
    user = [f"{own}{seed}{k}" for own, k in zip(country, rng.integers(0, 99, n), strict=True)]
    return rows.assign(country=country, user=user, w=rng.uniform(0.0, 2.0, n).round(1))


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_strata_clusters_and_weights(plan: Any, long: None, missing: str) -> None:
    one, two = of_users(A, 1), of_users(B, 2)
    options = {"missing": missing, "strata": "country", "clusters": "user", "weights": "w", **QUICK}
    far = km.compare(there(one, 4), there(two, 3), plan=plan, **options)
    near = in_batches(one, two, **options)
    same(far, near)
    for own, other in zip(far.columns, near.columns, strict=True):
        np.testing.assert_allclose([own.gap, *own.interval], [other.gap, *other.interval], rtol=1e-9)
    assert far.sizes[0] < 900
    assert any("take part" in note for note in far.notes)


def test_few_rows_of_a_design_are_compared_as_in_memory(plan: Any) -> None:
    one, two = of_users(A, 1), of_users(B, 2)
    options = {"missing": "drop", "strata": "country", **QUICK}
    same(
        km.compare(there(one, 2), there(two, 2), plan=plan, **options),
        km.compare(one, two, **options, names=("A", "B")),
    )


def test_what_one_process_says_of_columns_a_cluster_says_as_well(plan: Any, long: None) -> None:
    rng, numbers = np.random.default_rng(0), {"x": np.arange(200.0)}
    tables = {
        "looks like an identifier": pd.DataFrame(numbers | {"id": rng.permutation(200)}),
        "different texts in 400 cells": pd.DataFrame(numbers | {"t": [f"text {i}" for i in range(200)]}),
        "holds numbers with": pd.DataFrame(numbers | {"t": [f"1,{i % 50:03d}" for i in range(200)]}),
        "holds dates as numbers": pd.DataFrame(numbers | {"day": rng.choice([20240102, 20240203, 20230130], 200)}),
        "is blank or NaN": pd.DataFrame(numbers | {"y": [*rng.normal(size=199), np.nan]}),
    }
    for text, rows in tables.items():
        errors = []
        for call in (in_batches, km.compare):
            made, options = (rows, {}) if call is in_batches else (there(rows, 7), {"plan": plan})
            with pytest.raises((ValueError, TypeError), match=text) as raised:
                call(made, made, keep=["x"], **options, **QUICK)
            errors.append((type(raised.value), str(raised.value).replace("the table:", "A:")))
        assert errors[1] == errors[0]


def test_types_that_differ_between_partitions_are_named(plan: Any, long: None) -> None:
    def part(at: int) -> pd.DataFrame:
        return pd.DataFrame({"x": np.arange(200.0), "y": ["a", "b"] * 100 if at else np.arange(200.0) % 7})

    mixed = dd.from_map(part, [0, 1], meta=part(0))
    with pytest.raises(ValueError, match=r"column 'y' is numeric in A .* and categorical in A"):
        km.compare(mixed, mixed, plan=plan, keep=["x"], **QUICK)


def test_partitions_that_change_are_told(plan: Any, long: None) -> None:
    calls: list[int] = []

    def part(at: int) -> pd.DataFrame:
        calls.append(at)
        return A[: 400 + len(calls)]

    made, told = dd.from_map(part, [0], meta=A[:0]), ""
    while not told and len(calls) < 20:  # what a worker still holds after the first pass is not computed again
        try:
            km.compare(made, there(B, 2), plan=plan, missing="category", **QUICK)
        except ValueError as error:
            told = str(error)
    assert "is not computed alike twice; write A = A.persist() first" in told


def test_refusals(plan: Any, long: None) -> None:
    with pytest.raises(TypeError, match="A is a DataFrame in this process"):
        km.compare(A, B, plan=plan)
    with pytest.raises(ValueError, match="noise in missing cells"):
        km.compare(there(A, 2), there(B, 2), plan=plan, missing="noise", estimator="kme")
    with pytest.raises(ValueError, match="different columns"):
        km.compare(there(A, 2), there(B[["dose"]], 2), plan=plan)
    with pytest.raises(ValueError, match="B has no rows"):
        km.compare(there(A, 2), there(B[:0], 1), plan=plan)


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def folders(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    for name, rows in (("big", A), ("other", B)):
        (tmp_path / name).mkdir()
        for k in range(2):
            rows[k * 400 : (k + 1) * 400].to_parquet(tmp_path / name / f"{k}.parquet", index=False)
    return tmp_path


def run(capsys: Any, *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main(("compare", *words, "--missing", "category", "--resamples", "49"))
    out, err = capsys.readouterr()
    return int(end.value.code or 0), out, err


FILES = ("big/0.parquet", "big/1.parquet", "other/0.parquet", "other/1.parquet")


def test_the_command_compares_on_a_cluster(client: Any, long: None, folders: Any, capsys: Any) -> None:
    address = client.scheduler.address
    here = run(capsys, *FILES, "--drop", "flag")
    there = run(capsys, *FILES, "--drop", "flag", "--scheduler", address)
    assert (here[0], there[0], there[2]) == (0, 0, "")
    assert here[1].splitlines()[0] == there[1].splitlines()[0]
    assert "on a Dask cluster: all rows of 4 partitions" in " ".join(there[1].split())
    assert "big (400" not in there[1]


def test_what_the_command_refuses_on_a_cluster(client: Any, folders: Any, capsys: Any) -> None:
    address = client.scheduler.address
    for words, text in (
        (("--max-rows", "10"), "leave --max-rows out"),
        (("--decimal", ","), "leave those of text out"),
    ):
        code, _, err = run(capsys, "big", "other", "--scheduler", address, *words)
        assert (code, err.count("\n")) == (2, 1), err
        assert text in err
    (folders / "other" / "1.parquet").write_bytes(b"no such thing")
    code, _, err = run(capsys, *FILES, "--scheduler", address)
    assert (code, err.count("\n")) == (2, 1), err
    assert "other/1.parquet is damaged or not a Parquet file" in err
    code, _, err = run(capsys, "wine", "other", "--scheduler", address)
    assert (code, "wine is no Parquet file, which workers cannot share out" in err) == (2, True)


def test_an_address_where_nobody_answers(folders: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kernelmean.inference.cluster.running._ANSWER", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://x"):
        code, _, err = run(capsys, "big", "other", "--scheduler", address)
        assert (code, err.count("\n")) == (2, 1), err
        assert f"no Dask scheduler answers at '{address}'" in err
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    code, _, err = run(capsys, "big", "other", "--scheduler", "tcp://127.0.0.1:1")
    assert (code, err) == (2, 'kernelmean: a cluster needs Dask; write: pip install "kernelmean[dask]"\n')
