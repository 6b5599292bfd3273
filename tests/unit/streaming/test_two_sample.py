"""The two-sample test in one pass: its statistic, its permutations, its level and its power."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import kernelmean as km
from kernelmean import features, streaming
from kernelmean.inference import RandomPermutations
from kernelmean.kernels import Gaussian, Laplacian
from kernelmean.tables import shuffled
from one_pass import mmd as one_pass

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(230, 2)), RNG.normal(size=(170, 2)) * 1.2
PHI = features.fourier(Gaussian(1.5), 2, 32)
LANDMARKS = features.nystrom(Gaussian(1.5), X, 12)
MAPS = pytest.mark.parametrize("phi", [PHI, LANDMARKS], ids=["fourier", "landmarks"])


def mmd(gram, first, kind):
    """The definition: means over the rows of the first sample (a mask), of the second, and across."""
    n, m = first.sum(), (~first).sum()
    xx, yy, xy = gram[np.ix_(first, first)], gram[np.ix_(~first, ~first)], gram[np.ix_(first, ~first)]
    if kind == "v":
        return xx.mean() + yy.mean() - 2 * xy.mean()
    off = [(k.sum() - np.trace(k)) / (r * (r - 1)) for k, r in ((xx, n), (yy, m))]
    return off[0] + off[1] - 2 * xy.mean()


def stream_of(phi, sizes, batch=37):
    stream = streaming.two_sample_stream(phi, sizes=sizes, seed=5)
    for start in range(0, 230, batch):
        stream.partial_fit(X[start : start + batch], Y[start : start + batch] if start < 170 else None)
    return stream


def bin_numbers(stream):
    """The bin of every pooled row, -1 for rows that fill none; first those of X."""
    size = max(stream.first.size, stream.second.size)
    numbers = []
    for k, n in enumerate((230, 170)):
        known = stream.first.n_rows is not None
        own = (shuffled(np.arange(n), n, 5 + k) if known else np.arange(n)) // size
        numbers.append(np.where(own < n // size, own, -10_000))
    numbers[1] += 230 // size
    return np.maximum(np.concatenate(numbers), -1), 230 // size, 170 // size


@MAPS
@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("sizes", [None, (230, 170)], ids=["unknown", "known"])
def test_every_permutation_is_one_of_the_rows(phi, kind, sizes):
    """Statistic and null distribution are those of the Gram matrix with permuted rows."""
    stream = stream_of(phi, sizes)
    stream.first, stream.second = stream.first.coarsened(8), stream.second.coarsened(8)
    vectors = phi(np.concatenate([X, Y]))
    gram = vectors @ vectors.T
    numbers, left, right = bin_numbers(stream)
    assert left + right == (28 + 21 if sizes is None else 400)
    result = stream.test(statistic=kind, n_resamples=20, rng=3)
    observed = np.repeat([True, False], [230, 170])
    assert result.statistic == pytest.approx(mmd(gram, observed, kind), rel=1e-9)
    draws = np.concatenate(list(RandomPermutations(left + right, 21, np.random.default_rng(3)).batches(1024)))
    for permutation, value in zip(draws[1:], result.null_distribution, strict=True):
        permuted = np.where(numbers < 0, observed, (permutation < left)[numbers])
        assert permuted.sum() == 230
        assert value == pytest.approx(mmd(gram, permuted, kind), rel=1e-9, abs=1e-12)


@MAPS
@pytest.mark.parametrize("kind", ["u", "v"])
def test_rows_that_are_kept_apart_count_but_do_not_move(phi, kind):
    """Statistic and null distribution are those of the Gram matrix when all but the first rows are permuted."""
    stream = streaming.two_sample_stream(phi, sizes=None).keep(X[:30], Y[:20]).partial_fit(X[30:], Y[20:])
    vectors = phi(np.concatenate([X[30:], Y[20:], X[:30], Y[:20]]))
    gram, observed = vectors @ vectors.T, np.repeat([True, False, True, False], [200, 150, 30, 20])
    result = stream.test(statistic=kind, n_resamples=20, rng=3)
    assert (result.sizes, result.statistic) == ((230, 170), pytest.approx(mmd(gram, observed, kind), rel=1e-9))
    draws = np.concatenate(list(RandomPermutations(350, 21, np.random.default_rng(3)).batches(1024)))
    for permutation, value in zip(draws[1:], result.null_distribution, strict=True):
        permuted = np.concatenate([permutation < 200, observed[350:]])
        assert value == pytest.approx(mmd(gram, permuted, kind), rel=1e-9, abs=1e-12)
    pooled = features.embed(np.concatenate([X, Y]), phi)
    np.testing.assert_allclose(stream.pooled().parts[0].vector, pooled.parts[0].vector, rtol=1e-11, atol=1e-14)


def test_the_statistic_is_that_of_the_kernel_to_the_stated_error():
    exact = km.mmd_test(X, Y, kernel=Gaussian(1.5), rng=0).statistic
    ratios = []
    for seed in range(40):
        result = one_pass(X, Y, kernel=Gaussian(1.5), n_frequencies=64, design="plain", n_resamples=1, seed=seed)
        assert result.notes[-1].startswith("64 random Fourier frequencies; standard error")
        ratios.append((result.statistic - exact) / float(result.notes[-1].split(": ")[-1]))
    assert abs(np.mean(ratios)) < 0.6
    assert 0.7 < np.std(ratios) < 1.5


@pytest.mark.parametrize(("estimator", "form"), [("mkme", "isotropic"), ("mmkme", "diagonal")])
def test_estimators_smooth_by_the_noise_of_the_pooled_sample(estimator, form):
    stream = stream_of(PHI, (230, 170))
    pooled = features.embed(np.concatenate([X, Y]), PHI)
    noise = features.choose_noise(pooled, form)
    result = stream.test(estimator=estimator)
    np.testing.assert_allclose(result.noise.variances(2), noise.variances(2), rtol=1e-6)
    vectors = PHI(np.concatenate([X, Y]), noise)
    observed = np.repeat([True, False], [230, 170])
    assert result.statistic == pytest.approx(mmd(vectors @ vectors.T, observed, "u"), rel=1e-6)
    np.testing.assert_allclose(stream.pooled().parts[0].vector, pooled.parts[0].vector, rtol=1e-12, atol=1e-15)


def test_result_says_what_it_rests_on():
    result = one_pass(X, Y, n_frequencies=32, n_resamples=99)
    assert result.scheme == "bins"
    assert result.sizes == (230, 170)
    assert "40 rows that the bandwidth was chosen by stay in their sample under every permutation" in result.notes
    assert any("bins of 1 rows" in note for note in result.notes)
    assert "permutation" in result.summary()
    landmarks = one_pass(X, Y, features=LANDMARKS, n_resamples=99)
    assert "12 landmarks" in landmarks.notes[-1]
    exact = km.mmd_test(X, Y, kernel=Gaussian(1.5), rng=0, statistic="v").statistic
    found = one_pass(X, Y, features=LANDMARKS, statistic="v", n_resamples=9)
    bound = float(found.notes[-1].split("by ")[-1].split(" at")[0])
    assert abs(found.statistic - exact) <= bound * 1.01


@pytest.mark.parametrize("sizes", [None, (230, 170)], ids=["unknown", "known"])
@pytest.mark.parametrize("cut", [1, 100, 171, 229])
def test_a_stream_that_was_cut_and_resumed_gives_the_same(tmp_path, sizes, cut):
    whole = streaming.two_sample_stream(PHI, sizes=sizes).partial_fit(X, Y).test(n_resamples=99)
    stream = streaming.two_sample_stream(PHI, sizes=sizes).partial_fit(X[:cut], Y[: min(cut, 170)])
    km.save(stream, tmp_path / "state.npz")
    again = km.load(tmp_path / "state.npz")
    left = [list(km.read(rows).skip(bins.stop)) for rows, bins in ((X, again.first), (Y, again.second))]
    for batch in left[0]:
        again.partial_fit(batch)
    for batch in left[1]:
        again.partial_fit(None, batch)
    result = again.test(n_resamples=99)
    assert result.pvalue == whole.pvalue
    assert result.statistic == pytest.approx(whole.statistic, rel=1e-11)
    np.testing.assert_allclose(result.null_distribution, whole.null_distribution, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("known", [True, False])
def test_a_test_goes_on_from_its_checkpoint(tmp_path, monkeypatch, known):
    monkeypatch.setattr("kernelmean.inference.streaming.checkpoint._SECONDS", 0.0)

    def batches(rows, stop):
        for start in range(0, len(rows), 20):
            if start >= stop:
                raise KeyboardInterrupt
            yield rows[start : start + 20]

    def source(rows, stop=10_000):
        found = km.read(batches(rows, stop))
        return replace(found, n_rows=len(rows)) if known else found

    options = {"kernel": Gaussian(1.5), "n_frequencies": 16, "n_resamples": 99, "pilot": 50}
    whole = one_pass(source(X), source(Y), **options)
    path = tmp_path / "state.npz"
    with pytest.raises(KeyboardInterrupt):
        one_pass(source(X, 100), source(Y), checkpoint=path, **options)
    assert km.load(path).first.stop == 100
    for _ in range(2):
        again = one_pass(source(X), source(Y), checkpoint=path, **options)
        assert again.pvalue == whole.pvalue
        assert again.statistic == pytest.approx(whole.statistic, rel=1e-6)
    with pytest.raises(ValueError, match="not of this test"):
        one_pass(source(X), source(Y), checkpoint=path, **(options | {"seed": 1}))
    km.save(Gaussian(1.0), path)
    with pytest.raises(ValueError, match="not of this test"):
        one_pass(source(X), source(Y), checkpoint=path, **options)


def test_workers_may_share_a_sample():
    whole = streaming.two_sample_stream(PHI, sizes=(230, 170)).partial_fit(X, Y)
    parts = [
        streaming.two_sample_stream(PHI, sizes=(230, 170)).partial_fit(X[a:b], Y[c:d], starts=(a, c))
        for a, b, c, d in ((100, 230, 0, 60), (0, 100, 60, 170))
    ]
    assert (parts[0] + parts[1]).test().pvalue == whole.test().pvalue
    with pytest.raises(ValueError, match="130 rows were added of 230"):
        parts[0].test()


def test_batches_and_threads_change_nothing_but_rounding():
    rows = np.random.default_rng(1).normal(size=(6000, 2))
    results = [
        one_pass(
            km.read(rows[:3500], batch_rows=size),
            km.read(rows[3500:], batch_rows=size),
            n_frequencies=16,
            plan=km.Plan(threads=threads),
        )
        for size, threads in ((6000, 1), (6000, 2), (97, 1))
    ]
    assert len({result.pvalue for result in results}) == 1
    assert results[0].statistic == results[1].statistic
    assert results[2].statistic == pytest.approx(results[0].statistic, rel=1e-9)


def upper(level, trials):
    """The number of rejections that an exact test exceeds once in ten thousand studies."""
    return stats.binom.isf(1e-4, trials, level)


@pytest.mark.parametrize("known", [True, False])
def test_the_level_holds_for_unequal_samples(known):
    rng, trials = np.random.default_rng(4), 120
    pvalues = []
    for seed in range(trials):
        phi = features.fourier(Laplacian(1.0), 1, 8, rng=seed % 5)
        rows = rng.exponential(size=(130, 1))
        stream = streaming.two_sample_stream(phi, sizes=(90, 40) if known else None, seed=seed).partial_fit(
            rows[:90], rows[90:]
        )
        pvalues.append(stream.test(n_resamples=19, rng=seed, estimator="mkme" if seed % 2 else "kme").pvalue)
    for level in (0.05, 0.1, 0.25):
        rejections = np.sum(np.array(pvalues) <= level)
        assert stats.binom.ppf(1e-4, trials, level) <= rejections <= upper(level, trials)


def test_sorted_rows_do_not_reject_too_often(monkeypatch):
    """Rows that are dealt at random may be sorted; runs of sorted rows reject less often than they may."""
    monkeypatch.setattr("kernelmean.inference.streaming.bins.CAPACITY", 64)
    rng, trials, phi = np.random.default_rng(5), 100, features.fourier(Gaussian(1.0), 1, 8)
    rejections = {True: 0, False: 0, "rule": 0}
    for seed in range(trials):
        first, second = (np.sort(rng.normal(size=(n, 1)), axis=0) for n in (300, 200))
        for known in (True, False):
            stream = streaming.two_sample_stream(phi, sizes=(300, 200) if known else None, seed=seed)
            rejections[known] += stream.partial_fit(first, second).test(n_resamples=19, rng=seed).pvalue <= 0.1
        chosen = one_pass(first, second, n_frequencies=8, n_resamples=19, seed=seed)
        rejections["rule"] += chosen.pvalue <= 0.1
    assert stats.binom.ppf(1e-4, trials, 0.1) <= rejections[True] <= upper(0.1, trials)
    assert stats.binom.ppf(1e-4, trials, 0.1) <= rejections["rule"] <= upper(0.1, trials)
    assert rejections[False] <= upper(0.1, trials)


def test_rows_for_a_rule_are_drawn_at_random_and_left_out():
    rows = np.arange(1000.0)[:, None]
    batches = km.read(rows, batch_rows=37)
    drawn, rest = streaming.drawn_rows(batches, 1000, 60, seed=3)
    left = np.concatenate(list(rest))
    assert len(np.unique(drawn)) == 60
    np.testing.assert_array_equal(np.sort(np.concatenate([drawn, left]), axis=0), rows)
    assert 350 < drawn.mean() < 650
    assert (np.diff(left, axis=0) > 0).all()


def power(trials, frequencies):
    """Return the shares of rejections of the test in one pass and of the exact test on the same samples."""
    rng = np.random.default_rng(6)
    found = []
    for seed in range(trials):
        first, second = rng.normal(size=(100, 2)), rng.normal(size=(140, 2)) * 1.3
        features = one_pass(first, second, kernel=Gaussian(1.5), n_frequencies=frequencies, n_resamples=199, seed=seed)
        exact = km.mmd_test(first, second, kernel=Gaussian(1.5), n_resamples=199, rng=seed, scheme="gemm")
        found.append((features.pvalue <= 0.05, exact.pvalue <= 0.05))
    return np.mean(found, axis=0)


def test_power_is_near_that_of_the_exact_test():
    found, exact = power(100, 128)
    assert 0.3 < exact < 0.9
    assert found >= exact - 0.05


@pytest.mark.slow
def test_power_is_near_that_of_the_exact_test_on_many_samples():
    found, exact = power(600, 256)
    assert 0.3 < exact < 0.9
    assert found >= exact - 0.05


def test_files_are_compared_by_the_names_of_their_columns(tmp_path):
    pd = pytest.importorskip("pandas")
    first = pd.DataFrame(X, columns=["a", "b"])
    first.to_parquet(tmp_path / "x.parquet")
    pd.DataFrame(Y[:, ::-1], columns=["b", "a"]).to_csv(tmp_path / "y.csv", index=False)
    found = one_pass(tmp_path / "x.parquet", tmp_path / "y.csv", kernel=Gaussian((1.0, 3.0)), n_resamples=9)
    plain = one_pass(iter([X]), iter([Y]), kernel=Gaussian((1.0, 3.0)), n_resamples=9)
    assert found.statistic == pytest.approx(plain.statistic, rel=1e-6)
    with pytest.raises(ValueError, match="different columns"):
        one_pass(first, first.rename(columns={"a": "z"}))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: streaming.two_sample_stream(PHI, sizes=(5, 0)), "an entry of sizes is 0"),
        (lambda: streaming.two_sample_stream(PHI, sizes=(10**8, 100)), "too unequal"),
        (lambda: streaming.two_sample_stream(PHI).partial_fit(np.ones((2, 3))), "3 columns"),
        (lambda: streaming.two_sample_stream(PHI).partial_fit(X[:5]).test(), "5 and 0 rows"),
        (lambda: stream_of(PHI, None).test(estimator="f-kmse"), "'mmkme'"),
        (lambda: stream_of(PHI, None).test(statistic="w"), "statistic is 'w'"),
        (lambda: stream_of(PHI, None).test(n_resamples=0), "n_resamples is 0"),
        (lambda: one_pass(X, Y[:, :1]), "different columns"),
        (lambda: one_pass(X, Y, pilot=1), "pilot is 1"),
        (lambda: one_pass(X[:1], Y), "rows"),
    ],
)
def test_what_is_wrong_is_said(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_memory_does_not_grow_with_the_rows():
    def peak(n):
        def batches(seed):
            return (np.random.default_rng([seed, i]).normal(size=(2048, 2)) for i in range(n // 2048))

        tracemalloc.start()
        one_pass(batches(0), batches(1), n_frequencies=4, n_resamples=9, plan=km.Plan(threads=1))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(2048)  # imports
    assert peak(64 * 2048) < 1.2 * peak(16 * 2048)


def test_damaged_sums_are_refused():
    stream = stream_of(PHI, None)
    sums = stream.first.sums.copy()
    sums[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        replace(stream.first, sums=sums)
    with pytest.raises(ValueError, match="do not fit"):
        replace(stream, features=LANDMARKS)


def test_constant_data_have_p_one():
    result = one_pass(np.ones((40, 2)), np.ones((30, 2)), n_frequencies=8)
    assert result.pvalue == 1.0
