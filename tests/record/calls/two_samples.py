"""The two-sample test: estimators × schemes × designs × statistics, and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from kernelmean.estimators import NAMED as E
from kernelmean.estimators import filters
from kernelmean.inference import Adaptive, CustomStatistic, Member, Resampling
from kernelmean.inference.questions import TwoSamples
from nulls import mmd_test
from record import data, shown
from record.registry import Values, recorded, where_searched

K, V = km.kernels, km.noise
X, Y = data.X, data.Y
SQUARE_X, SQUARE_Y = data.normal(40, 32), data.normal(41, 32, shift=0.3)
NAMES = ("kme", "s-kmse", "f-kmse", "mkme", "mmkme")
SCHEMES = ("auto", "exact", "random")


@recorded("mmd/estimator {estimator}", wider=where_searched, estimator=NAMES)
def by_estimator(estimator: str) -> Values:
    options: dict[str, Any] = {"estimator": E[estimator](K.Gaussian(1.5)), "rng": 1, "n_resamples": 99}
    return shown.test(km.mmd_test(X, Y, **options))


@recorded("mmd/scheme {scheme} with {estimator}", wider=where_searched, scheme=SCHEMES, estimator=["kme"])
@recorded(
    "mmd/scheme {scheme} with {estimator}",
    wider=where_searched,
    scheme=["random", "auto"],
    estimator=["s-kmse", "mkme"],
)
@recorded(
    "mmd/scheme {scheme} with {estimator}",
    wider=where_searched,
    scheme=["random", "exact"],
    estimator=["f-kmse"],
)
def by_scheme(estimator: str, scheme: str) -> Values:
    rows = 5 if scheme == "exact" else 32
    options: dict[str, Any] = {"estimator": E[estimator](K.Gaussian(1.5)), "rng": 2, "n_resamples": 63}
    return shown.test(mmd_test(SQUARE_X[:rows], SQUARE_Y[:rows], scheme=scheme, **options))


@recorded("mmd/v-statistic of {estimator}", wider=where_searched, estimator=["kme", "s-kmse", "mmkme"])
def v_statistic(estimator: str) -> Values:
    options: dict[str, Any] = {"estimator": E[estimator](K.Laplacian(1.5)), "rng": 1, "n_resamples": 99}
    if estimator == "mmkme":
        options["estimator"] = km.MMKME(K.Gaussian(1.5))
    return shown.test(km.mmd_test(X, Y, statistic="v", **options))


@recorded(
    "mmd/kernel {kernel}",
    kernel={
        "laplacian": K.Laplacian(1.2),
        "matern": K.Matern(2.5, 1.2),
        "distance": K.DistanceInduced(1.0),
        "linear": K.Linear(),
        "polynomial": K.Polynomial(3, 1.0),
        "sum": K.Gaussian(1.0) + K.Laplacian(2.0),
        "of columns": K.TensorProduct([K.Gaussian(1.0), K.Matern(1.5, 1.0)], [[0], [1]]),
    },
)
def by_kernel(kernel: Any) -> Values:
    return shown.test(mmd_test(X, Y, estimator=km.KME(kernel), rng=3, n_resamples=99))


@recorded("mmd/bandwidth {bandwidth}", bandwidth=["median", "median-unsquared", 0.7])
def by_bandwidth(bandwidth: Any) -> Values:
    options: dict[str, Any] = {"estimator": km.KME(K.Gaussian(bandwidth))}
    result = km.mmd_test(X, Y, **options, rng=3, n_resamples=99)
    return {**shown.test(result), "bandwidth": float(result.kernel.bandwidth)}


@recorded(
    "mmd/given estimator {estimator}",
    wider=where_searched,
    estimator={
        "noise": km.KernelMean(K.Gaussian(1.5), noise=V.Normal(0.2)),
        "filter": km.KernelMean(K.Gaussian(1.5), filter=filters.Cutoff(), strength=0.05),
        "shrinkage": km.estimators.SKMSE(K.Laplacian(1.5), strength=0.3),
        "ridge": km.estimators.FKMSE(K.Gaussian(1.5), strength=0.1),
        "noise of columns": km.KernelMean(K.Gaussian(1.5), noise=V.Normal.diagonal([0.1, 0.3])),
        "function": lambda pooled, kernel: (K.Gaussian(1.0 + float(np.ptp(pooled))), V.Normal(0.1)),
    },
)
def by_given_estimator(estimator: Any) -> Values:
    return shown.test(km.mmd_test(X, Y, estimator=estimator, rng=4, n_resamples=49))


DESIGNS = {
    "groups": km.Design(strata=(data.strata(40), data.strata(30))),
    "clusters": km.Design(clusters=(data.clusters(40), 100 + data.clusters(30))),
    "weights": km.Design(weights=(data.survey(40), data.survey(30))),
    "groups and clusters": km.Design(
        strata=(data.clusters(40) % 3, data.clusters(30) % 3),
        clusters=(data.clusters(40), 100 + data.clusters(30)),
    ),
    "groups and weights": km.Design(
        strata=(data.strata(40), data.strata(30)), weights=(data.survey(40), data.survey(30))
    ),
    "all three": km.Design(
        strata=(data.clusters(40) % 3, data.clusters(30) % 3),
        clusters=(data.clusters(40), 100 + data.clusters(30)),
        weights=(data.survey(40), data.survey(30)),
    ),
}


@recorded("mmd/design {design}, {statistic}", design=DESIGNS, statistic=["v"])
def by_design(design: km.Design, statistic: Any) -> Values:
    options: dict[str, Any] = {"estimator": km.KME(K.Gaussian(1.5)), "statistic": statistic}
    return shown.test(km.mmd_test(X, Y, **options, design=design, rng=5, n_resamples=99))


@recorded(
    "mmd/design {design} with {estimator}",
    wider=where_searched,
    design={key: DESIGNS[key] for key in ("groups", "clusters", "weights")},
    estimator=["mkme", "adaptive"],
)
def design_and_estimator(design: km.Design, estimator: str) -> Values:
    brought = estimator if estimator == "adaptive" else E[estimator](K.Gaussian(1.5))
    return shown.test(km.mmd_test(X, Y, estimator=brought, design=design, rng=5, n_resamples=49))


@recorded("mmd/adaptive {estimator}", wider=where_searched, estimator=["adaptive", "log-mean-exp", "aggregate"])
def adaptive(estimator: str) -> Values:
    return shown.test(km.mmd_test(X, Y, estimator=estimator, rng=6, n_resamples=99))


@recorded("mmd/adaptive of given members")
def adaptive_of_members() -> Values:
    members = (Member("data", K.Gaussian(0.5), 2.0), Member("ranks", K.Laplacian(1.0)), Member("axes", K.Gaussian(1.0)))
    return shown.test(km.mmd_test(X, Y, estimator=Adaptive("harmonic", members), rng=6, n_resamples=99))


@recorded("mmd/adaptive of one column")
def adaptive_of_one_column() -> Values:
    return shown.test(km.mmd_test(X[:, :1], Y[:, :1], estimator="adaptive", rng=6, n_resamples=99))


@recorded("mmd/data frames")
def data_frames() -> Values:
    A, B = data.numbers(10, 30), data.numbers(11, 25, 0.3)
    return shown.test(km.mmd_test(A, B, estimator=km.KME(K.Gaussian(1.5)), rng=7, n_resamples=99))


@recorded("mmd/series of one column")
def one_series() -> Values:
    A, B = data.numbers(10, 30)["a"], data.numbers(11, 25, 0.3)["a"]
    return shown.test(km.mmd_test(A, B, estimator=km.KME(K.Gaussian(1.0)), rng=7, n_resamples=99))


@recorded("mmd/threads {n_jobs}", n_jobs=[1, 2])
def threads(n_jobs: int) -> Values:
    options: dict[str, Any] = {"estimator": km.KME(K.Gaussian(1.5)), "scheme": "random"}
    return shown.test(mmd_test(X, Y, **options, rng=8, n_resamples=99, plan=km.Plan(threads=n_jobs)))


@recorded("mmd/generator that goes on")
def generator() -> Values:
    rng = np.random.default_rng(9)
    options: dict[str, Any] = {"estimator": km.KME(K.Gaussian(1.5)), "rng": rng, "n_resamples": 99}
    one, other = km.mmd_test(X, Y, **options), km.mmd_test(X, Y, **options)
    return {"one pvalue": one.pvalue, "other pvalue": other.pvalue, "next": float(rng.random())}


@recorded("mmd/paired, {estimator}", wider=where_searched, estimator=["kme", "mkme", "mmkme", "adaptive"])
def paired(estimator: str) -> Values:
    A, B = data.paired()
    brought = estimator if estimator == "adaptive" else E[estimator](K.Gaussian(1.5))
    return shown.test(km.mmd_test(A, B, design=km.Design(paired=True), estimator=brought, rng=1, n_resamples=99))


@recorded("mmd/paired, v-statistic of few pairs")
def few_pairs() -> Values:
    A, B = data.paired(7)
    options: dict[str, Any] = {"estimator": km.KME(K.Laplacian(1.0)), "statistic": "v"}
    return shown.test(km.mmd_test(A, B, design=km.Design(paired=True), **options, rng=1, n_resamples=199))


@recorded(
    "mmd/k samples, {estimator}, {statistic}", wider=where_searched, estimator=["kme", "mkme"], statistic=["u", "v"]
)
def k_samples(estimator: str, statistic: Any) -> Values:
    samples = (X[:20], Y[:15], data.normal(42, 18, shift=0.8))
    options: dict[str, Any] = {"estimator": E[estimator](K.Gaussian(1.5)), "statistic": statistic}
    return shown.test(km.k_sample_test(*samples, **options, rng=1, n_resamples=99))


@recorded("mmd/wild bootstrap of series, {estimator}", wider=where_searched, estimator=["kme", "mkme"])
def wild(estimator: str) -> Values:
    A, B = data.series(43), data.series(44) + 0.3
    options: dict[str, Any] = {"design": km.Design(series=4.0), "estimator": E[estimator](K.Gaussian(1.2))}
    return shown.test(km.mmd_test(A, B, **options, rng=1, n_resamples=99))


@recorded("mmd/null of several kernels")
def null_of_kernels() -> Values:
    how = Resampling.of("random", 99, 2)
    null = TwoSamples(X, Y).null([K.Gaussian(1.0), K.Laplacian(1.0)], "u", how)
    return {"observed": null.values[:, 0].tolist(), "pvalues": shown.plain(null.pvalues), "scheme": null.scheme}


@recorded("mmd/null of a statistic of your own")
def null_of_your_own() -> Values:
    pooled = np.concatenate([X, Y])[:, 0]
    statistic = CustomStatistic(lambda first: pooled[first][:, :40].mean(axis=1), "mean")
    null = statistic.null((40, 30), Resampling.of("random", 99, 3))
    return {"observed": float(np.ravel(null.values)[0]), "pvalues": shown.plain(null.pvalues)}
