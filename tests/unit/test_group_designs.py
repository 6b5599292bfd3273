"""Several groups with strata, clusters or weights: every test is `k_sample_test` or `mmd_test` with the design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import Design

HOW: dict[str, Any] = {"estimator": "kme", "n_resamples": 199}


def clustered(seed: int, groups: int = 3, clusters: int = 8, rows: int = 4) -> pd.DataFrame:
    """Return equal groups of clusters with effects of their own, and a weight and a stratum of every cluster."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(groups * clusters), rows)
    effects = rng.normal(size=(groups * clusters, 2))[cluster]
    table = pd.DataFrame(effects + 0.3 * rng.normal(size=effects.shape), columns=["a", "b"])
    names = np.array([*"uvwxyz"])[cluster // clusters]
    return table.assign(g=names, c=cluster, s=cluster % 2, w=rng.uniform(0.5, 2.0, len(table)))


TABLE = clustered(0)
DESIGNS = {"clusters": "c", "strata": "s", "weights": "w"}


@pytest.mark.parametrize("part", DESIGNS)
@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_the_tests_are_those_of_several_samples_and_of_two_with_the_design(part: str, estimator: str) -> None:
    name = DESIGNS[part]
    how = HOW | {"estimator": estimator}
    table = TABLE[["a", "b", "g", name]]
    found = km.compare_groups(table, "g", **{part: name}, rng=5, **how)
    scaled = (table[["a", "b"]] - table[["a", "b"]].mean()) / table[["a", "b"]].std(ddof=0)
    streams = np.random.default_rng(5).spawn(4)
    groups = [table.g == group for group in found.groups]
    whole = Design(**{part: tuple(table[name][rows].to_numpy() for rows in groups)})
    joint = km.k_sample_test(*(scaled[rows].to_numpy() for rows in groups), design=whole, rng=streams[0], **how)
    assert found.pvalue == joint.pvalue
    for column in found.columns:
        own = np.random.default_rng(5).spawn(4)[1]
        samples = [scaled.loc[rows, [column.name]].to_numpy() for rows in groups]
        alone = km.k_sample_test(*samples, design=whole, rng=own, **how)
        assert estimator == "adaptive" or column.pvalue == alone.pvalue  # that of a column has fewer members
    for pair in found.pairs:
        of = [table.g == group for group in (pair.first, pair.second)]
        design = Design(**{part: tuple(table[name][rows].to_numpy() for rows in of)})
        own = np.random.default_rng(5).spawn(4)[3]
        alone = km.mmd_test(*(scaled[rows].to_numpy() for rows in of), design=design, rng=own, **how)
        assert pair.pvalue == alone.pvalue
        assert pair.interval is None
    assert sorted(pair.adjusted for pair in found.pairs) == sorted(
        km.inference.holm([pair.pvalue for pair in found.pairs])
    )


def test_pairs_that_the_design_forbids_have_p_1_and_a_reason() -> None:
    torn = TABLE.assign(c=np.where(TABLE.index == 0, 8, TABLE.c)).drop(columns=["s", "w"])
    found = km.compare_groups(torn, "g", clusters="c", **HOW)
    refused = [pair for pair in found.pairs if not pair.n_resamples]
    assert [(pair.first, pair.second, pair.pvalue, pair.adjusted) for pair in refused] == [("u", "v", 1.0, 1.0)]
    reason = "so p = 1: u and v (1 of 16 clusters has rows in both samples, such as 8)"
    assert any(note.endswith(reason) for note in found.notes)
    assert "1 (not tested)" in str(found)
    apart = TABLE.assign(s=np.where(TABLE.g == "u", 7, TABLE.s))
    notes = " ".join(km.compare_groups(apart, "g", strata="s", **HOW).notes)
    assert "u and v (no stratum holds rows of both samples, so none can be compared), u and w (no stratum" in notes


def test_the_design_is_told_and_saved(tmp_path: Path) -> None:
    found = km.compare_groups(TABLE.drop(columns="s"), "g", clusters="c", weights="w", **HOW)
    assert {column.name for column in found.columns} == {"a", "b"}
    assert ("design", found.design.assumed()) in found.facts()
    assert "strengths count all rows alike; the tests follow the design" in found.notes
    assert found.to_dict()["design"]["clusters"] == "c"
    assert "means" not in found.to_dict()["design"]
    assert "weights move with their rows" in " ".join(found.notes)
    assert "That needs the design: whole clusters of c are exchangeable" in found.to_html()
    assert "interval" not in found.grid().header
    found.save(tmp_path / "found.npz")
    assert str(km.load(tmp_path / "found.npz")) == str(found)


def test_rows_without_weight_take_no_part() -> None:
    zero = pd.concat([TABLE, TABLE.iloc[:3].assign(w=0.0, a=99.0)], ignore_index=True)[["a", "b", "g", "w"]]
    one, other = (km.compare_groups(each, "g", weights="w", **HOW) for each in (TABLE[["a", "b", "g", "w"]], zero))
    assert other.sizes == one.sizes
    assert [pair.pvalue for pair in one.pairs] == [pair.pvalue for pair in other.pairs]
    assert "3 rows of weight zero left out" in other.notes


def test_two_groups_have_the_test_of_two_samples() -> None:
    found = km.compare_groups(TABLE[["a", "b", "g", "c"]], "g", ["u", "v"], clusters="c", **HOW)
    assert found.pairs[0].statistic == pytest.approx(found.test.statistic)
    assert found.test.statistic_name == "MMD² (V-statistic)"


@pytest.mark.slow
def test_the_level_of_all_groups_and_of_pairs_with_effects_of_clusters() -> None:
    """400 tables of equal groups: shuffled rows find differences in nearly all of them, shuffled clusters in 5 %."""
    joint = pair = anything = wrong = 0
    for seed in range(400):
        table = clustered(seed).drop(columns=["s", "w"])
        found = km.compare_groups(table, "g", clusters="c", rng=seed, **HOW)
        joint += found.pvalue <= 0.05
        pair += next(p.pvalue for p in found.pairs if {p.first, p.second} == {"u", "v"}) <= 0.05
        anything += bool(found.differing())
        wrong += seed < 20 and km.compare_groups(table.drop(columns="c"), "g", rng=seed, **HOW).differ()
    limit = 20 + 3 * np.sqrt(19)  # three standard deviations of a binomial count
    assert max(joint, pair, anything) <= limit
    assert min(joint, pair) >= 20 - 3 * np.sqrt(19)
    assert wrong >= 15


@pytest.mark.parametrize("name", ["strata", "clusters", "weights"])
def test_the_column_of_the_groups_is_no_design(name: str) -> None:
    table = pd.DataFrame({"x": np.arange(12.0), "g": list("abc") * 4})
    with pytest.raises(ValueError, match=f"{name}='g' names the column of the groups"):
        km.compare_groups(table, "g", **{name: "g"})
