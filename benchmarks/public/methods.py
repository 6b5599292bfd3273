"""The tests of the public benchmarks: the default of this library, rebuilt tests, and other libraries'."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from settings import Setting

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "power")]

from peers import PEERS  # noqa: E402 (in the folder of the power study)

RESAMPLES = 499
OURS, THEIR_RULE = "kernelmean", "spectral MMD, their rule"
CHECKS = {
    "MMDAgg": ("mixture sd .7",),
    "MMD-FUSE": ("mixture sd .7",),
    "HSICAgg": ("joint perturbed n=600",),
    THEIR_RULE: ("sparse Gaussian shift", "sparse Laplace shift", "thin hypercube"),
}
"""Where the rebuilt tests are held to published powers."""

Test = Callable[[Setting, np.ndarray, np.ndarray, int], float | None]


def default(setting: Setting, x: np.ndarray, y: np.ndarray, seed: int) -> float:
    """Return the p-value of the default test of the question, without any option."""
    import kernelmean as km

    test = km.mmd_test if setting.question == "two samples" else km.hsic_test
    return test(x, y, rng=seed).pvalue


def their_rule(setting: Setting, x: np.ndarray, y: np.ndarray, seed: int) -> float:
    from rebuilt.spectral_mmd import as_published

    return float(not as_published(x, y, seed, setting.order))


def peer(test: Callable) -> Test:
    return lambda _setting, x, y, seed: test(x, y, RESAMPLES, seed)


METHODS: dict[str, tuple[str, Test]] = {OURS: ("", default), THEIR_RULE: ("two samples", their_rule)}
METHODS |= {name: (question, peer(test)) for name, (question, _, test) in PEERS.items()}
