"""The test of several samples, held to all labelings."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from kernelmean import Design, read
from kernelmean.inference import Resampling, dhsic_test, hsic_test, k_sample_test, mmd_test
from kernelmean.inference.null import max_t
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


@pytest.mark.parametrize("test", [k_sample_test, dhsic_test])
def test_a_cluster_answers_for_two_tables_only(test):
    remote = type("Elsewhere", (RemotePlan,), dict.fromkeys(RemotePlan.__abstractmethods__))()
    with pytest.raises(TypeError, match=r"this runs in one process, with a Plan such as Plan\(threads=2\)"):
        test("rows", "elsewhere", plan=remote)


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


@pytest.mark.parametrize("design", [Design(strata=([0], [0])), Design(weights=([1.0], [1.0])), Design(paired=True)])
def test_a_design_is_for_two_samples(design):
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
    with pytest.raises(ValueError, match="columns"):
        k_sample_test(np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 2)), estimator="kme")


def test_files_are_read_and_bins_are_for_two_samples(tmp_path):
    samples, paths = draw((9, 8, 7)), [tmp_path / f"{name}.csv" for name in "abc"]
    for path, sample in zip(paths, samples, strict=True):
        np.savetxt(path, sample, delimiter=",", header="u,v", comments="", fmt="%.17g")
    assert (
        k_sample_test(*paths, rng=0, n_resamples=49, estimator="kme").pvalue
        == k_sample_test(*samples, rng=0, n_resamples=49, estimator="kme").pvalue
    )
    for options in ({"scheme": "bins"}, {}):
        with pytest.raises(ValueError, match=r"bins are for two samples .*; test two at a time"):
            k_sample_test(*samples[:2], samples[2] if options else read(paths[2], in_memory=False), **options)


def test_a_design_is_refused_without_its_labels():
    samples = np.random.default_rng(0).normal(size=(2, 500, 1))
    design = Design(clusters=(np.arange(500), [*range(500)]), weights=np.ones(500))
    assert repr(design) == "Design(clusters=<of 500 and 500 rows>, weights=<of 500 rows>)"
    assert repr(Design(paired=True)) == "Design(paired=True)"
    with pytest.raises(
        ValueError, match=r"^Design\(clusters=<of 500 and 500 rows>, weights=<of 500 rows>\) is for two"
    ):
        k_sample_test(*samples, design=design)
