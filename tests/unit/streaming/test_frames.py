"""Frames in batches: rows carry their numbers, reading goes on where it stopped, and nothing stays in memory."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.tables import Encoding
from kernelmean.tables.columns.scan import TableScan
from kernelmean.tables.drawn import Drawn, Overview
from kernelmean.tables.prefetch import ahead
from kernelmean.tables.source import in_blocks

TABLE = pd.DataFrame({"a": np.arange(500.0), "c": [f"k{i % 7}" for i in range(500)]})


@pytest.mark.parametrize("size", [7, 64, 500])
def test_drawn_rows_depend_on_the_seed_and_never_on_the_batches(size: int) -> None:
    def drawn(seed: int) -> list[int]:
        some = Drawn(40, seed)
        for frame in km.read(TABLE, batch_rows=size).frames():
            some.add(frame)
        assert (some.frame["a"] == some.frame.row_numbers() - 1).all()
        assert (some.frame["a"] == some.numbers).all()
        return some.frame.row_numbers().tolist()

    reference = Drawn(40, 3)
    reference.add(next(km.read(TABLE).frames()))
    assert drawn(3) == reference.frame.row_numbers().tolist()
    assert len(set(drawn(3))) == 40
    assert drawn(3) != drawn(4)


@pytest.mark.parametrize("size", [1, 7, 64, 500])
def test_rows_come_in_blocks_of_one_size_however_many_a_batch_has(size: int) -> None:
    X = np.arange(1000.0).reshape(500, 2)
    batches = [X[:3], X[3:3], X[3:200], X[200:]]
    blocks = list(in_blocks(batches, size))
    assert [len(block) for block in blocks] == [size] * (500 // size) + [500 % size] * (500 % size > 0)
    np.testing.assert_array_equal(np.concatenate(blocks), X)


@pytest.mark.parametrize("size", [7, 64, 500])
def test_one_pass_keeps_moments_limits_and_rows_drawn_like_others(size: int) -> None:
    X = np.random.default_rng(0).normal(size=(500, 2)) * [1.0, 1e-3] + [1e6, 0.0]
    every = Overview.of(in_blocks([X], size), 500, 40, 3)
    np.testing.assert_array_equal(every.rows, X)
    some = Overview.of(in_blocks([X], size), 499, 40, 3)
    drawn = Drawn(40, 3)
    drawn.add(next(km.read(TABLE).frames()))
    np.testing.assert_array_equal(some.rows, X[drawn.numbers])
    for one in (every, some):
        assert one.n == 500
        np.testing.assert_allclose(one.mean, X.mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(one.variance, X.var(axis=0), rtol=1e-9)
        np.testing.assert_array_equal(one.limits, [X.min(axis=0), X.max(axis=0)])


def test_every_row_is_drawn_as_often_as_any_other() -> None:
    (frame,) = km.read(TABLE).frames()
    counts, trials = np.zeros(500), 400
    for seed in range(trials):
        some = Drawn(50, seed)
        some.add(frame)
        counts[some.frame.row_numbers() - 1] += 1
    expected = trials * 0.1
    assert np.square(counts - expected).sum() / (expected * 0.9) < 620  # chi-square of 499 degrees: 1e-4 beyond
    first = [Drawn(50, seed) for seed in range(200)]
    for some in first:
        some.add(frame)
    assert 200 < np.mean([some.frame.row_numbers()[0] for some in first]) < 300


@pytest.mark.parametrize("rule", ["category", "drop"])
def test_coordinates_have_the_same_last_digit_in_whatever_batches_rows_come(rule: str) -> None:
    """Moments do not; and what is fitted to coordinates may make a last digit a million times larger."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(3.0, 1.0, 700), "y": rng.gamma(2.0, size=700), "z": rng.lognormal(size=700)})
    table = table.mask(rng.random(table.shape) < 0.1)
    scans = [TableScan(list(table), Encoding(rule), 1) for _ in range(30)]
    for number, scan in enumerate(scans):
        for frame in km.read(table, batch_rows=700 - 23 * number).frames():
            scan.add(frame, 0)
    codings = [scan.codings() for scan in scans]
    assert len({tuple(column.values.pooled for column in scan.columns) for scan in scans}) > 1
    for every in zip(*codings, strict=True):
        assert len({(own.center, own.unit, own.indicator) for own in every}) == 1


def test_sums_over_parts_of_tables_merge() -> None:
    """Counts, moments and categories of parts are those of the whole, in any order."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(1e6, 1.0, 600), "c": rng.choice(["u", "v"], 600)})
    table["t"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**6, 600), "s")
    table.loc[::9, ["x", "c", "t"]] = None

    def seen(rows: pd.DataFrame, kind: int) -> TableScan:
        scan = TableScan(list(table), Encoding("category"), 2)
        scan.add(next(km.read(rows).frames()), kind)
        return scan

    parts = [(table[start : start + 50], start // 50 % 2) for start in range(0, 600, 50)]
    for _ in range(3):
        order = rng.permutation(len(parts))
        total = seen(*parts[order[0]])
        for k in order[1:]:
            total.merge(seen(*parts[k]))
        x, c, t = total.columns
        means = [found.means for found in total.summaries(total.codings())]
        even = np.arange(600) // 50 % 2 == 0
        for kind, mask in enumerate((even, ~even)):
            assert means[0][kind] == pytest.approx(table["x"][mask].mean(), rel=1e-14)
            assert c.values.counts[kind] == table["c"][mask].value_counts().to_dict()
            stamps = table["t"][mask].dropna().to_numpy().astype("datetime64[ns]").astype(np.int64)
            assert means[2][kind] == pytest.approx(stamps.mean() / 1e9, rel=1e-14)
        assert x.values.pooled[1] == pytest.approx(table["x"].std(ddof=0), rel=1e-9)
        assert t.values.earliest == table["t"].min().value
        assert x.absent.sum() == table["x"].isna().sum()


def test_reading_ahead_keeps_order_raises_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> object:
        yield 1
        raise ValueError("bad row")

    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    items = ahead(failing())
    assert next(items) == 1
    with pytest.raises(ValueError, match="bad row"):
        next(items)
    no_threads = ahead(failing())
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        assert next(no_threads) == 1
        with pytest.raises(ValueError, match="bad row"):
            next(no_threads)
    endless = ahead(iter(int, 1))
    assert next(endless) == 0
    endless.close()
