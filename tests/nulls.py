"""What tests of tests share: nulls of plain kernels, the samples in the order of the test, and packed options."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import kernelmean
from kernelmean import Design, Plan
from kernelmean.core import joined
from kernelmean.core.array import precision
from kernelmean.inference import Resampling, permuted_pairs
from kernelmean.inference.null import Null
from kernelmean.inference.problem import KernelSide
from kernelmean.inference.questions import hsic_problem
from kernelmean.inference.statistics import MMD, ROUNDING, SINGLE, Statistic
from kernelmean.inference.units import layout, permuted_labels
from kernelmean.inference.units.kernel_sums import kernel_sums
from kernelmean.inference.units.samples import Labelings, plain_null
from kernelmean.plan.plan import serial_blas


def resampling(**options: Any) -> Resampling:
    """Return a resampling; ``threads`` and ``memory`` are those of its plan."""
    own = {name: options.pop(name) for name in ("threads", "memory") if name in options}
    return Resampling.of(**options, plan=Plan(**{"threads": 1, **own}) if own else None)


TWO_SAMPLES, PAIRS = ("random", "rotations", "binned rows"), ("random", "rotations")
"""The schemes that draw permutations; "bins" would be those of features."""


@contextmanager
def for_few_rows(scheme: str) -> Iterator[str]:
    """Yield what to pass as ``scheme`` so that a test takes one: rotations of any rows, or bins of 21 or more."""
    with pytest.MonkeyPatch.context() as patch:
        if scheme == "rotations":
            patch.setattr(permuted_labels, "_FEW", 0)
            patch.setattr(permuted_pairs, "_GATHERED", 0)
        if scheme == "binned rows":
            patch.setattr(layout, "MOST_BINS", 20)
        yield "auto" if scheme in ("rotations", "binned rows") else scheme


def mmd_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "u", scheme: str = "auto", **options: Any) -> Null:
    """Return MMD² of every kernel under the same permutations; the samples stay in their order."""
    n, m = X.shape[0], Y.shape[0]
    measure = statistic if isinstance(statistic, Statistic) else MMD(n, m, statistic)
    with for_few_rows(scheme) as asked, serial_blas:
        how = resampling(scheme=asked, **options)
        points, units = joined([X, Y]), layout.Layout.of(np.repeat([0, 1], [n, m]), np.ones(n + m))
        return plain_null(labelings_of(KernelSide(points, tuple(kernels)), units, how), measure)


def labelings_of(side: KernelSide, units: layout.Layout, how: Resampling) -> Labelings:
    """Return units with the sums of kernels, in bins if they are many, and the arrangements of their labels."""
    units = units.in_bins(how.rng) if how.scheme == "auto" else units
    rounding = SINGLE if precision(side.points) == "float32" else ROUNDING
    return Labelings.of(kernel_sums(side, units, how.resources), units.units, how, rounding)


def hsic_null(X: Any, Y: Any, kernels: Any, *, statistic: Any = "v", scheme: str = "auto", **options: Any) -> Null:
    """Return HSIC of every pair of kernels under the same permutations."""
    with for_few_rows(scheme) as asked:
        return permuted_pairs.permutation_null(
            hsic_problem((X, Y), kernels, statistic), resampling(scheme=asked, **options)
        )


def mmd_test(*data: Any, scheme: str = "auto", **options: Any) -> Any:
    """Test two samples, also of few rows by rotations or in bins of rows."""
    with for_few_rows(scheme) as asked:
        return kernelmean.mmd_test(*data, scheme=asked, **options)


def hsic_test(*data: Any, scheme: str = "auto", **options: Any) -> Any:
    """Test two variables, also of few rows by rotations."""
    with for_few_rows(scheme) as asked:
        return kernelmean.hsic_test(*data, scheme=asked, **options)


def packed(**options: Any) -> dict[str, Any]:
    """Return the options of a test as objects: strata, clusters and weights, threads and memory."""
    design = {name: options.pop(name) for name in ("strata", "clusters", "weights", "equal_sizes") if name in options}
    plan = {name: options.pop(name) for name in ("threads", "memory") if name in options}
    made: dict[str, Any] = {"design": Design(**design)} if design else {}
    return {**options, **made, **({"plan": Plan(**{"threads": 1, **plan})} if plan else {})}
