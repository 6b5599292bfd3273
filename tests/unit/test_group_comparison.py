"""Comparing several groups of rows: the test of all, the pairs, their strengths, and what is told of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean.inference import holm
from kernelmean.inference.explain import SampleSubject, effect_size
from kernelmean.inference.explain.moments import moments
from kernelmean.kernels import Gaussian
from kernelmean.studies import compare_groups
from kernelmean.studies.plots.groups import near_map, scaled

RNG = np.random.default_rng(3)
SHIFTS = {"u": 0.0, "v": 0.0, "w": 1.5}
TABLE = pd.concat(
    [pd.DataFrame(RNG.normal(shift, size=(25, 2)), columns=["a", "b"]).assign(g=name) for name, shift in SHIFTS.items()]
)
SCALED = (TABLE[["a", "b"]] - TABLE[["a", "b"]].mean()) / TABLE[["a", "b"]].std(ddof=0)
SAMPLES = {name: SCALED[TABLE.g == name].to_numpy() for name in SHIFTS}


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_pvalues_are_those_of_the_tests_of_all_and_of_two(estimator: str) -> None:
    found = compare_groups(TABLE, "g", estimator=estimator, n_resamples=199, rng=5)
    streams = np.random.default_rng(5).spawn(3)
    how = {"estimator": estimator, "n_resamples": 199}
    if estimator == "kme":
        np.testing.assert_allclose(found.pvalue, km.k_sample_test(*SAMPLES.values(), rng=streams[0], **how).pvalue)
    for pair in found.pairs:
        own = np.random.default_rng(5).spawn(4)[3]
        alone = km.mmd_test(SAMPLES[pair.first], SAMPLES[pair.second], rng=own, **how)
        assert pair.pvalue == alone.pvalue
    adjusted = {(pair.first, pair.second): pair.adjusted for pair in found.pairs}
    raw = {(pair.first, pair.second): pair.pvalue for pair in found.pairs}
    assert list(adjusted.values()) == list(holm(list(raw.values())))
    assert [{pair.first, pair.second} for pair in found.differing()] == [{"u", "w"}, {"v", "w"}] or [
        {pair.first, pair.second} for pair in found.differing()
    ] == [{"v", "w"}, {"u", "w"}]


def test_strengths_are_shares_explained_by_one_kernel_for_all_pairs() -> None:
    found = compare_groups(TABLE, "g", estimator="kme", n_resamples=19)
    kernel = Gaussian(float(km.median_bandwidth(np.concatenate([*SAMPLES.values()]))))
    for pair in found.pairs:
        subject = SampleSubject.of(SAMPLES[pair.first], SAMPLES[pair.second], kernel)
        expected = effect_size(subject, n_resamples=99, rng=0).explained.value
        assert pair.strength == pytest.approx(expected, rel=1e-6)
    assert [pair.strength for pair in found.pairs] == sorted((pair.strength for pair in found.pairs), reverse=True)


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_columns_are_tested_over_all_groups_and_name_the_two_that_differ_most(estimator: str) -> None:
    table = TABLE.assign(b=RNG.normal(size=len(TABLE)))
    found = km.compare_groups(table, "g", estimator=estimator, n_resamples=199, rng=5)
    scaled = (table[["a", "b"]] - table[["a", "b"]].mean()) / table[["a", "b"]].std(ddof=0)
    for column in found.columns:
        rows = {name: scaled[table.g == name][[column.name]].to_numpy() for name in SHIFTS}
        stream = np.random.default_rng(5).spawn(4)[1]
        alone = km.k_sample_test(*rows.values(), estimator=estimator, n_resamples=199, rng=stream)
        if estimator == "kme":  # an adaptive test of one column has fewer members
            assert (column.pvalue, column.statistic) == (alone.pvalue, pytest.approx(alone.statistic, rel=1e-9))
        kernel = Gaussian(float(km.median_bandwidth(np.concatenate([*rows.values()]))))
        pairs = [(u, v) for u in rows for v in rows if u < v]
        strength = [moments(SampleSubject.of(rows[u], rows[v], kernel)).explained for u, v in pairs]
        assert (column.first, column.second) == pairs[int(np.argmax(strength))]
        assert column.strength == pytest.approx(max(strength), rel=1e-9)
    assert [column.adjusted for column in found.columns] == list(holm([column.pvalue for column in found.columns]))
    assert [column.name for column in found.differing_columns()] == ["a"]
    assert "groups differ in 1 of 2 (adjusted p at most 0.05), a" in str(found)


def test_a_single_column_has_the_test_of_all_columns() -> None:
    found = km.compare_groups(TABLE[["a", "g"]], "g", n_resamples=99)
    assert [(column.name, column.pvalue) for column in found.columns] == [("a", found.pvalue)]
    assert all(grid.header[2:5] == ("strength", "adjusted p", "p") for grid in (found.grid(), found.column_grid()))


def test_neither_the_order_of_rows_nor_that_of_groups_decides_what_differs() -> None:
    mixed = TABLE.sample(frac=1.0, random_state=0)
    one, other = (compare_groups(table, "g", estimator="kme", n_resamples=99) for table in (TABLE, mixed))
    assert one.statistic == pytest.approx(other.statistic, rel=1e-9)
    strengths = [{frozenset((p.first, p.second)): p.strength for p in found.pairs} for found in (one, other)]
    assert strengths[0] == pytest.approx(strengths[1], rel=1e-9)


def test_equal_groups_do_not_differ_and_nothing_is_said_to() -> None:
    same = TABLE[["b"]].assign(g=list("uvw") * 25)
    found = compare_groups(same, "g", estimator="kme", n_resamples=99)
    assert not found.differ()
    assert found.verdict().startswith("No difference between the 3 groups of g was found")
    assert found.on_pairs() == "none of 3 differs on its own (adjusted p above 0.05)"


def test_columns_of_any_kind_and_missing_cells() -> None:
    table = TABLE.assign(city=RNG.choice(["Rome", "Oslo"], len(TABLE)))
    table.iloc[3, 0] = np.nan
    with pytest.raises(ValueError, match="column 'a' is blank"):
        compare_groups(table, "g")
    found = compare_groups(table, "g", missing="drop", estimator="kme", n_resamples=19)
    assert found.sizes == (24, 25, 25)
    assert "g=u: 1 row with blank cells left out" in found.notes


def test_as_plain_values_and_from_files(tmp_path: Path) -> None:
    found = compare_groups(TABLE, "g", estimator="kme", n_resamples=19)
    content = json.loads(json.dumps(found.to_dict()))
    assert content["groups"] == [{"name": name, "rows": 25} for name in SHIFTS]
    assert [pair["first"] for pair in content["pairs"]] == [pair.first for pair in found.pairs]
    assert [row["tested"] for row in found.rows()] == ["all groups", *["pair"] * 3, *["column"] * len(found.columns)]
    assert [own["name"] for own in content["columns"]] == [column.name for column in found.columns]
    km.save(found, tmp_path / "found.npz")
    assert str(km.load(tmp_path / "found.npz")) == str(found)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"by": "h"}, "no column 'h'"),
        ({"by": "g", "groups": ["u"]}, "name two or more, each once"),
        ({"by": "g", "groups": ["u", "u", "v"]}, "name two or more, each once"),
        ({"by": "g", "groups": ["u", "v", "z"]}, "there is no group 'z'"),
        ({"by": "g", "estimator": "s-kmse"}, "write one of kme, mkme, mmkme, .* for 3 groups"),
        ({"by": "g", "bandwidth": 2.0}, "brings its own bandwidths"),
    ],
)
def test_refusals(options: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        compare_groups(TABLE, **options)


@pytest.mark.parametrize("by", [0, np.repeat(["u", "v", "w"], 25)])
def test_what_splits_a_table_is_the_name_of_a_column(by: object) -> None:
    with pytest.raises(TypeError, match=r"by has type \w+; pass the name of a column of the table, such as 'a'"):
        compare_groups(TABLE, by)  # type: ignore[arg-type]


def test_more_than_twelve_groups_must_be_chosen() -> None:
    table = TABLE.assign(g=[str(k % 14) for k in range(len(TABLE))])
    with pytest.raises(ValueError, match=r"'g' has 14 groups: .* and 6 more; at most 12 .* groups=\('a', 'b', 'c'\)"):
        compare_groups(table, "g")
    twelve = compare_groups(table, "g", [str(k) for k in range(12)], estimator="kme", n_resamples=19)
    assert len(twelve.pairs) == 66
    assert len(str(twelve).splitlines()) < 36


def test_groups_of_one_row_are_left_out_and_named() -> None:
    table = pd.concat([TABLE, TABLE.iloc[:1].assign(g="alone")])
    found = compare_groups(table, "g", estimator="kme", n_resamples=19)
    assert found.groups == ("u", "v", "w")
    assert any(note.endswith("groups of one row left out: alone") for note in found.notes)
    with pytest.raises(ValueError, match="g=alone has 1 row; a comparison needs at least 2 in a group"):
        compare_groups(table, "g", ["u", "v", "alone"], estimator="kme")
    with pytest.raises(ValueError, match="at least two of them must have two rows or more"):
        compare_groups(table.iloc[-2:].assign(g=["x", "y"]).reindex([0, 1, 2]).assign(g=["x", "y", "z"]), "g")


@pytest.mark.slow
def test_the_level_of_pairs_where_one_group_differs() -> None:
    """Holm's method keeps it, whichever groups differ."""
    rejected = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame(rng.normal(size=(60, 1)), columns=["a"]).assign(g=list("uvw") * 20)
        rows.loc[rows.g == "w", "a"] += 3.0
        found = compare_groups(rows, "g", estimator="kme", n_resamples=99, rng=seed)
        equal = next(pair for pair in found.pairs if {pair.first, pair.second} == {"u", "v"})
        rejected += equal.adjusted <= 0.05
    assert rejected <= 20


def test_the_ten_strongest_pairs_have_the_intervals_of_two_samples() -> None:
    result = compare_groups("iris", "target", n_resamples=99)
    assert all(
        0.0 < pair.interval[0] < pair.strength < pair.interval[1] < 1.0 for pair in result.pairs if pair.interval
    )
    frame = result.to_frame().set_index("tested")
    assert list(frame.loc["pair", "low"]) == [pair.interval[0] for pair in result.pairs if pair.interval]
    assert frame.loc[["all groups", "column"], ["low", "high"]].isna().all(axis=None)
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"g": np.repeat([*"abcdef"], 12), "x": rng.normal(size=72)})
    many.loc[many["g"] < "c", "x"] = 1.0  # no row of these two groups varies
    pairs = compare_groups(many, "g", n_resamples=19).pairs
    assert [pair.interval is None for pair in pairs] == [False] * 10 + [True] * 5
    alone = compare_groups(many, "g", ["a", "b", "c"], n_resamples=19).pairs
    assert next(pair for pair in alone if (pair.first, pair.second) == ("a", "b")).interval is None


def test_a_pair_with_a_group_of_two_rows_has_no_interval_and_the_others_keep_theirs() -> None:
    table = TABLE.assign(g=["few"] * 2 + ["u"] * 23 + ["v"] * 25 + ["w"] * 25)
    found = compare_groups(table, "g", estimator="kme", n_resamples=19)
    assert {frozenset((p.first, p.second)) for p in found.pairs if p.interval is None} == {
        frozenset(("few", other)) for other in "uvw"
    }
    assert {row[-1] for row, pair in zip(found.grid().rows, found.pairs, strict=True) if pair.interval is None} == {"–"}
    assert "All pairs of groups" in found.to_html()


def test_a_map_of_groups_keeps_their_distances() -> None:
    """Distances in the plane are kept; the share of others is that of the sum of squared distances; moving is free."""
    rng = np.random.default_rng(0)
    for d in (1, 2, 5):
        points = rng.normal(size=(7, d)) + 1e3
        squared = np.square(points[:, None] - points).sum(axis=2)
        places, share = scaled(squared)
        drawn = np.square(places[:, None] - places).sum(axis=2)
        assert share == pytest.approx(drawn.sum() / squared.sum(), rel=1e-8)
        assert (share > 1 - 1e-8) == (d <= 2)
        assert d > 2 or np.allclose(drawn, squared, rtol=1e-6)
    apart = 1.0 - np.eye(12)
    assert scaled(apart)[1] == pytest.approx(2 / 11)
    assert scaled(np.zeros((3, 3)))[1] == 1.0
    assert not scaled(np.zeros((3, 3)))[0].any()
    beyond = scaled(np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [9.0, 1.0, 0.0]]))
    assert np.isfinite(beyond[0]).all()
    assert 0.5 < beyond[1] < 1.0, "no points have these distances"


def test_the_map_has_the_strengths_of_pairs_as_squared_distances() -> None:
    found = compare_groups("iris", "target", estimator="kme", n_resamples=199)
    panel, share = near_map(found)
    (points,) = panel.points
    place = dict(zip(points.names, zip(points.x, points.y, strict=True), strict=True))
    for pair in found.pairs:
        assert np.square(np.subtract(place[pair.first], place[pair.second])).sum() == pytest.approx(pair.strength)
    assert share == pytest.approx(1.0)
    html = found.to_html()
    assert html.count("Where groups lie") > 0
    assert "this map shows 100 % of the sum of all" in html


@pytest.mark.parametrize(("shift", "groups"), [(0.0, "abc"), (9.0, "ab")])
def test_no_map_of_chance_nor_of_two_groups(shift: float, groups: str) -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=20 * len(groups)), "g": np.repeat(list(groups), 20)})
    table.loc[table["g"] == "a", "x"] += shift
    found = compare_groups(table, "g", estimator="kme", n_resamples=99)
    assert bool(found.differing()) == bool(shift)
    assert "Where groups lie" not in found.to_html()
