"""The same rows give the same answer whatever holds them: arrays, frames, files, folders, batches and clusters."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from in_batches import in_batches


def mixed(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(0.1 * seed, 1.0, n), "y": rng.gamma(2.0, size=n)})
    table["kind"] = rng.choice(["u", "v", "w"], n, p=[0.5 - 0.05 * seed, 0.3, 0.2 + 0.05 * seed])
    return table.assign(y=table.y.mask(rng.random(n) < 0.1))


def designed(seed: int, n: int) -> pd.DataFrame:
    """Visits of users in four centers, of which only three are in both tables, with weights, some of them zero."""
    rng = np.random.default_rng([seed, n])
    center = rng.choice(["p", "q", "r", f"only {seed}"], n, p=[0.5, 0.3, 0.15, 0.05])
    user = [f"{seed}{own}{k}" for own, k in zip(center, rng.integers(0, n // 5, n), strict=True)]
    return mixed(seed, n).assign(center=center, user=user, w=rng.uniform(0.0, 2.0, n).round(1))


def held(table: pd.DataFrame, folder: Path) -> list[Any]:
    """The table in memory, in a file, in a folder of two files, in batches, and, of numbers, as an array."""
    n = len(table)
    folder.mkdir()
    table.to_parquet(folder / "whole.parquet", index=False)
    (folder / "parts").mkdir()
    for part, rows in enumerate((slice(0, n // 3), slice(n // 3, n))):
        table[rows].to_parquet(folder / f"parts/{part}.parquet", index=False)
    array = [table.to_numpy()] if all(kind == np.float64 for kind in table.dtypes) else []
    return [table, folder / "whole.parquet", folder / "parts", km.read(table, batch_rows=n // 7), *array]


def same(one: km.studies.Comparison, other: km.studies.Comparison) -> None:
    """Comparisons have the same p-values, and the same numbers to 1e-10."""
    assert (one.pvalue, one.sizes, one.missing) == (other.pvalue, other.sizes, other.missing)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-10)
    for first, second in zip(one.columns, other.columns, strict=True):
        assert (first.name, first.pvalue, first.n_resamples) == (second.name, second.pvalue, second.n_resamples)
        shares = [[share for each in own.shares for share in each.shares] for own in (first, second)]
        numbers = [
            (own.statistic, own.gap, *own.means, *own.interval, *of)
            for own, of in zip((first, second), shares, strict=True)
        ]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-10, nan_ok=True)


SLOW = pytest.mark.slow
TABLES: dict[str, tuple[Callable[[int, int], pd.DataFrame], dict[str, Any]]] = {
    "numbers": (lambda seed, n: mixed(seed, n)[["x", "y"]].fillna(0.0).set_axis(["x0", "x1"], axis=1), {}),
    "blank cells": (mixed, {"missing": "category"}),
    "one kernel": (mixed, {"missing": "drop", "estimator": "kme"}),
    "strata, weights": (lambda *of: designed(*of).drop(columns="user"), {"strata": "center", "weights": "w"}),
    "clusters": (lambda *of: designed(*of).drop(columns=["center", "w"]), {"clusters": "user"}),
    "strata, clusters, weights": (designed, {"strata": "center", "clusters": "user", "weights": "w"}),
    "pairs": (mixed, {"paired": True}),
}
CASES = [
    *((name, 60, 50) for name in TABLES),
    ("strata, clusters, weights", 60, 20_000),
    ("strata, clusters, weights", 600, 500),
    *(pytest.param(name, n, 20_000, marks=SLOW) for name in TABLES for n in (60, 3000, 60_000)),
    pytest.param("one kernel", 3000, 2000, marks=SLOW),
]


@pytest.mark.parametrize(("name", "n", "limit"), CASES)
def test_rows_are_compared_alike_wherever_they_are(
    name: str, n: int, limit: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for of in ("ADAPTIVE_LIMIT", "TEST_LIMIT"):
        monkeypatch.setattr(f"kernelmean.tables.limits.{of}", limit)
    make, options = TABLES[name]
    options = {"missing": "drop", "n_resamples": 99, **options}
    first, *others = zip(*(held(make(k, n), tmp_path / f"{k}") for k in range(2)), strict=True)
    found = km.compare(*first, **options)
    for tables in others:
        same(found, km.compare(*tables, **options))


@pytest.mark.parametrize("n", [300, 301])
def test_the_number_of_rows_alone_decides_whether_they_are_held(
    n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the lines of a text file, where a cell may have several, nor what a source says of its length."""
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 300)
    tables = [mixed(k, n).replace({"kind": {"v": "v\nv"}}) for k in range(2)]
    options: dict[str, Any] = {"missing": "category", "n_resamples": 99}
    found, pairs = km.compare(*tables, **options), km.dependence(tables[0], **options).pairs
    assert ("all rows were read twice" in found.notes[0]) == (n > 300)
    for k, table in enumerate(tables):
        table.to_csv(tmp_path / f"{k}.csv", index=False)
        rows = table.astype(object).where(table.notna(), None).to_dict("records")
        (tmp_path / f"{k}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    texts = [[tmp_path / f"{k}.{ending}" for ending in ("csv", "jsonl")] for k in range(2)]
    carriers = [[*held(table, tmp_path / f"{k}")[1:], *texts[k]] for k, table in enumerate(tables)]
    for first, second in zip(*carriers, strict=True):
        same(found, km.compare(first, second, **options))
        assert [pair.pvalue for pair in km.dependence(first, **options).pairs] == [pair.pvalue for pair in pairs]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "pairs"])
def test_two_groups_are_compared_as_two_tables_are(name: str) -> None:
    make, of = TABLES[name]
    options = {"missing": "drop", "n_resamples": 99, **of}
    tables = [make(k, 60) for k in range(2)]
    groups = km.compare_groups(pd.concat([own.assign(group=k) for k, own in enumerate(tables)]), "group", **options)
    found = km.compare(*tables, **options)
    assert (groups.pvalue, groups.sizes) == (found.pvalue, found.sizes)
    assert groups.statistic == pytest.approx(found.statistic, rel=1e-10)
    pvalues = [{column.name: column.pvalue for column in each.columns} for each in (groups, found)]
    assert pvalues[0] == pvalues[1]


@SLOW
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("n", [60, 3000, 60_000])
def test_rows_on_two_processes_are_compared_as_those_of_a_frame(n: int) -> None:
    distributed = pytest.importorskip("distributed", reason="clusters need the extra 'dask'")
    dask = pytest.importorskip("dask.dataframe")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster, set_as_default=False) as client:
        for name, (make, of) in TABLES.items():
            how = {"missing": "drop", "n_resamples": 99, **of}
            tables = [make(k, n) for k in range(2)]
            there = [dask.from_pandas(own, npartitions=4 + k, sort=False) for k, own in enumerate(tables)]
            plan = None if name == "pairs" else km.DaskPlan(client)
            same(km.compare(*tables, **how), km.compare(*there, plan=plan, **how))


@pytest.mark.parametrize(
    "design", [{"strata": "center"}, {"clusters": "user", "weights": "w"}, {"paired": True}], ids=str
)
def test_batches_count_rows_of_a_design_as_memory_does(design: dict[str, Any]) -> None:
    """Means, gaps and intervals are sums over all rows in both; p-values have other permutations."""
    rest = [name for name in ("center", "user", "w") if name not in design.values()]
    tables = [designed(k, 700).drop(columns=rest) for k in range(2)]
    options = {**design, "missing": "drop", "n_resamples": 99}
    whole = km.compare(*tables, **options)
    batches = in_batches(*(km.read(table, batch_rows=200) for table in tables), **options)
    assert (batches.sizes, batches.missing.left_out) == (whole.sizes, whole.missing.left_out)
    columns = {column.name: column for column in batches.columns}
    for one in whole.columns:
        two = columns[one.name]
        shares = [[share for each in own.shares for share in each.shares] for own in (one, two)]
        numbers = [(own.gap, *own.means, *own.interval, *of) for own, of in zip((one, two), shares, strict=True)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, nan_ok=True)
        assert one.statistic == pytest.approx(two.statistic, rel=0.05)


@pytest.mark.parametrize("n", [60, pytest.param(3000, marks=pytest.mark.slow), 30_000])
def test_columns_depend_alike_wherever_their_rows_are(n: int, tmp_path: Path) -> None:
    results = [km.dependence(t, missing="category", n_resamples=99) for t in held(mixed(0, n), tmp_path / "table")]
    for other in results[1:]:
        for one, two in zip(results[0].pairs, other.pairs, strict=True):
            assert (one.x, one.y, one.pvalue, one.n_resamples) == (two.x, two.y, two.pvalue, two.n_resamples)
            assert one.strength == pytest.approx(two.strength, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize(
    "design", [{"strata": "s", "weights": "w"}, {"strata": "s"}, {"clusters": "c"}, {"clusters": "scattered"}]
)
def test_columns_depend_alike_within_a_design(
    design: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kernelmean.tables.limits.ADAPTIVE_LIMIT", 599)
    n, rng = 600, np.random.default_rng(1)
    labels = {"s": rng.integers(0, 4, n), "w": rng.integers(0, 3, n), "c": np.arange(n) // 4}
    table = mixed(0, n).assign(**labels, scattered=rng.permutation(n) // 4)
    table = table[["x", "y", "kind", *design.values()]]
    results = [km.dependence(own, missing="drop", n_resamples=99, **design) for own in held(table, tmp_path / "table")]
    for other in results[1:]:
        assert other.n_rows == results[0].n_rows
        for one, two in zip(results[0].pairs, other.pairs, strict=True):
            assert (one.x, one.y, one.pvalue, one.n_resamples) == (two.x, two.y, two.pvalue, two.n_resamples)
            assert one.strength == pytest.approx(two.strength, rel=1e-10, abs=1e-12)


def test_pairs_with_a_design_are_tested_alike_wherever_their_rows_are(tmp_path: Path) -> None:
    n, rng = 6000, np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    design = km.Design(strata=rng.integers(0, 5, n), weights=rng.uniform(0.0, 2.0, n).round())
    options: dict[str, Any] = {"kernel": "gaussian", "design": design, "n_resamples": 99, "rng": 0, "scheme": "bins"}
    sources = held(table, tmp_path / "table")[:3]
    sides = [(km.read(own, columns=["a", "b"]), km.read(own, columns=["c"])) for own in sources]
    sides.append((iter([table[["a", "b"]][:100], table[["a", "b"]][100:]]), table["c"]))
    results = [km.hsic_test(X, Y, **options) for X, Y in sides]
    for other in results[1:]:
        assert other.pvalue == results[0].pvalue
        np.testing.assert_allclose(other.null_distribution, results[0].null_distribution, rtol=1e-10)


@pytest.mark.parametrize("values", [[0.3, 1.2, 1.2, 2.0, 5.0, 9.0], ["u", "u", "v", "w", "w", "w"]])
def test_pvalues_of_single_columns_are_exact(values: list[object]) -> None:
    """Over all ways to deal six rows to two tables, p ≤ α has a share of at most α."""
    table = pd.DataFrame({"x": values, "z": [1.0, 2.0, 4.0, 3.0, 7.0, 5.0]})
    pvalues = []
    for first in combinations(range(6), 3):
        inside = np.isin(np.arange(6), first)
        found = km.compare(table[inside], table[~inside], n_resamples=999)
        pvalues.append(next(column.pvalue for column in found.columns if column.name == "x"))
    for alpha in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= alpha + 1e-12) <= alpha + 1e-12


@pytest.mark.slow
def test_pvalues_of_pairs_in_batches_are_exact() -> None:
    """Over all exchanges within six pairs, p ≤ α has a share of at most α."""
    sides = [
        pd.DataFrame({"x": x, "k": list(k)})
        for x, k in (([0.3, 1.2, 2.0, 5.0, 9.0, 1.0], "uuvwwu"), ([0.1, 1.2, 2.5, 7.0, 4.0, 3.0], "vuvwuu"))
    ]
    found = []
    for flips in product([False, True], repeat=6):
        tables = [own.mask(pd.Series(flips), other) for own, other in (sides, sides[::-1])]
        result = in_batches(*tables, paired=True)
        found.append([result.pvalue, *(own.pvalue for own in sorted(result.columns, key=lambda own: own.name))])
    for pvalues in np.array(found).T:
        for alpha in np.unique(pvalues):
            assert np.mean(pvalues <= alpha + 1e-12) <= alpha + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("design", [{"strata": "s"}, {"strata": "s", "weights": "w"}])
def test_pvalues_of_batches_with_a_design_are_exact(design: dict[str, str]) -> None:
    """Over all ways to deal the rows of two strata to two tables, p ≤ α has a share of at most α."""
    table = pd.DataFrame(
        {"x": [0.3, 1.2, 1.2, 2.0, 5.0, 9.0, -1.0, 0.5], "k": list("uuvwwwuv"), "s": [0] * 4 + [1] * 4}
    )
    if "weights" in design:
        table["w"] = [1.0, 2.0, 1.0, 1.0, 3.0, 1.0, 1.0, 0.5]
    found = []
    for first in product(combinations(range(4), 2), combinations(range(4, 8), 2)):
        inside = np.isin(np.arange(8), first)
        result = in_batches(table[inside], table[~inside], n_resamples=999, **design)
        found.append([result.pvalue, *(own.pvalue for own in sorted(result.columns, key=lambda own: own.name))])
    for pvalues in np.array(found).T:
        for alpha in np.unique(pvalues):
            assert np.mean(pvalues <= alpha + 1e-12) <= alpha + 1e-12
