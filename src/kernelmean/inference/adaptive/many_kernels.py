"""Tests that need no choice of kernel: many kernels on many views of the data, and one exact p-value.

Every member k has a statistic under the same permutations. Its values are standardized by their own mean and deviation,
turned into approximate p-values p_k by their own skewness, and combined into log Σ_k w_k / p_k. All this is a symmetric
function of the permutations, including the observed one, so the rank of the observed value is an exact p-value,
whatever the members are.

Every rule of combination maps the values (m, P) of m members under P permutations to one row of P numbers, and treats
the observed permutation like all others: whatever is estimated from the P values includes the observed one. The
combined statistic is then just another statistic of a permutation, and its rank among the P is an exact p-value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar, final

import numpy as np
from scipy.special import gammaincc, gammaln
from scipy.stats import rankdata

from ...core.array import Array, slices
from ...kernels import Kernel
from ...noise import Dirac
from ..null import Null, snapped, standardized
from ..resampling import Resampling
from .kinds import LEVEL, kind_of
from .member import Member, MemberOutcome, PairMember
from .views import VIEWS

_FLOOR, _SLOPE = 0.1, 1e-6
_LEAST_SKEWNESS = 0.05
_SMALLEST, _UNDERFLOW = 1e-300, 1e-290
_PIECES, _LEAST_SPAN = 128, 1e-3
_AT_ONCE = 2**15
"""Values that are read off a curve together, as many as stay in the cache of a processor."""
_HERMITE = np.array(
    [
        [-35, -20, -10, -4, 35, -15, 5, -1],
        [84, 45, 20, 6, -84, 39, -14, 3],
        [-70, -36, -15, -4, 70, -34, 13, -3],
        [20, 10, 4, 1, -20, 10, -4, 1],
    ]
)
"""The higher half of the coefficients of a polynomial of degree 7 from the lower halves at 0 and at 1."""


def evidence(scores: Array, first: int | None = None) -> Array:
    r"""Return -log of an approximate p-value of every standardized value, from its row's own skewness.

    With ``first``, only for that many values at the beginning of every row.

    A quadratic statistic is nearly a shifted gamma variable under the permutations (Pearson's type III; Mielke &
    Berry): with skewness g, a = 4/g², the tail beyond z is :math:`Γ(a, a + z \sqrt a) / Γ(a)`. Power depends on the
    accuracy of this, validity does not. The far lower tail, where the gamma density has a pole, is a line that hardly
    rises: it keeps values in order, so large p-values of data with few different values are no ties. More than 256
    values are read off polynomials between 129 points of the curve, as accurate as the curve itself (12 digits).
    """
    strengths = np.array(scores[:, :first])
    for part in slices(len(scores), max(1, _AT_ONCE // scores.shape[1])):
        skewness = np.einsum("kp,kp,kp->k", *[scores[part]] * 3)[:, None] / scores.shape[1]
        shape = 4.0 / np.maximum(skewness, _LEAST_SKEWNESS) ** 2
        values, floor = shape + strengths[part] * np.sqrt(shape), _FLOOR * shape
        curve = _interpolated if values.shape[1] > 2 * _PIECES else _minus_log_tail
        strengths[part] = curve(shape, np.maximum(values, floor)) + _SLOPE * np.minimum(values / floor - 1.0, 0.0)
    return strengths


def _minus_log_tail(shape: Array, places: Array) -> Array:
    return np.asarray(-np.log(np.maximum(gammaincc(shape, places), _SMALLEST)))


def _interpolated(shape: Array, places: Array) -> Array:
    """Return the curve at many places, from 129 of its points: between two of them it is a polynomial of degree 7.

    At both ends it has the value f and three derivatives of the curve in log x. The first of these, f', is x times the
    density over the tail, so f'' = f' u with u = a - x + f'.
    """
    logs = np.log(places)
    low = logs.min(axis=1, keepdims=True)
    step = np.maximum(np.ptp(logs, axis=1, keepdims=True), _LEAST_SPAN) / _PIECES
    knots = low + step * np.arange(_PIECES + 1)
    x = np.exp(knots)
    value = _minus_log_tail(shape, x)
    slope = np.exp(shape * knots - x - gammaln(shape) + value)
    u = shape - x + slope
    second = slope * u
    half = np.stack([value, step * slope, step**2 / 2 * second, step**3 / 6 * slope * (u**2 + second - x)])
    start, end = half[..., :-1], half[..., 1:]
    powers = np.concatenate([start, np.tensordot(_HERMITE, np.concatenate([start, end]), axes=1)]).reshape(8, -1)
    logs -= low
    logs /= step
    piece = np.minimum(logs, _PIECES - 1).astype(np.intp)  # knots are evenly spaced: no search
    logs -= piece
    piece += _PIECES * np.arange(len(piece))[:, None]
    values = powers[-1].take(piece)
    for power in powers[-2::-1]:
        values *= logs
        values += power.take(piece)
    return values


def strengths_of(rows: Array) -> Array:
    """Return -log of the approximate p-value of every member, from the other permutations alone."""
    others = rows[:, 1:]
    centered = others - others.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centered).mean(axis=1, keepdims=True))
    varies = (np.ptp(others, axis=1) > 0.0) & (deviation[:, 0] > 0.0)
    scores = np.divide(centered, deviation, out=np.zeros_like(centered), where=varies[:, None])
    observed = np.divide(rows[:, 0] - others.mean(axis=1), deviation[:, 0], out=np.zeros(len(rows)), where=varies)
    skewness = np.maximum(np.mean(scores * scores * scores, axis=1), _LEAST_SKEWNESS)
    return _log_tail_beyond(4.0 / skewness**2, observed)


def _log_tail_beyond(shape: Array, scores: Array) -> Array:
    """Return -log of the tail of a standardized gamma variable; where it is no number any more, its leading term."""
    places = np.maximum(shape + scores * np.sqrt(shape), 0.1 * shape)
    tail = gammaincc(shape, places)
    far = places - (shape - 1.0) * np.log(places) + gammaln(shape)
    return np.asarray(np.where(tail > _UNDERFLOW, -np.log(np.maximum(tail, _UNDERFLOW)), far))


def harmonic(values: Array, weights: Array) -> Array:
    r"""Return -log of the weighted harmonic mean of the approximate p-values, :math:`\log \sum_k w_k / p_k`.

    One small p-value decides, as in a minimum, and several that agree add up, as in a mean (Wilson 2019).
    """
    return _log_mean_exp(evidence(standardized(values)), weights)


def log_mean_exp(values: Array, weights: Array) -> Array:
    r"""Return :math:`\log \sum_k w_k e^{z_k}` of the standardized values, a soft maximum.

    Biggs, Schrab & Gretton (2023) combine statistics by the same formula in MMD-FUSE, but divide each by the norm of
    its Gram matrix. Here :math:`z_k` is divided by its deviation over the permutations, so this is another test.
    """
    return _log_mean_exp(standardized(values), weights)


def largest(values: Array, weights: Array) -> Array:
    """Return the largest standardized value; the weights only say which members take part."""
    return np.asarray(standardized(values)[weights > 0.0].max(axis=0))


def mean(values: Array, weights: Array) -> Array:
    """Return the weighted mean of the standardized values: best if members usually agree."""
    return np.asarray(weights @ standardized(values))


def aggregate(values: Array, weights: Array) -> Array:
    """Return -log of the smallest p_k / w_k, with p_k the share of permutations at least as large, ties counted.

    It rejects when a member rejects at level u w_k, with u corrected so that the whole test has its level (after Schrab
    et al. 2023).
    """
    shares = rankdata(-values, method="max", axis=-1) / values.shape[-1]
    return np.asarray((np.log(weights)[:, None] - np.log(shares)).max(axis=0))


def _log_mean_exp(rows: Array, weights: Array) -> Array:
    """Return log Σ_k w_k exp(row_k) of rows that are overwritten."""
    top = rows.max(axis=0)
    rows -= top
    return np.asarray(top + np.log(weights @ np.exp(rows, out=rows)))


Rule = Callable[[Array, Array], Array]
COMBINATIONS: dict[str, Rule] = {
    "harmonic": harmonic,
    "log-mean-exp": log_mean_exp,
    "max": largest,
    "mean": mean,
    "aggregate": aggregate,
}
"""The rules by name: from values (m, P) and weights (m,) that sum to one to P combined values."""


Item = TypeVar("Item")
Evaluate = Callable[[Sequence[Item], Resampling], Null]
"""From some kernels and a resampling to their statistics."""

_MOST_AT_ONCE = 256
_ROUNDING = 1e-10


@final
@dataclass(frozen=True)
class Adaptive:
    """An adaptive test, to pass as ``estimator=``: how it combines its kernels, and which kernels these are.

    Parameters
    ----------
    combination : {"harmonic", "log-mean-exp", "max", "mean", "aggregate"}
        The rule, see :mod:`kernelmean.inference.adaptive.many_kernels`: the weighted harmonic mean of approximate
        p-values (the default, which loses least to a plain test when that test is best), the log-mean-exp of
        standardized statistics, their maximum, their mean, or the smallest rank p-value divided by its weight (as in
        MMDAgg and HSICAgg, with other kernels).
    members : sequence of Member or PairMember, optional
        Kernels, with their views and weights; by default those of
        :func:`~kernelmean.inference.adaptive.default_members.two_sample_members` or
        :func:`~kernelmean.inference.adaptive.default_members.independence_members`. Views that add nothing for the
        data (see :func:`~kernelmean.inference.adaptive.views.available`) are left out.

    Raises
    ------
    ValueError, TypeError
        When the rule or a view is unknown, a weight or a ridge is not positive, or a member has no kernel.

    Examples
    --------
    >>> Adaptive("max").combination
    'max'
    """

    combination: str = "harmonic"
    members: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
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
                    if not isinstance(side.kernel, Kernel):
                        raise TypeError(
                            f"a member on {side.view!r} has the kernel {side.kernel!r}; pass a Kernel, such as "
                            "Gaussian(1.0), or KernelFunction(function) for a function of your own"
                        )
                    if side.view not in VIEWS:
                        raise ValueError(f"view {side.view!r} is unknown; pass one of {', '.join(map(repr, VIEWS))}")
                    if side.ridge is not None and not 0.0 < side.ridge < math.inf:
                        raise ValueError(
                            f"{side.label} has ridge {side.ridge!r}, a positive number is needed, such as 0.01, or None"
                        )


NAMED: dict[str, Adaptive] = {
    "adaptive": Adaptive(),
    "log-mean-exp": Adaptive("log-mean-exp"),
    "aggregate": Adaptive("aggregate"),
}
"""The adaptive tests that ``estimator=`` takes by name."""


def in_parts(evaluate: Evaluate[Item], kernels: Sequence[Item], how: Resampling, bytes_of_one: float = 0.0) -> Null:
    """Evaluate all kernels, as many at a time as memory allows, all under the same permutations.

    Every part starts from the same state of the generator, which the last part moves on: the next test that is given
    it draws other permutations. The scheme depends on sizes alone.
    """
    size = int(np.clip(how.resources.memory / max(bytes_of_one, 1.0), 1, _MOST_AT_ONCE))
    parts = [kernels[start : start + size] for start in range(0, len(kernels), size)]
    first = [evaluate(part, how.repeated()) for part in parts[:-1]]
    return reduce(Null.beside, [*first, evaluate(parts[-1], how)])


def combined(
    null: Null,
    rule: str,
    members: Sequence[Member | PairMember],
    counts: Sequence[int],
) -> dict[str, Any]:
    """Combine the statistics of all kernels, ``counts[k]`` of them for member k, and return what every member found.

    If the test rejects, the kind of difference is included. Returns what a result holds, as keyword arguments of
    ``TestResult``.
    """
    weights = np.array([member.weight for member in members])
    weights = weights / weights.sum()
    rows = _per_member(null, counts)
    outcome = _in_one(null, rows, rule, weights, counts).outcome(0)
    starts = np.cumsum([0, *counts[:-1]])
    observed = [float(null.values[i, 0] if n == 1 else row[0]) for i, n, row in zip(starts, counts, rows, strict=True)]
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
    return {
        "kernel": tuple(member.kernels for member in members),
        "noise": Dirac(),
        "members": tuple(MemberOutcome(*column) for column in zip(*columns, strict=True)),
        "kind": kind_of(members, weights, strengths_of(rows)) if outcome["pvalue"] <= LEVEL else None,
        **outcome,
    }


def _in_one(null: Null, rows: Array, rule: str, weights: Array, counts: Sequence[int]) -> Null:
    """Return the combined statistic; for several samples also that of every pair of them."""
    varies = np.ptp(rows, axis=1) > 0.0
    if not varies.any():
        varies[:] = True
    chosen = rows if varies.all() else rows[varies]
    values = COMBINATIONS[rule](chosen, weights[varies] / weights[varies].sum())
    slack = np.array([_ROUNDING * (1.0 + np.abs(values).max())])
    name = f"{rule} combination of {len(weights)} statistics, {null.statistic_name}"
    parts = {pair: _in_one(part, _per_member(part, counts), rule, weights, counts) for pair, part in null.parts.items()}
    return Null(values[None], slack, name, null.scheme, parts)


def _per_member(null: Null, counts: Sequence[int]) -> Array:
    """Return the standardized values of every member, shape (k, P); for several columns the largest."""
    rows = standardized(null.snapped)
    ends = np.cumsum([0, *counts])
    return np.stack([rows[i] if j == i + 1 else snapped(rows[i:j].max(axis=0), _ROUNDING) for i, j in pairwise(ends)])
