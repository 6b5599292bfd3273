"""Of a column with too many categories the most frequent ones are kept; the others are one category."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.tables.columns import Encoding, encode

RNG = np.random.default_rng(0)
JOBS = np.array([f"job {k:03d}" for k in range(300)])
SHARES = 1.0 / np.arange(1, 301)


def jobs(n: int, reverse: bool = False) -> pd.DataFrame:
    """Return a table with at least two rows of each of 300 jobs."""
    shares = SHARES[::-1] if reverse else SHARES
    drawn = RNG.choice(JOBS, n - 600, p=shares / shares.sum())
    cells = RNG.permutation(np.concatenate([JOBS, JOBS, drawn]))
    return pd.DataFrame({"job": cells, "x": RNG.normal(size=n)})


A, B = jobs(900), jobs(1000, reverse=True)


def kept_by_hand(cells: list[str], most: int) -> list[str]:
    """Return the most frequent categories; of equally frequent ones the first by the alphabet."""
    counts = pd.Series(cells).value_counts()
    return sorted(sorted(counts.index, key=lambda each: (-counts[each], each))[:most])


def test_the_most_frequent_categories_of_both_tables_together_are_kept() -> None:
    encoded = encode((A, B), ("A", "B"), Encoding())
    (coding,) = (own for own in encoded.codings if own.name == "job")
    kept = kept_by_hand([*A["job"], *B["job"]], 256)
    assert list(coding.names) == [*(f"job={each}" for each in kept), "job=(44 others)"]
    rows = coding.coordinates(encoded.frames[0])
    assert rows.shape == (900, 257)
    np.testing.assert_array_equal(rows[:, -1] > 0, ~A["job"].isin(kept))


def test_the_categories_that_are_kept_do_not_depend_on_which_row_is_in_which_table() -> None:
    cells = np.array([*"aaabbccdde", "f"])
    found = set()
    for chosen in combinations(range(len(cells)), 5):
        rows = np.isin(np.arange(len(cells)), chosen)
        tables = [pd.DataFrame({"c": cells[own]}) for own in (rows, ~rows)]
        encoded = encode(tables, ("A", "B"), Encoding(max_categories=3))
        points = np.empty((len(cells), encoded.tables[0].shape[1]))
        points[rows], points[~rows] = encoded.tables
        found.add((encoded.codings[0].names, points.tobytes()))
    assert len(found) == 1
    assert next(iter(found))[0] == ("c=a", "c=b", "c=c", "c=(3 others)")


def test_the_distance_of_two_random_rows_is_that_of_any_other_column() -> None:
    points = km.TableEncoder(max_categories=5).fit_transform(A[["job"]])
    assert points.shape == (900, 6)
    squared = 2.0 * np.square(points - points.mean(axis=0)).sum(axis=1).mean()
    assert squared == pytest.approx(2.0, rel=1e-12)


@pytest.mark.parametrize("in_memory", [True, False])
def test_a_comparison_pools_them_and_says_so(in_memory: bool, tmp_path: Path) -> None:
    for name, table in (("a", A), ("b", B)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    tables = [km.read(tmp_path / f"{name}.csv", in_memory=in_memory) for name in "ab"]
    result = km.compare(*tables, n_resamples=99, names=("A", "B"), max_categories=20)
    said = [note for note in result.notes if note.startswith("job: 300 categories over both tables; the 20 most")]
    rows = (~pd.concat([A, B])["job"].isin(kept_by_hand([*A["job"], *B["job"]], 20))).sum()
    assert len(said) == 1
    assert f"the other 280, in {rows:,} rows, are one category; max_categories= keeps more or fewer" in said[0]
    (column,) = (own for own in result.columns if own.name == "job")
    assert len(column.shares) == 21
    assert column.shares[-1].category == "(280 others)"
    totals = np.sum([share.shares for share in column.shares], axis=0)
    np.testing.assert_allclose(totals, 1.0, rtol=1e-12)
    assert column.pvalue <= 0.02


def test_groups_dependence_changes_and_monitors_pool_them_and_say_so() -> None:
    cells = RNG.permutation(np.resize(JOBS[:60], 400))
    table = pd.DataFrame({"job": cells, "x": RNG.normal(size=400)})
    options: dict[str, Any] = {"max_categories": 4}
    results = [
        km.compare_groups(table.assign(part=["a", "b"] * 200), "part", n_resamples=99, **options),
        km.dependence(table, n_resamples=99, **options),
        km.changes(table[:200], **options),
    ]
    for result in results:
        assert any(re.match(r"job: \d+ categories.*; the 4 most frequent are kept", note) for note in result.notes)
    state = km.DriftMonitor(table, **options).update(table[:50])
    (note,) = (note for note in state.notes if "the 4 most frequent are kept" in note)
    assert "categories in the 100 rows of the reference to which columns are fitted; the 4 most" in note


@pytest.mark.parametrize("in_memory", [True, False])
@pytest.mark.parametrize("cells", ["all different", "twice, once in each table", "fewer than two rows each"])
def test_a_column_that_identifies_rows_is_refused_as_before(cells: str, in_memory: bool, tmp_path: Path) -> None:
    names = [f"n{k}" for k in range(800)]
    found = {
        "all different": (names[:400], names[400:], 800),
        "twice, once in each table": (names[:400], names[:400], 400),
        "fewer than two rows each": (names[:300] + names[:100], names[300:600] + names[400:500], 600),
    }
    first, second, distinct = found[cells]
    for name, column in (("a", first), ("b", second)):
        pd.DataFrame({"id": column, "x": RNG.normal(size=400)}).to_csv(tmp_path / f"{name}.csv", index=False)
    tables = [km.read(tmp_path / f"{name}.csv", in_memory=in_memory) for name in "ab"]
    with pytest.raises(ValueError, match=f"'id' has {distinct} different categories in 800 rows, the limit is 256"):
        km.compare(*tables)


def test_columns_of_more_categories_than_can_be_counted_are_refused() -> None:
    cells = np.repeat([f"n{k}" for k in range(2**16 + 1)], 2)
    with pytest.raises(ValueError, match=r"'c' has 65,537 different categories in 131,074 rows, the limit is 65,536"):
        km.TableEncoder().fit(pd.DataFrame({"c": cells}))


@pytest.mark.parametrize("most", [1, 0, 2.5, "many"])
def test_the_number_of_categories_is_an_integer_above_one(most: Any) -> None:
    with pytest.raises(ValueError, match=r"max_categories is .*, an integer ≥ 2 is needed"):
        km.compare(A, B, max_categories=most)
