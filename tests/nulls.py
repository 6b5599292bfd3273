"""Nulls of plain kernels for tests of schemes: as questions have them, but with the samples in the order of the test."""

from __future__ import annotations

from typing import Any

from kernelmean import Plan
from kernelmean.inference import Null, Resampling, permutation_null
from kernelmean.inference.questions import hsic_problem, mmd_problem


def resampling(**options: Any) -> Resampling:
    """Return a resampling; ``threads`` and ``memory`` are those of its plan."""
    own = {name: options.pop(name) for name in ("threads", "memory") if name in options}
    return Resampling.of(**options, plan=Plan(**own) if own else None)


def mmd_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "u", **options: Any) -> Null:
    """Return MMD² of every kernel under the same permutations."""
    return permutation_null(mmd_problem((X, Y), kernels, statistic), resampling(**options))


def hsic_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "v", **options: Any) -> Null:
    """Return HSIC of every pair of kernels under the same permutations."""
    return permutation_null(hsic_problem((X, Y), kernels, statistic), resampling(**options))
