"""Estimators on a cluster: one worker does exact fits; for more rows all add up features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ...core.array import Array
from ...core.validate import check_spread
from ...core.words import count
from ...embedding.embedding import Embedding
from ...embedding.features import Landmarks
from ...estimators import KernelMean, by_features
from ...estimators.base import as_filter
from ...estimators.by_features import drawn_numbers, exact_limit, features_for, fit_sums
from ...estimators.filters import Scale
from ...kernels.base import Kernel, rules_of
from ...plan.plan import Plan
from .parts import ClusterPart
from .rows import Rows
from .running import gathered, task
from .streams import feature_embedding

_ALONE = Plan(threads=1)


def fit(estimator: KernelMean, X: Rows, exact_rows: int) -> None:
    """Set the attributes of an estimator that a fit to the same rows in one process sets, except ``weights_``.

    Up to ``exact_rows``, and to the limit in one process, one worker fits all rows. Landmarks stand for more rows, and
    for points that move or have weights of their own.
    """
    if not isinstance(estimator, KernelMean):
        raise TypeError(f"{estimator!r} has no fit on a cluster; pass a KernelMean, such as km.MKME()")
    plain = estimator.contraction is None and isinstance(as_filter(estimator.filter), Scale | None)
    if not plain or estimator.features not in (None, 0) or len(X) > min(exact_rows, exact_limit(estimator)):
        _fit_by_features(estimator, X)
        return
    attributes = gathered(X.client, [task(_fitted, task(_joined, list(X.parts)), clone(estimator))])[0]
    kernel, weight, noise = (attributes.pop(name) for name in ("kernel", "weight", "noise"))
    estimator.embedding_ = Embedding(kernel, (ClusterPart(X, noise, weight),))
    for name, value in attributes.items():
        setattr(estimator, name, value)
    estimator.n_features_in_ = X.shape[1]


def _fit_by_features(estimator: KernelMean, X: Rows) -> None:
    """Fit to sums of features: landmarks from rows drawn at random, then one pass over all rows."""
    (drawn,) = gathered(X.client, [X.take(drawn_numbers(len(X)))])
    features = features_for(estimator, by_features.BatchedRows(lambda: iter(()), True, drawn))
    mu = feature_embedding(X, features, moments=isinstance(features, Landmarks))
    fit = fit_sums(mu, estimator.options(features.kernel), None, _ALONE)
    estimator.name_columns(X.names, named=X.named)
    estimator.adopt(fit)


def resolved(kernel: Kernel, X: Rows, exact_rows: int) -> Kernel:
    """Return a kernel with the bandwidths that its rules find in the rows, which one worker joins for this."""
    rules = rules_of(kernel, X.shape[1])
    if not rules:
        return kernel
    if len(X) > exact_rows:
        raise ValueError(
            f"{kernel!r} has the rule {rules[0]!r}, which looks at all rows on one worker, at most {exact_rows:,}; X "
            f"has {count(len(X), 'row')}: pass a number, such as km.median_bandwidth of a part of them, or "
            "DaskPlan(client, exact_rows=...)"
        )
    found: Kernel = gathered(X.client, [task(kernel.resolved, task(_joined, list(X.parts)))])[0]
    return found


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts)


def _fitted(X: Array, estimator: KernelMean) -> dict[str, Any]:
    """Fit, and return what was learned, except points."""
    check_spread(X)
    estimator = clone(estimator)
    estimator._estimate(X)
    embedding = estimator.embedding_
    learned = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name != "embedding_"}
    weight = float(embedding.weights[0])
    return learned | {"kernel": embedding.kernel, "weight": weight, "noise": embedding.noise}
