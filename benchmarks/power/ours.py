"""This library's tests, as functions from a data set to a p-value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernelmean.inference import hsic_test, mmd_test
from kernelmean.inference.adaptive import Adaptive

Method = Callable[[np.ndarray, np.ndarray, int, int], float]


def two_samples(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: mmd_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


def independence(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: hsic_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


OURS: dict[str, tuple[str, Method]] = {}
for kind, make, plain in (("two samples", two_samples, "MMD"), ("independence", independence, "HSIC")):
    OURS[f"adaptive {plain}"] = kind, make("adaptive")
    OURS[f"adaptive {plain}, fuse"] = kind, make("fuse")
    OURS[f"adaptive {plain}, aggregate"] = kind, make("aggregate")
    OURS[f"adaptive {plain}, max"] = kind, make(Adaptive("max"))
    OURS[f"{plain} kme"] = kind, make("kme")
    for name in ("s-kmse", "f-kmse", "mkme", "mmkme"):
        OURS[f"{plain} {name}"] = kind, make(name)


def offered(name: str) -> bool:
    """Say whether the installed version knows the estimator."""
    x = np.random.default_rng(0).normal(size=(8, 1))
    try:
        OURS[name][1](x, x[::-1].copy(), 9, 0)
    except (ValueError, TypeError):
        return False
    return True
