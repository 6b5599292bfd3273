"""This library's tests, as functions from a data set to a p-value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from peers import ENOUGH

from kernelmean.inference import Adaptive, Design, Resampling, hsic_test, mmd_test
from kernelmean.inference.adaptive.candidates import Evaluated
from kernelmean.inference.adaptive.many_kernels import combined
from kernelmean.inference.questions import Pairs, TwoSamples
from kernelmean.inference.statistics import StatisticForm

Method = Callable[[np.ndarray, np.ndarray, int, int], float]


def two_samples(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: mmd_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


def independence(estimator: Any, **options: Any) -> Method:
    return lambda x, y, b, seed: hsic_test(x, y, estimator=estimator, n_resamples=b, rng=seed, **options).pvalue


def stopping(test: Callable, estimator: str) -> Method:
    """Return the test that stops as ``peers.sequential`` does, for what is solved anew under every permutation."""

    def pvalue(x: np.ndarray, y: np.ndarray, b: int, seed: int) -> float:
        rng, reached, seen = np.random.default_rng(seed), 0, 0
        while seen < b and reached < ENOUGH:
            part = min(max(ENOUGH, seen), b - seen)
            found = test(x, y, estimator=estimator, n_resamples=part, scheme="random", rng=rng)
            reached += round(found.pvalue * (part + 1)) - 1
            seen += part
        return (1 + reached) / (1 + b)

    return pvalue


@dataclass(frozen=True)
class PendingResult:
    """A question that is asked of one data set, by the bytes of the arrays so that it can be looked up."""

    question: type[TwoSamples | Pairs]
    statistic: StatisticForm
    x: tuple[bytes, tuple[int, ...]]
    y: tuple[bytes, tuple[int, ...]]
    n_resamples: int
    seed: int

    @classmethod
    def of(
        cls, question: type, statistic: StatisticForm, x: np.ndarray, y: np.ndarray, b: int, seed: int
    ) -> PendingResult:
        packed = [(points.astype(float).tobytes(), points.shape) for points in (x, y)]
        return cls(question, statistic, *packed, b, seed)

    @property
    def samples(self) -> list[np.ndarray]:
        return [np.frombuffer(values).reshape(shape) for values, shape in (self.x, self.y)]


@lru_cache(maxsize=1000)
def statistics(posed: PendingResult) -> Evaluated:
    """Return the statistics of all members, which all rules share."""
    how = Resampling.of("auto", posed.n_resamples, posed.seed)
    return posed.question.of(posed.samples, Design()).evaluated(Adaptive(), posed.statistic, how)


def adaptive(rule: str, question: type, statistic: StatisticForm) -> Method:
    """Return the adaptive test with a rule; the rules share the members' statistics of a data set, which take the time.

    The p-value is that of ``mmd_test`` or ``hsic_test`` with ``estimator=Adaptive(rule)``.
    """

    def pvalue(x: np.ndarray, y: np.ndarray, b: int, seed: int) -> float:
        found = statistics(PendingResult.of(question, statistic, x, y, b, seed))
        return float(combined(found[0], rule, *found[1:])["pvalue"])

    return pvalue


OURS: dict[str, tuple[str, Method]] = {}
for kind, make, plain, test, question, statistic in (
    ("two samples", two_samples, "MMD", mmd_test, TwoSamples, "u"),
    ("independence", independence, "HSIC", hsic_test, Pairs, "v"),
):
    OURS[f"adaptive {plain}"] = kind, adaptive("harmonic", question, statistic)
    for rule in ("log-mean-exp", "aggregate", "max"):
        OURS[f"adaptive {plain}, {rule}"] = kind, adaptive(rule, question, statistic)
    for name in ("kme", "s-kmse", "mkme", "mmkme"):
        OURS[f"{plain} {name}"] = kind, make(name)
    OURS[f"{plain} f-kmse"] = kind, stopping(test, "f-kmse")


def offered(name: str) -> bool:
    """Say whether the installed version knows the estimator."""
    x = np.random.default_rng(0).normal(size=(8, 1))
    try:
        OURS[name][1](x, x[::-1].copy(), 9, 0)
    except (ValueError, TypeError):
        return False
    return True
