"""Estimators on a cluster: one worker searches, all gather the distances of pairs that the search reads."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np
from sklearn.base import clone

from ...core.array import Array
from ...core.validate import check_spread
from ...core.words import count
from ...embedding.embedding import Embedding
from ...estimators import KernelMean, by_features
from ...estimators.by_features import drawn_numbers, features_for, fit_sums
from ...estimators.filters import Scale, as_filter
from ...estimators.loocv.isotropic import STORE_UP_TO, PairDistances
from ...estimators.options import make_kernel
from ...kernels.base import Kernel, rules_of
from ...kernels.gaussian import Gaussian
from ...plan.plan import Plan
from .parts import ClusterPart
from .rows import Rows
from .running import folded, gathered, task
from .streams import feature_embedding

_SHARES = 64
_ALONE = Plan(threads=1)


def fit(estimator: KernelMean, X: Rows) -> None:
    """Set on an estimator what fitting it to the same rows in one process sets, but for ``weights_``.

    Raises
    ------
    ValueError
        When the estimator draws points together, or gives rows different weights.
    """
    _check_estimator(estimator)
    copy, pairs, moments = clone(estimator), None, None
    whole = task(_joined, list(X.parts))
    if len(X) > STORE_UP_TO:
        pairs = task(_pairs, whole, copy)
        moments = folded(_sum, [task(_share, pairs, number) for number in range(_SHARES)])
    attributes = gathered(X.client, [task(_fitted, whole, copy, pairs, moments)])[0]
    kernel, weight, noise = (attributes.pop(name) for name in ("kernel", "weight", "noise"))
    estimator.embedding_ = Embedding(kernel, (ClusterPart(X, noise, weight),))
    for name, value in attributes.items():
        setattr(estimator, name, value)
    estimator.n_features_in_ = X.shape[1]


def fit_by_features(estimator: KernelMean, X: Rows) -> None:
    """Set what fitting sums of features sets: landmarks of rows drawn at random, then one pass over all of them."""
    if not isinstance(estimator, KernelMean):
        raise TypeError(f"{estimator!r} has no fit on a cluster; pass a KernelMean, such as km.MKME()")
    (drawn,) = gathered(X.client, [X.take(drawn_numbers(len(X)))])
    features = features_for(estimator, by_features.Rows(lambda: iter(()), True, drawn))
    fit = fit_sums(feature_embedding(X, features, moments=True), estimator.options(features.kernel), None, _ALONE)
    estimator.name_columns(X.names, named=X.named)
    estimator.adopt(fit)


def resolved(kernel: Kernel, X: Rows, exact_rows: int) -> Kernel:
    """Return a kernel with the bandwidths that its rules find in the rows, which one worker joins for that."""
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


def _check_estimator(estimator: Any) -> None:
    if not isinstance(estimator, KernelMean):
        raise TypeError(f"{estimator!r} has no fit on a cluster; pass a KernelMean, such as km.MKME()")
    if estimator.contraction is not None or not isinstance(as_filter(estimator.filter), Scale | None):
        raise ValueError(
            f"{estimator!r} moves points or weighs every row by itself, which needs them in one process; on a cluster "
            "an estimator has filter None or 'scale' and no contraction"
        )


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts)


def _pairs(X: Array, estimator: KernelMean) -> PairDistances | None:
    """Return the pairs of rows whose distances a search under a Gaussian kernel of one bandwidth reads."""
    check_spread(X)
    kernel = make_kernel(estimator.kernel, estimator.bandwidth_for(X), X)
    one = isinstance(kernel, Gaussian) and np.ndim(kernel.bandwidth) == 0
    return PairDistances(X, float(kernel.bandwidth)) if one else None  # type: ignore[attr-defined]


def _share(pairs: PairDistances | None, number: int) -> Array | None:
    """Gather one share of the distances."""
    return None if pairs is None else pairs.share(number, _SHARES, _ALONE)


def _fitted(X: Array, estimator: KernelMean, pairs: PairDistances | None, moments: Array | None) -> dict[str, Any]:
    """Fit, and return what was learned besides points."""
    check_spread(X)
    estimator = clone(estimator)
    estimator._estimate(X, None if pairs is None or moments is None else pairs.known(moments))
    embedding = estimator.embedding_
    learned = {name: value for name, value in vars(estimator).items() if name.endswith("_") and name != "embedding_"}
    weight = float(embedding.weights[0])
    return learned | {"kernel": embedding.kernel, "weight": weight, "noise": embedding.noise}


def _sum(*moments: Array | None) -> Array | None:
    known = [part for part in moments if part is not None]
    return reduce(add, known) if known else None
