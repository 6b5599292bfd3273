"""Rows that are like the next ones: found in series, silent on independent, sorted and changing rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.signal import lfilter
from scipy.stats import rankdata

import kernelmean as km
from in_batches import every_table_is_long
from kernelmean.core.table import to_frame
from kernelmean.studies.changes import Search
from kernelmean.tables.neighbors import Alike, Neighbors

Draw = Callable[[np.random.Generator, int], pd.DataFrame]


def series(rng: np.random.Generator, n: int, memory: float) -> pd.DataFrame:
    return pd.DataFrame(lfilter([1.0], [1.0, -memory], rng.normal(size=(n, 2)), axis=0), columns=["temp", "wind"])


def alike(*tables: pd.DataFrame) -> Alike | None:
    return Neighbors.of([to_frame(table, "the table") for table in tables]).alike()


def shared(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return columns that depend on each other."""
    return pd.DataFrame(rng.normal(size=(n, 1)) + 0.5 * rng.normal(size=(n, 4)), columns=list("abcd"))


def labels(rng: np.random.Generator, n: int) -> pd.DataFrame:
    return pd.DataFrame(rng.choice(["x", "y", "z"], (n, 4), p=[0.8, 0.1, 0.1]), columns=list("abcd"))


def in_groups(rng: np.random.Generator, n: int) -> pd.DataFrame:
    group = np.sort(rng.integers(0, 4, n))
    return shared(rng, n).add(3.0 * group, axis=0).assign(group=group)


def blank(rng: np.random.Generator, n: int) -> pd.DataFrame:
    return shared(rng, n).where(rng.random((n, 4)) < 0.5)


INDEPENDENT: dict[str, Draw] = {
    "normal": shared,
    "Cauchy": lambda rng, n: pd.DataFrame(rng.standard_cauchy((n, 4))),
    "counts": lambda rng, n: pd.DataFrame(rng.poisson(1.0, (n, 4))),
    "rare": lambda rng, n: pd.DataFrame(1.0 * (rng.random((n, 4)) < 0.03)),
    "labels": labels,
    "blank": blank,
    "sorted": lambda rng, n: shared(rng, n).sort_values("a"),
    "sorted, descending": lambda rng, n: shared(rng, n).sort_values("a", ascending=False),
    "sorted labels": lambda rng, n: labels(rng, n).sort_values("a"),
    "groups": in_groups,
    "sorted in groups": lambda rng, n: in_groups(rng, n).sort_values(["group", "a"]),
    "numbered": lambda rng, n: shared(rng, n).assign(number=np.arange(n)),
    "dated": lambda rng, n: shared(rng, n).assign(day=pd.date_range("2024-01-01", periods=n)),
    "a change": lambda rng, n: shared(rng, n).add(2.0 * (np.arange(n) > n / 2), axis=0),
    "a trend": lambda rng, n: shared(rng, n).add(np.linspace(0.0, 3.0, n), axis=0),
}


@pytest.mark.parametrize("name", INDEPENDENT)
def test_nothing_is_said_of_independent_rows(name: str) -> None:
    rng = np.random.default_rng(0)
    assert {alike(INDEPENDENT[name](rng, n)) for n in (9, 100, 1000) for _ in range(6)} == {None}


@pytest.mark.parametrize(("n", "memory"), [(150, 0.9), (400, 0.6), (1000, 0.999)])
def test_series_are_found(n: int, memory: float) -> None:
    rng = np.random.default_rng(1)
    assert None not in [alike(series(rng, n, memory)) for _ in range(10)]


def test_the_correlation_is_that_of_ranks_within_stretches() -> None:
    table = series(np.random.default_rng(2), 170, 0.7)[["temp"]].round(0)
    found = Neighbors.of([to_frame(table, "the table")] * 2)
    expected = 0.0
    for stretch in np.split(table["temp"].to_numpy()[:170], 10):
        z = rankdata(stretch) - 9.0
        z /= z.std()
        expected += (1.0 + z[1:] @ z[:-1]) / 160
    assert found.sums[0, 0] / found.sums[0, 2] == pytest.approx(expected, rel=1e-12)
    assert found.sums[0, 1:3].tolist() == [340, 320]
    most = found.alike()
    assert most is not None
    assert most.correlation == pytest.approx(expected, rel=1e-12)
    assert most.words.startswith(f"rows next to each other are alike (temp: rank correlation {expected:.2f} from row")


def test_all_orders_of_rows_have_no_correlation_on_average() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"a": rng.poisson(1.0, 40)})
    sums = np.array([Neighbors.of([to_frame(table.sample(frac=1.0, random_state=k), "t")]).sums[0] for k in range(600)])
    assert abs(sums[:, 0].mean()) < 4.0 * sums[:, 0].std() / np.sqrt(600)
    assert sums[:, 0].var() < 1.1 * 40


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return series(np.random.default_rng(4), 240, 0.9)


def test_compare_and_dependence_name_clusters(table: pd.DataFrame) -> None:
    blocked = table.assign(block=np.arange(240) // 24)
    halves, parts = (table[:120], table[120:]), (blocked[:120], blocked[120:])
    for result in (km.compare(*halves, n_resamples=99), km.dependence(table, n_resamples=99)):
        assert result.notes[0].startswith("rows next to each other are alike (")
        assert "if neighbours belong together (one person, one interviewer, one day)" in result.notes[0]
        assert "clusters='COLUMN'" in result.notes[0]
        assert result.notes[0] in result.to_dict()["notes"]
    with_joint_test = km.compare(*halves, n_resamples=99), km.dependence(table, y="wind", n_resamples=99)
    assert all(
        "exact only if rows do not depend on each other" in dict(own.facts())["p-value"] for own in with_joint_test
    )
    silent = [
        km.compare(*parts, clusters="block", n_resamples=99),
        km.compare(*halves, paired=True, n_resamples=99),
        km.dependence(blocked, clusters="block", n_resamples=99),
        km.compare(*(half.sample(frac=1.0, random_state=0) for half in halves), n_resamples=99),
    ]
    assert not [note for result in silent for note in result.notes if "next to each other" in note]
    assert not any(", exact only" in dict(result.facts()).get("p-value", "") for result in silent)


def test_batches_are_looked_at_too(table: pd.DataFrame) -> None:
    with every_table_is_long():
        found = km.compare(table[:120], table[120:], n_resamples=99), km.dependence(table, y="wind", n_resamples=99)
    for result in found:
        assert [note for note in result.notes if note.startswith("rows next to each other are alike (")]
        assert result.in_series
        assert "exact only if rows do not depend on each other" in dict(result.facts())["p-value"]


@pytest.mark.slow
def test_changes_name_blocks_and_stop(table: pd.DataFrame, few_for_what_changes: None) -> None:
    found = km.changes(table[:120], search=Search(n_resamples=199))
    assert len(found.points) == 5
    assert "write block=N" in found.notes[0]
    assert "stopped at the 5 clearest changes" in found.notes[1]
    asked = km.changes(table[:120], search=Search(n_resamples=49, n_changes=11))
    assert len(asked.points) == 11
    blocks = km.changes(table[:120], search=Search(block=24, n_resamples=49))
    assert not [note for note in blocks.notes if "next to each other" in note]


@pytest.mark.parametrize("part", ["reference", "new"])
def test_a_monitor_tells_of_series(part: str, table: pd.DataFrame) -> None:
    mixed = table.sample(frac=1.0, random_state=0)
    monitor = km.DriftMonitor(table if part == "reference" else mixed)
    for start in range(0, 240, 24):
        state = monitor.update((table if part == "new" else mixed)[start : start + 24])
    assert "if they are a series in time" in state.notes[0]
    assert not km.DriftMonitor(mixed).update(mixed).notes
