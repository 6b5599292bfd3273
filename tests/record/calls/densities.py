"""Mixtures whose kernel mean matches that of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

import kernelmean as km
from kernelmean.density import GaussianMixture
from record import data, shown
from record.registry import Values, recorded

K = km.kernels
X = data.blobs()
STARTS = (np.array([[-2.0, 0.5], [2.0, -0.5], [0.5, 3.0]]), np.full(3, 0.6))
"""Means and variances to begin with, so that nothing depends on another library's k-means."""


def matched(mix: Any) -> Values:
    """Return what a fit found, components in the order of their first mean."""
    order = np.argsort(mix.means_[:, 0])
    covariances = np.asarray(mix.covariances_)
    shared = mix.covariance_type == "tied"
    return {
        "weights": shown.plain(mix.weights_[order]),
        "means": shown.plain(mix.means_[order]),
        "covariances": shown.plain(covariances if shared else covariances[order]),
        "objective": float(mix.objective_path_[-1]),
        "log densities": shown.plain(mix.score_samples(data.GRID)),
        "score": float(mix.score(X)),
    }


OPTIONS: dict[str, Any] = {"kernel": K.Gaussian(1.5), "prototypes": STARTS, "random_state": 0}


@recorded("matching/weights only, {estimator}", estimator=["kme", "mkme", "s-kmse", "mmkme"])
def weights_only(estimator: str) -> Values:
    return matched(km.KernelMeanMatching(estimator=estimator, update="weights", **OPTIONS).fit(X))


CLOSE = "an optimiser ends here, not at a root"


@recorded(
    "matching/all parameters, {covariance}",
    covariance=["spherical", "diag", "tied", "full"],
    wider=dict.fromkeys(("weights", "means", "covariances", "log densities", "score", "objective"), (1e-5, CLOSE)),
)
def all_parameters(covariance: Any) -> Values:
    starts = {
        "spherical": STARTS[1],
        "diag": np.full((3, 2), 0.6),
        "tied": 0.6 * np.eye(2),
        "full": np.stack([0.6 * np.eye(2)] * 3),
    }
    options = {**OPTIONS, "prototypes": (STARTS[0], starts[covariance]), "early_stopping": False, "max_iter": 1000}
    made = km.KernelMeanMatching(estimator="mkme", update="all", covariance_type=covariance, **options)
    return matched(made.fit(X))


@recorded(
    "matching/held out, {bandwidth}",
    bandwidth=["validation", 1.2],
    wider=dict.fromkeys(("objective", "score", "held out", "bandwidth"), (1e-05, CLOSE)),
)
def held_out(bandwidth: Any) -> Values:
    options = {**OPTIONS, "kernel": None if bandwidth == "validation" else K.Gaussian(bandwidth)}
    made = km.KernelMeanMatching(estimator="mkme", update="weights", **options).fit(X)
    return {
        "objective": float(made.objective_path_[-1]),
        "score": float(made.score(X)),
        "held out": None if np.isnan(made.validation_score_) else float(made.validation_score_),
        "bandwidth": float(made.bandwidth_),
        "trials": len(made.trials_),
    }


@recorded("matching/from an embedding")
def from_an_embedding() -> Values:
    mu = km.MKME(K.Gaussian(1.5)).fit(X).embedding_
    made = km.KernelMeanMatching(update="weights", **{**OPTIONS, "kernel": None}).fit_embedding(mu)
    return {
        "weights": shown.plain(np.sort(made.weights_)),
        "distance": (made.embedding() - mu).norm(),
        **shown.array("sample", made.sample(5, random_state=1)),
    }


@recorded("matching/the best of several")
def best_of_several() -> Values:
    model = km.KernelMeanMatching(estimator="mkme", kernel=K.Gaussian(1.5), update="weights", random_state=0)
    folds = KFold(3, shuffle=True, random_state=0)
    found = GridSearchCV(model, {"n_components": [2, 3]}, cv=folds).fit(X)
    scores = np.stack([found.cv_results_[f"split{k}_test_score"] for k in range(3)], axis=1)
    return {"scores": shown.plain(scores), "best": found.best_estimator_.n_components_}


@recorded("matching/a mixture")
def mixture() -> Values:
    mix = GaussianMixture(
        np.array([0.3, 0.7]), STARTS[0][:2], np.stack([0.5 * np.eye(2), np.array([[0.4, 0.1], [0.1, 0.3]])])
    )
    return {
        "log density": shown.plain(mix.logpdf(data.GRID)),
        "norm": mix.embedding(K.Gaussian(1.0)).norm(),
        **shown.array("sample", mix.sample(5, np.random.default_rng(2))),
    }
