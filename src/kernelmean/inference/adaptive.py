"""Tests that need no choice of kernel: many kernels on many views of the data, and one exact p-value."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np

from .._array import Array, IntArray, RngLike, as_rng
from ..kernels import Kernel
from ..noise import Dirac
from .combine import COMBINATIONS, evidence, standardized
from .independence import hsic_null
from .kernel_choice import median_rows
from .members import Member, PairMember, independence_members, two_sample_members
from .null import Null
from .result import MemberOutcome, TestResult
from .samples import check_pairs, check_samples, in_fixed_order
from .statistics import Kind
from .two_sample import mmd_null
from .views import VIEWS, Views, available

Item = TypeVar("Item")
Evaluate = Callable[[Sequence[Item], str, np.random.Generator], Null]
_MOST_AT_ONCE = 8


@final
@dataclass(frozen=True)
class Adaptive:
    """How an adaptive test combines its kernels, and which these are.

    Parameters
    ----------
    combination : {"harmonic", "fuse", "max", "aggregate"}
        The rule, see :mod:`kernelmean.inference.combine`: the weighted harmonic mean of approximate p-values (the
        default, best in the power study), the log-mean-exp of standardized statistics (as MMD-FUSE), their maximum, or
        the smallest rank p-value over its weight (as MMDAgg and HSICAgg).
    members : sequence of Member or PairMember, optional
        Which kernels look at which views with which weights; by default those of
        :func:`~kernelmean.inference.members.two_sample_members` or
        :func:`~kernelmean.inference.members.independence_members`. Views that say nothing new of the data (see
        :func:`~kernelmean.inference.views.available`) are left out.

    Raises
    ------
    ValueError
        When the rule or a view is unknown, or a weight is not positive.

    Examples
    --------
    >>> Adaptive("fuse").combination
    'fuse'
    """

    combination: str = "harmonic"
    members: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        if self.combination not in COMBINATIONS:
            known = ", ".join(map(repr, COMBINATIONS))
            raise ValueError(f"combination is {self.combination!r}; pass one of {known}")
        if self.members is not None:
            object.__setattr__(self, "members", tuple(self.members))
            _check_members(self.members)


def _check_members(members: Sequence[Member | PairMember]) -> None:
    """Raise when there are none, a weight is not positive, or a view has no such name."""
    if not members:
        raise ValueError("members is empty; pass at least one Member, or None for the default ones")
    for member in members:
        if not 0.0 < member.weight < math.inf:
            raise ValueError(f"{member.label} has weight {member.weight!r}, a positive number is needed")
        for view in _views_of(member):
            if view not in VIEWS:
                raise ValueError(f"view {view!r} is unknown; pass one of {', '.join(map(repr, VIEWS))}")


NAMED: dict[str, Adaptive] = {
    "adaptive": Adaptive(),
    "fuse": Adaptive("fuse"),
    "aggregate": Adaptive("aggregate"),
}
"""What ``estimator=`` takes by name."""


def as_adaptive(estimator: Any) -> Adaptive | None:
    """Return the adaptive test that ``estimator`` names or is, or None."""
    if isinstance(estimator, Adaptive):
        return estimator
    return NAMED.get(estimator) if isinstance(estimator, str) else None


def adaptive_mmd_test(
    X: Any,
    Y: Any,
    adaptive: Adaptive = NAMED["adaptive"],
    *,
    statistic: Kind = "u",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two samples come from one law, by all members at once; what ``estimator="adaptive"`` calls.

    Every member k has its MMD² under the same relabelings. Its values are standardized by their own mean and deviation,
    turned into approximate p-values by their own skewness, and combined to
    :math:`\log \sum_k w_k / p_k`. All that is a symmetric function of the relabelings, the observed one among them, so
    the rank of the observed value is an exact p-value whatever the members are.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), or data frame
        Two samples of the same columns.
    adaptive : Adaptive
        The rule and the members.
    statistic, scheme, n_resamples, rng, n_jobs, memory
        As in :func:`kernelmean.inference.mmd_test`.

    Returns
    -------
    TestResult
        ``members`` holds what every kernel found on its own.

    Notes
    -----
    About 25 times the cost of one kernel, and one more kernel per column. Monotone transformations of a column change
    nothing but the members on "data" and "radius"; a common shift or scale changes nothing.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> result = adaptive_mmd_test(rng.normal(size=(60, 1)), rng.uniform(-1.7, 1.7, size=(60, 1)), rng=0)
    >>> result.pvalue < 0.05, result.members[0].label
    (True, 'Gaussian(bandwidth=0.0625) on ranks')
    """
    samples = check_samples(X, Y)
    X, Y = in_fixed_order(*samples)
    generator = as_rng(rng)
    pooled = np.concatenate([X, Y])
    members = _present(adaptive.members or two_sample_members(), available(*pooled.shape), "two samples", Member)
    views = Views.of(pooled, [member.view for member in members], median_rows(len(pooled), generator))
    first, second = views.table[: len(X)], views.table[len(X) :]

    def evaluate(kernels: Sequence[Kernel], scheme: str, rng: np.random.Generator) -> Null:
        return mmd_null(
            first,
            second,
            kernels,
            statistic=statistic,
            scheme=scheme,
            n_resamples=n_resamples,
            rng=rng,
            n_jobs=n_jobs,
            memory=memory,
        )

    kernels = [views.kernels(member.view, member.kernel) for member in members]
    null = _in_parts(evaluate, [kernel for own in kernels for kernel in own], scheme, generator)
    return _result(
        null,
        adaptive.combination,
        members,
        [len(own) for own in kernels],
        method="Adaptive two-sample permutation test, maximum mean discrepancies",
        sizes=(len(samples[0]), len(samples[1])),
    )


def adaptive_hsic_test(
    X: Any,
    Y: Any,
    adaptive: Adaptive = NAMED["adaptive"],
    *,
    statistic: Kind = "v",
    scheme: str = "auto",
    n_resamples: int = 999,
    rng: RngLike = None,
    n_jobs: int | None = None,
    memory: float | None = None,
) -> TestResult:
    r"""Test whether two variables are independent, by all pairs of members at once.

    As :func:`adaptive_mmd_test`, with HSIC in place of MMD².

    Parameters
    ----------
    X, Y : array of shape (n, d) and (n, e), or data frame
        Row i of X and row i of Y are one observation.
    adaptive : Adaptive
        The rule and the pairs.
    statistic, scheme, n_resamples, rng, n_jobs, memory
        As in :func:`kernelmean.inference.hsic_test`.

    Returns
    -------
    TestResult
        ``members`` holds what every pair found on its own.

    Notes
    -----
    About 30 times the cost of one pair of kernels.

    Examples
    --------
    >>> x = np.random.default_rng(0).uniform(-1, 1, size=(60, 1))
    >>> adaptive_hsic_test(x, np.cos(9 * x), rng=0).pvalue < 0.01
    True
    """
    X, Y = check_pairs(X, Y)
    generator = as_rng(rng)
    both = tuple(view for view in VIEWS if view in available(*X.shape) or view in available(*Y.shape))
    pairs = _present(adaptive.members or independence_members(), both, "independence", PairMember)
    rows = median_rows(len(X), generator)
    left, right = _sides(X, Y, pairs, rows)

    def evaluate(kernels: Sequence[tuple[Kernel, Kernel]], scheme: str, rng: np.random.Generator) -> Null:
        return hsic_null(
            left.table,
            right.table,
            kernels,
            statistic=statistic,
            scheme=scheme,
            n_resamples=n_resamples,
            rng=rng,
            n_jobs=n_jobs,
            memory=memory,
        )

    made: dict[tuple[int, str, Kernel], Kernel] = {}
    for pair in pairs:
        for side, (views, member) in enumerate(((left, pair.x), (right, pair.y))):
            made.setdefault((side, member.view, member.kernel), views.kernels(member.view, member.kernel)[0])
    kernels = [(made[0, p.x.view, p.x.kernel], made[1, p.y.view, p.y.kernel]) for p in pairs]
    null = _in_parts(evaluate, kernels, scheme, generator)
    return _result(
        null,
        adaptive.combination,
        pairs,
        [1] * len(pairs),
        method="Adaptive permutation test of independence, Hilbert-Schmidt criteria",
        sizes=(len(X),),
    )
