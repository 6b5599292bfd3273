import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

import kernelmean as km
from kernelmean.estimators import BayesianKernelMean, loocv


def sample(n=25, dim=2):
    return np.random.default_rng(n).normal(size=(n, dim))


@pytest.mark.parametrize("strength", [1e-3, 0.1])
def test_the_estimate_is_the_posterior_mean_of_a_gaussian_process(strength):
    """Regression of the empirical mean's values on the points; r is a Gaussian of width √2 θ, 2^{-d/2} at 0."""
    X, theta = sample(), 0.9
    fitted = BayesianKernelMean(bandwidth=theta, strength=strength, smoothing="bandwidth").fit(X)
    values = km.embed(X, km.kernels.Gaussian(theta))(X)
    prior = ConstantKernel(0.5, "fixed") * RBF(np.sqrt(2) * theta, "fixed")
    process = GaussianProcessRegressor(prior, alpha=strength, optimizer=None).fit(X, values)
    grid = np.random.default_rng(1).normal(size=(9, 2))
    np.testing.assert_allclose(fitted.evaluate(grid), process.predict(grid), rtol=1e-9)


def test_leave_one_out_is_the_definition():
    X, kernel = sample(12), km.kernels.Gaussian(1.1)
    noise, strength = km.noise.Normal(1.21), 0.05

    def fit(rest):
        R = km.expected(kernel, X[rest], X[rest], noise)
        target = kernel(X[rest], X[rest]).mean(axis=1)
        return km.embed(X[rest], kernel, weights=np.linalg.solve(R + strength * np.eye(len(rest)), target), noise=noise)

    fitted = BayesianKernelMean(kernel, strength=strength, smoothing=1.21).fit(X)
    assert fitted.loocv_ == pytest.approx(loocv.leave_one_out(fit, X), rel=1e-10)
    chosen = BayesianKernelMean(kernel, smoothing=1.21).fit(X)
    assert chosen.loocv_ <= fitted.loocv_
    for factor in (0.8, 1.25):
        assert (
            chosen.loocv_ < BayesianKernelMean(kernel, strength=factor * chosen.strength_, smoothing=1.21).fit(X).loocv_
        )


def test_the_smoothing_of_the_paper_is_too_much_in_many_dimensions():
    X = sample(40, 5)
    kernel = km.kernels.Gaussian(float(km.median_bandwidth(X)))
    truth = km.embed(np.zeros((1, 5)), kernel, noise=km.noise.Normal(1.0))
    papers, chosen = (BayesianKernelMean(kernel, smoothing=s).fit(X) for s in ("bandwidth", "loocv"))
    assert chosen.loocv_ < papers.loocv_
    assert (chosen.embedding_ - truth).norm() < 0.5 * (papers.embedding_ - truth).norm()
    assert (chosen.embedding_ - truth).norm() < (km.embed(X, kernel) - truth).norm()


def test_errors():
    with pytest.raises(ValueError, match="write 'loocv', 'bandwidth' or a variance"):
        BayesianKernelMean(smoothing="median").fit(sample())
    with pytest.raises(ValueError, match="write 'loocv' or a number"):
        BayesianKernelMean(strength="cv").fit(sample())
    with pytest.raises(ValueError, match="pass smoothing=<variance>"):
        BayesianKernelMean(bandwidth=[1.0, 2.0]).fit(sample())
    with pytest.raises(ValueError, match="limited to 2000 points"):
        BayesianKernelMean(bandwidth=1.0).fit(np.zeros((2001, 1)))
    assert not hasattr(BayesianKernelMean(), "score_samples")
