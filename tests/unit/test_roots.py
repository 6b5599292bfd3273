import numpy as np
import pytest

from kernelmean.core import rising_roots


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_roots_whatever_the_unit_of_the_slope(unit):
    targets = np.array([1e-9, 0.3, 0.999])
    found = rising_roots(lambda u: unit * np.tanh(3 * (u - targets)), np.zeros(3), np.ones(3))
    np.testing.assert_allclose(found, targets, atol=1e-10)


def test_an_end_where_the_slope_does_not_change_its_sign():
    slopes = np.array([1.0, -1.0, 0.0])
    np.testing.assert_array_equal(rising_roots(lambda u: slopes + 0 * u, np.zeros(3), np.ones(3)), [0, 1, 0])


def test_a_kink_is_found():
    found = rising_roots(lambda u: np.where(u < 0.25, -1.0, 1e6 * (u - 0.25)), np.zeros(1), np.ones(1))
    np.testing.assert_allclose(found, 0.25, atol=1e-6)
