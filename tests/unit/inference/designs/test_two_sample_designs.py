"""mmd_test with strata, clusters and weights, held to loops over every permitted permutation."""

from __future__ import annotations

from itertools import chain, permutations, product

import numpy as np
import pytest

from kernelmean import KME, Design
from kernelmean.inference import mmd_test
from kernelmean.inference.designs.samples import SampleDesign
from kernelmean.kernels import Gaussian
from nulls import packed

KERNEL = Gaussian(1.0)

# strata, clusters, labels, weights
DESIGNS = {
    "weights": ([0] * 7, range(7), [1, 1, 1, 0, 0, 0, 0], [1, 2, 0.5, 1, 3, 1, 1]),
    "strata": ([0] * 4 + [1] * 4, range(8), [1, 1, 0, 0, 1, 1, 0, 0], [1] * 8),
    "uneven strata": ([0, 1, 1, 0, 1, 0, 1, 0, 1], range(9), [1, 1, 1, 0, 0, 0, 0, 1, 0], [1] * 9),
    "clusters": ([0] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [1, 1, 1, 1, 0, 0, 0, 0], [1] * 8),
    "uneven clusters": ([0] * 10, [0, 0, 1, 1, 2, 2, 3, 3, 4, 5], [1, 1, 1, 1, 0, 0, 0, 0, 0, 1], [1] * 10),
    "weighted strata": ([0] * 4 + [1] * 4, range(8), [1, 1, 0, 0, 1, 1, 0, 0], [1, 2, 0.5, 1, 1, 3, 1, 1]),
    "all": (
        [0] * 8 + [1] * 4,
        [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7],
        [1] * 4 + [0] * 4 + [1, 1, 0, 0],
        [1, 2, 3, 4] * 3,
    ),
}


def keywords(strata, unit, labels, weights):
    x = np.array(labels) == 1
    columns = {"strata": strata, "clusters": list(unit), "weights": np.array(weights, dtype=float)}
    plain = {"strata": 1, "clusters": len(labels), "weights": 1}
    return {
        name: (np.array(column)[x], np.array(column)[~x])
        for name, column in columns.items()
        if len(set(column)) != plain[name]
    }


def draw(n, seed=0, ties=False):
    points = np.random.default_rng(seed).standard_normal((n, 2))
    return np.round(points) if ties else points


def permitted(strata, unit, labels, equal_sizes):
    """Every labeling of the rows under permutations of the labels of whole units, of one stratum and maybe size."""
    rows, alike = {}, {}
    for i, u in enumerate(unit):
        rows.setdefault(u, []).append(i)
    for own in rows.values():
        alike.setdefault((strata[own[0]], equal_sizes and len(own)), []).append(own)
    ways = (dict.fromkeys(permutations(labels[own[0]] for own in units)) for units in alike.values())
    order = [i for units in alike.values() for own in units for i in own]
    sizes = [len(own) for units in alike.values() for own in units]
    for way in product(*ways):
        found = np.empty(len(labels), dtype=int)
        found[order] = np.repeat(list(chain(*way)), sizes)
        yield found


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize(
    ("name", "equal_sizes"), [*((name, False) for name in DESIGNS), ("uneven clusters", True), ("all", True)]
)
def test_statistic_and_p_value_are_those_of_full_enumeration(oracle, name, equal_sizes, ties):
    strata, unit, labels, weights = DESIGNS[name]
    labels, points = np.array(labels), draw(len(labels), len(name), ties)
    gram, x = KERNEL(points, points), labels == 1
    labelings = permitted(strata, unit, labels, equal_sizes)
    values = [oracle.mmd(gram, labeling, weights, strata, list(unit), "v") for labeling in labelings]
    options = {"kernel": KERNEL, "equal_sizes": equal_sizes, **keywords(*DESIGNS[name])}
    result = mmd_test(points[x], points[~x], **packed(**options))
    assert (result.scheme, result.n_resamples + 1) == ("exact", len(values))
    assert result.statistic == pytest.approx(values[0], rel=1e-10, abs=1e-14)
    assert result.pvalue == pytest.approx(oracle.pvalue(values), rel=1e-12)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values[1:]), rtol=1e-9, atol=1e-14)
    sampled = mmd_test(points[x], points[~x], scheme="random", n_resamples=3000, rng=0, **packed(**options))
    assert set(np.round(sampled.null_distribution, 10)) <= set(np.round(values, 10))
    assert sampled.pvalue == pytest.approx(result.pvalue, abs=4 * 0.5 / np.sqrt(3000))


def test_equal_weights_of_equally_many_rows_have_the_p_value_of_the_unbiased_statistic():
    X, Y = draw(6), draw(6, 1) + 0.5
    design = Design(weights=(np.ones(6), np.ones(6)))
    assert mmd_test(X, Y, design=design, kernel=KERNEL).pvalue == mmd_test(X, Y, kernel=KERNEL).pvalue


def test_rows_of_weight_zero_are_as_good_as_absent():
    X, Y = draw(9), draw(8, 1)
    wx, wy = np.random.default_rng(2).uniform(0.5, 2.0, 9), np.random.default_rng(3).uniform(0.5, 2.0, 8)
    wx[[0, 5]], wy[7] = 0.0, 0.0
    with_zeros = mmd_test(X, Y, design=Design(weights=(wx, wy)), rng=0, n_resamples=50, estimator="kme")
    without = mmd_test(
        X[wx > 0],
        Y[wy > 0],
        design=Design(weights=(wx[wx > 0], wy[wy > 0])),
        rng=0,
        n_resamples=50,
        estimator="kme",
    )
    assert with_zeros.statistic == without.statistic
    np.testing.assert_array_equal(with_zeros.null_distribution, without.null_distribution)
    assert with_zeros.kernel == without.kernel
    assert "3 rows of weight zero left out" in with_zeros.notes


def test_a_doubled_weight_is_a_doubled_row_in_the_v_statistic():
    X, Y = draw(5), draw(6, 1)
    weighted = mmd_test(X, Y, design=Design(weights=([2, 1, 1, 1, 1], np.ones(6))), kernel=KERNEL)
    doubled = mmd_test(np.vstack([X, X[:1]]), Y, statistic="v", kernel=KERNEL)
    assert weighted.statistic == pytest.approx(doubled.statistic, rel=1e-12)


@pytest.mark.parametrize("factor", [1e-200, 3.0, 1e200])
def test_only_the_ratios_of_weights_count(factor):
    X, Y = draw(12), draw(10, 1)
    wx, wy = np.random.default_rng(2).uniform(0.5, 2.0, 12), np.random.default_rng(3).uniform(0.5, 2.0, 10)
    one, other = (
        mmd_test(X, Y, design=Design(weights=(c * wx, c * wy)), rng=0, estimator="kme") for c in (1.0, factor)
    )
    assert other.pvalue == one.pvalue
    assert other.statistic == pytest.approx(one.statistic, rel=1e-9)


def test_differences_between_strata_are_none_between_samples():
    center = np.repeat([0, 1], 40)
    points = draw(80)[:, :1] + 8.0 * center[:, None]
    first = np.concatenate([np.arange(30), np.arange(40, 50)])  # 30 of 40 from one center, 10 of 40 from the other
    second = np.setdiff1d(np.arange(80), first)
    X, Y = points[first], points[second]
    assert mmd_test(X, Y, rng=0, estimator="kme").pvalue <= 0.01
    stratified = mmd_test(X, Y, design=Design(strata=(center[first], center[second])), rng=0, estimator="kme")
    assert stratified.pvalue > 0.05
    found = mmd_test(
        X + 1.5, Y, design=Design(strata=(center[first], center[second])), estimator=KME(bandwidth=1.0), rng=0
    )
    assert found.pvalue <= 0.02


def test_an_adaptive_test_respects_strata():
    center = np.repeat([0, 1], 30)
    points = draw(60, 1)[:, :1] + 8.0 * center[:, None]
    first = np.concatenate([np.arange(22), np.arange(30, 38)])
    second = np.setdiff1d(np.arange(60), first)
    strata = (center[first], center[second])
    result = mmd_test(
        points[first], points[second], design=Design(strata=strata), estimator="adaptive", n_resamples=99, rng=0
    )
    assert result.pvalue > 0.05
    assert (result.scheme, result.sizes) == ("random", (30, 30))
    assert "rows are permuted only within their stratum (2 strata of 30 rows each)" in result.notes


def test_text_labels_and_strata_of_one_sample():
    X, Y = draw(6), draw(5, 1)
    result = mmd_test(X, Y, design=Design(strata=(list("aabbcc"), list("aabbb"))), kernel=KERNEL)
    without = mmd_test(X[:4], Y, design=Design(strata=(list("aabb"), list("aabbb"))), kernel=KERNEL)
    assert (result.statistic, result.pvalue) == (without.statistic, without.pvalue)
    assert "9 of 11 rows take part: the others are in strata of one sample only, 'c'" in result.notes
    assert result.sizes == (6, 5)
    few = mmd_test(X, Y, design=Design(strata=([1, 2, 3, 4, 5, 5], [5, 5, 6, 7, 8])), kernel=KERNEL).notes[0]
    assert few.startswith("only 4 of 11 rows take part: ")
    assert few.endswith("1, 2, 3, 4, 6, 7, 8; pass coarser strata, such as ranges of a number")


def test_notes_count_the_units_that_can_change_places():
    X, Y = draw(6), draw(5, 1)
    clusters = ([0, 0, 1, 1, 2, 2], [3, 3, 4, 5, 6])
    strata = ([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2])

    def notes(**design):
        return mmd_test(X, Y, design=Design(clusters=clusters, **design), kernel=KERNEL).notes

    any_size = "clusters are permuted, whole, whatever their sizes: exact where the sample of a cluster does not depend"
    assert notes() == (f"7 {any_size} on its size",)
    among = "clusters are permuted, whole and only among clusters of equally many rows"
    stay = "the rest have no counterpart and stay where they are"
    assert notes(equal_sizes=True) == (f"4 of 7 {among}; {stay}",)
    assert notes(equal_sizes=True, strata=strata) == (
        f"2 of 7 {among}; {stay}",
        "clusters are permuted only within their stratum (3 strata of 3 to 4 rows each)",
    )


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"strata": (range(6), range(6, 11))}, ValueError, "no stratum holds rows of both"),
        ({"strata": ([0] * 5, [0] * 5)}, ValueError, r"strata of X has shape \(5,\)"),
        ({"strata": [0] * 11}, TypeError, "pass a pair"),
        ({"strata": ([0] * 6, ["a"] * 5)}, TypeError, "text for one sample"),
        ({"strata": ([0, 0, 0, 0, 0, np.nan], [0] * 5)}, ValueError, "no label in row 6"),
        ({"strata": ([0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2]), "statistic": "u"}, ValueError, "leave statistic= out"),
        ({"clusters": ([0, 0, 1, 1, 2, 2], [2, 2, 3, 3, 3])}, ValueError,
         r"1 of 4 clusters has rows in both samples, such as 2; .*error of the assignment.* as strata"),
        ({"clusters": ([0] * 6, [1] * 5), "equal_sizes": True}, ValueError,
         "pass coarser strata, or clusters of equal sizes"),
        ({"equal_sizes": True}, ValueError, "equal_sizes=True is about clusters"),
        ({"clusters": ([0, 0, 1, 1, 2, 2], [3, 3, 4, 4, 5]), "strata": ([0, 1, 1, 1, 1, 1], [0] * 5)}, ValueError,
         r"1 of 6 clusters has rows in more than one stratum, such as 0 in 0 and 1; a cluster"),
        ({"weights": ([1] * 5 + [-1], [1] * 5)}, ValueError, "row 6 of weights of X is -1; weights"),
        ({"weights": ([0] * 6, [1] * 5)}, ValueError, "weights of X are all zero"),
        ({"weights": ([1] * 5 + [np.nan], [1] * 5)}, ValueError, "NaN"),
        ({"weights": ([1] * 5, [1] * 5)}, ValueError, r"shape \(5,\)"),
        ({"weights": ([1] * 6, [1e-200] * 5)}, ValueError, "eight orders of magnitude"),
        ({"weights": ([1] * 6, [1] * 5), "scheme": "rotations"}, ValueError, "'auto', 'exact', 'random'"),
        ({"weights": ([1] * 6, [1] * 5), "n_resamples": 0}, ValueError, "n_resamples is 0"),
    ],
)  # fmt: skip
def test_what_is_refused(options, error, words):
    with pytest.raises(error, match=words):
        mmd_test(draw(6), draw(5, 1), **packed(**options))


@pytest.mark.parametrize(
    "labels",
    [
        ["a"] * 5 + [np.nan],
        [np.datetime64("2020-01-01")] * 5 + [np.datetime64("NaT")],
        np.array(["a"] * 5 + [np.nan], dtype=object),
        np.array([1.0] * 5 + [np.nan], dtype=object),
    ],
)
def test_missing_labels_of_any_type_are_no_stratum_and_no_cluster(labels):
    for name in ("strata", "clusters"):
        with pytest.raises(ValueError, match=f"{name} of X has no label in row 6"):
            mmd_test(draw(6), draw(5, 1), design=Design(**{name: (labels, [labels[0]] * 5)}))


def test_of_a_design_whole_clusters_are_drawn_with_their_strata_and_weights() -> None:
    """Explanations take at most so many rows of each sample; these have the design that they had."""
    rng = np.random.default_rng(4)
    sizes = (90, 120)
    clusters = [np.sort(rng.integers(0, 30, size=size)) + 100 * k for k, size in enumerate(sizes)]
    strata = [names % 3 for names in clusters]
    weights = [rng.uniform(0.5, 2.0, size=size) for size in sizes]
    weights[0][:4] = 0.0  # rows that do not take part
    design = SampleDesign.of(sizes, tuple(strata), tuple(clusters), tuple(weights))
    drawn, rows = design.drawn(50, np.random.default_rng(0))
    assert drawn.sizes == tuple(map(len, rows))
    for k, kept in enumerate(rows):
        assert 30 < len(kept) <= 50
        assert (weights[k][kept] > 0.0).all()
        whole = np.isin(clusters[k], clusters[k][kept]) & (weights[k] > 0.0)
        np.testing.assert_array_equal(np.flatnonzero(whole), kept)
    of_rows = [tuple(parts[k][kept] for k, kept in enumerate(rows)) for parts in (strata, clusters, weights)]
    named = SampleDesign.of(drawn.sizes, *of_rows)
    assert named.notes == drawn.notes
    first, second = named.layout(range(2)), drawn.layout(range(2))
    for name in ("order", "sizes", "weights", "cells", "labels"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    every = SampleDesign.of((90, 120), None, None, None).drawn(50, np.random.default_rng(0))[1]
    assert list(map(len, every)) == [50, 50]
