"""Files: every kind of thing that can be saved, saved and loaded again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean import features
from kernelmean.estimators import filters, read_columns
from record import data, shown
from record.registry import Values, recorded, where_searched

K, V = km.kernels, km.noise
X, Y = data.X, data.Y


def there_and_back(value: Any, folder: Path) -> Any:
    """Return what a file gives back of a value."""
    km.save(value, folder / "value.npz")
    return km.load(folder / "value.npz")


@recorded(
    "stored/embedding with {noise}",
    noise={
        "none": None,
        "normal": V.Normal(0.1),
        "full": V.Normal([[0.2, 0.1], [0.1, 0.3]]),
        "laplace": V.Laplace(0.3),
        "sum": V.IndependentSum((V.Normal(0.1), V.Uniform(0.3))),
    },
)
def embeddings(noise: Any, folder: Path) -> Values:
    mu = km.embed(X, K.Gaussian(1.5), weights=data.SIGNED, noise=noise)
    return shown.embedding(there_and_back(mu - km.embed(Y, K.Gaussian(1.5)), folder), data.GRID)


@recorded("stored/names of columns")
def names(folder: Path) -> Values:
    km.save(km.embed(data.numbers(0, 20), K.Laplacian(1.5)), folder / "mu.npz", columns=["x", "y", "z"])
    return {"names": list(read_columns(folder / "mu.npz")), "loaded": list(km.load(folder / "mu.npz").names or ())}


ESTIMATORS: dict[str, Any] = {
    "kme": km.KME(K.Gaussian(1.5)),
    "s-kmse": km.estimators.SKMSE(K.Gaussian(1.5)),
    "f-kmse": km.estimators.FKMSE(K.Gaussian(1.5)),
    "mkme": km.MKME(K.Gaussian(1.5)),
    "mmkme": km.MMKME("gaussian", bandwidth="median"),
    "vpmkme": km.estimators.VPMKME(K.Gaussian(1.5)),
    "median of means": km.estimators.MedianOfMeans(n_blocks=5, kernel=K.Gaussian(1.5), random_state=1),
    "bayesian": km.estimators.BayesianKernelMean(K.Gaussian(1.5), smoothing=0.3, strength=0.1),
    "landweber": km.KernelMean(K.Gaussian(1.5), filter=filters.Landweber(), strength=5.0),
}


@recorded("stored/estimator {estimator}", wider=where_searched, estimator=ESTIMATORS)
def estimators(estimator: Any, folder: Path) -> Values:
    loaded = there_and_back(estimator.fit(X), folder)
    return {
        "loocv": getattr(loaded, "loocv_", None),
        "class": type(loaded).__name__,
        **shown.embedding(loaded.embedding_, data.GRID),
    }


VALUES: dict[str, Any] = {
    "gaussian": K.Gaussian([1.0, 2.0]),
    "matern": K.Matern(2.5, 1.1),
    "wendland": K.Wendland(2, 2.5),
    "rational quadratic": K.RationalQuadratic(1.3, 0.8),
    "polynomial": K.Polynomial(3, 0.5),
    "distance": K.DistanceInduced(1.2),
    "categorical": K.Categorical(0.1),
    "sum": 2.0 * K.Gaussian(1.0) + K.Linear() * K.Laplacian(1.0),
    "tensor product": K.TensorProduct([K.Gaussian(1.0), K.Laplacian(0.8)], [[0], [1]]),
}


@recorded("stored/kernels")
def kernels(folder: Path) -> Values:
    return {name: float(np.sum(there_and_back(kernel, folder)(X[:5], Y[:5]))) for name, kernel in VALUES.items()}


@recorded("stored/noises")
def noises(folder: Path) -> Values:
    kept = {
        "normal": V.Normal.diagonal([0.1, 0.3]),
        "uniform": V.Uniform(0.5),
        "blankout": V.Blankout(0.2, 1.0),
        "switch": V.Switch(0.2, 3),
        "sampled": V.Sampled(V.Laplace(0.3), n_samples=4, seed=1),
    }
    codes = data.CODES[:, :2]
    found = {
        name: there_and_back(noise, folder).sample(codes, np.random.default_rng(1))
        for name, noise in kept.items()
        if name != "sampled"
    }
    again = there_and_back(kept["sampled"], folder)
    mu = km.embed(X, K.Gaussian(1.0), noise=again)
    return {**{name: float(np.sum(values)) for name, values in found.items()}, "sampled": mu.norm()}


@recorded("stored/features and streams")
def sums(folder: Path) -> Values:
    fourier = features.fourier(K.Gaussian(1.5), 2, 8, design="orthogonal", rng=1)
    landmarks = features.nystrom(K.Gaussian(1.5), X, 6, rng=1)
    return {
        "fourier": float(np.sum(there_and_back(fourier, folder)(X) @ there_and_back(fourier, folder)(Y).T)),
        "landmarks": float(np.sum(there_and_back(landmarks, folder)(X) @ there_and_back(landmarks, folder)(Y).T)),
        "embedding": there_and_back(features.embed(X, fourier), folder).norm(),
        "stream": there_and_back(km.KME().fit(features.embed(X, fourier)), folder).embedding_.norm(),
    }


@recorded("stored/filters")
def stored_filters(folder: Path) -> Values:
    kept = {
        "scale": filters.Scale(),
        "ridge": filters.Ridge(),
        "iterated": filters.IteratedRidge(3),
        "landweber": filters.Landweber(0.5),
        "nu": filters.NuMethod(1.5),
        "cutoff": filters.Cutoff(),
    }
    return {name: type(there_and_back(filter_, folder)).__name__ for name, filter_ in kept.items()}


@recorded("stored/result of a test")
def result() -> Values:
    found = km.mmd_test(X, Y, estimator=km.KME(K.Gaussian(1.5)), rng=1, n_resamples=99)
    return shown.test(km.TestResult.from_json(found.to_json(null_distribution=True)))


@recorded("stored/result of an adaptive test")
def adaptive_result() -> Values:
    found = km.mmd_test(X, Y, estimator="adaptive", rng=1, n_resamples=49)
    return shown.test(km.TestResult.from_json(found.to_json(null_distribution=True)))
