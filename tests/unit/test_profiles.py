"""The one-dimensional closed forms, against the same densities in arithmetic of many digits."""

import math
from fractions import Fraction
from itertools import pairwise, product

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad

from exact import Law
from kernelmean.expected import SmoothedSeparable, profiles, smooth_separable
from kernelmean.expected.profiles.exponential import _product_of_powers, horner, product_of_densities
from kernelmean.expected.profiles.half_line import body_moments, tail_moments
from kernelmean.expected.profiles.spline import Knot, lower_gammas
from kernelmean.kernels import Laplacian
from kernelmean.noise import Dirac, IndependentSum, Laplace, Normal


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(80):
        yield


def power(scale, m):
    """Return the law with characteristic function (1 + b²ω²)^{-m}."""
    return profiles.LaplacePowers(scale, (0.0,) * (m - 1) + (1.0,))


def exact_power_density(m, scale, gap):
    """The Bessel-function form of the same density."""
    x = mp.mpf(gap) / scale
    if not x:
        return mp.gamma(m - mp.mpf(1) / 2) / (2 * mp.sqrt(mp.pi) * mp.gamma(m) * scale)
    return (x / 2) ** (m - mp.mpf(1) / 2) * mp.besselk(m - mp.mpf(1) / 2, x) / (mp.sqrt(mp.pi) * mp.gamma(m) * scale)


def relative_error(values, truths):
    return max(abs(float(mp.mpf(float(v)) / t - 1)) for v, t in zip(values, truths, strict=True))


class TestHalfLine:
    Z = np.concatenate([[0.0, 1e-8, 1.0, 3.0, 40.0], 10 ** np.random.default_rng(0).uniform(-3, 3, 20)])

    @pytest.mark.parametrize("order", [0, 1, 2, 3, 5, 9, 15])
    def test_tail_moments_have_full_relative_accuracy(self, order):
        for k in {0, order // 2, order}:
            values = tail_moments(self.Z, [float(j == k) for j in range(order + 1)])
            truths = [mp.gamma(k + 1) * mp.exp(mp.mpf(z) ** 2 / 4) * mp.pcfd(-k - 1, z) for z in self.Z]
            assert relative_error(values, truths) < 2e-13

    def test_far_out_the_moments_are_factorials_over_powers(self):
        z = np.array([1e8, 1e150])
        for k, factorial in enumerate([1, 1, 2, 6]):
            np.testing.assert_allclose(
                tail_moments(z, [0.0] * k + [1.0], 1e8), factorial * (1e8 / z) ** k / z, rtol=1e-13, atol=1e-320
            )

    def test_body_moments(self):
        z = np.array([0.0, 0.3, 5.0, 100.0])
        for k in range(5):
            values = body_moments(z, 0.5 * z, [float(j == k) for j in range(5)], 0.5)
            truths = [
                mp.gamma(k + 1) / 2**k * mp.exp(-(mp.mpf(x) ** 2) / 4) * mp.pcfd(-k - 1, -x) / mp.sqrt(2 * mp.pi)
                for x in z
            ]
            assert relative_error(values, truths) < 1e-14

    def test_lower_gammas(self):
        x = np.array([1e-9, 0.1, 1.0, 20.0, 1e5])
        for k, values in enumerate(lower_gammas(x, 6), start=1):
            assert relative_error(values, [mp.gammainc(k, 0, t) for t in x]) < 1e-14


class TestExponential:
    @pytest.mark.parametrize("m", [1, 2, 3, 6, 12])
    def test_power_of_the_laplace_law(self, m):
        gaps = [0.0, 0.01, 1.0, 7.0, 40.0]
        assert (
            relative_error(
                power(0.7, m).density(np.array(gaps)), [exact_power_density(m, mp.mpf(0.7), t) for t in gaps]
            )
            < 1e-13
        )

    @pytest.mark.parametrize("powers", [(1, 1), (2, 1), (3, 2), (1, 1, 1), (3, 1, 1), (11, 2)], ids=str)
    def test_sums_of_near_and_far_scales(self, powers):
        """All of partial fractions, positive mixtures and both at once."""
        rng = np.random.default_rng(0)
        factors = [1e-9, 1e-4, 0.02, 0.3, 1.0, 50.0, 1e6]
        for _ in range(25):
            scales = np.cumprod(1 + np.append(0, rng.choice(factors, len(powers) - 1)))[rng.permutation(len(powers))]
            gaps = np.append(0.0, scales.max() * 10 ** rng.uniform(-3, 1.6, 3))
            laws = profiles.sum_of_powers(power(float(b), m) for b, m in zip(scales, powers, strict=True))
            values = sum(law.density(gaps) for law in laws)
            truths = exact_sum(scales, powers, gaps)
            assert relative_error(values, truths) < 1e-11

    def test_equal_scales_add_their_powers(self):
        assert profiles.sum_of_powers([power(0.5, 2), power(0.5, 1)]) == (power(0.5, 3),)

    def test_products_of_densities_are_positive_mixtures(self):
        gaps = np.linspace(0, 10, 11)
        for m, n, b in product([1, 3, 6], [1, 2, 5], [1.0, 0.3, 1e-4]):
            mass, law = product_of_densities(power(1.0, m), power(b, n))
            assert min(law.weights) >= 0
            assert sum(law.weights) == pytest.approx(1, rel=1e-14)
            at = gaps * min(1, b)
            np.testing.assert_allclose(
                mass * law.density(at), power(1.0, m).density(at) * power(b, n).density(at), rtol=1e-12
            )


def exact_sum(scales, powers, gaps):
    """Partial fractions with so many digits that their cancellation does not matter."""
    with mp.workdps(260):
        terms = {(mp.mpf(scales[0]), powers[0]): mp.mpf(1)}
        for b, j in zip(map(mp.mpf, scales[1:]), powers[1:], strict=True):
            new = {}
            for (a, i), weight in terms.items():
                gap = 1 - (b / a) ** 2
                ratio = (b / a) ** 2 / gap
                for m in range(i):
                    term = weight * (-ratio) ** m * mp.binomial(j + m - 1, m) / gap**j
                    new[a, i - m] = new.get((a, i - m), 0) + term
                for m in range(j):
                    term = weight * (-ratio) ** i * mp.binomial(i + m - 1, m) / gap**m
                    new[b, j - m] = new.get((b, j - m), 0) + term
            terms = new
        return [sum(w * exact_power_density(m, a, t) for (a, m), w in terms.items()) for t in gaps]


class TestSpline:
    def test_wendland_kernels(self):
        r = np.linspace(0, 1.2, 13)
        for order, formula in ((0, np.maximum(1 - r, 0)), (2, np.maximum(1 - r, 0) ** 3 * (3 * r + 1))):
            mass = 1.0 if order == 0 else 0.8
            np.testing.assert_allclose(mass * 1.3 * profiles.wendland(order, 1.3)(1.3 * r), formula, atol=1e-15)

    @pytest.mark.parametrize("widths", [(0.3, 1.7), (1e-6, 1.0), (1.0, 1.0 + 1e-9), (1e6, 0.4)], ids=str)
    def test_convolutions_are_exact(self, widths):
        first, second = map(Fraction, widths)
        law = profiles.box(widths[0]).plus_box(widths[1])
        outer, inner = first + second, abs(first - second)
        for place in (0.0, 0.3, 0.5, 0.999999):
            gap = float(inner) + place * float(outer - inner)
            truth = min(2 * min(first, second), outer - Fraction(gap)) / (4 * first * second)
            assert law(np.array([gap]))[0] == pytest.approx(float(truth), rel=1e-14)
        assert law(np.array([1.0001 * float(outer)]))[0] == 0

    def test_pieces_join_and_have_mass_one(self):
        law = profiles.wendland(2, 1.3).plus_box(0.123).plus_box(1.7)
        for left, right in zip(law.pieces[:-1], law.pieces[1:], strict=True):
            assert left.stop == right.start
            assert left.from_stop[0] == pytest.approx(right.from_start[0], abs=1e-16)
        mass = sum(p.width * sum(c / (k + 1) for k, c in enumerate(p.from_stop)) for p in law.pieces)
        assert mass == pytest.approx(1, rel=1e-14)


def survival(m, scale, deviation, gap):
    """P(V + s Z > gap) for a power of the Laplace law, by moments of half a Gaussian."""
    u, tau = mp.mpf(deviation) / scale, mp.mpf(gap) / deviation
    q = [mp.factorial(2 * m - 2 - k) * 2**k * mp.binomial(m - 1, k) for k in range(m)]
    q = [c / (2 ** (2 * m - 1) * mp.factorial(m - 1) ** 2) for c in q]
    tail = [sum(q[i] * mp.factorial(i) / mp.factorial(k) for i in range(k, m)) for k in range(m)]

    def moments(z):
        values = [mp.sqrt(mp.pi / 2) * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2))]
        values.append(1 - z * values[0])
        for k in range(1, m):
            values.append(k * values[k - 1] - z * values[k])
        return values

    both = zip(tail, moments(u - tau), moments(u + tau), strict=False)
    return mp.erfc(tau / mp.sqrt(2)) / 2 + mp.npdf(tau) * sum(r * u**k * (a - b) for k, (r, a, b) in enumerate(both))


@pytest.mark.parametrize("trials", [20, pytest.param(100, marks=pytest.mark.slow)])
def test_all_three_kinds_of_variables_at_once(trials):
    rng = np.random.default_rng(0)
    for trial in range(trials):
        m, (deviation, halfwidth) = int(rng.integers(1, 5)), 10 ** rng.uniform(-3, 3, 2)
        profile = profiles.Profile(1.0, deviation**2, (power(1.0, m),), profiles.box(halfwidth))
        widest = max(deviation, halfwidth, 1.0)
        gaps = [0.0, rng.uniform(0, 5) * widest, abs(halfwidth + rng.uniform(-3, 3) * min(deviation, 1.0))]
        with mp.workdps(400 if min(deviation, halfwidth) < 0.05 or widest > 20 else 120):
            s = mp.sqrt(mp.mpf(deviation**2))
            ends = [[mp.mpf(gap) + sign * mp.mpf(halfwidth) for sign in (-1, 1)] for gap in gaps]
            truths = [(survival(m, 1, s, a) - survival(m, 1, s, b)) / (2 * mp.mpf(halfwidth)) for a, b in ends]
        for gap, truth in zip(gaps, truths, strict=True):
            if truth > 1e-14 * truths[0]:
                value = profile(np.array([gap]))[0]
                assert value == pytest.approx(float(truth), rel=3e-12), (trial, gap)


@pytest.mark.parametrize("variance", [1e-14, 1e-20, 1e-28])
@pytest.mark.parametrize("halfwidth", [1e-2, 1e-5, 1e-8, 1e-11])
def test_a_narrow_box_with_a_narrower_normal_keeps_its_digits(variance, halfwidth):
    profile = profiles.Profile(1.0, variance, (power(1.0, 1),), profiles.box(halfwidth))
    factor = np.sinh(halfwidth) / halfwidth * np.exp(variance / 2)
    assert profile(np.array([1.0]))[0] == pytest.approx(factor * np.exp(-1) / 2, rel=1e-14)


@pytest.mark.parametrize(("ratio", "i", "j"), [(1.02, 2, 1), (1.1, 4, 1), (1.3, 4, 4), (1.6, 4, 4)])
def test_laws_of_nearly_equal_scales_keep_their_digits_in_the_tail(ratio, i, j):
    """The mixture over scales varies by e^{-t/c}: 9 nodes were right at t = 30 and wrong by a tenth at t = 650."""
    profile = profiles.Profile(1.0, exponentials=(power(1.0, j), power(ratio, i)))
    truth = Law().plus_laplace(1.0, j).plus_laplace(ratio, i)
    for gap in (0.0, 1.0, 30.0, 200.0, 650.0):
        assert profile(np.array([gap]))[0] == pytest.approx(float(truth(gap)), rel=1e-12)


def test_a_polynomial_of_one_coefficient_is_constant():
    assert horner((2.0,), np.zeros(3)).tolist() == [2.0, 2.0, 2.0]
    np.testing.assert_array_equal(horner((1.0, 2.0, 3.0), np.array([0.0, 2.0])), [1.0, 17.0])


PROFILES = {
    "gaussian": profiles.Profile(math.sqrt(2 * math.pi) * 0.8, variance=0.64),
    "laplacian": profiles.Profile(2.0, exponentials=(power(1.0, 1),)),
    "matern": profiles.Profile(1.4, exponentials=(power(0.7, 3),)),
    "wendland": profiles.Profile(0.8 * 1.5, spline=profiles.wendland(2, 1.5)),
    "triangle": profiles.Profile(1.5, spline=profiles.wendland(0, 1.5)),
}
GAPS = np.array([0.0, 0.3, 1.0, 2.5])


def smoothed_by_quadrature(profile, density, half, gap):
    breaks = sorted({x for k in (-1.5, 0.0, 1.5) if abs(x := gap + k) < half} | {0.0})
    return quad(lambda t: profile(np.array([abs(gap - t)]))[0] * density(t), -half, half, points=breaks, epsabs=1e-13)[
        0
    ]


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("scale", [0.2, 1.3])
def test_every_noise_smooths_as_quadrature_does(name, scale):
    profile = PROFILES[name]
    laws = {
        "plus_normal": (
            scale**2,
            lambda t: math.exp(-0.5 * (t / scale) ** 2) / math.sqrt(2 * math.pi) / scale,
            9 * scale,
        ),
        "plus_laplace": (scale, lambda t: math.exp(-abs(t) / scale) / (2 * scale), 40 * scale),
        "plus_box": (scale, lambda t: 1 / (2 * scale), scale),
    }
    for method, (parameter, density, half) in laws.items():
        truth = [smoothed_by_quadrature(profile, density, half, gap) for gap in GAPS]
        np.testing.assert_allclose(getattr(profile, method)(parameter)(GAPS), truth, rtol=1e-9, err_msg=method)


@pytest.mark.parametrize("factors", [("gaussian", "gaussian"), *product(["gaussian"], list(PROFILES)[1:])])
def test_products_with_gaussians_are_products_also_under_normal_noise(factors):
    first, second = (PROFILES[name] for name in factors)
    both = profiles.product_of_profiles([first, second])
    np.testing.assert_allclose(both(GAPS), first(GAPS) * second(GAPS), rtol=1e-12)
    thrice = profiles.product_of_profiles([first, both, first])
    np.testing.assert_allclose(thrice(GAPS), first(GAPS) ** 3 * second(GAPS), rtol=1e-12)
    for scale in (0.2, 1.3):
        density = lambda t, s=scale: math.exp(-0.5 * (t / s) ** 2) / math.sqrt(2 * math.pi) / s  # noqa: E731
        truth = [smoothed_by_quadrature(both, density, 9 * scale, gap) for gap in GAPS]
        np.testing.assert_allclose(both.plus_normal(scale**2)(GAPS), truth, rtol=1e-8)
        halves = both.plus_normal(scale**2 / 2).plus_normal(scale**2 / 2)
        np.testing.assert_allclose(halves(GAPS), truth, rtol=1e-8)
    assert both.plus_box(0.0) == both == both.plus_laplace(0.0)


def test_products_of_matern_kernels_are_products():
    first, second = PROFILES["laplacian"], PROFILES["matern"]
    both = profiles.product_of_profiles([first, second])
    assert both.is_exponential
    np.testing.assert_allclose(both(GAPS), first(GAPS) * second(GAPS), rtol=1e-12)
    with_gaussian = profiles.product_of_profiles([first, PROFILES["gaussian"], second])
    np.testing.assert_allclose(with_gaussian(GAPS), both(GAPS) * PROFILES["gaussian"](GAPS), rtol=1e-12)
    again = profiles.product_of_profiles([with_gaussian, PROFILES["gaussian"]])
    np.testing.assert_allclose(again(GAPS), with_gaussian(GAPS) * PROFILES["gaussian"](GAPS), rtol=1e-12)


def test_products_that_have_no_form_are_refused():
    text = (
        "on one axis there are closed forms of products of Gaussian and Matérn kernels, and of Gaussians times one "
        "other kernel, not of this product"
    )
    for factors in (("wendland", "matern"), ("wendland", "triangle")):
        with pytest.raises(TypeError) as error:
            profiles.product_of_profiles([PROFILES[name] for name in factors])
        assert str(error.value) == text
    smooth = profiles.product_of_profiles([PROFILES["gaussian"], PROFILES["matern"]]).plus_normal(0.1)
    with pytest.raises(TypeError) as error:
        profiles.product_of_profiles([smooth, PROFILES["gaussian"]])
    assert str(error.value) == f"{text}; multiply first and smooth the product once"
    tilted = profiles.product_of_profiles([PROFILES["gaussian"], PROFILES["wendland"].plus_laplace(1.0)])
    with pytest.raises(TypeError, match="only when the compact part is one Uniform noise"):
        tilted.plus_normal(0.1)


def test_profiles_know_what_they_are():
    kinds = {name: (profile.is_gaussian, profile.is_exponential) for name, profile in PROFILES.items()}
    exponential, neither = (False, True), (False, False)
    assert kinds == {
        **{"gaussian": (True, False), "laplacian": exponential, "matern": exponential},
        **{"wendland": neither, "triangle": neither},
    }
    assert not PROFILES["matern"].plus_normal(1.0).is_exponential
    assert not PROFILES["matern"].plus_laplace(1.0).is_exponential
    assert not PROFILES["matern"].plus_box(1.0).is_exponential
    assert PROFILES["laplacian"].plus_laplace(1.0).is_exponential
    for profile in PROFILES.values():
        assert profile.plus_laplace(0.0) is profile
        assert profile.plus_box(0.0) is profile
    assert [
        spline.is_box for spline in (profiles.box(0.3), profiles.box(0.3).plus_box(0.2), profiles.wendland(2, 1.0))
    ] == [True, False, False]
    assert [
        spline.halfwidth for spline in (profiles.box(0.3), profiles.box(0.25).plus_box(0.5), profiles.wendland(2, 1.5))
    ] == [0.3, 0.75, 1.5]


@pytest.mark.parametrize(
    ("deviation", "halfwidth", "laws"),
    [
        (1.0, 0.3, [(1.0, 1)]),
        (1.0, 0.7, [(0.5, 3)]),
        (0.3, 1.0, [(1.0, 2)]),
        (0.3, 0.4, [(1.0, 1), (0.4, 2)]),
        (0.02, 1.0, [(1.0, 1)]),
        (0.02, 1.5, [(0.1, 3)]),
        (0.5, 4.0, [(0.2, 2), (0.1, 1)]),
    ],
)
def test_a_box_with_a_normal_and_laplace_powers_is_their_mean_over_the_box(deviation, halfwidth, laws):
    parts = tuple(sorted((power(scale, m) for scale, m in laws), key=lambda law: law.scale))
    smooth = profiles.Profile(1.3, deviation**2, parts)
    gaps = np.array([0.0, 0.3, halfwidth, halfwidth + 0.1, 3.0])
    found = profiles.Profile(1.3, deviation**2, parts, profiles.box(halfwidth))(gaps)
    truth = [
        quad(
            lambda t, gap=gap: smooth(np.array([abs(gap - t)]))[0],
            -halfwidth,
            halfwidth,
            points=sorted({min(max(gap + k * deviation, -halfwidth), halfwidth) for k in (-4, 0, 4)}),
            epsabs=1e-14,
            epsrel=1e-12,
            limit=200,
        )[0]
        / (2 * halfwidth)
        for gap in gaps
    ]
    np.testing.assert_allclose(found, truth, rtol=1e-9)


@pytest.mark.parametrize(
    "pair", [((1.0, 2), (0.5, 3)), ((1.0, 1), (0.995, 2)), ((1.0, 3), (0.9, 3)), ((0.2, 1), (1.0, 4))]
)
def test_sums_of_powers_of_two_scales_are_convolutions(pair):
    first, second = (power(scale, m) for scale, m in pair)
    both = profiles.Profile(1.0, exponentials=tuple(sorted((first, second), key=lambda law: law.scale)))

    def product_at(t, gap):
        return first.density(np.array([abs(gap - t)]))[0] * second.density(np.array([abs(t)]))[0]

    truth = [
        sum(
            quad(product_at, a, b, args=(gap,), epsabs=1e-14, limit=200)[0]
            for a, b in pairwise([-60.0, 0.0, gap, gap + 60.0])
        )
        for gap in GAPS
    ]
    np.testing.assert_allclose(both(GAPS), truth, rtol=1e-9)
    (i, a), (j, b) = ((m, scale) for scale, m in pair)
    assert sorted(_product_of_powers(a, i, b, j)) == sorted(_product_of_powers(b, j, a, i))


def test_knots_keep_what_rounding_leaves_of_them():
    knot = Knot.at(1, 3)
    assert knot.value + knot.rest == knot.value
    assert 0 < abs(Fraction(knot.value) + Fraction(knot.rest) - Fraction(1, 3)) < Fraction(1, 10**32)
    assert knot.minus(np.array([knot.value]))[0] == knot.rest
    assert knot.minus(np.array([0.25]))[0] == pytest.approx(1 / 12, rel=1e-16, abs=0.0)
    assert Knot.at(1, 2).rest == 0.0


def test_heights_of_products_are_those_of_their_factors():
    gaussian, matern = profiles.Profile(3.0, variance=0.64), PROFILES["matern"]
    both = profiles.product_of_profiles([gaussian, matern])
    np.testing.assert_allclose(both(GAPS), gaussian(GAPS) * matern(GAPS), rtol=1e-12)
    two = profiles.product_of_profiles([gaussian, profiles.Profile(0.5, variance=2.0)])
    np.testing.assert_allclose(two(GAPS), gaussian(GAPS) * profiles.Profile(0.5, variance=2.0)(GAPS), rtol=1e-12)


def test_products_of_mixtures_of_powers_are_products():
    first, second = profiles.LaplacePowers(0.7, (0.2, 0.5, 0.3)), profiles.LaplacePowers(1.3, (0.6, 0.4))
    mass, law = product_of_densities(first, second)
    np.testing.assert_allclose(mass * law.density(GAPS), first.density(GAPS) * second.density(GAPS), rtol=1e-12)
    assert law.scale == pytest.approx(1 / (1 / 0.7 + 1 / 1.3), rel=1e-15)
    assert sum(law.weights) == pytest.approx(1.0, rel=1e-15)


def test_a_sum_of_noises_smooths_as_each_of_them_does():
    kernel = SmoothedSeparable(Laplacian(0.8), (Normal(0.1),))
    both = smooth_separable(kernel, IndependentSum((Laplace(0.3), Dirac(), Normal(0.2))), 2)
    assert both.noises == (Normal(0.1), Laplace(0.3), Normal(0.2))
    X = np.random.default_rng(0).normal(size=(4, 2))
    each = smooth_separable(smooth_separable(kernel, Laplace(0.3), 2), Normal(0.2), 2)
    np.testing.assert_allclose(both(X, X), each(X, X), rtol=1e-13)
