"""What closed forms on one axis are put together from: powers of mixtures, panels of a box, pieces of a spline."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from exact import Law
from kernelmean.expected import profiles

GAPS = np.array([0.0, 0.3, 1.0, 2.5, 20.0])


def density_of_sum(*laws):
    return sum(law.density(GAPS) for law in profiles.sum_of_powers(laws))


@pytest.mark.parametrize("scale", [0.5, 1.01, 2.0, 40.0])
def test_a_sum_of_mixtures_is_the_mixture_of_the_sums(scale):
    first, second = (0.2, 0.5, 0.3), (0.6, 0.4)
    expected = sum(
        w
        * v
        * density_of_sum(
            profiles.LaplacePowers(1.0, (0.0,) * i + (1.0,)), profiles.LaplacePowers(scale, (0.0,) * j + (1.0,))
        )
        for (i, w), (j, v) in product(enumerate(first), enumerate(second))
    )
    found = density_of_sum(profiles.LaplacePowers(1.0, first), profiles.LaplacePowers(scale, second))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("gap", [0.0, 0.004, 0.0099, 0.01, 0.0101, 0.03])
@pytest.mark.parametrize("deviation", [1e-5, 1e-3])
@pytest.mark.parametrize("scales", [(1.0,), (0.3, 1.0)], ids=["one law", "beside a narrower one"])
def test_panels_of_a_box_meet_at_the_rounded_peak_of_a_wide_law(scales, deviation, gap):
    profile = profiles.Profile(
        1.0, deviation**2, tuple(profiles.LaplacePowers(scale, (1.0,)) for scale in scales), profiles.box(0.01)
    )
    truth = Law().plus_normal(deviation**2).plus_box(0.01)
    for scale in scales:
        truth = truth.plus_laplace(scale)
    assert profile(np.array([gap]))[0] == pytest.approx(float(truth(gap)), rel=1e-13)


@pytest.mark.parametrize("deviation", [0.01, 0.2])
def test_the_mean_of_a_polynomial_over_a_normal_has_terms_of_every_degree(deviation):
    truth = Law().plus_normal(deviation**2)
    for halfwidth in (0.7, 0.8, 0.4):
        truth = truth.plus_box(halfwidth)
    profile = profiles.Profile(1.0, deviation**2, spline=profiles.box(0.7).plus_box(0.8).plus_box(0.4))
    gaps = [0.0, 0.2, 0.5, 1.1, 1.8]
    np.testing.assert_allclose(profile(np.array(gaps)), [float(truth(gap)) for gap in gaps], rtol=1e-12)


def spline(powers, divisor=1):
    return profiles.Spline(tuple((Fraction(x), tuple(map(Fraction, c))) for x, c in powers), Fraction(divisor))


def test_two_knots_or_steps_alone_make_no_box():
    parabola = spline([(-1, (0, 1.5, -1.5)), (1, (0, 1.5, 1.5))])
    steps = spline([(-2, (1,)), (-1, (1,)), (1, (-1,)), (2, (-1,))], 6)
    gaps = np.array([0.0, 0.5, 1.5])
    np.testing.assert_allclose(parabola(gaps), [0.75, 0.75 * 0.75, 0.0], rtol=1e-15)
    np.testing.assert_allclose(steps(gaps), [2 / 6, 2 / 6, 1 / 6], rtol=1e-15)
    assert [law.is_box for law in (parabola, steps, profiles.box(2.0))] == [False, False, True]


@pytest.mark.parametrize("scales", [(), (0.03,)], ids=["no law", "a narrow law"])
@pytest.mark.parametrize("unit", [0.1, 1.0, 10.0])
def test_far_out_a_narrow_box_under_a_normal_keeps_its_digits_in_any_unit(unit, scales):
    halfwidth, variance = 0.7 * unit, unit**2
    laws = tuple(profiles.LaplacePowers(scale * unit, (1.0,)) for scale in scales)
    truth = Law().plus_normal(variance).plus_box(halfwidth)
    for law in laws:
        truth = truth.plus_laplace(law.scale)
    gaps = unit * np.array([0.0, 5.0, 7.6, 7.8, 12.0, 20.0, 30.0])
    found = profiles.Profile(1.0, variance, laws, profiles.box(halfwidth))(gaps)
    np.testing.assert_allclose(found, [float(truth(gap)) for gap in gaps], rtol=1e-12)
