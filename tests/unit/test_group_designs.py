"""Several groups with strata, clusters or weights: every test is `k_sample_test` or `mmd_test` with the design."""

from __future__ import annotations

from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import kernelmean as km
from kernelmean import Design
from kernelmean.inference.explain.moments import Moments, moments_within
from kernelmean.inference.questions import TwoSamples

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


def test_strengths_are_within_strata() -> None:
    """Groups that are alike in every center are so whatever centers they visit, and those that differ do."""
    rng = np.random.default_rng(0)
    center = rng.integers(0, 4, 600)
    g = np.where(rng.random(600) < np.array([0.1, 0.3, 0.7, 0.9])[center], "u", "v")
    alike = 3.0 * center + rng.normal(size=600)
    table = pd.DataFrame({"alike": alike, "apart": alike + (g == "u"), "g": g, "center": center})
    plain, within = (
        km.compare_groups(each, "g", **HOW, **of)
        for each, of in ((table.drop(columns="center"), {}), (table, {"strata": "center"}))
    )
    of_all, of_strata = ({own.name: own.strength for own in found.columns} for found in (plain, within))
    assert of_all["alike"] > 0.25
    assert abs(of_strata["alike"]) < 0.01 < 0.03 < of_strata["apart"]
    assert within.to_dict()["design"]["strengths"] == within.notes[0]
    assert within.notes[0] == "strengths are within strata of center: every stratum counts as much as in the tests"
    apart = TABLE.assign(s=np.where(TABLE.g == "u", 7, TABLE.s))[["a", "b", "g", "s"]]
    found = km.compare_groups(apart, "g", strata="s", **HOW)
    assert [np.isnan(pair.strength) for pair in found.pairs] == [False, True, True]
    assert [row[2] for row in found.grid().rows][1:] == ["–", "–"]


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 0.2, 1.0])])
def test_moments_within_strata_are_those_of_the_definition(weights: np.ndarray | None) -> None:
    rng = np.random.default_rng(0)
    labels, strata = np.array([0, 1, 0, 1, 1, 0, 1, 1]), np.repeat([0, 1], [3, 5])
    points, kernel = rng.normal(size=(8, 1)) + strata[:, None], km.kernels.Gaussian(1.0)
    shares = np.ones(8) / 8 if weights is None else weights / weights.sum()

    def of(labels: np.ndarray) -> Moments:
        parts = [labels == 0, labels == 1]
        own = None if weights is None else tuple(weights[part] for part in parts)
        design = Design(strata=tuple(strata[part] for part in parts), weights=own)
        return moments_within(TwoSamples.of([points[part] for part in parts], design), kernel)

    counted, squares = np.zeros(8), 0.0
    for s in (0, 1):
        own = strata == s
        first = own & (labels == 0)
        gap = np.where(labels == 0, 1.0, 0.0) - shares[first].sum() / shares[own].sum()
        counted[own], squares = (shares * gap)[own], squares + (shares * gap**2)[own].sum()
    plain = counted @ kernel(points, points) @ counted / squares**2
    if weights is not None:
        assert 0.0 < plain - of(labels).squared < plain + 0.5
        return
    dealt = [np.concatenate(two) for two in product(set(permutations(labels[:3])), set(permutations(labels[3:])))]
    values = [of(each) for each in dealt]
    assert len(dealt) == 15
    assert abs(np.mean([own.squared for own in values])) < 1e-14
    gram = kernel(points, points)
    within = [np.trace(gram[own][:, own]) - gram[own][:, own].mean() * own.sum() for own in (strata == 0, strata == 1)]
    pooled = np.mean([own.variance for own in values])
    assert pooled == pytest.approx((within[0] / 2 * 3 + within[1] / 4 * 5) / 8, rel=1e-12)
    mean = np.mean([_plain(each, strata, gram) for each in dealt])
    assert plain - of(labels).squared == pytest.approx(mean, rel=1e-12)


def _plain(labels: np.ndarray, strata: np.ndarray, gram: np.ndarray) -> float:
    """The squared distance of two means within strata, weighted as Cochran, Mantel and Haenszel do."""
    counted, total = np.zeros(len(labels)), 0.0
    for s in np.unique(strata):
        first, second = (strata == s) & (labels == 0), (strata == s) & (labels == 1)
        share = first.sum() * second.sum() / (strata == s).sum()
        counted += share * (first / first.sum() - second / second.sum())
        total += share
    return float(counted @ gram @ counted / total**2)


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
    assert "strengths are of rows weighted by w" in found.notes
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


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
@pytest.mark.parametrize("strata", [None, "s"])
def test_the_only_pair_of_two_groups_has_their_test(strata: str | None, estimator: str) -> None:
    two = TABLE[TABLE.g != "w"][["a", "b", "g", *([strata] if strata else [])]]
    found = km.compare_groups(two, "g", strata=strata, estimator=estimator, n_resamples=199)
    (pair,) = found.pairs
    assert (pair.statistic, pair.pvalue, pair.adjusted) == (found.test.statistic, found.pvalue, found.pvalue)
    assert pair.n_resamples == found.test.n_resamples


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
