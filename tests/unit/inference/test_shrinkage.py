"""S-KMSE and SCOSE as functions of sums under every scheme, and flexible shrinkage of whole stacks of matrices."""

from __future__ import annotations

import numpy as np
import pytest

import kernelmean as km
from kernelmean.estimators import Cutoff, IteratedRidge, Ridge
from kernelmean.inference.estimated.shrinkage import SCOSE, ShrunkMMD, leave_one_out_factor
from kernelmean.inference.estimated.weighted_mmd import FilterWeights, RidgeStack, ridge_weights, split
from kernelmean.kernels import Gaussian, Polynomial
from nulls import PAIRS, TWO_SAMPLES, hsic_null, mmd_null

RNG = np.random.default_rng(0)
START = RNG.bit_generator.state
KERNELS = [Gaussian(0.8), Gaussian(3.0), Polynomial(2, 1.0)]


@pytest.fixture(autouse=True)
def _same_data_in_any_order_of_the_tests():
    RNG.bit_generator.state = START


def shrunk(gram):
    """a of S-KMSE as Muandet et al. print it, with λ* = n(ϱ-ρ)/((n-1)(nρ-ϱ)); 0 where the mean is not positive."""
    n, rho, diagonal = len(gram), gram.mean(), np.diagonal(gram).mean()
    if n * rho <= diagonal:
        return 0.0
    return 1 / (1 + n * (diagonal - rho) / ((n - 1) * (n * rho - diagonal)))


def mmd_of_weights(gram, labels, weigh, kind):
    """b_XᵀK_XXb_X + b_YᵀK_YYb_Y - 2 b_XᵀK_XYb_Y, literally; "u" leaves out the diagonal."""
    rows = [np.flatnonzero(labels == label) for label in (1, 0)]
    weights = [weigh(gram[np.ix_(i, i)]) for i in rows]
    total = -2 * weights[0] @ gram[np.ix_(*rows)] @ weights[1]
    for i, b in zip(rows, weights, strict=True):
        terms = np.outer(b, b) * gram[np.ix_(i, i)]
        total += terms.sum() if kind == "v" else (terms.sum() - np.trace(terms)) * len(i) / (len(i) - 1)
    return total


def scose(M):
    n, h, delta = len(M), M.mean(), np.trace(M) / len(M)
    return max(1 - (delta - h) / ((n - 2) * h + delta / n), 0.0) ** 2 * h


def centered(gram):
    H = np.eye(len(gram)) - 1 / len(gram)
    return H @ gram @ H


# -- functions of sums ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [0.2, 1.0, 5.0])
@pytest.mark.parametrize("n", [2, 3, 20])
def test_the_factor_is_that_of_the_estimator(theta, n):
    X = RNG.normal(size=(n, 2))
    gram = Gaussian(theta)(X, X)
    factor = leave_one_out_factor(gram.mean(), np.trace(gram) / n, n)
    assert factor == pytest.approx(shrunk(gram), rel=1e-9)
    assert factor / n == pytest.approx(km.estimators.SKMSE(Gaussian(theta)).fit(X).weights_[0], rel=1e-9)


def test_where_rows_disagree_nothing_is_left():
    gram = np.array([[1.0, -0.5], [-0.5, 1.0]])
    assert leave_one_out_factor(gram.mean(), np.array(1.0), 2) == 0.0
    assert leave_one_out_factor(np.array(0.0), np.array(0.0), 5) == 0.0
    assert leave_one_out_factor(np.array(1.0), np.array(1.0), 5) == 1.0


@pytest.mark.parametrize("kind", ["u", "v"])
@pytest.mark.parametrize("scheme", TWO_SAMPLES)
def test_s_kmse_under_every_scheme(brute, scheme, kind):
    X, Y = RNG.normal(size=(66, 2)), RNG.normal(size=(85, 2)) + 0.3
    pooled = np.concatenate([X, Y])
    statistic = ShrunkMMD(len(X), len(Y), kind)
    null = mmd_null(X, Y, KERNELS, statistic=statistic, scheme=scheme, n_resamples=39, rng=5)
    labelings = brute.labelings_of(scheme, (len(X), len(Y)), 39, 5)
    for kernel, values in zip(KERNELS, null.values, strict=True):
        gram = kernel(pooled, pooled)

        def weigh(own):
            return np.full(len(own), shrunk(own) / len(own))

        expected = [mmd_of_weights(gram, labels, weigh, kind) for labels in labelings]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * np.ptp(expected))


@pytest.mark.parametrize("scheme", PAIRS)
def test_scose_under_every_scheme(brute, scheme):
    X = RNG.normal(size=(37, 1))
    Y = X**2 + RNG.normal(size=(37, 1))
    kernels = (Gaussian(0.9), Gaussian(1.4))
    null = hsic_null(X, Y, [kernels], statistic=SCOSE(37), scheme=scheme, n_resamples=39, rng=5)
    K, Z = (centered(kernel(points, points)) for kernel, points in zip(kernels, (X, Y), strict=True))
    expected = [scose(K * Z[np.ix_(p, p)]) for p in brute.permutations_of(scheme, 37, 39, 5)]
    np.testing.assert_allclose(null.values[0], expected, rtol=1e-7, atol=1e-9 * np.ptp(expected))
    assert 0.0 in null.values[0], "some permutation is shrunk to nothing"


def test_a_shrunk_sample_needs_a_row_to_leave_out():
    with pytest.raises(ValueError, match=r"samples of 1 and 9 rows: leaving one out needs two.*estimator='kme'"):
        ShrunkMMD(1, 9, "v")
    with pytest.raises(ValueError, match="1 pair was passed"):
        SCOSE(1)


# -- stacks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theta", [0.05, 0.4, 1.5, 10.0])
@pytest.mark.parametrize("n", [2, 3, 8, 25])
def test_a_stack_is_shrunk_as_one_estimate_after_the_other(n, theta):
    samples = RNG.normal(size=(5, n, 2))
    kernel = Gaussian(theta)
    weights = ridge_weights(np.stack([kernel(X, X) for X in samples]), None)
    for X, found in zip(samples, weights, strict=True):
        np.testing.assert_allclose(found, km.estimators.FKMSE(kernel).fit(X).weights_, rtol=2e-5, atol=1e-7 / n)


def leave_one_out(gram, strength):
    """The mean over i of |x_i - Σ_j β_j x_j|², β refitted without row i."""
    n, total = len(gram), 0.0
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        own = gram[np.ix_(rest, rest)]
        beta = np.linalg.solve(own + strength * np.eye(n - 1), own.mean(axis=1))
        total += gram[i, i] - 2 * beta @ gram[rest, i] + beta @ own @ beta
    return total / n


def products(count, n):
    """Gram matrices with diagonals that vary, some of them with negative entries."""
    factors = RNG.normal(size=(count, n, 4)) + np.linspace(0, 1, count)[:, None, None]
    return factors @ factors.transpose(0, 2, 1)


def test_scores_of_any_diagonal_are_the_definition():
    grams = products(4, 7)
    strengths = np.array([1e-3, 0.1, 2.0, 50.0])
    scores = RidgeStack.of(grams.copy()).excess(np.tile(strengths, (4, 1)))
    expected = [[leave_one_out(gram, x) - np.trace(gram) / 7 for x in strengths] for gram in grams]
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_the_strength_has_the_smallest_score_and_a_slope_of_zero():
    grams = products(6, 9)
    stack = RidgeStack.of(grams.copy())
    best = stack.best()
    inside = np.isfinite(best)
    assert inside.any()
    at_best = stack.excess(np.where(inside, best, 1.0)[:, None])[:, 0]
    around = stack.excess(np.geomspace(1e-6, 1e6, 400) * np.ones((6, 1)))
    assert (at_best <= around.min(axis=1) + 1e-12 * np.abs(around).max(axis=1))[inside].all()
    assert (around.min(axis=1) >= 0)[~inside].all()
    within = inside & (best > 1e-5) & (best < 1e4)
    assert within.any()
    slopes = stack.slopes(np.log(np.where(within, best, 1.0))[:, None])[within, 0]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-9 * np.abs(around).max())


def test_the_slope_is_that_of_the_scores():
    stack, step = RidgeStack.of(products(3, 6)), 1e-5
    logs = np.array([-2.0, 0.0, 2.0])
    above, below = (stack.excess(np.exp(logs + sign * step)[:, None])[:, 0] for sign in (1, -1))
    np.testing.assert_allclose(stack.slopes(logs[:, None])[:, 0], (above - below) / (2 * step), rtol=1e-5, atol=1e-8)


def test_where_nothing_is_shared_the_estimate_is_zero():
    grams = np.stack([np.eye(4), np.zeros((4, 4)), 1.3 * np.eye(4) - 0.3, np.ones((4, 4))])
    weights = ridge_weights(grams, None)
    np.testing.assert_array_equal(weights[:3], 0.0)
    np.testing.assert_allclose(weights[3], 0.25, rtol=1e-6)


def test_units_of_the_matrix_do_not_matter():
    grams = products(3, 6)
    for factor in (1e-200, 3.0, 1e100):
        plain, scaled = (ridge_weights(c * grams, None) for c in (1.0, factor))
        if factor == 1e-200:
            np.testing.assert_array_equal(scaled, 0.0)  # squares of entries vanish
        else:
            np.testing.assert_allclose(scaled, plain, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("filter_", [Ridge(), IteratedRidge(3), Cutoff()], ids=lambda f: type(f).__name__)
def test_given_strengths(filter_):
    X = RNG.normal(size=(3, 6, 2))
    grams = np.stack([Gaussian(1.0)(x, x) for x in X])
    found = FilterWeights(filter_, 0.3)(grams.copy())
    np.testing.assert_allclose(found, [filter_.weights(gram, 0.3) for gram in grams], rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(FilterWeights(filter_, np.inf)(grams.copy()), 0.0)


def test_rows_of_both_samples_come_in_ascending_order():
    first, second = split(np.array([[3, 0, 4, 1, 2], [0, 1, 2, 3, 4]]), 2)
    np.testing.assert_array_equal(first, [[1, 3], [0, 1]])
    np.testing.assert_array_equal(second, [[0, 2, 4], [2, 3, 4]])
