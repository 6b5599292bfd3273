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


def test_values_at_the_ends_are_not_asked_for_again():
    asked = []

    def slope(u):
        asked.append(u.copy())
        return u - np.array([0.3, 2.0])

    low, high = np.zeros(2), np.ones(2)
    found = rising_roots(slope, low, high, (slope(low), slope(high)))
    np.testing.assert_allclose(found, [0.3, 1.0], rtol=1e-11)
    assert all((u != low).any() and (u != high).any() for u in asked[2:])
