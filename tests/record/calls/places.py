"""Data in other places: on two processes of a Dask cluster, in torch, in a strict array library."""

from __future__ import annotations

from typing import Any

import numpy as np

import kernelmean as km
from kernelmean import features
from kernelmean.estimators import NAMED
from nulls import hsic_test, mmd_test
from record import data, shown
from record.registry import SMALL_EIGENVALUES, Values, recorded, where_searched

K = km.kernels
X, Y = data.normal(80, 90), data.normal(81, 70, shift=0.3)
U, W = data.pairs(90, seed=82)
ONE, TWO = K.Gaussian(1.5), (K.Gaussian(1.5), K.Gaussian(1.2))
DASK = ("dask", "distributed")


def there(values: np.ndarray, rows: int = 25) -> Any:
    """Return an array in partitions."""
    import dask.array

    return dask.array.from_array(values, chunks=(rows, values.shape[1]))


@recorded(
    "dask/estimator {estimator}",
    wider=where_searched,
    needs=DASK,
    estimator={"mkme": km.MKME(ONE), "s-kmse": km.estimators.SKMSE(ONE)},
)
def cluster_estimator(client: Any, estimator: Any) -> Values:
    estimator.fit(there(X), plan=km.DaskPlan(client))
    mu = estimator.embedding_
    return {"loocv": estimator.loocv_, "norm": mu.norm(), "values": shown.plain(estimator.evaluate(data.GRID))}


@recorded(
    "dask/two samples, {estimator}, {scheme}",
    wider=where_searched,
    needs=DASK,
    estimator=["mkme", "s-kmse"],
    scheme=["random"],
)
def cluster_mmd(client: Any, estimator: str, scheme: str) -> Values:
    options: dict[str, Any] = {"estimator": NAMED[estimator](ONE), "scheme": scheme, "rng": 1, "n_resamples": 99}
    return shown.test(mmd_test(there(X), there(Y), plan=km.DaskPlan(client), **options))


@recorded("dask/two samples, adaptive", wider=SMALL_EIGENVALUES, needs=DASK)
def cluster_adaptive(client: Any) -> Values:
    options: dict[str, Any] = {"estimator": "adaptive", "rng": 1, "n_resamples": 99}
    return shown.test(km.mmd_test(there(X), there(Y), plan=km.DaskPlan(client), **options))


@recorded("dask/features", needs=DASK)
def cluster_features(client: Any) -> Values:
    made = features.fourier(ONE, 2, 16, design="orthogonal", rng=1)
    mu = features.embed(there(X), made, plan=km.DaskPlan(client))
    return {"count": mu.shape[0], "norm": mu.norm(), "values": shown.plain(mu(data.GRID))}


STREAM: dict[str, Any] = {"scheme": "bins", "n_resamples": 99, "rng": 4}


@recorded("dask/stream of two samples", needs=DASK)
def cluster_mmd_stream(client: Any) -> Values:
    options: dict[str, Any] = {**STREAM, "estimator": km.KME(ONE), "statistic": "u"}
    return shown.test(km.mmd_test(there(X), there(Y), plan=km.DaskPlan(client), **options))


@recorded("dask/stream of two variables", needs=DASK)
def cluster_hsic_stream(client: Any) -> Values:
    options: dict[str, Any] = {**STREAM, "estimator": tuple(km.KME(own) for own in TWO)}
    return shown.test(km.hsic_test(there(U), there(W), plan=km.DaskPlan(client), **options))


def in_torch(values: Any) -> Any:
    import torch

    return torch.asarray(np.array(values), dtype=torch.float64)


def in_strict(values: Any) -> Any:
    import array_api_strict

    return array_api_strict.asarray(np.array(values))


HOMES: dict[str, tuple[str, Any]] = {"torch": ("torch", in_torch), "array-api-strict": ("array_api_strict", in_strict)}


def home(name: str) -> Any:
    """Return what brings an array to a library."""
    return HOMES[name][1]


@recorded("torch/embedding", needs=["torch"], library=["torch"])
@recorded("strict/embedding", needs=["array_api_strict"], library=["array-api-strict"])
def other_embedding(library: str) -> Values:
    put = home(library)
    mu = km.embed(put(X), ONE, noise=km.noise.Normal(0.1))
    nu = km.embed(put(Y), ONE)
    values = (mu - nu)(put(data.GRID))
    return {
        "norm": float(mu.norm()),
        "inner": float(mu @ nu),
        "distance": float((mu - nu).norm()),
        "first": float(values[0]),
        "last": float(values[4]),
    }


@recorded(
    "torch/estimator {estimator}",
    wider=where_searched,
    needs=["torch"],
    library=["torch"],
    estimator={"s-kmse": km.estimators.SKMSE(ONE), "f-kmse": km.estimators.FKMSE(ONE), "mkme": km.MKME(ONE)},
)
@recorded(
    "strict/estimator {estimator}",
    wider=where_searched,
    needs=["array_api_strict"],
    library=["array-api-strict"],
    estimator={"mkme": km.MKME(ONE)},
)
def other_estimator(library: str, estimator: Any) -> Values:
    fit = estimator.fit(home(library)(X))
    return {"loocv": float(fit.loocv_), "norm": float(fit.embedding_.norm())}


@recorded(
    "torch/two samples, {estimator}, {scheme}",
    wider=where_searched,
    needs=["torch"],
    library=["torch"],
    estimator=["kme"],
    scheme=["random", "auto"],
)
@recorded(
    "torch/two samples, {estimator}, {scheme}",
    wider=where_searched,
    needs=["torch"],
    library=["torch"],
    estimator=["mkme", "s-kmse"],
    scheme=["auto"],
)
@recorded(
    "strict/two samples, {estimator}, {scheme}",
    wider=where_searched,
    needs=["array_api_strict"],
    library=["array-api-strict"],
    estimator=["kme"],
    scheme=["random", "auto"],
)
def other_mmd(library: str, estimator: str, scheme: str) -> Values:
    put = home(library)
    options: dict[str, Any] = {"estimator": NAMED[estimator](ONE), "scheme": scheme, "rng": 1, "n_resamples": 99}
    return shown.test(mmd_test(put(X), put(Y), **options))


@recorded("torch/two samples, adaptive", wider=SMALL_EIGENVALUES, needs=["torch"], library=["torch"])
def other_adaptive(library: str) -> Values:
    put = home(library)
    return shown.test(km.mmd_test(put(X), put(Y), estimator="adaptive", rng=1, n_resamples=99))


@recorded("torch/two variables, {scheme}", needs=["torch"], library=["torch"], scheme=["random", "rotations"])
@recorded("strict/two variables, {scheme}", needs=["array_api_strict"], library=["array-api-strict"], scheme=["random"])
def other_hsic(library: str, scheme: str) -> Values:
    put = home(library)
    options: dict[str, Any] = {"kernel": TWO, "scheme": scheme, "rng": 1, "n_resamples": 99}
    return shown.test(hsic_test(put(U), put(W), **options))
