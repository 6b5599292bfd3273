"""What a result is about: two samples with a kernel, or pairs of rows with two kernels, with their design."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.array import Array, as_host
from ...kernels import Gaussian
from ...kernels.any_kernel import Precomputed
from ...kernels.bandwidth import median_bandwidth
from ...plan.plan import Plan
from ..questions import Pairs, TwoSamples
from ..request import is_constant, is_plain, representative_rows
from .pairs import PairSubject
from .samples import DesignedSubject, SampleSubject

Subject = SampleSubject | DesignedSubject | PairSubject


def subject_of(result: Any, plan: Plan, *, weighted: bool = False) -> Subject:
    """Return what a test looked at, with the kernel that explains it.

    With ``weighted``, as for the witness, means of two samples with weights of their own are allowed, from any
    estimator.

    Raises
    ------
    ValueError
        When the result holds no data, was of series, or its estimator shrinks or is fitted under every permutation.
    """
    question = check_explained(result.question)
    if not (weighted and isinstance(question, TwoSamples)):
        _check_estimators(question)
    if isinstance(question, TwoSamples):
        return _of_samples(question, result, plan)
    tables = as_host(question.tables[0]), as_host(question.tables[1])
    kernels = (reference_kernel(tables[0]), reference_kernel(tables[1])) if result.members else result.kernel
    return PairSubject.of_question(question, tables, kernels, plan)


def _of_samples(question: TwoSamples, result: Any, plan: Plan) -> SampleSubject | DesignedSubject:
    if question.design is not None:
        kernel = reference_kernel(question.tables[0]) if result.members else result.kernel
        return DesignedSubject(question, kernel, plan)
    pooled, sizes = np.concatenate([as_host(question.X), as_host(question.Y)]), (len(question.X), len(question.Y))
    kernel = reference_kernel(pooled) if result.members else result.kernel
    estimator = next(iter(question.asked.found), None) if question.asked is not None else None
    return SampleSubject(pooled, sizes, kernel, plan, question.names, estimator)


def check_explained(question: Any) -> TwoSamples | Pairs:
    """Return the question of two samples or of pairs that a result with its rows is about."""
    if question is None:
        raise ValueError(
            "this result holds no data: it was read from a file, or comes from a test that keeps none; call mmd_test "
            "or hsic_test on the data, and ask the result that it returns"
        )
    explained: TwoSamples | Pairs = question.explained()
    return explained


def check_columns(question: TwoSamples | Pairs, kernel: Any) -> TwoSamples | Pairs:
    """Return the question if its rows have columns, which those of a Gram matrix have not."""
    if any(isinstance(one, Precomputed) for one in (kernel if isinstance(kernel, tuple) else (kernel,))):
        raise ValueError(
            "the test was of a Gram matrix, which knows no columns and no other points; contributions() says what "
            "every row adds, and a test with a kernel of the rows can say more"
        )
    return question


def _check_estimators(question: Any) -> None:
    """Raise when the test compared means with weights of their own, which no single kernel describes."""
    instead = "; of this test only witness() works" if isinstance(question, TwoSamples) else ""
    for side in () if question.asked is None else question.asked.sides:
        if not is_plain(side):
            raise ValueError(
                f"estimator is {side!r}, with weights that permutations change; explanations need "
                f"a test with a kernel, such as estimator='kme' or 'mkme'{instead}"
            )


def reference_kernel(points: Array) -> Gaussian:
    """Return the kernel that explains a test of many kernels: Gaussian, with columns in units of their spread.

    The bandwidth is the median distance in these units, of 1,000 rows when there are more.
    """
    spread = points.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    some = (points / spread)[representative_rows(points)]
    theta = 1.0 if is_constant(some) else float(median_bandwidth(some))
    return Gaussian(theta * spread)


def both(value: Any) -> tuple[Any, Any]:
    """Return a value for X and one for Y: a tuple as it is, anything else twice."""
    if not isinstance(value, tuple):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{value!r} is a tuple of {len(value)}; pass one value for both variables, or (for X, for Y)")
    return value
