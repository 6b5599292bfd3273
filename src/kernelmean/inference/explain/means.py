"""The two means whose difference is looked at: as they are given, or by any estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ...embedding.embedding import Embedding, embed
from ...estimators import FKMSE, SKMSE, KernelMean
from ...estimators.options import KernelLike
from ...noise import Noise
from ...plan.plan import Plan
from ..kernel_choice import choose_kernel, representative_rows
from ..samples import matched
from .subject import given_estimator, kernel_for

SHRINKING = {"s-kmse": SKMSE, "f-kmse": FKMSE}
DEFAULTS = ("gaussian", "median", "kme")


def means_of(
    X: Any, Y: Any, kernel: KernelLike, bandwidth: Any, estimator: Any, plan: Plan
) -> tuple[Embedding, Embedding]:
    """Return two embeddings as they are, or the means of two tables in the space of one kernel.

    A noise without weights is fitted to the pooled rows, as in tests; anything else to each sample.
    """
    if isinstance(X, Embedding) or isinstance(Y, Embedding):
        return _given(X, Y, kernel, bandwidth, estimator)
    first, second = matched(X, Y)
    pooled = np.concatenate([first.values, second.values])
    if isinstance(estimator, KernelMean):
        given_estimator(kernel, bandwidth, estimator)  # or raise
        kernel, bandwidth = estimator.kernel, estimator.bandwidth
    elif isinstance(estimator, str) and estimator in SHRINKING:
        estimator = SHRINKING[estimator]()
    base = kernel_for(pooled, kernel, bandwidth, "kme", "the pooled sample")
    if isinstance(estimator, KernelMean):
        estimator = clone(estimator).set_params(kernel=base, bandwidth="median")
        if estimator.filter is not None or estimator.contraction is not None:
            fitted = (clone(estimator).fit(table.values).embedding_ for table in (first, second))
            mu, nu = (replace(each, names=first.names if first.named else None) for each in fitted)
            return mu, nu
    own = estimator if isinstance(estimator, KernelMean) else given_estimator(base, "median", estimator)
    if isinstance(own, KernelMean):
        noise = choose_kernel(pooled, own, representative_rows(pooled), "the pooled sample").noise
    else:
        noise = own(pooled, base)[1]
    assert isinstance(noise, Noise)  # pairs of noises are for pairs of kernels
    return embed(first, base, noise=noise, plan=plan), embed(second, base, noise=noise, plan=plan)


def _given(X: Any, Y: Any, *options: Any) -> tuple[Embedding, Embedding]:
    if not (isinstance(X, Embedding) and isinstance(Y, Embedding)):
        raise TypeError("one of X and Y is an Embedding and the other is not; pass two tables or two Embeddings")
    if any(not isinstance(given, str) or given != default for given, default in zip(options, DEFAULTS, strict=True)):
        raise ValueError("embeddings bring their kernel and noise; leave kernel=, bandwidth= and estimator= out")
    return X, Y
