"""Tests of independence: two variables, several, and series."""

from __future__ import annotations

from typing import Any

import kernelmean as km
from kernelmean.estimators import NAMED
from kernelmean.inference import Adaptive, Member, PairMember, Resampling
from kernelmean.inference.questions import Pairs
from nulls import hsic_test
from record import data, shown
from record.registry import Values, recorded, where_searched

K, V = km.kernels, km.noise
X, Y = data.pairs()
TWO = (K.Gaussian(1.5), K.Gaussian(1.2))
E = {**NAMED, "scose": km.estimators.SKMSE, "fcose": km.estimators.FKMSE}
SCHEMES = ("auto", "exact", "random", "rotations")


def both(estimator: str, **options: Any) -> tuple[km.KernelMean, km.KernelMean]:
    """The estimator with a kernel for either variable."""
    first, second = (E[estimator](kernel, **options) for kernel in TWO)
    return first, second


@recorded(
    "hsic/estimator {estimator}",
    wider=where_searched,
    estimator=["kme", "scose", "fcose", "s-kmse", "f-kmse", "mkme", "mmkme"],
)
def by_estimator(estimator: str) -> Values:
    n = 20 if estimator in {"fcose", "f-kmse"} else 40
    return shown.test(km.hsic_test(X[:n], Y[:n], estimator=both(estimator), rng=1, n_resamples=49))


@recorded("hsic/scheme {scheme} with {estimator}", wider=where_searched, scheme=SCHEMES, estimator=["kme"])
@recorded(
    "hsic/scheme {scheme} with {estimator}",
    wider=where_searched,
    scheme=["random", "rotations"],
    estimator=["scose", "mkme"],
)
@recorded(
    "hsic/scheme {scheme} with {estimator}", wider=where_searched, scheme=["random", "exact"], estimator=["fcose"]
)
def by_scheme(estimator: str, scheme: str) -> Values:
    first, second = data.pairs(5 if scheme == "exact" else 32, seed=50)
    return shown.test(hsic_test(first, second, estimator=both(estimator), scheme=scheme, rng=2, n_resamples=63))


@recorded("hsic/u-statistic of {estimator}", wider=where_searched, estimator=["kme", "mkme"])
def u_statistic(estimator: str) -> Values:
    return shown.test(km.hsic_test(X, Y, estimator=both(estimator), statistic="u", rng=1, n_resamples=99))


@recorded(
    "hsic/kernel {kernel}",
    kernel={
        "laplacian": K.Laplacian(1.2),
        "two": (K.Matern(2.5, 1.0), K.Laplacian(1.0)),
        "distance": K.DistanceInduced(1.0),
        "linear": K.Linear(),
        "polynomial": K.Polynomial(2, 1.0),
    },
)
def by_kernel(kernel: Any) -> Values:
    return shown.test(hsic_test(X, Y, kernel=kernel, scheme="rotations", rng=3, n_resamples=99))


@recorded("hsic/bandwidths by rule")
def by_rule() -> Values:
    options: dict[str, Any] = {"kernel": (K.Gaussian("median"), K.Gaussian("median-unsquared"))}
    result = km.hsic_test(X, Y, **options, rng=3, n_resamples=99)
    return {**shown.test(result), "bandwidths": [float(kernel.bandwidth) for kernel in result.kernel]}


@recorded(
    "hsic/given estimator {estimator}",
    wider=where_searched,
    estimator={
        "noise": km.KernelMean(K.Gaussian(1.5), noise=V.Normal(0.2)),
        "shrinkage": km.KernelMean(K.Laplacian(1.5), filter="scale", strength=0.3),
        "ridge": km.estimators.FKMSE(K.Gaussian(1.5), strength=0.1),
    },
)
def by_given_estimator(estimator: Any) -> Values:
    return shown.test(km.hsic_test(X[:25], Y[:25], estimator=estimator, rng=4, n_resamples=49))


DESIGNS = {
    "groups": km.Design(strata=data.strata(40)),
    "clusters": km.Design(clusters=data.clusters(40)),
    "weights": km.Design(weights=data.survey(40)),
    "groups and clusters": km.Design(strata=data.clusters(40) % 3, clusters=data.clusters(40)),
    "groups and weights": km.Design(strata=data.strata(40), weights=data.survey(40)),
    "all three": km.Design(strata=data.clusters(40) % 3, clusters=data.clusters(40), weights=data.survey(40)),
}


@recorded("hsic/design {design}, {statistic}", design=DESIGNS, statistic=["v"])
def by_design(design: km.Design, statistic: Any) -> Values:
    options: dict[str, Any] = {"estimator": both("kme"), "statistic": statistic}
    return shown.test(km.hsic_test(X, Y, **options, design=design, rng=5, n_resamples=99))


@recorded(
    "hsic/design {design} with {estimator}",
    wider=where_searched,
    design={key: DESIGNS[key] for key in ("groups", "clusters", "weights")},
    estimator=["mkme", "adaptive"],
)
def design_and_estimator(design: km.Design, estimator: str) -> Values:
    brought = estimator if estimator == "adaptive" else both(estimator)
    return shown.test(km.hsic_test(X, Y, estimator=brought, design=design, rng=5, n_resamples=49))


@recorded("hsic/adaptive {estimator}", wider=where_searched, estimator=["adaptive", "log-mean-exp", "aggregate"])
def adaptive(estimator: str) -> Values:
    return shown.test(km.hsic_test(X, Y, estimator=estimator, rng=6, n_resamples=99))


@recorded("hsic/adaptive of given members")
def adaptive_of_members() -> Values:
    ranks, rows = Member("ranks", K.Laplacian(1.0)), Member("data", K.Gaussian(0.5))
    members = (PairMember(rows, rows, 2.0), PairMember(ranks, rows))
    return shown.test(km.hsic_test(X, Y, estimator=Adaptive("harmonic", members), rng=6, n_resamples=99))


@recorded("hsic/data frames")
def data_frames() -> Values:
    frame = data.numbers(20, 40)
    options: dict[str, Any] = {"estimator": km.KME(K.Gaussian(1.0)), "rng": 7, "n_resamples": 99}
    return shown.test(km.hsic_test(frame[["a", "b"]], frame["c"] + frame["a"] ** 2, **options))


@recorded("hsic/threads {n_jobs}", n_jobs=[1, 2])
def threads(n_jobs: int) -> Values:
    options: dict[str, Any] = {"estimator": both("kme"), "scheme": "random", "rng": 8, "n_resamples": 99}
    return shown.test(hsic_test(X, Y, **options, plan=km.Plan(threads=n_jobs)))


@recorded(
    "hsic/several variables, {estimator}, {scheme}",
    wider=where_searched,
    estimator=["kme", "mkme"],
    scheme=["auto", "random"],
)
def several(estimator: str, scheme: str) -> Values:
    options: dict[str, Any] = {"estimator": E[estimator](K.Gaussian(1.0)), "scheme": scheme}
    return shown.test(km.dhsic_test(*data.triple(), **options, rng=1, n_resamples=99))


@recorded("hsic/several variables, a kernel for each")
def several_kernels() -> Values:
    kernels = (K.Gaussian(1.0), K.Laplacian(0.8), K.Matern(1.5, 1.0))
    return shown.test(km.dhsic_test(*data.triple(), kernel=kernels, rng=1, n_resamples=99))


@recorded("hsic/wild bootstrap of series, {estimator}", wider=where_searched, estimator=["kme", "mkme"])
def wild(estimator: str) -> Values:
    first = data.series(51)
    second = 0.4 * first**2 + data.series(52)
    options: dict[str, Any] = {"design": km.Design(series=4.0), "estimator": E[estimator](K.Gaussian(1.2))}
    return shown.test(km.hsic_test(first, second, **options, rng=1, n_resamples=99))


@recorded("hsic/null of several kernels")
def null_of_kernels() -> Values:
    kernels = [TWO, (K.Laplacian(1.0), K.Gaussian(2.0))]
    null = Pairs(X, Y).null(kernels, "v", Resampling.of("random", 99, 2))
    return {"observed": null.values[:, 0].tolist(), "pvalues": shown.plain(null.pvalues), "scheme": null.scheme}
