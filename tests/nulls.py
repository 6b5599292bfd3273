"""What tests of tests share: nulls of plain kernels, the samples in the order of the test, and packed options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kernelmean
from kernelmean import Design, Plan
from kernelmean.core import joined
from kernelmean.inference import Resampling
from kernelmean.inference.engine import permutation_null
from kernelmean.inference.null import Null
from kernelmean.inference.questions import TwoSamples, hsic_problem
from kernelmean.inference.request import Request
from kernelmean.inference.resampling_options import Shape
from kernelmean.inference.schemes import SCHEMES


def resampling(**options: Any) -> Resampling:
    """Return a resampling; ``threads`` and ``memory`` are those of its plan."""
    own = {name: options.pop(name) for name in ("threads", "memory") if name in options}
    return Resampling.of(**options, plan=Plan(**{"threads": 1, **own}) if own else None)


def schemes_for(n: int) -> list[str]:
    """Return the schemes that choose permutations of n pairs."""
    shape = Shape(n, 99)
    return [name for name, scheme in SCHEMES.items() if name != "exact" and scheme.obstacle(shape) is None]


def mmd_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "u", **options: Any) -> Null:
    """Return MMD² of every kernel under the same permutations."""
    return TwoSamples(X, Y).null(kernels, statistic, resampling(**options))


def hsic_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "v", **options: Any) -> Null:
    """Return HSIC of every pair of kernels under the same permutations."""
    return permutation_null(hsic_problem((X, Y), kernels, statistic), resampling(**options))


def _under(test: Callable[..., Any]) -> Callable[..., Any]:
    """Return a test that also takes the schemes that the package has names of its own for."""

    def run(*data: Any, scheme: str = "auto", **options: Any) -> Any:
        if scheme not in SCHEMES or scheme == "exact":
            return test(*data, scheme=scheme, **options)

        def resampling(self: Request, plan: Any) -> Resampling:
            return Resampling.of(scheme, self.n_resamples, self.rng, plan)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Request, "resampling", resampling)
            return test(*data, **options)

    return run


mmd_test, hsic_test = _under(kernelmean.mmd_test), _under(kernelmean.hsic_test)


def packed(**options: Any) -> dict[str, Any]:
    """Return the options of a test as objects: strata, clusters and weights, threads and memory."""
    design = {name: options.pop(name) for name in ("strata", "clusters", "weights") if name in options}
    plan = {name: options.pop(name) for name in ("threads", "memory") if name in options}
    made: dict[str, Any] = {"design": Design(**design)} if design else {}
    return {**options, **made, **({"plan": Plan(**{"threads": 1, **plan})} if plan else {})}
