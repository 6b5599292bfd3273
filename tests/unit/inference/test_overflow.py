"""Kernels without a bound overflow on large data: that is said, and no p-value or norm is made of it."""

import numpy as np
import pytest

import kernelmean as km
from kernelmean.inference.null import Null
from kernelmean.kernels import Linear, Polynomial
from kernelmean.noise import Laplace, Normal

ADVICE = "divide the columns by their standard deviations"
X = 1e80 * np.random.default_rng(0).normal(size=(12, 2))
CUBIC = Polynomial(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda: km.mmd_test(X[:6], X[6:], kernel=CUBIC, n_resamples=19, rng=0),
        lambda: km.hsic_test(X[:, :1], X[:, 1:], kernel=CUBIC, n_resamples=19, rng=0),
        lambda: km.embed(X, CUBIC).norm(),
        lambda: km.estimators.SKMSE(CUBIC).fit(X),
        lambda: km.estimators.FKMSE(CUBIC).fit(X),
        lambda: CUBIC.diag(X),
        lambda: km.expected(CUBIC, X, X, Laplace(1.0)),
        lambda: km.expected(CUBIC, X, X, Normal([[2.0, 1.0], [1.0, 2.0]])),
    ],
    ids=["mmd", "hsic", "norm", "s-kmse", "f-kmse", "diag", "independent noise", "correlated noise"],
)
def test_a_polynomial_that_overflows_is_refused(call):
    with pytest.raises(ValueError, match="overflows") as error:
        call()
    assert str(error.value) == f"{CUBIC!r} overflows on data of this size; {ADVICE}"


def test_sums_of_products_that_overflow_are_refused():
    """Each Gram matrix holds 1e300, and HSIC multiplies two: p was 0."""
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(ValueError, match=r"is not a finite number: the kernels' values are too large"),
    ):
        km.hsic_test(1e70 * X[:, :1], 1e70 * X[:, 1:], kernel=Linear(), n_resamples=19, rng=0)


def test_a_null_distribution_holds_numbers():
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not a finite number") as error:
            Null(np.array([[1.0, bad]]), np.zeros(1), "MMD²", "random")
        assert str(error.value) == (
            f"MMD² is not a finite number: the kernels' values are too large to be summed; {ADVICE}"
        )


def test_a_kernel_of_zeros_has_no_best_strength():
    with pytest.raises(ValueError, match=r"k\(x, x\) is 0 at every point"):
        km.estimators.FKMSE(Linear()).fit(np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"k\(x, x\) is 0 at every point"):
        km.estimators.FKMSE(Polynomial(3, 0.0)).fit(1e-220 * X)


@pytest.mark.parametrize("unit", [1e-170, 1e-9, 1e170])
@pytest.mark.parametrize("estimator", ["kme", "adaptive"])
def test_two_samples_can_be_swapped_in_any_unit(unit, estimator):
    """Squares of such data overflow or vanish, and warned of it."""
    x, y = unit * np.random.default_rng(1).normal(size=(2, 9, 2)) * [[[1.0, 1.0]], [[1.4, 1.4]]]
    there, back = (km.mmd_test(*pair, estimator=estimator, n_resamples=49, rng=3) for pair in ((x, y), (y, x)))
    assert (there.statistic, there.pvalue) == (back.statistic, back.pvalue)


@pytest.mark.parametrize("far", [1e12, 1e20, 1e37, 1e120])
@pytest.mark.parametrize("estimator", ["kme", "mkme", "mmkme", "f-kmse", "s-kmse"])
def test_a_fill_value_does_not_blur_the_other_rows(estimator, far):
    """Its kernel with all others is 0 wherever it lies; with the mean as origin the others were rounded together."""
    X, Y = np.random.default_rng(3).normal(size=(2, 15, 1))
    found = []
    for value in (1e6, far):
        X[0] = value
        found.append(km.mmd_test(X, Y, estimator=estimator, n_resamples=99, rng=0))
    assert found[1].statistic == pytest.approx(found[0].statistic, rel=1e-7)
    if estimator != "kme":
        assert found[1].statistic != km.mmd_test(X, Y, estimator="kme", n_resamples=9, rng=0).statistic
