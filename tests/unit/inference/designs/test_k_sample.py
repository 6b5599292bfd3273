"""The test of several samples, held to all labelings."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from in_batches import every_table_is_long
from kernelmean import Design
from kernelmean.inference import Resampling, dhsic_test, hsic_test, k_sample_test, mmd_test
from kernelmean.inference.null import max_t
from kernelmean.inference.units import layout
from kernelmean.kernels import Categorical, Gaussian, Laplacian
from kernelmean.plan import RemotePlan
from nulls import packed

KERNEL = Gaussian(1.0)
PAIRS = [(0, 1), (0, 2), (1, 2)]


def draw(sizes, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    samples = [rng.standard_normal((n, 2)) + 0.3 * g for g, n in enumerate(sizes)]
    return [np.round(sample) for sample in samples] if ties else samples


def pair_values(gram, labels, kind, oracle):
    labels = np.array(labels)
    found = []
    for g, h in PAIRS:
        rows = np.flatnonzero((labels == g) | (labels == h))
        own = (labels[rows] == g).astype(int)
        found.append(
            oracle.mmd(gram[np.ix_(rows, rows)], own, [1] * len(rows), [0] * len(rows), range(len(rows)), kind)
        )
    return found


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("kind", ["u", "v"])
def test_statistic_and_p_values_are_those_of_full_enumeration(oracle, kind, ties):
    sizes = (2, 2, 3)
    samples = draw(sizes, ties=ties)
    pooled, labels = np.concatenate(samples), np.repeat([0, 1, 2], sizes)
    gram = KERNEL(pooled, pooled)
    labelings = dict.fromkeys(permutations(labels.tolist()))
    values = np.array([pair_values(gram, labeling, kind, oracle) for labeling in labelings]).T
    total = np.array([4, 6, 6]) / 16 @ values
    result = k_sample_test(*samples, kernel=KERNEL, statistic=kind)
    assert (result.scheme, result.n_resamples + 1) == ("exact", 210)
    assert result.statistic == pytest.approx(total[0], rel=1e-10, abs=1e-14)
    assert result.pvalue == pytest.approx(oracle.pvalue(total), rel=1e-12)
    np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(total[1:]), rtol=1e-9, atol=1e-14)
    rows = np.round(values, 12)
    rows = (rows - rows.mean(axis=1, keepdims=True)) / rows.std(axis=1, keepdims=True)
    for pair, own, adjusted, (g, h) in zip(result.pairs, values, max_t(rows), PAIRS, strict=True):
        assert (pair.first, pair.second) == (g, h)
        assert pair.statistic == pytest.approx(own[0], rel=1e-10, abs=1e-14)
        assert pair.pvalue == pytest.approx(oracle.pvalue(own), rel=1e-12)
        assert pair.adjusted == pytest.approx(adjusted, rel=1e-12)
    sampled = k_sample_test(*samples, kernel=KERNEL, statistic=kind, scheme="random", n_resamples=3000, rng=0)
    assert set(np.round(sampled.null_distribution, 10)) <= set(np.round(total, 10))


@pytest.mark.parametrize("kind", ["u", "v"])
def test_two_samples_are_the_two_sample_test(kind):
    X, Y = draw((4, 6))
    several, two = k_sample_test(X, Y, statistic=kind, estimator="kme"), mmd_test(X, Y, statistic=kind, estimator="kme")
    assert several.statistic == pytest.approx(two.statistic, rel=1e-12)
    assert (several.pvalue, several.kernel) == (two.pvalue, two.kernel)


def test_samples_of_one_size_are_independence_of_the_label():
    samples = draw((5, 5, 5))
    labels = np.repeat([0.0, 1.0, 2.0], 5)[:, None]
    between = k_sample_test(*samples, kernel=KERNEL, statistic="v", n_resamples=9, rng=0)
    hsic = hsic_test(np.concatenate(samples), labels, kernel=(KERNEL, Categorical(0.0)), n_resamples=9, rng=0)
    assert between.statistic == pytest.approx(9 * hsic.statistic, rel=1e-10)


def test_the_order_of_samples_does_not_change_the_statistic():
    samples = draw((10, 8, 12))
    one, other = k_sample_test(*samples, rng=0, estimator="kme"), k_sample_test(*samples[::-1], rng=0, estimator="kme")
    assert other.statistic == pytest.approx(one.statistic, rel=1e-10)
    assert {round(pair.statistic, 12) for pair in one.pairs} == {round(pair.statistic, 12) for pair in other.pairs}


def test_the_sample_that_differs_is_in_the_pairs_that_are_found():
    samples = draw((40, 40, 40))
    samples[1] += 3.0
    result = k_sample_test(*samples, rng=0, n_resamples=199, estimator="kme")
    assert result.pvalue == 1 / (1 + result.n_resamples) <= 0.005
    assert [pair.adjusted <= 0.05 for pair in result.pairs] == [True, False, True]
    assert all(pair.adjusted >= pair.pvalue for pair in result.pairs)
    pair = result.pairs[0]
    told = [line.split() for line in result.summary().splitlines()]
    assert ["0", "and", "1", *(f"{x:.4g}" for x in (pair.statistic, pair.pvalue, pair.adjusted))] in told


def test_constants_have_p_value_one():
    result = k_sample_test(*np.full((3, 4, 1), 0.1), estimator="kme")
    assert result.pvalue == 1.0
    assert [pair.adjusted for pair in result.pairs] == [1.0] * 3


@pytest.mark.parametrize("verb", ["effect_size", "witness", "contributions", "attribute"])
def test_more_than_two_samples_say_what_to_ask_instead(verb):
    result = k_sample_test(*draw((5, 5, 5)), n_resamples=19, rng=0, estimator="kme")
    with pytest.raises(ValueError, match=r"two samples, and this test had 3; .* mmd_test\(X, Y\)"):
        getattr(result, verb)()


def test_no_cluster_answers_for_several_variables():
    remote = type("Elsewhere", (RemotePlan,), dict.fromkeys(RemotePlan.__abstractmethods__))()
    with pytest.raises(TypeError, match=r"this runs in one process, with a Plan such as Plan\(threads=2\)"):
        dhsic_test("rows", "elsewhere", plan=remote)


@pytest.mark.parametrize("other", [KERNEL, Laplacian(0.5)])
def test_a_null_of_two_kernels_is_that_of_both(other):
    samples = draw((5, 4, 6))
    several = k_sample_test(*samples, n_resamples=19, rng=0, estimator="kme").question
    joint = dhsic_test(*draw((5, 5, 5)), n_resamples=19, rng=0, estimator="kme").question
    for question, first, second in ((several, KERNEL, other), (joint, (KERNEL,) * 3, (other,) * 3)):
        both, *alone = (
            question.null(kernels, "v", Resampling.of("auto", 19, 0))
            for kernels in ([first, second], [first], [second])
        )
        np.testing.assert_allclose(both.values, np.concatenate([null.values for null in alone]), rtol=1e-12)
        np.testing.assert_allclose(both.tolerance, np.concatenate([null.tolerance for null in alone]), rtol=1e-12)
        for pair, part in both.parts.items():
            np.testing.assert_allclose(part.values[0], alone[0].parts[pair].values[0], rtol=1e-12)


DESIGNS = {
    "strata": {"strata": ([0, 0, 1], [0, 1, 1], [0, 0, 1])},
    "clusters": {"clusters": ([0, 0, 1], [2, 2, 3], [4, 5, 5])},
    "weights": {"weights": ([1.0, 3.0, 2.0], [2.0, 1.0, 5.0], [1.0, 1.0, 4.0])},
}
DESIGNS["all"] = {**DESIGNS["clusters"], **DESIGNS["weights"], "strata": ([0, 0, 1], [0, 0, 1], [0, 1, 1])}


def test_a_design_gives_every_pair_the_statistic_of_two_samples_and_p_values_of_all_labelings():
    """Pairs count in proportion to Σ_s A_s B_s; labels change places within strata, of clusters as a whole."""
    samples, sizes = draw((3, 3, 3)), (3, 3, 3)
    pooled, labels = np.concatenate(samples), np.repeat([0, 1, 2], sizes)
    gram = KERNEL(pooled, pooled)
    for said in DESIGNS.values():
        strata, cluster, weights = (
            np.concatenate(said[part]) if part in said else default
            for part, default in (("strata", np.zeros(9, int)), ("clusters", np.arange(9)), ("weights", np.ones(9)))
        )
        ways, values = set(), []
        of_cluster = dict(zip(cluster.tolist(), zip(strata.tolist(), labels.tolist(), strict=True), strict=True))
        for moved in permutations(of_cluster):
            if all(of_cluster[own][0] == of_cluster[to][0] for own, to in zip(of_cluster, moved, strict=True)):
                to = dict(zip(of_cluster, moved, strict=True))
                ways.add(tuple(of_cluster[to[own]][1] for own in cluster.tolist()))
        for way in sorted(ways, key=lambda way: way != tuple(labels.tolist())):
            own, parts, shares = np.array(way), [], []
            for g, h in PAIRS:
                coefficients, total, share = np.zeros(9), 0.0, 0.0
                for s in np.unique(strata):
                    x, y = (weights * ((strata == s) & (own == label)) for label in (g, h))
                    if x.any() and y.any():
                        c = x.sum() * y.sum() / (x.sum() + y.sum())
                        coefficients += c * (x / x.sum() - y / y.sum())
                        total, share = total + c, share + x.sum() * y.sum()
                parts.append(coefficients @ gram @ coefficients / total**2)
                shares.append(share)
            values.append(np.dot(parts, shares) / sum(shares))
        result = k_sample_test(*samples, kernel=KERNEL, design=Design(**said), n_resamples=10**4)
        assert (result.scheme, result.n_resamples + 1) == ("exact", len(ways))
        assert result.statistic == pytest.approx(values[0], rel=1e-10)
        np.testing.assert_allclose(np.sort(result.null_distribution), np.sort(values[1:]), rtol=1e-9, atol=1e-14)
        for pair in result.pairs:
            two = {part: (own[pair.first], own[pair.second]) for part, own in said.items()}
            alone = mmd_test(samples[pair.first], samples[pair.second], kernel=KERNEL, design=Design(**two))
            assert pair.statistic == pytest.approx(alone.statistic, rel=1e-10)


@pytest.mark.parametrize("said", DESIGNS.values(), ids=DESIGNS)
@pytest.mark.parametrize("estimator", ["kme", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_p_values_of_an_orbit_are_exact_with_a_design(said, estimator):
    """Labels of clusters, or rows, exchanged within strata: the share with p ≤ a is at most a."""
    each = 2 if [*said] == ["weights"] else 3
    rows, labels = np.concatenate(draw((each,) * 3, seed=2)), np.repeat([0, 1, 2], each)
    of = {part: np.concatenate([one[:each] for one in own]) for part, own in said.items()}
    strata, cluster = of.get("strata", np.zeros(len(rows), int)), of.get("clusters", np.arange(len(rows)))
    of_cluster = dict(zip(cluster.tolist(), zip(strata.tolist(), labels.tolist(), strict=True), strict=True))
    ways = set()
    for moved in permutations(of_cluster):
        to = dict(zip(of_cluster, moved, strict=True))
        if all(of_cluster[own][0] == of_cluster[to[own]][0] for own in of_cluster):
            ways.add(tuple(of_cluster[to[own]][1] for own in cluster.tolist()))
    pvalues = []
    for way in sorted(ways):
        inside = [np.flatnonzero(np.array(way) == g) for g in range(3)]
        design = Design(**{part: tuple(own[k] for k in inside) for part, own in of.items()})
        result = k_sample_test(*(rows[k] for k in inside), design=design, estimator=estimator, n_resamples=10**4)
        assert result.n_resamples + 1 == len(ways)
        pvalues.append(result.pvalue)
    for level in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-12


def test_samples_without_a_common_stratum_are_not_compared():
    samples = draw((4, 4, 4))
    strata = ([0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1])
    result = k_sample_test(*samples, kernel=KERNEL, design=Design(strata=strata), rng=0)
    assert [pair.pvalue == 1.0 for pair in result.pairs] == [False, True, False]
    apart = k_sample_test(*samples, design=Design(strata=([0] * 4, [0] * 4, [1] * 4)), kernel=KERNEL)
    assert [pair.pvalue == 1.0 for pair in apart.pairs] == [False, True, True]
    two = mmd_test(*samples[:2], kernel=KERNEL, statistic="v")
    assert (apart.statistic, apart.pvalue) == pytest.approx((two.statistic, two.pvalue), rel=1e-10)
    assert "not compared, as no stratum holds rows of another sample too: sample 3" in apart.notes
    with pytest.raises(ValueError, match="no stratum holds rows of several samples"):
        k_sample_test(*samples, design=Design(strata=([0] * 4, [1] * 4, [2] * 4)))


def test_a_stratum_without_either_sample_of_a_pair_does_not_count_for_it():
    samples, both, more = draw([4, 4, 6, 6]), [0, 0, 1, 1], [0, 0, 1, 1, 2, 2]
    result = k_sample_test(*samples, kernel=KERNEL, design=Design(strata=(both, both, more, more)), rng=0)
    two = mmd_test(*samples[:2], kernel=KERNEL, design=Design(strata=(both, both)), statistic="v", rng=0)
    assert result.pairs[0].statistic == pytest.approx(two.statistic, rel=1e-12)


@pytest.mark.parametrize("design", [Design(paired=True), Design(series=2.0)])
def test_pairs_and_series_are_for_two_samples(design):
    with pytest.raises(ValueError, match=r"Design\(.*leave design= out, .* mmd_test\(X, Y, design=...\)"):
        k_sample_test(*draw((5, 5, 5)), design=design, estimator="kme")


@pytest.mark.parametrize(
    ("sizes", "options", "error", "words"),
    [
        ((5,), {}, ValueError, "at least two"),
        ((5, 1, 4), {}, ValueError, "pass statistic='v'"),
        ((5, 4, 4), {"scheme": "rotations"}, ValueError, "'auto', 'exact', 'random'"),
        ((5, 4, 4), {"statistic": "w"}, ValueError, "'w'"),
    ],
)
def test_what_is_refused(sizes, options, error, words):
    with pytest.raises(error, match=words):
        k_sample_test(*draw(sizes), **packed(**options))


@pytest.mark.parametrize("samples", [(), (draw((5, 4)),)], ids=["none", "a list of samples"])
def test_samples_that_are_not_passed_one_by_one_are_refused_by_how_many_there_are(samples):
    with pytest.raises(ValueError, match=r"at least two are needed: k_sample_test\(X, Y, Z\)"):
        k_sample_test(*samples, estimator="kme")


def test_columns_must_agree():
    with pytest.raises(ValueError, match="describe the same variables"):
        k_sample_test(np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 2)), estimator="kme")


def test_files_are_read_and_added_up_in_bins(tmp_path):
    samples, paths = draw((9, 8, 7)), [tmp_path / f"{name}.csv" for name in "abc"]
    for path, sample in zip(paths, samples, strict=True):
        np.savetxt(path, sample, delimiter=",", header="u,v", comments="", fmt="%.17g")
    for options in ({"rng": 0, "n_resamples": 49, "estimator": "kme"}, {"rng": 0, "scheme": "bins"}):
        one, other = k_sample_test(*paths, **options), k_sample_test(*samples, **options)
        assert (one.pvalue, one.scheme) == (other.pvalue, other.scheme)
    with every_table_is_long():
        read_in_batches = k_sample_test(*samples[:2], paths[2], rng=0)
    assert (read_in_batches.pvalue, read_in_batches.scheme) == (other.pvalue, "bins")


def test_a_design_is_refused_without_its_labels():
    samples = np.random.default_rng(0).normal(size=(2, 500, 1))
    design = Design(clusters=(np.arange(500), [*range(500)]), weights=np.ones(500))
    assert repr(design) == "Design(clusters=<of 500 and 500 rows>, weights=<of 500 rows>)"
    assert repr(Design(paired=True)) == "Design(paired=True)"
    with pytest.raises(TypeError, match=r"weights is ndarray; pass a pair, weights=\(those of X, those of Y\)"):
        k_sample_test(*samples, design=Design(weights=np.ones(500)))
    with pytest.raises(TypeError, match=r"strata is tuple; pass a tuple of 3"):
        k_sample_test(*samples, samples[0], design=Design(strata=(np.ones(500), np.ones(500))))


# -- clusters with rows in several samples ----------------------------------------------------------------------------


CLUSTER = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 5])
PATTERNS = [(0, 1), (0, 0), (1, 2), (2, 2), (1,), (0,)]


def of_patterns(rows, weights, patterns, repeats=1, **how):
    """The test of clusters whose rows belong to the samples of a pattern, in order."""
    labels, cluster = np.concatenate(patterns * repeats), np.concatenate([CLUSTER + 6 * k for k in range(repeats)])
    inside = [np.flatnonzero(labels == g) for g in range(3)]
    design = Design(clusters=tuple(cluster[k] for k in inside), weights=tuple(weights[k] for k in inside))
    return k_sample_test(*(rows[k] for k in inside), design=design, **how)


def divisions():
    """Every way to exchange the patterns of the clusters of one size, the observed one first."""
    for two, one in product(permutations(PATTERNS[:4]), permutations(PATTERNS[4:])):
        yield [*two, *one]


@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_clusters_in_several_samples_exchange_these_among_clusters_of_one_size(estimator):
    rng = np.random.default_rng(3)
    rows, weights = rng.standard_normal((10, 2)), rng.uniform(0.5, 2.0, 10)
    found = [of_patterns(rows, weights, own, estimator=estimator) for own in divisions()]
    assert (found[0].scheme, found[0].n_resamples + 1, len(found)) == ("exact", 48, 48)
    pvalues, values = [own.pvalue for own in found], [own.statistic for own in found]
    for level in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-12
    whole = np.append(found[0].statistic, found[0].null_distribution)
    np.testing.assert_allclose(np.sort(whole), np.sort(values), atol=1e-8 * np.abs(values).max())
    assert found[0].notes[-1] == "6 clusters are permuted, whole and only among clusters of equally many rows"


@pytest.mark.parametrize("options", [{}, {"estimator": "kme"}], ids=str)
def test_clusters_in_several_samples_in_bins(monkeypatch, options):
    """Wherever the rows are, and by features as by the kernel."""
    monkeypatch.setattr(layout, "MOST_BINS", 20)
    monkeypatch.setattr(layout, "_LEAST", 8)
    rng = np.random.default_rng(3)
    rows, weights = rng.integers(0, 2, (200, 2)).astype(float), rng.uniform(0.5, 2.0, 200)
    held, added = (
        of_patterns(rows, weights, PATTERNS, 20, rng=0, scheme=scheme, **options) for scheme in ("auto", "bins")
    )
    assert held.scheme == added.scheme == "bins"
    if options:
        assert added.statistic == pytest.approx(held.statistic, rel=1e-7)


@pytest.mark.slow
def test_clusters_in_several_samples_in_bins_keep_the_level(monkeypatch):
    monkeypatch.setattr(layout, "MOST_BINS", 20)
    monkeypatch.setattr(layout, "_LEAST", 8)
    weights, pvalues = np.random.default_rng(3).uniform(0.5, 2.0, 200), []
    for seed in range(100):
        effects = np.repeat(np.random.default_rng(seed).standard_normal((120, 2)), np.tile([2, 2, 2, 2, 1, 1], 20), 0)
        how = {"rng": seed, "scheme": "bins", "n_resamples": 19, "kernel": KERNEL}
        pvalues.append(of_patterns(effects, weights, PATTERNS, 20, **how).pvalue)
    assert np.mean(np.array(pvalues) <= 0.1) <= 0.21  # the bound of 99.9 %
