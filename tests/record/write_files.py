"""Write files with the code of commit 76d487a, and the numbers they must load with.

Run with that commit's code; the data are made here and nowhere else, so that they never change::

    git worktree add ../old 76d487a
    PYTHONPATH=../old/src python tests/record/write_files.py
    git worktree remove ../old

``tests/record/test_files.py`` loads them with the code of today.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import kernelmean as km
from kernelmean import features
from kernelmean.estimators import filters

FILES = Path(__file__).parent / "files"
K, V = km.kernels, km.noise


def rows(seed: int, n: int, d: int = 2) -> np.ndarray:
    """Return n rows of d columns."""
    return np.random.default_rng([23, seed]).normal(size=(n, d))


X, Y = rows(0, 12), 1.2 * rows(1, 10) + 0.3
GRID = np.linspace(-1.5, 1.5, 6).reshape(3, 2)

EMBEDDINGS: dict[str, Any] = {
    "plain": km.embed(X, K.Gaussian(1.5)),
    "normal": km.embed(X, K.Gaussian([1.0, 2.0]), noise=V.Normal(0.2)),
    "normal of columns": km.embed(X, K.Laplacian(1.2), noise=V.Normal.diagonal([0.1, 0.3])),
    "normal full": km.embed(X, K.Gaussian(1.0), noise=V.Normal([[0.2, 0.05], [0.05, 0.1]])),
    "normal of points": km.embed(X, K.Gaussian(1.0), noise=V.Normal.isotropic(0.1 + np.arange(12) / 20.0)),
    "laplace": km.embed(X, K.Matern(2.5, 1.1), noise=V.Laplace(0.3)),
    "uniform": km.embed(X, K.Wendland(2, 2.5), noise=V.Uniform(0.4)),
    "blankout": km.embed(X, K.Polynomial(3, 0.5), noise=V.Blankout(0.2, 1.0)),
    "sampled": km.embed(X, K.RationalQuadratic(1.3, 0.8), noise=V.Sampled(V.Normal(0.1), n_samples=4, seed=1)),
    "sum of noises": km.embed(X, K.Gaussian(1.0), noise=V.IndependentSum((V.Normal(0.1), V.Uniform(0.3)))),
    "switch": km.embed(np.arange(12.0)[:, None] % 3, K.Categorical(0.1), noise=V.Switch(0.2, 3)),
    "parts": km.embed(X, K.Gaussian(1.0)) - 0.5 * km.embed(Y, K.Gaussian(1.0), noise=V.Normal(0.1)),
    "sum of kernels": km.embed(X, 2.0 * K.Gaussian(1.0) + K.Linear() * K.Laplacian(1.0)),
    "distance": km.embed(X, K.DistanceInduced(1.2)),
    "tensor product": km.embed(X, K.TensorProduct([K.Gaussian(1.0), K.Laplacian(0.8)], [[0], [1]])),
}

ESTIMATORS: dict[str, Any] = {
    "kme": km.KME(K.Gaussian(1.5)),
    "kme of the median": km.KME("gaussian", bandwidth="median"),
    "s-kmse": km.SKMSE(K.Gaussian(1.5)),
    "f-kmse": km.FKMSE(K.Gaussian(1.5)),
    "mkme": km.MKME(K.Gaussian(1.5)),
    "mmkme": km.MMKME("gaussian", bandwidth="median"),
    "vpmkme": km.VPMKME(K.Gaussian(1.5)),
    "landweber": km.KernelMean(K.Gaussian(1.5), filter=filters.Landweber(), strength=5.0),
    "median of means": km.MedianOfMeans(3, kernel=K.Gaussian(1.5), random_state=1),
    "bayesian": km.BayesianKernelMean(K.Gaussian(1.5), smoothing=0.3, strength=0.1),
}


def values_of(mu: Any) -> list[float]:
    """Return an embedding at three places."""
    places = GRID[:, : mu.points.shape[1]] if mu.points.shape[1] == 2 else np.arange(3.0)[:, None]
    return np.asarray(mu(places)).tolist()


def write_embeddings(expected: dict[str, Any]) -> None:
    for name, mu in EMBEDDINGS.items():
        km.save(mu, FILES / f"embedding {name}.npz")
        expected[f"embedding {name}.npz"] = {"norm": mu.norm(), "values": values_of(mu)}


def write_estimators(expected: dict[str, Any]) -> None:
    for name, estimator in ESTIMATORS.items():
        fit = estimator.fit(X)
        km.save(fit, FILES / f"estimator {name}.npz", columns=["a", "b"])
        found = {"norm": fit.embedding_.norm(), "values": values_of(fit.embedding_), "weights": fit.weights_.tolist()}
        expected[f"estimator {name}.npz"] = {**found, "loocv": getattr(fit, "loocv_", None)}


def write_features(expected: dict[str, Any]) -> None:
    fourier = features.fourier(K.Gaussian(1.5), 2, 8, design="orthogonal", rng=1)
    landmarks = features.nystrom(K.Laplacian(1.5), X, 5, rng=1)
    for name, phi in (("fourier", fourier), ("landmarks", landmarks)):
        mean = features.embed(X, phi)
        km.save(mean, FILES / f"features {name}.npz")
        expected[f"features {name}.npz"] = {"norm": mean.norm(), "values": np.asarray(mean(GRID)).tolist()}


def write_results(expected: dict[str, Any]) -> None:
    options: dict[str, Any] = {"rng": 1, "n_resamples": 49}
    results = {
        "mmd": km.mmd_test(X, Y, estimator="mkme", kernel=K.Gaussian(1.5), **options),
        "adaptive": km.mmd_test(X, Y, estimator="adaptive", **options),
        "hsic": km.hsic_test(X[:10], Y, estimator="kme", kernel=K.Gaussian(1.5), **options),
        "k samples": km.k_sample_test(X, Y, X[:6] + 1, estimator="kme", kernel=K.Gaussian(1.5), **options),
    }
    for name, result in results.items():
        (FILES / f"result {name}.json").write_text(result.to_json(null_distribution=True), encoding="utf-8")
        null = np.asarray(result.null_distribution)
        expected[f"result {name}.json"] = {
            "statistic": float(result.statistic),
            "pvalue": result.pvalue,
            "null": [float(null.min()), float(null.max())],
            "sizes": list(result.sizes),
        }


def write_monitor(expected: dict[str, Any]) -> None:
    monitor = km.DriftMonitor(rows(2, 60), kernel="gaussian", bandwidth="median", n_frequencies=3, seed=1)
    monitor.update(rows(3, 15))
    (FILES / "monitor.json").write_text(monitor.to_json(), encoding="utf-8")
    state = monitor.state
    found = {"rows": state.n_rows, "log wealth": state.log_wealth, "evidence": state.pvalue}
    after = monitor.update(rows(4, 15) + 0.5)
    expected["monitor.json"] = {**found, "log wealth afterwards": after.log_wealth}


REFUSED = {"refused": "holds sums of a test as an earlier version saved them; delete it to start over"}
FORMER = ("checkpoint compare", "checkpoint mmd", "stream fourier", "stream landmarks", "sums of two samples")
"""Sums that commits 76d487a and 5d4de27 saved, which no later code writes."""


def main() -> None:
    """Write everything anew."""
    FILES.mkdir(exist_ok=True)
    expected: dict[str, Any] = {f"{name}.npz": REFUSED for name in FORMER}
    for part in (write_embeddings, write_estimators, write_features, write_results, write_monitor):
        part(expected)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(values)}" for name, values in sorted(expected.items()))
    (FILES / "expected.json").write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
