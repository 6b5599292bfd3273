import numpy as np
import pytest
from numpy.polynomial import Chebyshev
from scipy.integrate import quad
from sklearn.base import clone

from kernelmean.estimators import Cutoff, IteratedRidge, KernelMean, Landweber, NuMethod, Ridge, Scale, as_filter
from kernelmean.estimators.loocv import leave_one_out
from kernelmean.kernels import Gaussian, Wendland
from kernelmean.noise import Normal

X = np.linspace(1e-3, 1.0, 200)
WEAK = [  # a strength at which each filter leaves nearly all of the larger eigenvalues
    (Scale(), 1e-9),
    (Ridge(), 1e-9),
    (IteratedRidge(3), 1e-3),
    (Landweber(1.5), 400),
    (NuMethod(1.0), 200),
    (Cutoff(), 1e-2),
]


@pytest.mark.parametrize(("filter_", "strength"), WEAK)
def test_weak_filters_invert(filter_, strength):
    np.testing.assert_allclose(filter_.factor(X, strength)[X > 0.1], 1.0, atol=2e-3)


@pytest.mark.parametrize(("filter_", "strength"), [*WEAK, (Ridge(), 1.0), (IteratedRidge(2), 1.0), (Landweber(), 3)])
def test_factors_shrink(filter_, strength):
    factor = filter_.factor(np.append(0.0, X), strength)
    assert (factor >= 0).all()
    assert (factor[0] == 0) or isinstance(filter_, Scale)
    assert (np.diff(factor) >= -2e-2).all()


@pytest.mark.parametrize("strength", [0.01, 1.0])
def test_iterated_ridge_is_the_printed_filter(strength):
    t = 3
    printed = ((X + strength) ** t - strength**t) / (X * (X + strength) ** t)
    np.testing.assert_allclose(IteratedRidge(t).factor(X, strength), X * printed, rtol=1e-10)
    np.testing.assert_allclose(IteratedRidge(1).factor(X, strength), Ridge().factor(X, strength), rtol=1e-12)


def test_landweber_is_the_printed_filter():
    np.testing.assert_allclose(Landweber(0.9).factor(X, 7), 1 - (1 - 0.9 * X) ** 7, rtol=1e-10)


# -- the ν-method: coefficients from memory, checked by what determines them ------------------------------------------


@pytest.mark.parametrize("t", [1, 2, 5, 20])
def test_half_order_is_chebyshev(t):
    root = np.sqrt(X)
    residual = (-1) ** t * Chebyshev.basis(2 * t + 1)(root) / ((2 * t + 1) * root)
    np.testing.assert_allclose(1 - NuMethod(0.5).factor(X, t), residual, atol=1e-13)


@pytest.mark.parametrize("nu", [0.5, 1.0, 2.0])
def test_residual_polynomials_are_orthogonal(nu):
    """On [0, 1] with the weight x^{2ν-1/2} (1-x)^{-1/2}; with degree and value 1 at 0 this determines them."""

    def product(s, t):
        def integrand(angle):
            x = np.sin(angle) ** 2
            residuals = [1 - NuMethod(nu).factor(np.array([x, 1.0]), k)[0] if k else 1.0 for k in (s, t)]
            return np.prod(residuals) * x ** (2 * nu - 0.5) * 2 * np.sin(angle)  # (1-x)^{-1/2} dx = 2 sin da

        return quad(integrand, 0, np.pi / 2, epsabs=1e-13)[0]

    for s, t in [(0, 1), (0, 3), (1, 2), (2, 5)]:
        assert abs(product(s, t)) < 1e-10 * np.sqrt(product(s, s) * product(t, t)) + 1e-13


@pytest.mark.parametrize("nu", [0.5, 1.0, 2.0])
def test_residuals_fall_with_order_two_nu(nu):
    worst = [np.abs(X**nu * (1 - NuMethod(nu).factor(X, t))).max() * t ** (2 * nu) for t in (16, 64, 256)]
    assert max(worst) < 1.4 * worst[0]
    landweber = np.abs(X**nu * (1 - Landweber(1.0).factor(X, 256))).max() * 256 ** (2 * nu)
    assert landweber > 3 * worst[-1]


# -- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("filter_", "strength"), [*WEAK, (Ridge(), 0.3), (Landweber(), 4), (NuMethod(), 3)])
def test_weights_are_the_filter_of_the_matrix(filter_, strength):
    points = np.random.default_rng(0).normal(size=(8, 2))
    K = np.exp(-0.5 * ((points[:, None] - points) ** 2).sum(-1))
    values, vectors = np.linalg.eigh(K)
    expected = vectors @ (filter_.factor(values, strength) * vectors.mean(axis=0))
    np.testing.assert_allclose(filter_.weights(K, strength), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: IteratedRidge(0), "times is 0"),
        (lambda: Landweber(2.0), "larger steps diverge"),
        (lambda: NuMethod(0.0), "positive number"),
        (lambda: Landweber().factor(X, 2.5), "an integer ≥ 1"),
        (lambda: as_filter("tikhonov"), "write None, 'scale', 'ridge'"),
    ],
)
def test_errors_say_what_to_write(make, text):
    with pytest.raises(ValueError, match=text):
        make()


ROWS = {
    "normal": np.random.default_rng(3).normal(size=(9, 2)),
    "three rows": np.array([[0.0], [0.7], [0.9]]),
    "all alike": np.ones((4, 1)),
    "two clusters": np.repeat([[0.0], [50.0]], 3, axis=0),
    "one row far away": np.append(np.linspace(0.0, 1.0, 5), 1e3)[:, None],
}


@pytest.mark.parametrize("filter_", [Landweber(), Landweber(1.7), NuMethod(), NuMethod(0.5)])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("noise", [None, Normal(0.2)])
def test_the_score_of_iterations_is_that_of_refitting_without_each_row_step_and_all(filter_, name, noise):
    X = ROWS[name]
    for kernel in (Gaussian(1.0), Wendland(2, 1.5)) if noise is None else (Gaussian(1.0),):
        for steps in (1, 5):
            estimator = KernelMean(kernel, noise=noise, filter=filter_, strength=steps)
            expected = leave_one_out(lambda rest, own=estimator: clone(own).fit(X[rest]).embedding_, X)
            assert clone(estimator).fit(X).loocv_ == pytest.approx(expected, rel=1e-9, abs=1e-14)


@pytest.mark.slow
def test_the_searched_number_of_iterations_has_the_smallest_score_of_refitting():
    X = ROWS["normal"]
    found = KernelMean(Gaussian(1.0), filter=Landweber()).fit(X)
    scores = [
        leave_one_out(
            lambda rest, t=t: KernelMean(Gaussian(1.0), filter=Landweber(), strength=t).fit(X[rest]).embedding_, X
        )
        for t in range(1, 101)
    ]
    assert found.strength_ == 1 + int(np.argmin(scores))
