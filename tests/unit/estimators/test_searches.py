"""The searches for a noise: global on a line, never worse than what they start from, at every bandwidth."""

import numpy as np
import pytest

import kernelmean as km
from checkered import checkered
from kernelmean.estimators import (
    NoiseProblem,
    loocv,
    search_diagonal,
    search_free,
    search_full,
    search_isotropic,
    search_tied,
)
from kernelmean.kernels import Gaussian, median_bandwidth

BANDWIDTHS = [0.001, 0.01, 0.1, 1.0, 10.0]


def data(seed):
    """Different shapes and distributions: scales, heavy tails, few values, clusters, a large offset, skewness."""
    rng = np.random.default_rng(seed)
    n, dim, kind = int(rng.integers(2, 60)), int(rng.choice([1, 2, 3, 5, 10, 20, 60])), seed % 6
    if kind == 0:
        return rng.normal(size=(n, dim)) * np.exp(2 * rng.normal(size=dim))
    if kind == 1:
        return rng.standard_t(1.2, size=(n, dim))
    if kind == 2:
        X = rng.integers(0, 4, size=(n, dim)).astype(float)
        X[0, 0] += 1.0
        return X
    if kind == 3:
        return 5 * rng.normal(size=(3, dim))[rng.integers(0, 3, size=n)] + 0.01 * rng.normal(size=(n, dim))
    if kind == 4:
        return np.column_stack([rng.normal(size=(n, dim)), 1e3 + 1e-3 * rng.normal(size=n)])
    return rng.exponential(size=(n, dim)) ** 3


def check_order(seed, ratio):
    X = data(seed)
    problem = NoiseProblem(X, Gaussian(ratio * median_bandwidth(X)))
    without, common, per_axis = problem.without(), search_isotropic(problem), search_diagonal(problem)
    tied, free, full = search_tied(problem), search_free(problem), search_full(problem)
    assert per_axis.score <= common.score <= without.score
    assert free.score <= tied.score <= without.score
    assert free.score <= common.score
    assert full.score <= without.score
    assert common.score.sign == -1


@pytest.mark.parametrize(("ratio", "seed"), checkered(BANDWIDTHS, range(12), every=4))
def test_richer_estimators_are_never_worse(ratio, seed):
    check_order(seed, ratio)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", BANDWIDTHS)
def test_richer_estimators_are_never_worse_on_500_sets(ratio):
    for seed in range(12, 500):
        check_order(seed, ratio)


@pytest.mark.parametrize("ratio", BANDWIDTHS)
@pytest.mark.parametrize("seed", [0, 1, 2, 3, 9])
def test_the_common_variance_is_the_global_optimum(seed, ratio):
    X = data(seed)
    problem = NoiseProblem(X, Gaussian(ratio * median_bandwidth(X)))
    found = search_isotropic(problem)
    level = max(float(problem.variances.mean()), 1.0)
    grid = np.geomspace(1e-9, 1e3 * level, 400)
    best = min((problem.at(np.full(problem.dim, a)).score for a in grid), key=lambda score: score.key)
    assert found.score.sign == -1
    assert found.score.log >= best.log - 1e-12


def test_the_search_leaves_a_local_minimum():
    """Twin points and a wide spread: one minimum at the twins' scale, a better one at the sample's."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    X = np.concatenate([X, X[:6] + 1e-6 * rng.normal(size=(6, 2))])
    problem = NoiseProblem(X, Gaussian(1e-4))
    found = search_isotropic(problem)
    grid = [problem.at(np.full(2, a)).score for a in np.geomspace(1e-6, 1e12, 800)]
    interior = [k for k in range(1, 799) if grid[k] <= grid[k - 1] and grid[k] <= grid[k + 1]]
    assert len(interior) >= 1
    assert all(found.score.log >= grid[k].log - 1e-10 for k in interior)


@pytest.mark.parametrize("ratio", [0.05, 1.0])
def test_no_random_start_finds_much_lower_variances(ratio):
    X = data(6)[:, :5]
    problem = NoiseProblem(X, Gaussian(ratio * median_bandwidth(X)))
    found, common = search_diagonal(problem), search_isotropic(problem)
    rng = np.random.default_rng(1)
    random = [problem.at(found.noise * np.exp(rng.normal(scale=s, size=problem.dim))) for s in (0.01, 0.1, 1.0) * 40]
    gain = found.score.log - common.score.log
    assert gain > 0
    assert all(choice.score.sign > 0 or choice.score.log <= found.score.log + 1e-4 * gain for choice in random)


def test_large_samples_are_searched_on_a_part_and_scored_on_all():
    X = np.random.default_rng(2).normal(size=(700, 3)) * [1.0, 2.0, 0.5]
    problem = NoiseProblem(X, Gaussian(median_bandwidth(X)))
    assert len(problem.part) == 300
    shuffled = NoiseProblem(X[np.random.default_rng(5).permutation(700)], Gaussian(median_bandwidth(X)))
    np.testing.assert_allclose(shuffled.part, problem.part, rtol=1e-12)
    found, common = search_diagonal(problem), search_isotropic(problem)
    assert found.score < common.score < problem.without().score
    assert found.score == problem.at(found.noise).score or found.score.log == pytest.approx(
        problem.at(found.noise).score.log, abs=1e-12
    )


@pytest.mark.parametrize(("n", "dim", "ratio"), [(60, 3, 1.0), (100, 10, 1.0), (60, 3, 0.3), (60, 3, 3.0)])
def test_a_contraction_does_not_see_an_offset_or_an_order(n, dim, ratio):
    rng = np.random.default_rng(n + dim)
    X = rng.normal(size=(n, dim)) * np.linspace(0.5, 2.0, dim)
    kernel = Gaussian(ratio * median_bandwidth(X))
    found, *others = (search_free(NoiseProblem(Z, kernel)) for Z in (X, X + 1e6, X[rng.permutation(n)]))
    assert 0 < found.contraction < 1
    for other in others:
        np.testing.assert_allclose(other.noise, found.noise, rtol=1e-6)
        assert other.contraction == pytest.approx(found.contraction, rel=1e-6)


def narrow(seed):
    """A table and a narrow bandwidth, under which the score of a contraction has many minima."""
    rng = np.random.default_rng(seed)
    n, dim = int(rng.integers(3, 31)), int(rng.integers(1, 6))
    law = (rng.normal, rng.exponential, lambda size: rng.standard_t(2, size=size))[seed % 3]
    X = law(size=(n, dim)) * 10.0 ** rng.uniform(-3, 3, dim)
    return X, median_bandwidth(X) * 10 ** rng.uniform(-1.5, 0)


def dense(X, theta):
    """Return the best leave-one-out score on a dense grid, from its definition."""
    Y = (X - X.mean(axis=0)) / theta
    (n, dim), inner, noise = Y.shape, Y @ Y.T, np.r_[0.0, np.geomspace(1e-4, 1e4, 60)]
    squares, pairs = np.diag(inner), ~np.eye(n, dtype=bool)
    apart, least = (squares[:, None] + squares - 2 * inner)[pairs], np.inf
    for r in np.unique(np.r_[0.0, np.geomspace(1e-4, 1.0, 40), np.linspace(0.02, 1.0, 50)]):
        c = 1 + (1 - r) / (n - 1)
        cross = (c * c * squares[:, None] + r * r * squares - 2 * c * r * inner)[pairs]
        L = np.exp(-cross[:, None] / (2 * (1 + noise))).mean(axis=0) * (1 + noise) ** (-dim / 2)
        Q = np.exp(-r * r * apart[:, None] / (2 * (1 + 2 * noise))).mean(axis=0)
        Q = (1 / (n - 1) + (n - 2) / (n - 1) * Q) * (1 + 2 * noise) ** (-dim / 2)
        least = min(least, float((1 - 2 * L + Q).min()))
    return least


def check_contraction(seed):
    X, theta = narrow(seed)
    least = dense(X, theta)
    assert search_free(NoiseProblem(X, Gaussian(theta))).score.value <= least * (1 + 1e-6)


@pytest.mark.parametrize("seed", [*range(6), 14, 17, 21, 46, 105, 115])
def test_a_contraction_is_the_best_of_a_dense_grid(seed):
    check_contraction(seed)


@pytest.mark.slow
def test_a_contraction_is_the_best_of_a_dense_grid_on_500_sets():
    for seed in range(500):
        check_contraction(seed)


def test_a_grid_of_contractions_is_as_good_as_single_ones_for_exploring():
    Y = np.random.default_rng(0).normal(size=(9, 2))
    Y -= Y.mean(axis=0)
    contractions, noises = np.array([1e-9, 0.3, 1.0]), np.array([0.01, 0.5, 20.0])
    found = loocv.contracted_on_grid(Y, contractions, noises, 1 / 8, 9, 2)
    each = [[loocv.contracted_terms(Y, r, noise, 1 / 8, 9, 2) for noise in noises] for r in contractions]
    np.testing.assert_allclose(found.cross, [[one.cross for one in row] for row in each], atol=1e-12)
    np.testing.assert_allclose(found.square, [[one.square for one in row] for row in each], atol=0.01)


def test_many_columns_cost_a_contraction_no_more_than_as_many_as_rows():
    X = np.random.default_rng(6).normal(size=(12, 300))
    kernel = Gaussian(0.5 * median_bandwidth(X))
    wide = NoiseProblem(X, kernel)
    whole, part = wide.spanned
    assert whole.shape == part.shape == (12, 12)
    points = wide.Y - wide.Y.mean(axis=0)
    products = points @ points.T
    np.testing.assert_allclose(whole @ whole.T, products, atol=1e-12 * np.abs(products).max())
    terms = [loocv.contracted_terms(Y, 0.6, 0.3, wide.alpha, 12, 300) for Y in (points, whole)]
    assert terms[1].cross == pytest.approx(terms[0].cross, rel=1e-12)
    assert terms[1].square == pytest.approx(terms[0].square, rel=1e-12)
    np.testing.assert_allclose(terms[1].cross_slope, terms[0].cross_slope, rtol=1e-10)
    np.testing.assert_allclose(terms[1].square_slope, terms[0].square_slope, rtol=1e-10)


def test_one_bandwidth_per_axis_is_one_variance_in_the_units_of_the_data():
    X = np.random.default_rng(3).normal(size=(25, 2))
    theta = np.array([0.7, 2.1])
    problem = NoiseProblem(X, Gaussian(theta))
    found = search_isotropic(problem)
    variances = found.noise * theta**2
    assert variances[0] == pytest.approx(variances[1], rel=1e-12)
    for factor in (0.97, 1.03):
        assert found.score < problem.at(factor * found.noise).score


def test_useless_variances_are_exactly_zero():
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.normal(size=40), rng.integers(0, 2, size=40)])
    found = search_diagonal(NoiseProblem(X, Gaussian(0.05)))
    assert (found.noise >= 0).all()
    assert np.isfinite(found.noise).all()


def test_a_search_without_closed_forms_names_what_takes_a_noise_of_your_own() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(
        TypeError, match=r"'isotropic' searches .* which RationalQuadratic\(.*pass a noise that you choose"
    ):
        km.MKME(km.kernels.RationalQuadratic(2.0, 0.5)).fit(X)
    chosen = km.noise.Sampled(km.noise.Normal.isotropic(0.1), n_samples=256)
    assert 0.0 < km.KernelMean(km.kernels.RationalQuadratic(2.0, 0.5), noise=chosen).fit(X).loocv_ < 1.0
