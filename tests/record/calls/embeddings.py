"""Kernels × noises, arithmetic of embeddings, and what is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean.expected import NoClosedFormError, difference, smoothed
from record import data, shown
from record.registry import Values, recorded

K, V = km.kernels, km.noise
X, Y = data.X[:20], data.Y[:15]

KERNELS = {
    "gaussian": K.Gaussian(1.5),
    "gaussian of columns": K.Gaussian([1.0, 2.0]),
    "laplacian": K.Laplacian(1.2),
    "matern 1.5": K.Matern(1.5, 1.1),
    "matern 2.5": K.Matern(2.5, 1.1),
    "matern 3.5": K.Matern(3.5, 1.1),
    "wendland 0": K.Wendland(0, 2.5),
    "wendland 2": K.Wendland(2, 2.5),
    "rational quadratic": K.RationalQuadratic(1.3, 0.8),
    "linear": K.Linear(),
    "polynomial 2": K.Polynomial(2, 1.0),
    "polynomial 3": K.Polynomial(3, 0.5),
    "distance": K.DistanceInduced(1.2),
    "sum": K.Gaussian(1.0) + K.Linear(),
    "product": K.Gaussian(1.0) * K.Laplacian(2.0),
    "scaled": 2.5 * K.Gaussian(1.0) * K.Gaussian(2.0),
    "tensor product": K.TensorProduct([K.Gaussian(1.0), K.Laplacian(0.8)], [[0], [1]]),
}

NOISES = {
    "none": None,
    "normal": V.Normal(0.1),
    "normal of columns": V.Normal.diagonal([0.1, 0.3]),
    "normal full": V.Normal([[0.2, 0.05], [0.05, 0.1]]),
    "normal of points": V.Normal.isotropic(0.05 + np.arange(20) / 100.0),
    "laplace": V.Laplace(0.3),
    "uniform": V.Uniform(0.5),
    "blankout": V.Blankout(0.2),
    "sampled": V.Sampled(V.Normal(0.1), n_samples=8, seed=3),
    "sum": V.IndependentSum((V.Normal(0.1), V.Uniform(0.3))),
}


def refused_or(make: Any) -> Any:
    """Return a number, or the name of the exception where there is no closed form."""
    try:
        return make()
    except (NoClosedFormError, TypeError, ValueError) as error:
        return type(error).__name__


@recorded("kernels/{kernel}", kernel=KERNELS)
def kernel_under_every_noise(kernel: Any) -> Values:
    found = {"gram": shown.plain(kernel(X[:2], Y[:2])), "diagonal": shown.plain(kernel.diag(X[:3]))}
    nu = km.embed(Y, kernel)
    for name, noise in NOISES.items():
        found[f"{name}: norm"] = refused_or(lambda noise=noise: km.embed(X, kernel, noise=noise).norm())
        found[f"{name}: inner"] = refused_or(lambda noise=noise: km.embed(X, kernel, noise=noise) @ nu)
        found[f"{name}: values"] = refused_or(
            lambda noise=noise: shown.plain(km.embed(X, kernel, noise=noise)(data.GRID[:2]))
        )
    return found


@recorded("kernels/of categories")
def kernels_of_categories() -> Values:
    kernel, points = K.Categorical(0.1), data.CODES[:, :1]
    noises: Mapping[str, Any] = {"none": None, "blankout": V.Blankout(0.2, 1.0), "switch": V.Switch(0.3, 3)}
    found: Values = {"gram": shown.plain(kernel(points[:3], points[:3]))}
    for name, noise in noises.items():
        mu = km.embed(points, kernel, noise=noise)
        found |= {f"{name}: norm": mu.norm(), f"{name}: values": shown.plain(mu(points[:3]))}
    return found


@recorded("kernels/expected and smoothed")
def expectations() -> Values:
    gaussian, laplacian = K.Gaussian(1.5), K.Laplacian(1.2)
    one, other = V.Normal(0.1), V.Uniform(0.4)
    return {
        "one side": shown.plain(km.expected(gaussian, X[:2], Y[:3], one)),
        "both sides": shown.plain(km.expected(laplacian, X[:2], Y[:2], one, V.Normal(0.2))),
        "two kinds": shown.plain(km.expected(gaussian, X[:2], Y[:2], one, other)),
        "smoothed": shown.plain(smoothed(laplacian, other, 2)(X[:2], Y[:2])),
        "difference": shown.plain(difference(one, V.Normal.diagonal([0.1, 0.2])).variances(2)),
        "rows of support": len(km.support().rows),
        "closed forms": sum(row[2] != "none" for row in km.support().rows),
    }


@recorded("kernels/noises sampled")
def noises_sampled() -> Values:
    found: Values = {}
    for name, noise in NOISES.items():
        if noise is not None and name != "sampled":
            drawn = noise.sample(X, np.random.default_rng(4))
            found |= shown.array(name, drawn)
    return found


@recorded("embedding/arithmetic")
def arithmetic() -> Values:
    kernel = K.Gaussian(1.5)
    mu, nu = km.embed(X, kernel), km.embed(Y, kernel, noise=V.Normal(0.1))
    mixed = 0.25 * mu + nu / 2.0 - 3.0 * km.embed(Y[:5], kernel)
    return {
        "inner": mu @ nu,
        "distance": (mu - nu).norm(),
        "negative": shown.plain((-mu)(data.GRID)),
        "sum": shown.plain((mu + nu)(data.GRID)),
        "mixed": shown.plain(mixed(data.GRID)),
        "mixed, norm": mixed.norm(),
        "mixed, inner": mixed @ mu,
        "witness": shown.plain(mu.witness(nu)(data.GRID)),
        "parts": len(mixed.parts),
    }


@recorded("embedding/weights of both signs")
def signed_weights() -> Values:
    mu = km.embed(data.X, K.Laplacian(1.0), weights=data.SIGNED, noise=V.Laplace(0.2))
    return shown.embedding(mu, data.GRID)


@recorded("embedding/gaussian mixture")
def gaussian_mixture() -> Values:
    covariances = np.array([[[0.4, 0.1], [0.1, 0.3]], [[0.2, 0.0], [0.0, 0.5]], [[0.3, -0.1], [-0.1, 0.3]]])
    mix = km.embed(X[:3], K.Gaussian(1.0), weights=[0.5, 0.3, 0.2], noise=V.Normal(covariances))
    drawn = mix.sample(6, rng=5)
    return {
        **shown.embedding(mix, data.GRID),
        "log density": shown.plain(mix.logpdf(data.GRID)),
        **shown.array("sample", drawn),
        "distance": (mix - km.embed(X, K.Gaussian(1.0))).norm(),
    }


@recorded("embedding/log density of {noise}", noise={"laplace": V.Laplace(0.3), "normal": V.Normal(0.2)})
def log_density(noise: Any) -> Values:
    mu = km.embed(data.X, K.Gaussian(1.0), weights=data.WEIGHTS, noise=noise)
    return {"log density": shown.plain(mu.logpdf(data.GRID)), **shown.array("sample", mu.sample(5, rng=1))}


@recorded("embedding/names of columns")
def names_of_columns() -> Values:
    frame = data.numbers(0, 20)
    mu = km.embed(frame, K.Gaussian(1.0))
    return {"names": list(mu.names), "norm": mu.norm(), "inner": mu @ km.embed(data.numbers(1, 15), K.Gaussian(1.0))}


@recorded(
    "embedding/plan {plan}",
    plan={"threads": km.Plan(threads=2), "blocks": km.Plan(block=(8, 16)), "plain": km.Plan(use_fast=False)},
)
def plans(plan: Any) -> Values:
    mu = km.embed(data.X, K.Gaussian(1.5), plan=plan)
    return {"norm": mu.norm(), "values": shown.plain(mu(data.GRID)), "inner": mu @ km.embed(data.Y, K.Gaussian(1.5))}


@recorded("embedding/single precision", wider=dict.fromkeys(("norm", "values"), (1e-5, "sums run in single precision")))
def single_precision() -> Values:
    mu = km.embed(data.X, K.Gaussian(1.5), plan=km.Plan(dtype="float32"))
    return {"norm": mu.norm(), "values": shown.plain(np.asarray(mu(data.GRID), dtype=float))}


@recorded("embedding/linear form {method}", method=["projected", "second_order", "printed"])
def linear_form(method: str) -> Values:
    mu = km.embed(X, K.Gaussian(1.5), noise=V.Normal(0.3))
    return shown.embedding(km.linear_form(mu, method=method, cutoff=1e-4), data.GRID)


@recorded("embedding/bandwidths by rule")
def bandwidths() -> Values:
    likely = km.estimators.likelihood_bandwidth(data.X, noise="isotropic")
    drawn = km.median_bandwidth(data.X, exact_up_to=20, rng=3)
    return {
        "median": float(km.median_bandwidth(data.X)),
        "median, not squared": float(km.median_bandwidth(data.X, squared=False)),
        "median of drawn rows": float(drawn),
        "median of drawn rows, exact": drawn.exact,
        "likelihood": likely.bandwidth,
        "log likelihoods": shown.array("", likely.log_likelihoods)[" sum"],
        "likelihood of columns": km.estimators.likelihood_bandwidth(
            data.X, noise="diagonal", ratios=(0.01, 0.1, 1.0)
        ).bandwidth,
    }
