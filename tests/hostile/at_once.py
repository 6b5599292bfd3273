"""What processes of a pool run: a test in threads, and how many threads BLAS had meanwhile."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

import kernelmean as km


def pvalue(seed: int) -> float:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(60, 3)), rng.normal(0.2, 1.0, size=(50, 3))
    return km.mmd_test(X, Y, n_resamples=199, rng=seed, plan=km.Plan(threads=2)).pvalue


def answers(seed: int) -> tuple[float, tuple[float, ...], float]:
    """Return the p-values of a comparison and of its columns, and the score of an estimator."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 2)), rng.normal(0.2, 1.0, size=(25, 2))
    compared = km.compare(X, Y, n_resamples=99, rng=seed)
    return compared.pvalue, tuple(column.pvalue for column in compared.columns), km.MMKME().fit(X).loocv_


def pvalue_and_threads(seed: int) -> tuple[float, int]:
    """Return the p-value, and the most threads that any BLAS of this process takes."""
    found = pvalue(seed)
    return found, max((info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"), default=1)
