import numpy as np
import pytest

from kernelmean.loocv.masked import Masked, score_of
from kernelmean.loocv.ridge import LIMIT, Spectrum, check_size


def gram(n=7):
    X = np.random.default_rng(0).normal(size=(n, 2))
    return np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(-1))


def test_every_column_lives_without_its_point():
    K = gram()
    masked = Masked(K)
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
    assert score_of(np.zeros_like(K), K, K, 1.0).value == 1.0


def test_ridge_weights_from_the_spectrum():
    K = gram()
    weights = np.linalg.solve(K + 0.2 * np.eye(7), K.mean(axis=1))
    np.testing.assert_allclose(Spectrum.of(K, 1.0).weights(0.2), weights, rtol=1e-11)


def test_too_many_points_are_refused():
    with pytest.raises(ValueError, match=r"limit is 5000; use a marginalized"):
        check_size(LIMIT + 1)
