import sys

import numpy as np
import pytest

from kernelmean.embedding import means
from kernelmean.estimators import loocv
from kernelmean.expected import expected
from kernelmean.kernels import Gaussian, Linear
from kernelmean.noise import Normal


def gram(n=7):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))


def test_every_column_lives_without_its_point():
    K = gram()
    masked = loocv.Masked(K)
    columns = np.random.default_rng(1).normal(size=K.shape) * (1 - np.eye(7))
    applied, solved = masked.apply(columns), masked.solve(columns, 0.3)
    for i in range(7):
        rest = np.delete(np.arange(7), i)
        inner = K[np.ix_(rest, rest)]
        np.testing.assert_allclose(applied[rest, i], inner @ columns[rest, i], rtol=1e-12)
        np.testing.assert_allclose(
            solved[rest, i], np.linalg.solve(inner + 0.3 * np.eye(6), columns[rest, i]), rtol=1e-10
        )
        assert applied[i, i] == solved[i, i] == 0.0
    assert masked.start().sum(axis=0) == pytest.approx(np.ones(7))


def test_the_score_of_zero_weights_is_the_constant():
    K = gram()
    assert loocv.score_of(np.zeros_like(K), K, K, 1.0).value == 1.0


def test_ridge_weights_from_the_spectrum():
    K = gram()
    weights = np.linalg.solve(K + 0.2 * np.eye(7), K.mean(axis=1))
    np.testing.assert_allclose(loocv.GramSpectrum.of(K, 1.0).weights(0.2), weights, rtol=1e-11)


def test_too_many_points_are_refused():
    with pytest.raises(ValueError, match=r"limit is 5000; use a marginalized"):
        loocv.GramSpectrum.of(np.broadcast_to(0.0, (5001, 5001)), 1.0)


def test_the_score_of_a_filter_is_that_of_its_weights_without_each_point():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(7, 2))
    cross, square = (
        expected(Gaussian(1.0), X, X, w=Normal(0.2)),
        expected(Gaussian(1.0), X, X, Normal(0.2), Normal(0.2)),
    )
    found = loocv.spectral_score(cross, square, 1.0, lambda gamma: gamma / (gamma + 0.3))
    excess = []
    for i in range(7):
        rest = np.delete(np.arange(7), i)
        Q, equal = square[np.ix_(rest, rest)], np.full(6, 1 / 6)
        b = np.linalg.solve(Q + 0.3 * np.eye(6), Q @ equal)
        excess.append(b @ Q @ b - 2 * cross[i, rest] @ b)
    assert found.excess == pytest.approx(np.mean(excess), rel=1e-11)
    assert found.constant == 1.0


@pytest.mark.parametrize("tile", [1, 4, 512])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_means_leave_the_diagonal_out_whatever_the_tiles(monkeypatch, tile, alpha):
    monkeypatch.setattr(sys.modules["kernelmean.embedding.score"], "_TILE", tile)
    X, noise = np.random.default_rng(2).normal(size=(9, 2)), Normal(0.2)
    found = means(Gaussian(1.0) + Linear(), X, noise, alpha)
    L, Q = expected(Gaussian(1.0) + Linear(), X, X, w=noise), expected(Gaussian(1.0) + Linear(), X, X, noise, noise)
    off = ~np.eye(9, dtype=bool)
    assert found.cross == pytest.approx(L[off].mean(), rel=1e-12)
    assert found.square == pytest.approx((1 - alpha) * Q[off].mean() + alpha * np.diag(Q).mean(), rel=1e-12)
    assert found.constant == pytest.approx(1.0 + (X**2).sum(axis=1).mean(), rel=1e-12)
