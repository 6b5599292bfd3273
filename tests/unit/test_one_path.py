"""The same rows give the same comparison whatever holds them: frames, files, folders and batches."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km


def mixed(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"x": rng.normal(0.1 * seed, 1.0, n), "y": rng.gamma(2.0, size=n)})
    table["kind"] = rng.choice(["u", "v", "w"], n, p=[0.5 - 0.05 * seed, 0.3, 0.2 + 0.05 * seed])
    return table.assign(y=table.y.mask(rng.random(n) < 0.1))


@pytest.mark.parametrize("n", [60, 3000, 30_000])
def test_rows_are_compared_alike_wherever_they_are(n: int, tmp_path: Path) -> None:
    tables = mixed(0, n), mixed(1, n)
    for k, table in enumerate(tables):
        table.to_parquet(tmp_path / f"{k}.parquet", index=False)
        (tmp_path / f"{k}").mkdir()
        for part, rows in enumerate((slice(0, n // 3), slice(n // 3, n))):
            table[rows].to_parquet(tmp_path / f"{k}/part-{part}.parquet", index=False)
    held = [
        tables,
        [tmp_path / "0.parquet", tmp_path / "1.parquet"],
        [tmp_path / "0", tmp_path / "1"],
        [km.read(table, batch_rows=n // 7) for table in tables],
    ]
    results = [km.compare(*pair, missing="category", n_resamples=99) for pair in held]
    for other in results[1:]:
        assert other.pvalue == results[0].pvalue
        assert other.statistic == pytest.approx(results[0].statistic, rel=1e-10)
        for one, two in zip(results[0].columns, other.columns, strict=True):
            assert (one.name, one.pvalue) == (two.name, two.pvalue)
            assert (one.statistic, *one.means) == pytest.approx((two.statistic, *two.means), rel=1e-10, nan_ok=True)


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
