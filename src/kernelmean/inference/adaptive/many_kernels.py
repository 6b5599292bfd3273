"""Tests that need no choice of kernel: many kernels on many views of the data, and one exact p-value.

Every member k has its statistic under the same permutations. Its values are standardized by their own mean and
deviation, turned into approximate p-values p_k by their own skewness, and combined to log Σ_k w_k / p_k. All that is a
symmetric function of the permutations, the observed one among them, so the rank of the observed value is an exact
p-value whatever the members are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar, final

import numpy as np

from ...core.array import Array
from ...noise import Dirac
from ..multiple import standardized
from ..null import Null, snapped
from ..resampling_options import Resampling
from .combination import COMBINATIONS, check_renamed, evidence
from .kinds import LEVEL, kind_of
from .members import Member, MemberOutcome, PairMember
from .views import VIEWS

Item = TypeVar("Item")
Evaluate = Callable[[Sequence[Item], Resampling], Null]
"""From some kernels and a resampling to their statistics."""

_MOST_AT_ONCE = 64
_ROUNDING = 1e-10


@final
@dataclass(frozen=True)
class Adaptive:
    """How an adaptive test combines its kernels, and which these are; a value of ``estimator=``.

    Parameters
    ----------
    combination : {"harmonic", "log-mean-exp", "max", "mean", "aggregate"}
        The rule, see :mod:`kernelmean.inference.adaptive.combination`: the weighted harmonic mean of approximate
        p-values (the default, which loses least to a plain test where that is best), the log-mean-exp of standardized
        statistics, their maximum, their mean, or the smallest rank p-value over its weight (as MMDAgg and HSICAgg, with
        other kernels).
    members : sequence of Member or PairMember, optional
        Which kernels look at which views with which weights; by default those of
        :func:`~kernelmean.inference.adaptive.members.two_sample_members` or
        :func:`~kernelmean.inference.adaptive.members.independence_members`. Views that say nothing new of the data (see
        :func:`~kernelmean.inference.adaptive.views.available`) are left out.

    Raises
    ------
    ValueError
        When the rule or a view is unknown, a weight or a ridge is not positive, or a volume has no ridge.

    Examples
    --------
    >>> Adaptive("max").combination
    'max'
    """

    combination: str = "harmonic"
    members: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        check_renamed(self.combination, "combination")
        if self.combination not in COMBINATIONS:
            known = ", ".join(map(repr, COMBINATIONS))
            raise ValueError(f"combination is {self.combination!r}; pass one of {known}")
        if self.members is not None:
            object.__setattr__(self, "members", tuple(self.members))
            if not self.members:
                raise ValueError("members is empty; pass at least one Member, or None for the default ones")
            for member in self.members:
                if not 0.0 < member.weight < math.inf:
                    raise ValueError(f"{member.label} has weight {member.weight!r}, a positive number is needed")
                for side in member.sides:
                    _check_side(side)


NAMED: dict[str, Adaptive] = {
    "adaptive": Adaptive(),
    "log-mean-exp": Adaptive("log-mean-exp"),
    "aggregate": Adaptive("aggregate"),
}
"""What ``estimator=`` takes by name."""


def _check_side(side: Member) -> None:
    """Raise when what looks at a table has no such view, or a λ that regularizes nothing."""
    if side.view not in VIEWS:
        raise ValueError(f"view {side.view!r} is unknown; pass one of {', '.join(map(repr, VIEWS))}")
    if side.ridge is not None and not 0.0 < side.ridge < math.inf:
        raise ValueError(f"{side.label} has ridge {side.ridge!r}, a positive number is needed, such as 0.01, or None")
    if side.view == "volume" and side.ridge is None:
        raise ValueError("a member on 'volume' needs a ridge; write Member('volume', kernels.Linear(), ridge=0.001)")


def in_parts(evaluate: Evaluate[Item], kernels: Sequence[Item], how: Resampling) -> Null:
    """Evaluate all kernels, as many at a time as memory allows, all under the same permutations.

    Every part starts from the same state of the generator and takes the scheme that the first part took.
    """
    size = _MOST_AT_ONCE
    while True:
        try:
            return _joined(evaluate, [kernels[i : i + size] for i in range(0, len(kernels), size)], how)
        except MemoryError:
            if size == 1:
                raise
            size //= 2


def _joined(evaluate: Evaluate[Item], parts: Sequence[Sequence[Item]], how: Resampling) -> Null:
    nulls = [evaluate(parts[0], how.repeated(how.scheme))]
    nulls += [evaluate(part, how.repeated(nulls[0].scheme)) for part in parts[1:]]
    together = reduce(Null.beside, nulls)
    return replace(together, memory=max(null.memory for null in nulls) + together.values.nbytes)


def combined(
    null: Null,
    rule: str,
    members: Sequence[Member | PairMember],
    counts: Sequence[int],
    samples: Sequence[Array] = (),
) -> dict[str, Any]:
    """Combine the statistics of all kernels, ``counts[k]`` of them for member k, and tell what every member found.

    Where the test rejects it says what kind of difference that is, also from the columns of the ``samples`` where it is
    about samples. Returns what a result holds, as keyword arguments of ``TestResult``.
    """
    weights = np.array([member.weight for member in members])
    weights = weights / weights.sum()
    rows = _per_member(null, counts)
    outcome = _in_one(null, rows, rule, weights, counts).outcome(0)
    starts = np.cumsum([0, *counts[:-1]])
    observed = [float(null.values[i, 0] if n == 1 else row[0]) for i, n, row in zip(starts, counts, rows, strict=True)]
    return {
        "kernel": tuple(member.kernels for member in members),
        "noise": Dirac(),
        "members": _outcomes(members, weights, observed, rows),
        "kind": kind_of(members, weights, rows, samples) if outcome["pvalue"] <= LEVEL else None,
        **outcome,
    }


def _in_one(null: Null, rows: Array, rule: str, weights: Array, counts: Sequence[int]) -> Null:
    """Return the combined statistic, and of several samples that of every pair of them."""
    varies = np.ptp(rows, axis=1) > 0.0
    if not varies.any():
        varies[:] = True
    values = COMBINATIONS[rule](rows[varies], weights[varies] / weights[varies].sum())
    slack = np.array([_ROUNDING * (1.0 + np.abs(values).max())])
    name = f"{rule} combination of {len(weights)} statistics, {null.statistic_name}"
    parts = {pair: _in_one(part, _per_member(part, counts), rule, weights, counts) for pair, part in null.parts.items()}
    return Null(values[None], slack, name, null.scheme, null.memory, parts)


def _per_member(null: Null, counts: Sequence[int]) -> Array:
    """Return the standardized values of every member, shape (k, P); of several columns the largest counts."""
    rows = standardized(null.snapped)
    ends = np.cumsum([0, *counts])
    return np.stack([rows[i] if j == i + 1 else snapped(rows[i:j].max(axis=0), _ROUNDING) for i, j in pairwise(ends)])


def _outcomes(
    members: Sequence[Member | PairMember], weights: Array, observed: Sequence[float], rows: Array
) -> tuple[MemberOutcome, ...]:
    scores = standardized(rows)
    columns = (
        [member.label for member in members],
        weights.tolist(),
        observed,
        scores[:, 0].tolist(),
        evidence(scores, 1)[:, 0].tolist(),
        (rows >= rows[:, :1]).mean(axis=1).tolist(),
        [member.group for member in members],
    )
    return tuple(MemberOutcome(*column) for column in zip(*columns, strict=True))
