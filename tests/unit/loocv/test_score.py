import math

import numpy as np
import pytest

from kernelmean.embedding import Means, Terms, diagonal_share
from kernelmean.estimators import Weighing, loocv
from kernelmean.kernels import Gaussian
from kernelmean.noise import Dirac


def test_order_is_that_of_the_excess_where_values_are_equal():
    scores = [
        loocv.Score(1.0, -1, -3.0),
        loocv.Score(1.0, -1, -500.0),
        loocv.Score(1.0, 0, -math.inf),
        loocv.Score.of(1e-200, 1.0),
    ]
    assert sorted([scores[k] for k in (2, 0, 3, 1)], key=lambda score: score.key) == scores
    assert scores[1] < scores[2] < scores[3]
    assert scores[1].value == scores[3].value


def test_excess_beyond_floating_point_is_zero_or_infinite():
    assert loocv.Score(1.0, -1, -800.0).excess == 0.0
    assert loocv.Score(1.0, 1, 800.0).excess == math.inf


def test_one_row_cannot_be_left_out():
    with pytest.raises(ValueError, match="1 row") as error:
        diagonal_share(1, "loocv")
    assert str(error.value) == "1 row was passed; leaving one out needs at least two"


def test_too_many_points_for_an_eigendecomposition_are_told_what_needs_none():
    assert Weighing(np.zeros((5000, 1)), Gaussian(1.0), Dirac()).n == 5000
    with pytest.raises(ValueError, match="5001 points") as error:
        Weighing(np.zeros((5001, 1)), Gaussian(1.0), Dirac())
    assert str(error.value) == (
        "5001 points need an eigendecomposition of an 5001 × 5001 matrix, the limit is 5000; use a marginalized "
        "estimator (noise='isotropic' or 'diagonal') or filter='scale', whose memory does not grow with n², "
        "or fit a random subsample"
    )


def test_scores_without_excess_are_equal_and_between_the_others():
    zero = loocv.Score(1.0, 0, -math.inf)
    assert zero.key == (0, 0.0)
    assert zero <= zero
    assert not zero < zero
    assert loocv.Score(1.0, -1, 3.0) < zero < loocv.Score(1.0, 1, -3.0)
    assert loocv.Score(1.0, 1, 709.9).excess == math.inf
    half = Terms(-math.log(2.0), 0.0, np.ones(1), np.ones(1))  # 2 L̄ = Q̄
    for scale in (0.0, 1.0):
        assert half.score(scale) == zero
    terms = Terms(-1.0, -0.5, np.array([0.3]), np.array([0.7]))
    np.testing.assert_array_equal(terms.slope(), terms.slope(1.0))
    np.testing.assert_array_equal(terms.log_slope(), terms.log_slope(1.0))
    assert terms.slope(2.0) != terms.slope(1.0)
    assert terms.log_slope(2.0) != terms.log_slope(1.0)


def test_where_the_points_are_orthogonal_the_best_scale_is_zero():
    assert Means(1.0, 0.0, 0.0).best_scale() == 0.0
