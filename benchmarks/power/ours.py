"""This library's tests, as functions from a data set to a p-value."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np
from kernelmean.inference.adaptive_hsic import adaptive_hsic
from kernelmean.inference.adaptive_mmd import adaptive_mmd
from peers import ENOUGH

from kernelmean.inference import hsic_null, hsic_test, mmd_null, mmd_test
from kernelmean.inference.adaptive import Adaptive
from kernelmean.inference.null import Null

Method = Callable[[np.ndarray, np.ndarray, int, int], float]


def two_samples(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: mmd_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


def independence(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: hsic_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


def in_parts(test: Callable, estimator: str) -> Method:
    """Return the test that stops as ``peers.sequential`` does, for what is solved anew under every rearrangement."""

    def pvalue(x: np.ndarray, y: np.ndarray, b: int, seed: int) -> float:
        rng, reached, seen = np.random.default_rng(seed), 0, 0
        while seen < b and reached < ENOUGH:
            part = min(max(ENOUGH, seen), b - seen)
            found = test(x, y, estimator=estimator, n_resamples=part, scheme="random", rng=rng)
            reached += round(found.pvalue * (part + 1)) - 1
            seen += part
        return (1 + reached) / (1 + b)

    return pvalue


_KEPT: OrderedDict[Any, Null] = OrderedDict()
_MOST_KEPT = 1000


def adaptive(rule: str, test: Callable, null: Callable) -> Method:
    """Return the adaptive test with a rule; the rules share the members' statistics of a data set, which take the time.

    The p-value is that of ``mmd_test`` or ``hsic_test`` with ``estimator=Adaptive(rule)``.
    """

    def pvalue(x: np.ndarray, y: np.ndarray, b: int, seed: int) -> float:
        def statistics(X: np.ndarray, Y: np.ndarray, kernels: Any, **options: Any) -> Null:
            key = null.__name__, X.tobytes(), Y.tobytes(), repr(kernels), options["scheme"], b, seed
            if key not in _KEPT:
                _KEPT[key] = null(X, Y, kernels, n_resamples=b, **options)
            if len(_KEPT) > _MOST_KEPT:
                _KEPT.popitem(last=False)
            return _KEPT[key]

        return test((x, y), Adaptive(rule), statistics, "auto", np.random.default_rng(seed)).pvalue

    return pvalue


OURS: dict[str, tuple[str, Method]] = {}
for kind, make, plain, test, null in (
    ("two samples", two_samples, "MMD", adaptive_mmd, mmd_null),
    ("independence", independence, "HSIC", adaptive_hsic, hsic_null),
):
    OURS[f"adaptive {plain}"] = kind, adaptive("harmonic", test, null)
    for rule in ("log-mean-exp", "aggregate", "max"):
        OURS[f"adaptive {plain}, {rule}"] = kind, adaptive(rule, test, null)
    for name in ("kme", "s-kmse", "mkme", "mmkme"):
        OURS[f"{plain} {name}"] = kind, make(name)
    OURS[f"{plain} f-kmse"] = kind, in_parts(mmd_test if plain == "MMD" else hsic_test, "f-kmse")
OURS["MMD vpmkme"] = "two samples", two_samples("vpmkme")


def offered(name: str) -> bool:
    """Say whether the installed version knows the estimator."""
    x = np.random.default_rng(0).normal(size=(8, 1))
    try:
        OURS[name][1](x, x[::-1].copy(), 9, 0)
    except (ValueError, TypeError):
        return False
    return True
