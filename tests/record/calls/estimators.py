"""The estimators: what they fit, their scores, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from kernelmean.estimators import FKMSE, SKMSE, VPMKME, BayesianKernelMean, MedianOfMeans, damping, filters, loocv
from record import data, shown
from record.registry import SEARCHED, Values, recorded, where_searched

K, V = km.kernels, km.noise

NAMED = {
    "kme": km.KME(K.Gaussian(1.5)),
    "s-kmse": SKMSE(K.Gaussian(1.5)),
    "f-kmse": FKMSE(K.Gaussian(1.5)),
    "mkme": km.MKME(K.Gaussian(1.5)),
    "mmkme": km.MMKME(K.Gaussian(1.5)),
    "vpmkme": VPMKME(K.Gaussian(1.5), contraction="free"),
}

OTHERS = {
    "kme of the median": km.KME("gaussian", bandwidth="median"),
    "kme of the median, not squared": km.KME("gaussian", bandwidth="median-unsquared"),
    "kme of silverman": km.KME("gaussian", bandwidth="silverman"),
    "s-kmse of a laplacian": SKMSE(K.Laplacian, bandwidth="median"),
    "s-kmse of a given strength": SKMSE(K.Gaussian(1.5), strength=0.2),
    "f-kmse of a given strength": FKMSE(K.Matern(1.5, 1.0), strength=0.1),
    "mkme of a laplacian": km.MKME(K.Laplacian(1.2)),
    "mkme of a matern kernel": km.MKME(K.Matern(2.5, 1.2)),
    "mkme of a polynomial": km.MKME(K.Polynomial(2, 1.0)),
    "vpmkme, tied": VPMKME(K.Gaussian(1.5), contraction="tied"),
    "given noise": km.KernelMean(K.Gaussian(1.5), noise=V.Uniform(0.4)),
    "noise and a filter": km.KernelMean(K.Gaussian(1.5), noise=V.Normal(0.2), filter="ridge", strength=0.05),
    "likelihood": km.KernelMean("gaussian", bandwidth="likelihood", noise="isotropic"),
}


def fitted(estimator: Any, X: Any = data.X) -> Values:
    """Return what an estimator found: scores, parameters, and the embedding."""
    fit = estimator.fit(X)
    strength = getattr(fit, "strength_", None)
    return {
        "loocv": fit.loocv_,
        "excess": getattr(getattr(fit, "criterion_", None), "excess", None),
        "bandwidth": None if fit.bandwidth_ is None else shown.plain(fit.bandwidth_),
        "strength": None if strength is None else float(strength),
        "contraction": float(getattr(fit, "contraction_", 1.0)),
        "variances": fit.noise_.variances(X.shape[1]).tolist() if isinstance(fit.noise_, V.Normal) else None,
        **shown.embedding(fit.embedding_, data.GRID),
    }


@recorded("estimators/{estimator}", estimator={**NAMED, **OTHERS}, wider=where_searched)
def estimators(estimator: Any) -> Values:
    return fitted(estimator)


@recorded(
    "estimators/scores and samples of {estimator}",
    wider=where_searched,
    estimator={name: NAMED[name] for name in ("s-kmse", "mkme", "mmkme", "vpmkme")},
)
def scores_and_samples(estimator: Any) -> Values:
    fit = estimator.fit(data.X)
    found: Values = {"evaluated": shown.plain(fit.evaluate(data.GRID))}
    if estimator.filter is None:
        found["log densities"] = shown.plain(fit.score_samples(data.GRID))
        found["score"] = fit.score(data.Y)
    return {**found, **shown.array("sample", fit.sample(5, random_state=3))}


FILTERS: dict[str, tuple[Any, float]] = {
    "scale": (filters.Scale(), 0.3),
    "ridge": (filters.Ridge(), 0.1),
    "iterated ridge": (filters.IteratedRidge(3), 0.1),
    "landweber": (filters.Landweber(1.0), 10.0),
    "nu-method": (filters.NuMethod(1.0), 6.0),
    "cutoff": (filters.Cutoff(), 0.05),
}


@recorded("estimators/filter {chosen}", chosen=FILTERS, wider={"searched, strength": SEARCHED["*"]})
def by_filter(chosen: tuple[Any, float]) -> Values:
    given = fitted(km.KernelMean(K.Gaussian(1.5), filter=chosen[0], strength=chosen[1]), data.X[:25])
    searched = km.KernelMean(K.Gaussian(1.5), filter=chosen[0], strength="loocv").fit(data.X[:25])
    return {**given, "searched, loocv": searched.loocv_, "searched, strength": float(searched.strength_)}


@recorded("estimators/median of means")
def median_of_means() -> Values:
    fit = MedianOfMeans(n_blocks=5, kernel=K.Gaussian(1.5), random_state=2).fit(data.X)
    return {
        **shown.embedding(fit.embedding_, data.GRID),
        "weights of blocks": fit.block_weights_.tolist(),
        "blocks": shown.array("", fit.blocks_)[" ends"],
    }


@recorded("estimators/bayesian, {strength}", strength={"searched": "loocv"}, wider=SEARCHED)
@recorded("estimators/bayesian, {strength}", strength={"given": 0.1})
def bayesian(strength: Any) -> Values:
    fit = BayesianKernelMean(K.Gaussian(1.5), smoothing=0.3, strength=strength).fit(data.X)
    return {"loocv": fit.loocv_, "strength": float(fit.strength_), **shown.embedding(fit.embedding_, data.GRID)}


@recorded("estimators/leave-one-out by definition")
def by_definition() -> Values:
    X, kernel = data.X[:12], K.Gaussian(1.5)
    return {
        "kme": loocv.leave_one_out(lambda rows: km.embed(X[rows], kernel), X),
        "noisy": loocv.leave_one_out(lambda rows: km.embed(X[rows], kernel, noise=V.Normal(0.2)), X),
        "s-kmse": loocv.leave_one_out(lambda rows: SKMSE(kernel, strength=0.2).fit(X[rows]).embedding_, X),
    }


@recorded(
    "estimators/damping of {estimator}",
    wider=where_searched,
    estimator={name: NAMED[name] for name in ("f-kmse", "mkme", "mmkme")},
)
def damped(estimator: Any) -> Values:
    fit = estimator.fit(data.X)
    factors = damping(fit)
    return {
        "axis": factors.axis,
        "shape of factors": list(np.shape(factors.factors)),
        "factors": float(np.sum(factors.factors)),
        "largest eigenvalues": np.sort(np.ravel(factors.eigenvalues))[-3:].tolist(),
    }


@recorded("estimators/under another kernel")
def under_another_kernel() -> Values:
    mu = km.MKME(K.Gaussian(1.5)).under(K.Gaussian(0.8), data.X)
    return {"variances": mu.noise.variances(2).tolist(), **shown.embedding(mu, data.GRID)}


@recorded("estimators/one column", wider=SEARCHED)
def one_column() -> Values:
    found: Values = {}
    for name in ("mkme", "f-kmse", "vpmkme"):
        fit = NAMED[name].fit(data.X[:, :1])
        found |= {f"{name}: loocv": fit.loocv_, f"{name}: norm": fit.embedding_.norm()}
    return found


@recorded("estimators/many columns", wider=SEARCHED)
def many_columns() -> Values:
    X = data.normal(30, 25, 5) * [1.0, 2.0, 0.5, 1.0, 3.0]
    found: Values = {}
    for name, kernel in (("gaussian", K.Gaussian(4.0)), ("columns", K.Gaussian([2.0, 4.0, 1.0, 2.0, 6.0]))):
        fit = km.MMKME(kernel).fit(X)
        found |= {f"{name}: loocv": fit.loocv_, f"{name}: norm": fit.embedding_.norm()}
        found[f"{name}: variances"] = fit.noise_.variances(5).tolist()
    return found
