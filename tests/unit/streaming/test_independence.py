"""The test of independence in one pass: its statistic, its permutations, its level and its power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import kernelmean as km
from kernelmean import features, streaming
from kernelmean.kernels import Gaussian, Laplacian, TensorProduct
from kernelmean.noise import Normal
from one_pass import hsic as one_pass

RNG = np.random.default_rng(0)
N = 2500
X = RNG.normal(size=(N, 2))
Y = 0.3 * X[:, :1] ** 2 + RNG.normal(size=(N, 1))
KERNELS = Gaussian(1.5), Laplacian(1.2)
pair_stream = streaming.pair_stream
PHI = features.fourier(TensorProduct(KERNELS, ((0, 1), (2,))), 3, 12)
BINS, GROUP = pair_stream(PHI).products.shape[:2]
WAVES = [np.exp(1j * (Z @ W.T)) for Z, W in ((X, PHI.frequencies[:, :2]), (Y, PHI.frequencies[:, 2:]))]


def hsic(order, n, damping=1.0):
    """The definition: Σ w |mean of products less the product of means|², rows of Y in another order."""
    left, right = WAVES[0][:n], WAVES[1][:n][order]
    gap = (left * right).mean(axis=0) - left.mean(axis=0) * right.mean(axis=0)
    return float(PHI.weights @ (np.abs(gap) ** 2 * damping**2))


@pytest.mark.parametrize("n", [32, 45, 1000, N])
def test_every_shift_is_a_permutation_of_the_rows(n):
    result = pair_stream(PHI).partial_fit(X[:n], Y[:n]).test(n_resamples=5, rng=3)
    assert result.statistic == pytest.approx(hsic(np.arange(n), n), rel=1e-9)
    shifts = np.random.default_rng(3).integers(0, GROUP, (6, BINS))[1:]
    for shift, value in zip(shifts, result.null_distribution, strict=True):
        order = np.arange(n)
        for group in range(n // GROUP):
            rows = slice(group * GROUP, (group + 1) * GROUP)
            order[rows] = group * GROUP + (np.arange(GROUP) + shift[group % BINS]) % GROUP
        assert value == pytest.approx(hsic(order, n), rel=1e-9)


def test_any_number_of_groups_at_once_goes_to_the_same_bins(monkeypatch):
    """Many frequencies leave few groups to a call, so that cuts end within the ring of bins and at its end."""
    whole = pair_stream(PHI).partial_fit(X, Y)
    monkeypatch.setattr("kernelmean.inference.streaming.shifts._AT_ONCE", 3 * len(PHI.frequencies))
    monkeypatch.setattr("kernelmean.inference.streaming.shifts._HELD", 7 * len(PHI.frequencies))
    few = pair_stream(PHI).partial_fit(X[:777], Y[:777]).partial_fit(X[777:], Y[777:])
    np.testing.assert_allclose(few.products, whole.products, rtol=0, atol=1e-10)
    np.testing.assert_allclose(few.margins, whole.margins, rtol=1e-12)


@pytest.mark.parametrize(("columns", "frequencies"), [(1, 512), (3, 1024), (31, 4096)])
def test_more_columns_have_more_frequencies(columns, frequencies):
    """In whole orthogonal blocks, of which these numbers are multiples."""
    table = RNG.normal(size=(64, columns))
    result = one_pass(table, Y[:64], kernel=KERNELS[0], n_resamples=1)
    assert f"{frequencies} orthogonal random Fourier frequencies" in result.notes[-1]


def test_the_statistic_is_that_of_the_kernels_to_the_stated_error():
    exact = km.hsic_test(X[:300], Y[:300], kernel=KERNELS, n_resamples=9, rng=0).statistic
    ratios = []
    for seed in range(40):
        result = one_pass(X[:300], Y[:300], kernel=KERNELS, n_frequencies=64, design="plain", n_resamples=1, seed=seed)
        ratios.append((result.statistic - exact) / float(result.notes[-1].split(": ")[-1]))
    assert abs(np.mean(ratios)) < 0.7
    assert 0.6 < np.std(ratios) < 1.6


def test_estimators_smooth_both_kernels():
    stream = pair_stream(PHI).partial_fit(X[:1001], Y[:1001])
    result = stream.test(estimator="mkme", n_resamples=9)
    found = []
    for rows, kernel, part in ((X, KERNELS[0], slice(0, 2)), (Y, KERNELS[1], slice(2, 3))):
        own = features.Fourier(kernel, PHI.frequencies[:, part], PHI.strata, PHI.origin[part], PHI.design)
        found.append((own, features.choose_noise(features.embed(rows[:1001], own))))
    for noise, (_, expected) in zip(result.noise, found, strict=True):
        assert noise.covariance == pytest.approx(expected.covariance, rel=1e-6)
    damping = np.prod([own.damping(noise) for own, noise in found], axis=0)
    assert result.statistic == pytest.approx(hsic(np.arange(1001), 1001, damping), rel=1e-6)
    diagonal = stream.test(estimator="mmkme", n_resamples=9).noise[0]
    assert isinstance(diagonal, Normal)
    assert diagonal.form == "diagonal"


def test_batches_files_and_threads_change_nothing_but_rounding(tmp_path):
    whole = pair_stream(PHI).partial_fit(X, Y)
    stream, rng, start = pair_stream(PHI), np.random.default_rng(1), 0
    while start < N:
        stop = start + int(rng.integers(1, 300))
        stream.partial_fit(X[start:stop], Y[start:stop], plan=km.Plan(threads=2))
        km.save(stream, tmp_path / "state.npz")
        stream, start = km.load(tmp_path / "state.npz"), stop
    first, second = whole.test(n_resamples=99), stream.test(n_resamples=99)
    assert first.pvalue == second.pvalue
    np.testing.assert_allclose(second.null_distribution, first.null_distribution, rtol=1e-9)
    sizes = [one_pass(X, km.read(Y, batch_rows=b), n_frequencies=8, n_resamples=9) for b in (100, 7777)]
    assert sizes[0].statistic == pytest.approx(sizes[1].statistic, rel=1e-5)


def test_streams_merge():
    cut = GROUP * BINS
    whole = pair_stream(PHI).partial_fit(X, Y).test(n_resamples=19)
    parts = [pair_stream(PHI).partial_fit(X[rows], Y[rows]) for rows in (slice(cut), slice(cut, None))]
    merged = (parts[0] + parts[1]).test(n_resamples=19)
    np.testing.assert_allclose(merged.null_distribution, whole.null_distribution, rtol=1e-9)
    odd = pair_stream(PHI).partial_fit(X[:100], Y[:100]) + pair_stream(PHI).partial_fit(X[100:], Y[100:])
    assert odd.test(n_resamples=9).statistic == pytest.approx(whole.statistic, rel=1e-9)


def test_the_level_holds():
    rng, trials = np.random.default_rng(4), 120
    phi = features.fourier(TensorProduct(KERNELS, ((0, 1), (2,))), 3, 6)
    pvalues = []
    for seed in range(trials):
        first, second = rng.exponential(size=(70, 2)), rng.exponential(size=(70, 1))
        estimator = "mkme" if seed % 2 else "kme"
        pvalues.append(
            pair_stream(phi).partial_fit(first, second).test(n_resamples=19, rng=seed, estimator=estimator).pvalue
        )
    for level in (0.05, 0.1, 0.25):
        rejections = np.sum(np.array(pvalues) <= level)
        assert stats.binom.ppf(1e-4, trials, level) <= rejections <= stats.binom.isf(1e-4, trials, level)


def power(trials, frequencies):
    """Return the shares of rejections of the test in one pass and of the exact test on the same pairs."""
    rng, found = np.random.default_rng(6), []
    kernels = Gaussian(1.0), Gaussian(1.0)
    for seed in range(trials):
        first = rng.normal(size=(200, 1))
        second = 0.15 * first**2 + rng.normal(size=(200, 1))
        options = {"kernel": kernels, "n_resamples": 199}
        features = one_pass(first, second, n_frequencies=frequencies, seed=seed, **options)
        exact = km.hsic_test(first, second, rng=seed, scheme="gather", **options)
        found.append((features.pvalue <= 0.05, exact.pvalue <= 0.05))
    return np.mean(found, axis=0)


@pytest.mark.slow
def test_power_is_near_that_of_the_exact_test():
    found, exact = power(600, 128)
    assert 0.3 < exact < 0.9
    assert found >= exact - 0.05


def test_a_clear_dependence_is_found_and_said():
    result = one_pass(X, Y, n_frequencies=32)
    assert result.pvalue == 0.001
    assert result.scheme == "shifts"
    assert result.sizes == (2250,)
    assert "250 rows that the bandwidth was chosen by left out" in result.notes


def test_constant_columns_have_p_one():
    for dtype in ("float32", "float64"):
        assert one_pass(X, np.ones((N, 1)), n_frequencies=8, dtype=dtype, n_resamples=99).pvalue == 1.0


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: one_pass(X, Y[:-1]), ValueError, "different numbers of rows"),
        (lambda: one_pass(X, iter([Y[:-1]])), ValueError, "different numbers of rows"),
        (lambda: one_pass(iter([X[:-1]]), Y), ValueError, "different numbers of rows"),
        (lambda: one_pass(X[:30], Y[:30]), ValueError, "at least 32 are needed"),
        (lambda: pair_stream(PHI).partial_fit(X, X), ValueError, r"\(2, 1\) columns"),
        (lambda: pair_stream(PHI).partial_fit(X, Y[:3]), ValueError, "equally many rows"),
        (lambda: pair_stream(features.fourier(Gaussian(1.0), 2, 8)), TypeError, "TensorProduct"),
        (lambda: pair_stream(PHI).partial_fit(X, Y).test(estimator="s-kmse"), ValueError, "'mmkme'"),
        (
            lambda: pair_stream(features.fourier(TensorProduct(KERNELS, ((1,), (0,))), 2, 8)),
            ValueError,
            "those of x come first",
        ),
    ],
)
def test_what_is_wrong_is_said(call, error, text):
    with pytest.raises(error, match=text):
        call()
