"""Choice among complete settings by cross-validation on the training data."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core.array import SILENT, Array, Progress
from ..core.frozen import Frozen
from ..core.validate import check_points
from .kernel_mean_matching import KernelMeanMatching
from .units import scales_as_they_are, unlike_scales

_NARROW = (0.03, 0.1, 0.3)
_RIDGES = (0.01, 0.1)
_KME: dict[str, Any] = {"estimator": "kme", "bandwidth": "median", "update": "weights"}


@dataclass(frozen=True)
class Selection(Frozen):
    """Candidates with their cross-validated scores, and the best one, fitted to all rows.

    Attributes
    ----------
    best : KernelMeanMatching
    candidates : list of KernelMeanMatching
        Unfitted, as they were passed.
    scores : array of shape (n_candidates, n_splits)
        Mean log densities of the held-out folds.
    """

    best: KernelMeanMatching
    candidates: list[KernelMeanMatching]
    scores: Array


def select(
    X: Any,
    candidates: Sequence[KernelMeanMatching] | None = None,
    *,
    n_splits: int = 5,
    random_state: int = 0,
    progress: Progress = SILENT,
) -> Selection:
    """Return the candidate with the best cross-validated log density, fitted to all rows of ``X``.

    Parameters
    ----------
    X : array of shape (n, d)
        Training data; no other data are used.
    candidates : sequence of KernelMeanMatching, optional
        By default those of :func:`recommended`.
    n_splits : int
        Number of folds, at least two and at most n.
    random_state : int
        Seeds the folds.
    progress : callable, optional
        Called with what comes next, the folds done, and the folds in all.

    Returns
    -------
    Selection

    Raises
    ------
    ValueError
        When there is no candidate, or X has fewer rows than folds.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> few = [KernelMeanMatching(K, update="weights", random_state=0) for K in (1, 8)]
    >>> select(X, few).best.n_components_
    1
    """
    X = check_points(X)
    if told := unlike_scales(X, None):
        warnings.warn(told, UserWarning, stacklevel=2)
    candidates = recommended(X, random_state=random_state) if candidates is None else list(candidates)
    if not candidates:
        raise ValueError("there is no candidate; pass at least one KernelMeanMatching")
    from sklearn.model_selection import KFold  # slow to import

    folds = list(KFold(n_splits, shuffle=True, random_state=random_state).split(X))
    scores = np.empty((len(candidates), n_splits))
    with scales_as_they_are():
        for k, (fit, held) in enumerate(folds):  # all candidates of a fold, so that folds take the same time
            progress("kernel mean matching", k, n_splits)
            scores[:, k] = [clone(one).fit(X[fit]).score(X[held]) for one in candidates]
        best = clone(candidates[int(np.argmax(scores.mean(axis=1)))]).fit(X)
    return Selection(best, candidates, scores)


def recommended(X: Any, *, random_state: int = 0) -> list[KernelMeanMatching]:
    """Return settings worth trying for the best density of standardised data.

    These are fixed prototypes of every covariance type, with exactly matched weights, and joint fits with early
    stopping for spherical and diagonal covariances. There are fewer components than a quarter of the distinct rows.

    Parameters
    ----------
    X : array of shape (n, d)
    random_state : int
        Seeds every candidate.
    """
    most = max(1, len(np.unique(check_points(X), axis=0)) // 4)
    shapes: list[dict[str, Any]] = [
        *({"covariance_type": "diag", "pool_over": "data", "pooling": p} for p in (0.3, 1.0, 3.0)),
        {"covariance_type": "diag", "pooling": 0.3},
        *({"covariance_type": "tied", "ridge": ridge} for ridge in _RIDGES),
        *({"covariance_type": "full", "ridge": ridge, "pooling": p} for ridge in _RIDGES for p in (1.0, 10.0, 30.0)),
        {"covariance_type": "full", "pool_over": "data"},
    ]
    starts: list[dict[str, Any]] = [
        *({"covariance_type": "diag", "pool_over": "data", "n_components": K} for K in (5, 10, 20)),
        {"covariance_type": "diag", "n_components": 20},
        *({"covariance_type": "spherical", "n_components": K} for K in (10, 20)),
    ]
    options = [
        *(_KME | {"n_components": K} | shape for K in (1, 2, 3, 5, 10, 20) for shape in shapes),
        *({"bandwidth_factors": _NARROW} | start for start in starts),
    ]
    kept = [one for one in options if one["n_components"] <= most]
    return [KernelMeanMatching(kmeans_n_init=3, random_state=random_state, **one) for one in kept]
