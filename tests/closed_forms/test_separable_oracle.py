"""Separable kernels under noise, against quadrature that knows nothing of their closed forms."""

import math
from functools import partial

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from kernelmean.expected import difference, fused_separable, separable_pairs, smoothed
from kernelmean.kernels import Gaussian, Laplacian, Matern, Wendland
from kernelmean.noise import IndependentSum, Laplace, Normal, Uniform

DRAWS = 12  # of the widths, and four differences for each
GRID = np.array([0, 2**-4, 2**-3, 0.25, 0.5, 1, 1.5, *range(2, 44, 2), 48, 56, 64, 80, 100])
NODES, WEIGHTS = leggauss(20)


def integral(f, kinks, scales):
    """∫ f by Gauss-Legendre panels, graded at every kink by every scale; f(centers, offsets) at their sums.

    For integrands that are positive, analytic between the kinks and vary on no other scales: error below 1e-12.
    """
    kinks = np.unique(kinks)
    gaps = np.concatenate([[np.inf], np.diff(kinks), [np.inf]])
    panels = []
    for i, center in enumerate(kinks):
        for side, reach in ((-1, gaps[i] / 2), (1, gaps[i + 1] / 2)):
            end = min(reach, GRID[-1] * max(scales))
            edges = np.unique(np.append(np.outer(scales, GRID).clip(max=end), end))
            offsets = (edges[1:] + edges[:-1])[:, None] / 2 + np.diff(edges)[:, None] / 2 * NODES
            weights = np.outer(np.diff(edges) / 2, WEIGHTS)
            panels.append((np.full(offsets.size, center), side * offsets.ravel(), weights.ravel()))
    centers, offsets, weights = map(np.concatenate, zip(*panels, strict=True))
    return weights @ f(centers, offsets)


def line(kernel):
    """Return the kernel of one column as a function of the difference."""
    return lambda gap: kernel(np.asarray(gap, dtype=float).reshape(-1, 1), np.zeros((1, 1)))[:, 0]


# The distributions of ε (one width) and of ε - ε' (two widths) on one axis: density, kinks, scales.


def normal(*widths):
    s = math.hypot(*widths)
    return lambda u: np.exp(-0.5 * (u / s) ** 2) / (s * math.sqrt(2 * math.pi)), [0.0], [s]


def laplace(a, b=0.0):
    a, b = max(a, b), min(a, b)
    if not b:
        return lambda u: np.exp(-np.abs(u) / a) / (2 * a), [0.0], [a]
    rate = (a - b) / a / b

    def density(u):
        u = np.abs(u)
        x = u * rate
        series = np.where(x < 1e-7, 1 - x / 2, -np.expm1(-x) / np.where(x == 0, 1, x))
        return np.exp(-u / a) / (2 * (a + b)) * (1 + u / a * series)

    return density, [0.0], [a, b]


def uniform(a, b=0.0):
    if not b:
        return lambda u: (np.abs(u) <= a) / (2 * a), [-a, a], [a]

    def density(u):
        u = np.abs(u)
        return np.maximum(np.minimum(2 * min(a, b), a + b - u), 0) / (4 * a * b)

    return density, [-a - b, -abs(a - b), abs(a - b), a + b], [a, b]


NOISES = {"normal": (lambda w: Normal(w**2), normal), "laplace": (Laplace, laplace), "uniform": (Uniform, uniform)}
KERNELS = {
    "gaussian": (Gaussian, lambda theta: ([0.0], [theta])),
    "laplacian": (Laplacian, lambda theta: ([0.0], [theta])),
    "matern-3/2": (partial(Matern, 1.5), lambda theta: ([0.0], [theta])),
    "matern-5/2": (partial(Matern, 2.5), lambda theta: ([0.0], [theta])),
    "matern-9/2": (partial(Matern, 4.5), lambda theta: ([0.0], [theta])),
    "wendland-0": (partial(Wendland, 0), lambda theta: ([-theta, 0.0, theta], [theta])),
    "wendland-2": (partial(Wendland, 2), lambda theta: ([-theta, 0.0, theta], [theta])),
}


def widths(rng, n):
    """Draw ``n`` widths: alike, nearly equal, up to 10³ or up to 10⁶ apart, or equal."""
    kind = rng.integers(5)
    if kind == 0:
        return 10 ** rng.uniform(-0.5, 0.5, n)
    if kind == 1:
        return 1 + 10 ** rng.uniform(-9, -0.3, n)
    if kind == 4:
        return np.full(n, 0.7)
    return 10 ** rng.uniform(-1, 1, n) * 10 ** (rng.uniform(-2.5, 2.5) * rng.permutation(np.eye(n)[0]) * (kind - 1))


def gaps(rng, scales):
    """Draw differences from zero to 40 of the largest width, and of each width near the sums of the others."""
    largest, each = max(scales), rng.choice(scales)
    return [
        0.0,
        rng.uniform(0, 3) * largest,
        rng.uniform(0, 40) * largest,
        abs(sum(scales) - each * rng.uniform(-3, 3)),
    ]


def check(smooth, plain, noise, parts, rng):
    """Compare at a few gaps: relative error 1e-10, 1e-8 for widths over 10³ apart; 1e-14 absolute below 1e-14."""
    density, noise_kinks, noise_scales = noise
    kernel_kinks, kernel_scales = parts
    ratio = max(*noise_scales, *kernel_scales) / min(*noise_scales, *kernel_scales)
    tolerance = 1e-10 if ratio < 1.1e3 else 1e-8
    for gap in gaps(rng, [*kernel_scales, *noise_scales]):

        def integrand(center, offset, gap=gap):
            return plain((gap - center) - offset) * density(center + offset)

        kinks = [*noise_kinks, *(gap - kink for kink in kernel_kinks)]
        truth = integral(integrand, kinks, [*kernel_scales, *noise_scales])
        value = smooth([gap])[0]
        if truth > 1e-14:
            assert value == pytest.approx(truth, rel=tolerance, abs=0), (gap, value, truth)
        else:
            assert abs(value - truth) <= 1e-14


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_noise_on_one_side(kernel, noise):
    rng = np.random.default_rng(1)
    for _ in range(DRAWS):
        theta, width = widths(rng, 2)
        plain = KERNELS[kernel][0](theta)
        make, law = NOISES[noise]
        check(line(smoothed(plain, make(width), 1)), line(plain), law(width), KERNELS[kernel][1](theta), rng)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_same_kind_of_noise_on_both_sides(kernel, noise):
    rng = np.random.default_rng(2)
    for _ in range(DRAWS):
        theta, left, right = widths(rng, 3)
        plain = KERNELS[kernel][0](theta)
        make, law = NOISES[noise]
        smooth = smoothed(plain, difference(make(left), make(right)), 1)
        check(line(smooth), line(plain), law(left, right), KERNELS[kernel][1](theta), rng)


MIXED = [
    (kernel, left, right)
    for kernel in KERNELS
    for left, right in [("normal", "laplace"), ("normal", "uniform"), ("laplace", "uniform")]
    if not (kernel.startswith("wendland") and {left, right} == {"normal", "laplace"})
]


@pytest.mark.parametrize(("kernel", "left", "right"), MIXED)
def test_different_noises_on_the_two_sides(kernel, left, right):
    """The left noise is the subject of the tests above, so the right one is integrated against its result."""
    rng = np.random.default_rng(3)
    for _ in range(DRAWS):
        theta, first, second = widths(rng, 3)
        plain = KERNELS[kernel][0](theta)
        (make_left, law_left), (make_right, law_right) = NOISES[left], NOISES[right]
        smooth = smoothed(plain, difference(make_left(first), make_right(second)), 1)
        half = line(smoothed(plain, make_left(first), 1))
        kinks, scales = KERNELS[kernel][1](theta)
        _, noise_kinks, noise_scales = law_left(first)
        kinks = {a + b for a in kinks for b in noise_kinks}
        check(line(smooth), half, law_right(second), (sorted(kinks), [*scales, *noise_scales]), rng)


PRODUCTS = {
    "gaussian-laplacian": lambda a, b: Gaussian(a) * Laplacian(b),
    "gaussian-matern": lambda a, b: Matern(2.5, a) * Gaussian(b),
    "gaussians-matern": lambda a, b: Gaussian(a) * (Matern(1.5, b) * Gaussian(2 * a)),
    "laplacian-matern": lambda a, b: Laplacian(a) * Matern(2.5, b),
    "matern-matern-laplacian": lambda a, b: Matern(1.5, a) * Matern(3.5, b) * Laplacian(a + b),
}


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_on_one_axis(name, noise):
    rng = np.random.default_rng(4)
    if "gaussian" in name and noise != "normal":
        with pytest.raises(TypeError, match="only under Normal"):
            smoothed(fused_separable(PRODUCTS[name](1.0, 2.0), 1), NOISES[noise][0](0.1), 1)
        return
    for _ in range(DRAWS):
        first, second, width = widths(rng, 3)
        plain = PRODUCTS[name](first, second)
        make, law = NOISES[noise]
        fused = fused_separable(plain, 1)
        grid = np.linspace(0, 5 * min(first, second), 7)
        np.testing.assert_allclose(line(fused)(grid), line(plain)(grid), rtol=1e-11)
        check(line(smoothed(fused, make(width), 1)), line(plain), law(width), ([0.0], [first, second]), rng)


def test_a_smoothed_kernel_times_a_gaussian_has_closed_forms_under_normal_noise():
    rng = np.random.default_rng(5)
    for _ in range(20):
        theta, bandwidth, first, second = widths(rng, 4)
        half = smoothed(Laplacian(theta), Uniform(first), 1)
        fused = fused_separable(half * Gaussian(bandwidth), 1)
        smooth = smoothed(fused, Normal(second**2), 1)
        check(line(smooth), line(fused), normal(second), ([-first, 0.0, first], [theta, bandwidth, first]), rng)


CASES = [
    (Gaussian((0.5, 2.0)), Laplace((0.3, 0.7))),
    (Gaussian(1.0), Uniform((0.3, 1.7))),
    (Gaussian(1.0), IndependentSum((Laplace(0.4), Uniform(0.8)))),
    (Laplacian((0.5, 2.0)), Normal.diagonal([0.3, 0.01])),
    (Laplacian(1.0), Laplace(1.0)),
    (Matern(1.5, 0.8), IndependentSum((Normal(0.2), Uniform(0.5)))),
    (Matern(2.5, (0.5, 2.0)), Laplace(0.6)),
    (Wendland(2, 1.5), Normal(np.diag([0.1, 0.4]))),
    (Wendland(0, (0.5, 3.0)), Uniform((0.4, 0.4))),
    (fused_separable(Matern(1.5, 1.0) * Gaussian(2.0), 2), Normal(0.3)),
]


@pytest.mark.parametrize(("kernel", "noise"), CASES, ids=str)
class TestLaws:
    X = np.random.default_rng(0).normal(size=(30, 2))
    Y = np.random.default_rng(1).normal(size=(20, 2))

    def test_diagonal_and_blocks_agree_with_the_whole(self, kernel, noise):
        smooth = smoothed(kernel, noise, 2)
        gram = smooth(self.X, self.Y)
        np.testing.assert_allclose(smooth.blocks(self.X, self.Y)(slice(3, 9), slice(1, 4)), gram[3:9, 1:4], rtol=1e-14)
        np.testing.assert_allclose(smooth.diag(self.X), np.diagonal(smooth(self.X, self.X)), rtol=1e-14)

    def test_shift_invariant(self, kernel, noise):
        smooth = smoothed(kernel, noise, 2)
        shifted = smooth(self.X + 1e6, self.Y + 1e6)
        np.testing.assert_allclose(shifted, smooth(self.X, self.Y), rtol=1e-7, atol=1e-8)

    def test_axes_multiply(self, kernel, noise):
        axes = [column_of(kernel, j) for j in (0, 1)]
        columns = [
            smoothed(axis, noise.columns((j,)), 1)(self.X[:, [j]], self.Y[:, [j]]) for j, axis in enumerate(axes)
        ]
        np.testing.assert_allclose(smoothed(kernel, noise, 2)(self.X, self.Y), columns[0] * columns[1], rtol=1e-12)

    def test_smoothing_twice_is_smoothing_by_the_sum(self, kernel, noise):
        more = next(term for term in (Normal(0.05), Laplace(0.2)) if works(kernel, noise, term))
        twice = smoothed(smoothed(kernel, noise, 2), more, 2)
        at_once = smoothed(kernel, difference(noise, more), 2)
        np.testing.assert_allclose(twice(self.X, self.Y), at_once(self.X, self.Y), rtol=1e-12)

    def test_average_over_draws(self, kernel, noise):
        smooth = smoothed(kernel, noise, 2)
        draws = noise.sample(np.tile(self.X[:1], (40_000, 1)), np.random.default_rng(2))
        values = kernel(draws, self.Y[:4])
        error = values.std(axis=0) / math.sqrt(len(draws))
        assert (np.abs(values.mean(axis=0) - smooth(self.X[:1], self.Y[:4])[0]) < 4 * error).all()


@pytest.mark.parametrize(
    ("kernel", "noise"), [case for case in CASES if not isinstance(case[1], IndependentSum)], ids=str
)
def test_noise_on_both_sides_leaves_a_kernel(kernel, noise):
    """One side is not enough: the characteristic function of a uniform variable has negative values."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    gram = smoothed(kernel, difference(noise, noise), 2)(X, X)
    np.testing.assert_allclose(gram, gram.T, rtol=1e-13)
    assert np.linalg.eigvalsh(gram).min() > -1e-13 * len(gram)
    assert (gram - np.diag(np.diagonal(gram))).max() < gram[0, 0] <= 1


def column_of(kernel, j):
    if hasattr(kernel, "kernel"):
        return type(kernel)(kernel.kernel, kernel.noises)
    fields = {name: getattr(kernel, name) for name in kernel.__dataclass_fields__}
    if np.ndim(fields["bandwidth"]):
        fields["bandwidth"] = fields["bandwidth"][j]
    return type(kernel)(**fields)


def works(kernel, noise, more):
    try:
        smoothed(smoothed(kernel, noise, 2), more, 2)
    except TypeError:
        return False
    return True


@pytest.mark.parametrize("make", [lambda w: Normal(w**2), Laplace, Uniform], ids=["normal", "laplace", "uniform"])
@pytest.mark.parametrize("name", KERNELS)
def test_vanishing_noise_is_no_noise(name, make):
    kernel = KERNELS[name][0](0.7)
    grid = np.linspace(0, 3, 50)
    for width in (1e-3, 1e-6, 1e-12, 1e-100):
        np.testing.assert_allclose(
            line(smoothed(kernel, make(width), 1))(grid), line(kernel)(grid), rtol=0, atol=4 * width + 1e-14
        )
    np.testing.assert_array_equal(
        line(smoothed(kernel, make(0.0), 1))(grid), line(smoothed(kernel, IndependentSum((make(0.0),)), 1))(grid)
    )


def test_a_missing_closed_form_says_what_stands_in_the_way():
    both = smoothed(Matern(1.5, 1.0), Normal(0.1), 2)
    cases = [
        (smoothed(both, Uniform(0.1), 2), Uniform(0.2), "only when the compact part is one Uniform noise"),
        (smoothed(Wendland(2, 1.0), Normal(0.1), 2), Laplace(0.1), "or a Wendland kernel"),
        (both, Normal(np.array([[1.0, 0.3], [0.3, 0.5]])), "independent between"),
        (both, Normal.isotropic([0.1, 0.2]), "one covariance per point"),
    ]
    for kernel, noise, text in cases:
        with pytest.raises(TypeError, match=text) as caught:
            smoothed(kernel, noise, 2)
        assert "noise.Sampled(" in str(caught.value)
    for product in (Wendland(0, 1.0) * Laplacian(1.0), smoothed(Laplacian(1.0), Normal(0.1), 2) * Laplacian(1.0)):
        with pytest.raises(TypeError, match="not of this product"):
            fused_separable(product, 2)


def test_the_table_of_pairs_is_complete():
    pairs = separable_pairs()
    assert {noise for _, noise in pairs} == {Normal, Laplace, Uniform}
    assert {Gaussian, Laplacian, Matern, Wendland} < {kernel for kernel, _ in pairs}


def test_smoothed_kernels_are_values():
    smooth = smoothed(Laplacian(1.0), Normal(0.5), 2)
    assert smooth == smoothed(Laplacian(1.0), Normal(0.5), 2) != smoothed(Laplacian(1.0), Normal(0.6), 2)
    assert repr(smoothed(smooth, Laplace(0.1), 2)) == (
        "SmoothedSeparable(Laplacian(bandwidth=1.0), Normal(0.5), Laplace(scale=0.1))"
    )
    with pytest.raises(ValueError, match="made for 3 columns, the data have 2"):
        smoothed(smooth, Laplace([0.1, 0.2, 0.3]), 2)
