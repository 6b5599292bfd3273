"""Features in the place of kernels, and tables that are read in batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from in_batches import in_batches
from kernelmean import features
from kernelmean.estimators import NAMED
from record import data, shown
from record.registry import SMALL_EIGENVALUES, Values, recorded, where_searched

K, V = km.kernels, km.noise
X, Y = data.normal(70, 200), data.normal(71, 160, shift=0.2)
MAPS: dict[str, Any] = {
    "fourier, orthogonal": lambda: features.fourier(K.Gaussian(1.5), 2, 16, design="orthogonal", rng=1),
    "fourier, plain": lambda: features.fourier(K.Laplacian(1.5), 2, 16, design="plain", rng=1),
    "fourier, quasi-random": lambda: features.fourier(K.Matern(2.5, 1.5), 2, 16, design="quasi", rng=1),
    "nyström": lambda: features.nystrom(K.Gaussian(1.5), X[:40], 10, rng=1),
    "random cholesky": lambda: features.random_cholesky(K.Laplacian(1.5), X[:40], 10, rng=1),
}


@recorded("features/map {phi}", phi=MAPS)
def maps(phi: Any) -> Values:
    made = phi()
    values = made(X[:5])
    mu, nu = features.embed(X, made), features.embed(Y, made)
    inner = features.inner(mu, nu)
    # signs and order of the features are nobody's business: what they stand for is
    gap = mu - nu
    return {
        "size": made.size,
        "gram": shown.plain(values @ values.T),
        "inner": mu @ nu,
        "norm": mu.norm(),
        "distance": gap.norm(),
        "residual": mu.parts[0].residual,
        "values": shown.plain(mu(data.GRID)),
        "estimate": [inner.value, inner.standard_error, inner.bound],
        "guarantee": inner.guarantee,
        "squared distance": features.inner(gap, gap).value,
        "merged": features.pooled(mu, nu).norm(),
    }


@recorded("features/noise and weights")
def noise_and_weights() -> Values:
    made = features.fourier(K.Gaussian(1.5), 2, 16, design="orthogonal", rng=1)
    plain = features.embed(data.X, made)
    weighted = features.embed(data.X, made, weights=data.WEIGHTS, noise=V.Normal(0.2))
    return {
        "norm": weighted.norm(),
        "weight": weighted.parts[0].terms[0].weight,
        "smoothed": features.smoothed(plain, V.Normal(0.2)).norm(),
        "loocv": km.KME().fit(plain).loocv_,
    }


@recorded("features/stream of means, {estimator}", wider=where_searched, estimator=["kme", "mkme"])
def means(estimator: Any) -> Values:
    made = features.fourier(K.Gaussian(1.5), 2, 16, design="orthogonal", rng=1)
    mu = km.estimators.NAMED[estimator](features=made).fit(list(data.batches(X))).embedding_
    return {"rows": mu.shape[0], "norm": mu.norm(), "values": shown.plain(mu(data.GRID))}


OPTIONS: dict[str, Any] = {"scheme": "bins", "n_resamples": 99, "rng": 4}


@recorded(
    "streams/two samples, {estimator}, {statistic}",
    wider=where_searched,
    estimator=["kme", "mkme", "mmkme"],
    statistic=["u"],
)
@recorded("streams/two samples, {estimator}, {statistic}", wider=where_searched, estimator=["kme"], statistic=["v"])
def mmd_stream(estimator: Any, statistic: Any) -> Values:
    given: dict[str, Any] = {**OPTIONS, "estimator": NAMED[estimator](K.Gaussian(1.5))}
    return shown.test(km.mmd_test(X, Y, statistic=statistic, **given))


@recorded("streams/two samples, adaptive", wider=SMALL_EIGENVALUES)
def mmd_stream_adaptive() -> Values:
    return shown.test(km.mmd_test(X, Y, **OPTIONS))


@recorded("streams/two variables, adaptive")
def hsic_stream_adaptive() -> Values:
    return shown.test(km.hsic_test(*data.pairs(180, seed=72), **OPTIONS))


@recorded("streams/two samples, bandwidth of a pilot")
def mmd_stream_pilot() -> Values:
    result = km.mmd_test(X, Y, kernel=K.Gaussian("median"), **OPTIONS)
    return {**shown.test(result), "bandwidth": float(result.kernel.bandwidth)}


@recorded("streams/two samples, {place}", place=["list", "iterator", "csv", "parquet", "folder"])
def mmd_stream_places(place: str, folder: Path) -> Values:
    frames = [data.numbers(73, 180), data.numbers(74, 150, 0.2)]
    sources = [put(frame, folder / f"t{number}", place) for number, frame in enumerate(frames)]
    return shown.test(km.mmd_test(*sources, kernel=K.Gaussian(2.0), **OPTIONS))


def put(frame: Any, path: Path, place: str) -> Any:
    """Return a table as a source of batches."""
    if place == "list":
        return data.batches(frame.to_numpy(), 40)
    if place == "iterator":
        return iter(data.batches(frame.to_numpy(), 40))
    if place == "csv":
        frame.to_csv(path.with_suffix(".csv"), index=False)
        return km.read(path.with_suffix(".csv"), batch_rows=50)
    if place == "parquet":
        frame.to_parquet(path.with_suffix(".parquet"), index=False)
        return path.with_suffix(".parquet")
    path.mkdir()
    for number, part in enumerate(data.batches(frame, 60)):
        part.to_parquet(path / f"part-{number}.parquet", index=False)
    return path


@recorded("streams/two variables, {estimator}", wider=where_searched, estimator=["kme", "mkme"])
def hsic_stream(estimator: Any) -> Values:
    first, second = data.pairs(180, seed=72)
    both = NAMED[estimator](K.Gaussian(1.5)), NAMED[estimator](K.Gaussian(1.2))
    return shown.test(km.hsic_test(first, second, estimator=both, **OPTIONS))


COMPARED: dict[str, Any] = {"n_resamples": 99, "seed": 2, "bandwidth": "median", "scale": True}


@recorded("streams/tables of numbers, {estimator}", wider=where_searched, estimator=["adaptive", "mkme", "mmkme"])
def compared(estimator: str, folder: Path) -> Values:
    A, B = (put(data.numbers(*of), folder / f"t{of[0]}", "parquet") for of in ((75, 150), (76, 120, 0.2)))
    result = in_batches(A, B, names=("A", "B"), estimator=estimator, **COMPARED)
    return comparison(result)


@recorded("streams/mixed tables, {estimator}, missing={missing}", estimator=["adaptive"], missing=["drop", "category"])
@recorded("streams/mixed tables, {estimator}, missing={missing}", estimator=["kme"], missing=["drop", "category"])
def compared_mixed(missing: Any, estimator: str) -> Values:
    A, B = (data.mixed(seed, 120, blank=True, tilt=tilt) for seed, tilt in ((77, 0.4), (78, 0.6)))
    rule: Any = missing if missing == "drop" else {"city": "category", "age": "drop"}
    return comparison(in_batches(A, B, estimator=estimator, missing=rule, ordinal=data.ORDER, **COMPARED))


def comparison(result: Any) -> Values:
    """Return what a comparison of two tables found."""
    columns = sorted(result.columns, key=lambda column: column.name)
    return {
        **shown.test(result.test),
        "columns": [column.name for column in columns],
        "kinds": [column.kind for column in columns],
        "gaps": [None if np.isnan(column.gap) else column.gap for column in columns],
        "statistics": [column.statistic for column in columns],
        "pvalues": [column.pvalue for column in columns],
        "adjusted pvalues": [column.adjusted for column in columns],
    }
