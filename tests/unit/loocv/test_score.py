import math

import numpy as np
import pytest

from kernelmean.loocv import Score
from kernelmean.loocv.means import Means
from kernelmean.loocv.score import Terms, diagonal_share


def test_order_is_that_of_the_excess_where_values_are_equal():
    scores = [Score(1.0, -1, -3.0), Score(1.0, -1, -500.0), Score(1.0, 0, -math.inf), Score.of(1e-200, 1.0)]
    assert sorted([scores[k] for k in (2, 0, 3, 1)], key=lambda score: score.key) == scores
    assert scores[1] < scores[2] < scores[3]
    assert scores[1].value == scores[3].value


def test_excess_beyond_floating_point_is_zero_or_infinite():
    assert Score(1.0, -1, -800.0).excess == 0.0
    assert Score(1.0, 1, 800.0).excess == math.inf


@pytest.mark.parametrize("scale", [1.0, 0.4, 0.0, None])
@pytest.mark.parametrize(("cross", "square"), [(0.3, 0.5), (0.5, 0.3), (0.2, 0.9), (0.5, 1.0)])
def test_terms_and_means_are_the_same_arithmetic(scale, cross, square):
    terms = Terms(math.log(cross), math.log(square), np.zeros(1), np.zeros(1))
    a = min(cross / square, 1.0) if scale is None else scale
    expected = 1 - 2 * a * cross + a * a * square
    assert terms.score(scale).value == pytest.approx(expected, rel=1e-14)
    assert Means(1.0, cross, square).score(scale).value == pytest.approx(expected, rel=1e-14)
    assert terms.best_scale(scale) == pytest.approx(a, rel=1e-14)


def test_diagonal_share():
    assert diagonal_share(5, "loocv") == 0.25
    assert diagonal_share(5, "risk") == 0.2
    with pytest.raises(ValueError, match="at least two"):
        diagonal_share(1, "loocv")
