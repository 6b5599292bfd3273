"""The adaptive tests over every rearrangement of small data: their p-values are exactly uniform, or above.

So are those of every member. That all rearrangements of a few clusters are few makes it possible to try them on more
rows than there are landmarks; other small data are tried with few landmarks.
"""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest

from checkered import checkered, mostly_slow
from kernelmean import Design, compare_groups, dhsic_test, k_sample_test
from kernelmean.inference import Adaptive, hsic_test, mmd_test
from kernelmean.inference.adaptive import candidates as candidates_module
from kernelmean.inference.adaptive.views import ViewSource
from kernelmean.inference.units import layout as layout_module
from kernelmean.inference.units.layout import Layout
from null_data import NullData

KINDS = ["normal", "ties", "repeated rows", "heavy tails"]


def rows(kind, n, dim, seed=0):
    """A small table."""
    rng = np.random.default_rng(seed)
    points = rng.standard_cauchy((n, dim)) if kind == "heavy tails" else rng.normal(size=(n, dim))
    if kind == "ties":
        return np.round(points)
    if kind == "repeated rows":
        points[n // 2 :] = points[: n - n // 2]
    return points


def divisions(*cells):
    """All ways to take ``many`` of ``n`` rows of every cell (n, many) for the first sample, as truth values."""
    ways = [[np.isin(np.arange(n), own) for own in combinations(range(n), many)] for n, many in cells]
    return map(np.concatenate, product(*ways))


def over_labelings(points, first, **how):
    """The p-values of all ways to divide the rows into two samples."""
    return pvalues([NullData(mmd_test, split(points, own)) for own in divisions((len(points), first))], **how)


def split(column, own):
    """Two samples."""
    return column[own], column[~own]


def over_pairings(X, Y, **how):
    """The p-values of all pairings of the rows."""
    return pvalues([NullData(hsic_test, (X, Y[list(order)])) for order in permutations(range(len(X)))], **how)


def pvalues(arrangements, scheme="exact", **how):
    """The p-values of all arrangements: those of the test, of every member, and of all pairs of several samples."""
    results = [own.result(n_resamples=999, rng=0, **how) for own in arrangements]
    assert {result.scheme for result in results} == {scheme}
    assert len({tuple(own.label for own in result.members) for result in results}) == 1
    return np.array([[own.pvalue for own in (result, *result.members, *result.pairs)] for result in results])


def excess(found):
    """By how many the p-values below some level are more than the level allows, at worst: 0 for an exact test."""
    total = len(found)
    ranks = np.round(found * total)
    np.testing.assert_allclose(ranks, found * total, atol=1e-6)  # all arrangements were enumerated
    levels = np.arange(1, total + 1)
    return int(max(((ranks[..., None] <= levels).sum(axis=0) - levels).max(axis=-1)))


@pytest.mark.parametrize(("kind", "shape"), checkered(KINDS, [((4, 4), 2), ((3, 5), 1), ((2, 5), 3)], every=3))
def test_two_samples(kind, shape):
    sizes, dim = shape
    found = over_labelings(rows(kind, sum(sizes), dim), sizes[0])
    assert excess(found) == 0
    assert found[:, 0].min() < 0.1 or kind != "normal"


@pytest.mark.parametrize(("kind", "dims"), checkered(KINDS, [(1, 1), (2, 1)]))
def test_pairs(kind, dims):
    n = 5 if kind == "normal" else 4  # of five rows there are 120 pairings, of four 24
    found = over_pairings(rows(kind, n, dims[0]), rows(kind, n, dims[1], seed=1))
    assert excess(found) == 0
    assert found[:, 0].min() <= 4 / 120 or kind != "normal"


@pytest.mark.parametrize("rule", mostly_slow(["log-mean-exp", "max", "mean", "aggregate"], "log-mean-exp", "aggregate"))
def test_other_rules(rule):
    assert excess(over_labelings(rows("ties", 6, 2), 2, estimator=Adaptive(rule))) == 0
    assert excess(over_pairings(rows("normal", 4, 1), rows("ties", 4, 2), estimator=Adaptive(rule))) == 0


HARD = {
    "far from zero": lambda normal: np.round(3 * normal) + 2.0**52,
    "equal but for rounding": lambda normal: 0.1 + 2.0**-56 * np.round(3 * normal),
    "one row far away": lambda normal: np.where(np.arange(len(normal))[:, None] == 2, 1e15, normal),
    "of all sizes": lambda normal: np.exp(20 * normal),
}


@pytest.mark.parametrize("kind", mostly_slow(HARD, *list(HARD)[::2]))
def test_rows_that_are_hard_to_add_up(kind):
    points, X, Y = (HARD[kind](rows("normal", n, dim, seed)) for n, dim, seed in ((6, 2, 0), (4, 2, 1), (4, 1, 2)))
    assert excess(over_labelings(points, 2)) == 0
    assert excess(over_pairings(X, Y)) == 0


# -- fewer landmarks than rows -----------------------------------------------------------------------------------------


@pytest.fixture
def few_landmarks(monkeypatch):
    """Let three rows be the landmarks, four for the nearest rows and two for distances, and four decide on units."""
    monkeypatch.setattr(candidates_module, "_LANDMARKS", 3)
    monkeypatch.setattr(candidates_module, "_OWN_LANDMARKS", {"nearest": 4, "radius": 2})
    monkeypatch.setattr(candidates_module, "UNIT_ROWS", 4)


@pytest.mark.parametrize(("kind", "shape"), checkered(KINDS, [((3, 4), 1), ((2, 5), 2)]))
@pytest.mark.usefixtures("few_landmarks")
def test_two_samples_on_few_landmarks(kind, shape):
    sizes, dim = shape
    assert excess(over_labelings(rows(kind, 7, dim), sizes[0])) == 0


@pytest.mark.parametrize(
    ("kind", "n"),
    [("normal", 4), ("ties", 4), ("repeated rows", 4), pytest.param("normal", 5, marks=pytest.mark.slow)],
)
@pytest.mark.usefixtures("few_landmarks")
def test_pairs_on_few_landmarks(kind, n):
    assert excess(over_pairings(rows(kind, n, 2), rows(kind, n, 1, seed=1))) == 0


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "ties", "heavy tails"))
@pytest.mark.usefixtures("few_landmarks")
def test_strata_with_weights_on_few_landmarks(kind):
    points, weights = rows(kind, 8, 2), np.random.default_rng(2).uniform(0.1, 3.0, 8)
    groups = np.repeat([0, 1], [5, 3])
    points[groups == 1] += 4.0
    divided = [
        NullData(mmd_test, split(points, own), Design(strata=split(groups, own), weights=split(weights, own)))
        for own in divisions((5, 2), (3, 1))
    ]
    assert excess(pvalues(divided, statistic="v")) == 0


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "ties", "heavy tails"))
@pytest.mark.usefixtures("few_landmarks")
def test_pairs_of_samples_on_few_landmarks(kind):
    pairs = np.stack([rows(kind, 5, 2), rows(kind, 5, 2, seed=1)])
    flips = [np.array(signs)[:, None] for signs in product([True, False], repeat=5)]
    exchanged = [
        NullData(mmd_test, tuple(np.where(own, *pairs[order]) for order in ([0, 1], [1, 0])), Design(paired=True))
        for own in flips
    ]
    assert excess(pvalues(exchanged)) == 0


@pytest.mark.parametrize("kind", mostly_slow(KINDS, "ties"))
@pytest.mark.usefixtures("few_landmarks")
def test_several_samples_and_several_variables_on_few_landmarks(kind, monkeypatch):
    points, labels = rows(kind, 5, 2), sorted(set(permutations([0, 1, 1, 2, 2])))
    samples = [NullData(k_sample_test, tuple(points[np.array(own) == g] for g in range(3))) for own in labels]
    assert excess(pvalues(samples, statistic="v")) == 0
    x, y, z = (rows(kind, 3, 1, seed) for seed in range(3))
    orders = product(map(list, permutations(range(3))), repeat=2)
    monkeypatch.setattr(candidates_module, "UNIT_ROWS", 2)
    several = [NullData(dhsic_test, (x, y[own], z[other])) for own, other in orders]
    assert excess(pvalues(several)) == 0


# -- all rearrangements of clusters of any size ------------------------------------------------------------------------


def over_a_random_design(seed, *, equal_sizes, **how):
    """The p-values of all permitted ways to call clusters of one to four rows, some with strata or weights, the first.

    Clusters change places within strata, and with ``equal_sizes`` among those of their size.
    """
    rng = np.random.default_rng(seed)
    sizes, strata = rng.integers(1, 3 if equal_sizes else 5, 8), np.repeat([0, 1], 4) * (seed % 2)
    cells = np.unique(np.stack([strata, sizes * equal_sizes]), axis=1, return_inverse=True)[1].ravel()
    order, counts = np.argsort(cells, kind="stable"), np.bincount(cells)
    many = np.maximum(1, (counts - rng.integers(0, 2, len(counts))) // 2) if not equal_sizes else (counts + 1) // 2
    cluster = np.repeat(order, sizes[order])
    points = rows(KINDS[seed % 4], len(cluster), 2, seed)
    columns = {"clusters": cluster, "strata": strata[cluster]}
    if seed % 3:
        columns["weights"] = rng.uniform(0.2, 3.0, 8)[cluster]
    divided = (np.repeat(own, sizes[order]) for own in divisions(*zip(counts.tolist(), many.tolist(), strict=True)))
    designs = [(split(points, own), {name: split(column, own) for name, column in columns.items()}) for own in divided]
    return pvalues([NullData(mmd_test, own, Design(**of, equal_sizes=equal_sizes)) for own, of in designs], **how)


@pytest.mark.parametrize("equal_sizes", [False, True])
@pytest.mark.parametrize(
    ("estimator", "seeds"), [("kme", range(6)), pytest.param("adaptive", range(3), marks=pytest.mark.slow)]
)
def test_clusters_of_any_size(estimator, seeds, equal_sizes):
    found = [over_a_random_design(seed, equal_sizes=equal_sizes, estimator=estimator) for seed in seeds]
    assert [excess(own) for own in found] == [0] * len(found)
    assert max(map(len, found)) >= 36
    assert min(own.min() for own in found) <= 0.05


@pytest.mark.parametrize(("kind", "estimator"), checkered(KINDS, ["kme", "adaptive"]))
@pytest.mark.parametrize("sizes", [(8, 16), (11, 16)], ids=["whole bins", "rows left over"])
def test_bins_of_rows(sizes, kind, estimator, monkeypatch):
    """All ways to exchange the contents of six bins, which are dealt by a seed, whatever the rows are."""
    monkeypatch.setattr(layout_module, "MOST_BINS", 6)
    monkeypatch.setattr(layout_module, "_LEAST", 6)
    points = rows(kind, sum(sizes), 2)
    units = Layout.of(np.repeat([0, 1], sizes), np.ones(len(points))).in_bins(np.random.default_rng(0))
    places, exchanged = np.split(units.order, units.starts[1:]), []
    for chosen in divisions((units.cells.tolist().count(0), 2)):
        moved = points.copy()
        for to, from_ in enumerate([*np.flatnonzero(chosen), *np.flatnonzero(~chosen)]):
            moved[places[to]] = points[places[from_]]
        exchanged.append(NullData(mmd_test, (moved[: sizes[0]], moved[sizes[0] :])))
    assert len(exchanged) >= 10
    assert excess(pvalues(exchanged, "bins", estimator=estimator)) == 0


# -- all rearrangements of clusters, with as many landmarks as there always are --------------------------------------


def over_clusters_of_samples(kind):
    """The p-values of all ways to divide six clusters of 45 rows into two samples, of two and of four."""
    points, cluster = np.repeat(rows(kind, 6, 2), 45, axis=0) + rows(kind, 270, 2, seed=1), np.repeat(np.arange(6), 45)
    chosen = [np.repeat(own, 45) for own in divisions((6, 2))]
    return pvalues([NullData(mmd_test, split(points, own), Design(clusters=split(cluster, own))) for own in chosen])


def over_clusters_of_pairs(kind):
    """The p-values of all pairings of four clusters of 66 rows."""
    X, Y = (np.repeat(rows(kind, 4, 1, seed), 66, axis=0) + rows(kind, 264, 1, seed + 2) for seed in range(2))
    design, places = Design(clusters=np.repeat(np.arange(4), 66)), np.arange(264).reshape(4, 66)
    return pvalues([NullData(hsic_test, (X, Y[places[list(own)].ravel()]), design) for own in permutations(range(4))])


@pytest.mark.parametrize(
    ("over", "kind"), checkered([over_clusters_of_samples, over_clusters_of_pairs], KINDS, every=4)
)
def test_clusters(over, kind):
    assert excess(over(kind)) == 0


@pytest.mark.slow
def test_landmarks_by_row_number_would_not_be_exact(monkeypatch):
    def by_number(self, most, rng):
        return np.arange(min(most, len(self.points)))

    monkeypatch.setattr(ViewSource, "drawn", by_number)
    monkeypatch.setattr(candidates_module, "row_order", lambda points: np.arange(len(points)))
    for over in (over_clusters_of_samples, over_clusters_of_pairs):
        assert excess(over("normal")) > 0


# -- idle columns: equal values, one row unlike the others, two values -------------------------------------------------


def with_idle_columns(kind, n, seed=0, each=1):
    """A table with a column of a kind, and idle ones, of which many statistics vary by rounding alone."""
    one_hot, halves = np.zeros(n), np.repeat([0.0, 0.1], [n // 2, n - n // 2])
    one_hot[0] = 0.1
    columns = [rows(kind, n, 1, seed)[:, 0], one_hot, np.full(n, 0.1), halves, np.roll(one_hot, min(n - 1, 4))]
    return np.repeat(np.column_stack(columns), each, axis=0)


def in_strata(points, **how):
    """The tests of all ways to take rows of two strata, four and five rows, for the first sample."""
    group, ways = np.repeat([0, 1], [4, 5]), divisions((4, 2), (5, 2))
    return [NullData(mmd_test, split(points, own), Design(strata=split(group, own))).result(**how) for own in ways]


def in_clusters(points, **how):
    """The tests of all ways to take two of six clusters of two rows for the first sample."""
    cluster, ways = np.repeat(np.arange(6), 2), (np.repeat(own, 2) for own in divisions((6, 2)))
    return [NullData(mmd_test, split(points, own), Design(clusters=split(cluster, own))).result(**how) for own in ways]


def in_three_samples(points, **how):
    """The tests of all ways to divide six rows into three samples."""
    labels = map(np.array, sorted(set(permutations([0, 0, 1, 1, 2, 2]))))
    return [k_sample_test(*(points[own == group] for group in range(3)), **how) for own in labels]


ORBITS = {"strata": (in_strata, 9, 1), "clusters": (in_clusters, 6, 2), "three samples": (in_three_samples, 6, 1)}


IDLE = [("strata", "v"), ("clusters", "v"), ("three samples", "u"), ("three samples", "v")]


@pytest.mark.parametrize(("kind", "case"), checkered(["normal", "heavy tails"], IDLE, every=4))
def test_idle_columns_leave_the_list_of_statistics_to_the_data_alone(kind, case):
    orbit, statistic = case
    over, n, each = ORBITS[orbit]
    results = over(with_idle_columns(kind, n, each=each), n_resamples=999, rng=0, statistic=statistic)
    lists = np.array([np.sort([own.statistic, *own.null_distribution]) for own in results])
    np.testing.assert_allclose(lists, np.broadcast_to(lists[0], lists.shape), rtol=0, atol=1e-9)
    assert excess(np.array([[own.pvalue, *(pair.pvalue for pair in own.pairs)] for own in results])) == 0
    if orbit == "three samples":
        assert excess(np.array([[min(pair.adjusted for pair in own.pairs)] for own in results])) == 0


@pytest.mark.slow
def test_groups_and_columns_of_a_comparison_with_idle_columns():
    points, found = with_idle_columns("normal", 6), []
    for labels in {own for own in permutations("aabbcc") if sorted("abc", key=own.index) == [*"abc"]}:  # up to names
        table = pd.DataFrame(points).rename(columns="x{}".format).assign(by=labels)
        result = compare_groups(table, "by", n_resamples=99)
        adjusted = min(column.adjusted for column in result.columns)
        found.append([result.pvalue, adjusted, min(pair.adjusted for pair in result.pairs)])
    levels = np.unique(found)
    shares = (np.array(found)[..., None] <= levels + 1e-12).mean(axis=0)
    assert (shares <= levels + 1e-12).all()


@pytest.mark.slow
@pytest.mark.parametrize("adjustment", ["max-t", "holm"])
def test_attribution_with_idle_columns(adjustment):
    points, X, Y = (with_idle_columns("normal", n, seed) for n, seed in ((6, 0), (4, 1), (4, 2)))
    samples = [mmd_test(*split(points, own), rng=0) for own in divisions((6, 2))]
    pairs = [hsic_test(X, Y[list(order)], rng=0) for order in permutations(range(4))]
    for results in (samples, pairs):
        columns = [own.attribute(rng=0, adjustment=adjustment).columns for own in results]
        found = np.array([[min(column.adjusted for column in own)] for own in columns])
        levels = np.unique(found)
        assert ((found <= levels + 1e-12).mean(axis=0) <= levels + 1e-12).all()
