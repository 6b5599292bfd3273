"""The paired test, held to every exchange within pairs."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

from kernelmean import Design
from kernelmean.inference import mmd_test
from kernelmean.inference.bins import samples
from kernelmean.inference.designs import paired
from kernelmean.inference.designs.paired import PairRows
from kernelmean.kernels import Gaussian, Laplacian, Linear
from kernelmean.tables import limits
from nulls import packed

KERNEL = Gaussian(1.0)
of_pairs = partial(mmd_test, design=Design(paired=True))
KERNELS = pytest.mark.parametrize("kernel", [KERNEL, Laplacian(2.0), Linear()], ids=repr)


def draw(n, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = X + 0.5 * rng.standard_normal((n, 2)) + 0.2
    return (np.round(X), np.round(Y)) if ties else (X, Y)


def exchanged(X, Y, signs):
    flip = np.array(signs)[:, None] < 0
    return np.where(flip, Y, X), np.where(flip, X, Y)


def statistic(X, Y, kind, kernel=KERNEL):
    terms = kernel(X, X) + kernel(Y, Y) - kernel(X, Y) - kernel(Y, X)
    return terms.mean() if kind == "v" else terms[~np.eye(len(X), dtype=bool)].mean()


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
@pytest.mark.parametrize("kind", ["u", "v"])
@KERNELS
def test_statistic_and_p_value_are_those_of_all_exchanges(oracle, kernel, kind, ties):
    X, Y = draw(6, ties=ties)
    values = [statistic(*exchanged(X, Y, signs), kind, kernel) for signs in product([1, -1], repeat=6)]
    result = of_pairs(X, Y, kernel=kernel, statistic=kind)
    assert (result.scheme, result.n_resamples + 1) == ("exact", 2**5)
    assert result.statistic == pytest.approx(values[0], rel=1e-10)
    assert result.pvalue == pytest.approx(oracle.pvalue(values), rel=1e-12)
    whole = np.sort(np.tile(np.append(result.null_distribution, result.statistic), 2))
    np.testing.assert_allclose(whole, np.sort(values), rtol=1e-9, atol=1e-14)
    sampled = of_pairs(X, Y, kernel=kernel, statistic=kind, scheme="random", n_resamples=3000, rng=0)
    assert set(np.round(sampled.null_distribution, 10)) <= set(np.round(values, 10))
    assert sampled.pvalue == pytest.approx(result.pvalue, abs=4 * 0.5 / np.sqrt(3000))


def test_the_v_statistic_is_that_of_two_samples_and_both_have_one_p_value():
    X, Y = draw(30)
    of_both, plain = (
        of_pairs(X, Y, statistic="v", rng=0, estimator="kme"),
        mmd_test(X, Y, statistic="v", rng=0, estimator="kme"),
    )
    assert of_both.statistic == pytest.approx(plain.statistic, rel=1e-12)
    assert of_both.kernel == plain.kernel
    assert of_pairs(X, Y, rng=0, estimator="kme").pvalue == of_both.pvalue


def test_matched_sets_are_pairs():
    X, Y = draw(8)
    sets = mmd_test(X, Y, design=Design(strata=(range(8), range(8))), statistic="v", kernel=KERNEL)
    pairs = of_pairs(X, Y, statistic="v", kernel=KERNEL)
    assert sets.statistic == pytest.approx(pairs.statistic, rel=1e-12)
    assert sets.pvalue == pairs.pvalue


def test_pairs_that_resemble_each_other_tell_more_than_two_samples():
    X, _ = draw(40)
    Y = X + np.random.default_rng(1).normal(0.1, 0.05, X.shape)
    assert of_pairs(X, Y, rng=0, estimator="kme").pvalue == 0.001
    assert mmd_test(X, Y, rng=0, estimator="kme").pvalue > 0.2


@KERNELS
@pytest.mark.parametrize("kind", ["u", "v"])
def test_the_statistic_of_many_pairs_is_its_definition(kernel, kind):
    """Of 150 pairs, so that the diagonal, which "u" leaves out, is made of several strips."""
    X, Y = draw(150)
    found = of_pairs(X, Y, kernel=kernel, statistic=kind, n_resamples=9, rng=0).statistic
    assert found == pytest.approx(statistic(X, Y, kind, kernel), abs=1e-12)


def test_an_adaptive_test_of_pairs():
    X, _ = draw(40)
    Y = X + np.random.default_rng(1).normal(0.1, 0.05, X.shape)
    result = of_pairs(X, Y, estimator="adaptive", n_resamples=99, rng=0)
    assert result.pvalue == 0.01
    assert (result.method, result.sizes) == ("Adaptive paired test, maximum mean discrepancies", (40,))


@pytest.mark.parametrize(
    ("sizes", "options", "error", "words"),
    [
        ((5, 6), {}, ValueError, "5 rows and Y has 6"),
        ((1, 1), {}, ValueError, "at least two"),
        ((5, 5), {"statistic": "w"}, ValueError, "'w'"),
        ((5, 5), {"scheme": "rotations"}, ValueError, "'auto', 'exact', 'random'"),
        ((40, 40), {"scheme": "exact"}, ValueError, "more than 2,000,000"),
    ],
)
def test_what_is_refused(sizes, options, error, words):
    with pytest.raises(error, match=words):
        of_pairs(draw(sizes[0])[0], draw(sizes[1])[1], **packed(**options))


# -- pairs in bins ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["auto", "bins"])
@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_p_values_of_all_exchanges_of_bins_of_pairs_are_exact(monkeypatch, scheme, estimator):
    """Of all data that exchange the rows of the pairs of bins, the share with p ≤ a is at most a."""
    monkeypatch.setattr(paired, "MOST_BINS", 5)
    X, Y = draw(23)
    if scheme == "bins":
        monkeypatch.setattr(samples, "PILOT", 12)
        seed = 0
    else:
        seed = int(np.random.default_rng(0).integers(2**63))
        monkeypatch.setattr(paired, "PairRows", lambda n, _: PairRows(n, seed))
    bins = PairRows(23, seed).of(0, 0, 23)[0]
    assert sorted(np.bincount(bins)) == [4, 4, 5, 5, 5]
    found = [
        of_pairs(*exchanged(X, Y, np.array(signs)[bins]), estimator=estimator, scheme=scheme, rng=0, n_resamples=99)
        for signs in product([1, -1], repeat=5)
    ]
    pvalues, values = [own.pvalue for own in found], [own.statistic for own in found]
    assert (found[0].scheme, found[0].n_resamples + 1) == ("bins", 16)
    for level in np.unique(pvalues):
        assert np.mean(np.array(pvalues) <= level) <= level + 1e-12
    whole = np.sort(np.tile(np.append(found[0].null_distribution, found[0].statistic), 2))
    np.testing.assert_allclose(whole, np.sort(values), rtol=0, atol=1e-8 * np.abs(values).max())


@pytest.mark.parametrize("kind", ["u", "v"])
def test_the_statistic_in_bins_is_its_definition(monkeypatch, kind):
    """With as many landmarks as distinct rows, the features are the kernel."""
    X, Y = (np.clip(own, 0, 1) for own in draw(300, ties=True))
    monkeypatch.setattr(paired, "MOST_BINS", 50)
    for scheme in ("auto", "bins"):
        found = of_pairs(X, Y, kernel=KERNEL, statistic=kind, scheme=scheme, n_resamples=9, rng=0)
        assert found.scheme == "bins"
        assert found.statistic == pytest.approx(statistic(X, Y, kind), rel=1e-7)


@pytest.mark.parametrize("options", [{}, {"estimator": "kme"}], ids=str)
def test_pairs_have_one_p_value_wherever_they_are(monkeypatch, tmp_path, options):
    monkeypatch.setattr(limits, "ADAPTIVE_LIMIT", 800)
    monkeypatch.setattr(limits, "TEST_LIMIT", 800)
    X, Y = draw(1500)
    how = {"rng": 3, "n_resamples": 99, **options}
    whole = of_pairs(X, Y, **how)
    assert (whole.scheme, whole.sizes) == ("bins", (1500,))
    assert whole.method.startswith("Adaptive paired" if not options else "Paired")
    frames = [pd.DataFrame(own, columns=["a", "b"]) for own in (X, Y)]
    for name, frame in zip("xy", frames, strict=True):
        frame.to_parquet(tmp_path / f"{name}.parquet", row_group_size=400)
    batches = [np.array_split(X, 7), np.array_split(Y, 4)]
    for place in (frames, [tmp_path / f"{name}.parquet" for name in "xy"], batches, map(iter, batches), (Y, X)):
        found = of_pairs(*place, **how)
        assert found.pvalue == whole.pvalue
        assert found.statistic == pytest.approx(whole.statistic, rel=1e-10)
        assert found.notes == whole.notes
    with pytest.raises(ValueError, match="1500 rows and Y has 1499"):
        of_pairs(X, Y[1:], **how)
    with pytest.raises(ValueError, match="this result holds some of its rows"):
        whole.effect_size()
    with pytest.raises(ValueError, match="row i of X and row i of Y are one unit"):
        of_pairs(frames[0], frames[1].iloc[::-1], **how)


@pytest.mark.parametrize("options", [{}, {"estimator": "kme"}], ids=str)
def test_equal_pairs_have_p_value_one(options):
    for n in (2, 3, 1200):
        X, _ = draw(n)
        for scheme in ("auto", "bins"):
            assert of_pairs(X + 1e6, X + 1e6, rng=0, n_resamples=99, scheme=scheme, **options).pvalue == 1.0
            assert of_pairs(0 * X, 0 * X, rng=0, n_resamples=99, scheme=scheme, **options).pvalue == 1.0
