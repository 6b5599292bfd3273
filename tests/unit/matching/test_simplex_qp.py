"""The quadratic programme on the simplex equals reference solutions, whatever the rank."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import nnls

from kernelmean.core import solve_simplex_qp
from kernelmean.core.simplex_qp import lightest_mixtures


def value(G, c, w):
    return 0.5 * w @ G @ w - c @ w


def by_nnls(A, b):
    """min |A w - b|² on the simplex: non-negative least squares for the nearest point of a convex hull."""
    gaps = A - b[:, None]
    u, _ = nnls(np.vstack([gaps, np.ones(A.shape[1])]), np.r_[np.zeros(len(b)), 1.0], maxiter=100 * A.shape[1])
    return u / u.sum()


def by_enumeration(G, c):
    """The smallest value among the stationary points of all faces."""
    best = np.inf
    for size in range(1, len(c) + 1):
        for face in map(list, combinations(range(len(c)), size)):
            system = np.block([[G[np.ix_(face, face)], np.ones((size, 1))], [np.ones((1, size)), np.zeros((1, 1))]])
            w = np.linalg.lstsq(system, np.r_[c[face], 1.0], rcond=1e-12)[0][:size]
            if (w > -1e-12).all() and abs(w.sum() - 1) < 1e-9:
                best = min(best, value(G[np.ix_(face, face)], c[face], w))
    return best


def problem(number):
    """A random problem: any rank, duplicated columns in every third, scales from 1e-3 to 1e3."""
    rng = np.random.default_rng(number)
    size = rng.integers(1, 30)
    A = rng.normal(size=(rng.integers(1, size + 3), size)) * 10.0 ** rng.uniform(-3, 3)
    if number % 3 == 0 and size > 2:
        A[:, 1] = A[:, 0]
    b = A @ rng.dirichlet(np.ones(size)) + (number % 2) * rng.normal(size=len(A)) * np.abs(A).max()
    return A, b


@pytest.mark.parametrize("block", range(10))
def test_equals_non_negative_least_squares_on_a_thousand_problems(block):
    for number in range(100 * block, 100 * block + 100):
        A, b = problem(number)
        G, c = A.T @ A, A.T @ b
        weights = solve_simplex_qp(G, c)
        scale = max(np.abs(G).max(), np.abs(c).max())
        assert abs(value(G, c, weights) - value(G, c, by_nnls(A, b))) <= 1e-12 * scale
        slopes = G @ weights - c
        assert weights @ slopes - slopes.min() <= 1e-10 * scale
        assert weights.min() >= 0
        assert weights.sum() == pytest.approx(1.0, abs=1e-13)


def test_unique_solutions_agree_in_every_weight():
    for number in range(200):
        A, b = problem(1000 + number)
        A, b = np.vstack([A, np.eye(A.shape[1]) * np.abs(A).max()]), np.r_[b, np.zeros(A.shape[1])]
        np.testing.assert_allclose(solve_simplex_qp(A.T @ A, A.T @ b), by_nnls(A, b), atol=1e-8)


def test_linear_terms_outside_the_range_equal_enumeration():
    rng = np.random.default_rng(0)
    for _ in range(100):
        size = rng.integers(1, 7)
        A = rng.normal(size=(rng.integers(0, size + 1), size))
        G, c = A.T @ A, rng.normal(size=size)
        assert value(G, c, solve_simplex_qp(G, c)) == pytest.approx(by_enumeration(G, c), abs=1e-12)


def test_an_indefinite_matrix_still_ends_at_a_stationary_point_or_raises():
    assert sorted(solve_simplex_qp(np.diag([-1.0, -1.0]), np.zeros(2))) == [0.0, 1.0]


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="linear holds"):
        solve_simplex_qp(np.eye(2), np.array([1.0, np.nan]))


def test_many_problems_at_once_come_near_the_minimum() -> None:
    rng = np.random.default_rng(0)
    roots = rng.normal(size=(20, 5, 4)) * rng.uniform(0.5, 2.0, size=(20, 5, 1))
    grams = roots @ np.swapaxes(roots, 1, 2)
    weights = lightest_mixtures(grams)
    assert (weights >= 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=0), 1.0)
    for G, w in zip(grams, weights.T, strict=True):
        best = solve_simplex_qp(2.0 * G, np.zeros(5))
        least = best @ G @ best
        assert least - 1e-12 <= w @ G @ w <= least + 2e-4 * G.diagonal().min()
