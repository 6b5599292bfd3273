import numpy as np
import pytest

from kernelmean.estimators import loocv
from kernelmean.estimators.loocv.pair_sums import contracted_on_grid, contracted_terms, spanned


def brute(A, B):
    gaps = A[:, None] - B
    exponents = -(gaps**2).sum(-1)
    np.fill_diagonal(exponents, -np.inf)
    weights = np.exp(exponents - exponents.max())
    means = [
        np.einsum("ij,ijk->k", weights, part) / weights.sum() for part in (A[:, None] ** 2 + 0 * B, B**2 + 0 * gaps)
    ]
    both = np.einsum("ij,ijk->k", weights, A[:, None] * B) / weights.sum()
    return np.log(weights.sum()) + exponents.max(), *means, both


@pytest.mark.parametrize("n", [2, 3, 30, 257, 600])
@pytest.mark.parametrize("unit", [0.1, 1.0, 100.0])
def test_sums_and_moments(n, unit):
    rng = np.random.default_rng(n)
    A = unit * rng.normal(size=(n, 2))
    for B in (A, A[::-1] * 0.9):
        found = loocv.pair_sum(A, B)
        log, left, right, both = brute(A, B)
        assert found.log == pytest.approx(log, rel=1e-11)
        for part, exact in ((found.left, left), (found.right, right), (found.both, both)):
            np.testing.assert_allclose(part, exact, rtol=1e-9, atol=1e-9 * unit**2)
        assert loocv.pair_sum(A, B, moments=False).log == pytest.approx(log, rel=1e-11)


def test_gaps_are_weighted_squared_differences():
    A = np.array([[0.0, 1.0], [0.5, 3.0]])
    np.testing.assert_allclose(loocv.pair_sum(A, A).gaps, [0.25, 4.0], rtol=1e-12)


@pytest.mark.parametrize("shape", [(4, 10), (5, 5), (6, 2)])
def test_the_coordinates_of_the_span_keep_inner_products(shape):
    Y = np.random.default_rng(0).normal(size=shape)
    coordinates = spanned(Y)
    assert coordinates.shape == (shape[0], min(shape))
    np.testing.assert_allclose(coordinates @ coordinates.T, Y @ Y.T, atol=1e-12)
    assert (coordinates is Y) == (shape[1] <= shape[0])


@pytest.mark.parametrize("direct", [0, 10**9])
@pytest.mark.parametrize("tile", [2, 5, 256])
def test_tiles_and_ways_to_make_distances_give_the_same_sums(monkeypatch, tile, direct):
    monkeypatch.setattr("kernelmean.estimators.loocv.pair_sums._TILE", tile)
    monkeypatch.setattr("kernelmean.estimators.loocv.pair_sums._DIFFERENCES_UP_TO", direct)
    A = np.random.default_rng(1).normal(size=(13, 3))
    for B in (A, 0.9 * A[::-1]):
        found = loocv.pair_sum(A, B)
        np.testing.assert_allclose(found.log, brute(A, B)[0], rtol=1e-11)
        for part, exact in zip((found.left, found.right, found.both), brute(A, B)[1:], strict=True):
            np.testing.assert_allclose(part, exact, rtol=1e-9)
        bare = loocv.pair_sum(A, B, moments=False)
        assert (bare.left.size, bare.right.size, bare.both.size) == (0, 0, 0)
        assert bare.log == pytest.approx(found.log, rel=1e-14)
    assert (found.gaps >= 0.0).all()


@pytest.mark.parametrize("unit", [0.3, 3.0])
@pytest.mark.parametrize("shape", [(9, 2), (5, 8)])
def test_the_terms_on_a_grid_are_those_at_every_point(shape, unit):
    """The first is exact; the norm is interpolated between steps of one curve, so close."""
    n, dim = shape
    rng = np.random.default_rng(n)
    Y = unit * rng.normal(size=shape)
    Y -= Y.mean(axis=0)
    contractions, noises, alpha = np.array([0.3, 0.8, 1.0]), np.array([0.05, 0.4, 2.0]), 1 / (n - 1)
    found = contracted_on_grid(spanned(Y), contractions, noises, alpha, n, dim)
    exact = [[contracted_terms(Y, r, a, alpha, n, dim) for a in noises] for r in contractions]
    np.testing.assert_allclose(found.cross, [[own.cross for own in row] for row in exact], rtol=1e-11)
    np.testing.assert_allclose(found.square, [[own.square for own in row] for row in exact], atol=1e-3)
    assert found.cross_slope.shape == found.square_slope.shape == (0,)
