r"""What kind of difference or dependence an adaptive test found: where its evidence lies, in words. Not a test.

The combined statistic is :math:`\log \sum_k ω_k / p_k`, so the share of a kind is the share of its members in this sum.
Here p_k comes from the *other* permutations alone, without the observed one: with it, all members that see a strong
difference have the same p-value, the smallest possible with that many permutations.

Most members see several kinds. A shift is seen by narrow kernels too, and nobody would call it local. Some members see
one kind only, such as a linear kernel on the distance from the center: they mark it. The evidence of another member
counts for a kind that is marked at least about two thirds as strongly. Otherwise it counts for a kind without such
members: the tails or the shape of single columns, if their L-moments (Hosking 1990; no single row can dominate them)
differ, or something local.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self, final

import numpy as np
from scipy.special import gammaincc, gammaln, logsumexp

from ...core.array import Array
from .members import ENERGY, LINEAR, Member, PairMember

_NORMAL = np.sqrt([[0.1866], [0.0883]])
"""The deviations of L-skewness and L-kurtosis of n normal values are these over √n."""
_LEAST_ROWS = 8
_DEVIATIONS, _SHARE = 3.0, 0.3
_HEAVY = 0.17
"""Tails are called heavy from this L-kurtosis on: it is .1226 for normal values, .26 for Student's t with 3."""


def residual(samples: Sequence[Array], strength: float) -> str:
    """Return the kind of a difference that is not in the means, the spread, or the dependence of columns.

    "tails" or "shape" if the L-kurtosis or the L-skewness of a column differs by three deviations and by a share of the
    ``strength`` of the evidence, -log of a p-value; otherwise "local".
    """
    if min(map(len, samples), default=0) < _LEAST_ROWS:
        return "local"
    ratios = [l_ratios(sample) for sample in samples]
    found = [
        (deviations, order, max(own[order, column], other[order, column]))
        for (own, n), (other, m) in combinations([(r, len(s)) for r, s in zip(ratios, samples, strict=True)], 2)
        for (order, column), deviations in np.ndenumerate(np.abs(own - other) / (_NORMAL * np.sqrt(1 / n + 1 / m)))
    ]
    deviations, order, largest = max(found)
    if deviations < _DEVIATIONS or deviations**2 / 2 < _SHARE * strength:
        return "local"
    return "tails" if order == 1 and largest >= _HEAVY else "shape"


def l_ratios(points: Array) -> Array:
    """Return the L-skewness and the L-kurtosis of every column, shape (2, d); 0 of constant columns.

    Examples
    --------
    >>> l_ratios(np.arange(5.0)[:, None] ** 2).round(3).ravel().tolist()
    [0.35, 0.0]
    """
    rows = np.sort(points, axis=0)
    n = len(rows)
    rank = np.arange(n)[:, None]
    below = [np.ones((n, 1))]
    for k in range(1, 4):
        below.append(below[-1] * (rank - k + 1) / (n - k))
    moments = [(share * rows).mean(axis=0) for share in below]
    scale = 2 * moments[1] - moments[0]
    third = 6 * moments[2] - 6 * moments[1] + moments[0]
    fourth = 20 * moments[3] - 30 * moments[2] + 12 * moments[1] - moments[0]
    higher = np.stack([third, fourth])
    return np.divide(higher, scale, out=np.zeros_like(higher), where=scale > 0.0)


LEAST_SKEWNESS = 0.05
LEVEL = 0.05
"""A kind is named if the p-value is at most this."""
_CLEAR = 0.5
_ALMOST_ALL, _NEARLY_ONE = 0.95, 0.995
_EXPLAINED = {"samples": 0.7, "columns together": 0.6, "pairs": 0.6}
"""A kind explains a member if it is marked with this share of its strength (chosen on design settings)."""
_STRONG, _FALL = 20.0, 0.4
"""For strengths beyond this the share falls, with this power: linear kernels never have p-values as small as others."""
_ONE_WAY = 0.5
_UNDERFLOW, _ROUNDING, _DECIMALS = 1e-290, 1e-9, 6

PHRASES: Mapping[str, str] = {
    "means": "in the means",
    "spread": "in the spread",
    "columns together": "in how columns go together",
    "tails": "in the tails",
    "shape": "in the shape of the distributions",
    "local": "in local clusters, gaps or waves",
    "trend": "in a trend, rising or falling",
    "curve": "in a curve that turns",
    "several columns": "in several columns together",
}
"""What a kind is called in a sentence."""

_TIERS = {
    "samples": (("means", "spread", "columns together"),),
    "pairs": (("trend",), ("several columns",), ("curve", "spread")),
}
"""The kinds that members mark, the simplest first; a simple one explains members of later ones."""


@final
@dataclass(frozen=True)
class EvidenceKind:
    """Where the evidence of an adaptive test lies: a description, not a test.

    Attributes
    ----------
    name : str
        The kind of difference ("means", "spread", "columns together", "tails", "shape", "local") or of dependence
        ("trend", "curve", "spread", "several columns", "local") with more than half of the evidence; "" if there is
        none.
    shares : dict of str to float
        The share of every kind in Σ w/p, the largest first; they sum to 1.

    Examples
    --------
    >>> kind = EvidenceKind("spread", {"spread": 0.71, "local": 0.29})
    >>> print(kind)
    The evidence lies mostly in the spread (71 %).
    >>> kind.clear
    True
    """

    name: str
    shares: Mapping[str, float]

    def __post_init__(self) -> None:
        whole = sum(self.shares.values())
        if not {*self.shares} <= {*PHRASES} or self.name not in ("", *self.shares) or not abs(whole - 1.0) <= _ROUNDING:
            raise ValueError(
                f"the kind {self.name!r} with the shares {dict(self.shares)} is none that a test found; it was altered"
            )

    @classmethod
    def of(cls, found: Mapping[str, float]) -> Self:
        """Return the kind with the largest share; shares have six decimals, finer than a description needs."""
        parts = {kind: round(share, _DECIMALS) for kind, share in found.items()}
        whole = sum(parts.values())
        ordered = sorted(((kind, part / whole) for kind, part in parts.items()), key=lambda item: (-item[1], item[0]))
        first, share = ordered[0]
        return cls(first if share > _CLEAR else "", dict(ordered))

    @property
    def clear(self) -> bool:
        """Whether one kind has more than half of the evidence."""
        return bool(self.name)

    @property
    def words(self) -> str:
        """Where most of the evidence lies, in a few words with its share, or "no clear kind"."""
        if not self.clear:
            return "no clear kind"
        share = self.shares[self.name]
        percent = "more than 99" if share >= _NEARLY_ONE else f"{100 * share:.0f}"
        most = "almost entirely" if share >= _ALMOST_ALL else "mostly"
        return f"{most} {PHRASES[self.name]} ({percent} %)"

    def __str__(self) -> str:
        return f"The evidence lies {self.words}." if self.clear else "The evidence is of no clear kind."


def kind_of(members: Sequence[Any], weights: Array, rows: Array, samples: Sequence[Array]) -> EvidenceKind | None:
    """Return the kind of what a test found, None if its members mark no known kind.

    Parameters
    ----------
    members : sequence of Member or PairMember
    weights : array of shape (k,)
        Their weights.
    rows : array of shape (k, P)
        Their statistics, the observed arrangement first.
    samples : sequence of arrays of shape (n, d)
        The samples whose columns are compared; empty for variables.
    """
    asked = "samples" if isinstance(members[0], Member) else "pairs"
    strengths = strengths_of(rows)
    marked = _marked(members, strengths, asked)
    if not any(marked):
        return None
    rest = residual(samples, float(strengths.max())) if asked == "samples" else "local"
    needed = {kind: _EXPLAINED.get(kind, _EXPLAINED[asked]) for kind in PHRASES}
    marks = sorted(zip(strengths.tolist(), marked, strict=True))  # the strongest of every kind comes last
    tiers = [{kind: own for own, kind in marks if kind in tier} for tier in _TIERS[asked]]
    easier = _FALL if rest == "local" else 0.0
    compared = (strengths * (_STRONG / np.maximum(strengths, _STRONG)) ** easier).tolist()
    counted = [_explained(kind, own, tiers, needed) or rest for kind, own in zip(marked, compared, strict=True)]
    shares = np.exp(np.log(weights) + strengths - logsumexp(np.log(weights) + strengths))
    return EvidenceKind.of({kind: float(shares[[own == kind for own in counted]].sum()) for kind in counted})


def strengths_of(rows: Array) -> Array:
    """Return -log of the approximate p-value of every member, from the other permutations alone."""
    others = rows[:, 1:]
    centered = others - others.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centered).mean(axis=1, keepdims=True))
    varies = deviation[:, 0] > 0.0
    scores = np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0.0)
    observed = np.divide(rows[:, 0] - others.mean(axis=1), deviation[:, 0], out=np.zeros(len(rows)), where=varies)
    skewness = np.maximum(np.mean(scores * scores * scores, axis=1), LEAST_SKEWNESS)
    return _minus_log_tail(4.0 / skewness**2, observed)


def _minus_log_tail(shape: Array, scores: Array) -> Array:
    """Return -log of the tail of a standardized gamma variable; where it underflows, its leading term."""
    places = np.maximum(shape + scores * np.sqrt(shape), 0.1 * shape)
    tail = gammaincc(shape, places)
    far = places - (shape - 1.0) * np.log(places) + gammaln(shape)
    return np.asarray(np.where(tail > _UNDERFLOW, -np.log(np.maximum(tail, _UNDERFLOW)), far))


def _marked(members: Sequence[Any], strengths: Array, asked: str) -> list[str]:
    """Return the kind that every member marks, "" for those that see several."""
    if asked == "samples":
        alone = [member.kernel == LINEAR and member.group in _TIERS["samples"][0] for member in members]
        robust = [member.group == "means" and member.view in ("scores", "ranks") for member in members]
        return [own.group if any(marks) else "" for own, *marks in zip(members, alone, robust, strict=True)]
    marked = [_marked_by_pair(pair) for pair in members]
    one_way = "curve" if _turns(members, strengths) else "spread"
    return [one_way if kind == "one-sided spread" else kind for kind in marked]


def _marked_by_pair(pair: PairMember) -> str:
    """Return the kind that a pair marks; for a spread against the values of the other variable there are two."""
    if pair.group == "trend":
        return "trend" if pair.x.kernel == LINEAR == pair.y.kernel else ""
    if pair.group == "spread" and pair.x.view != pair.y.view:
        return "one-sided spread"
    return pair.group if pair.group in ("curve", "spread", "several columns") else ""


def _turns(pairs: Sequence[PairMember], strengths: Array) -> bool:
    """Say whether the spread of one variable changes with the other because a curve turns, as a parabola does.

    Then the mean of one variable depends on the other, but not the other way round, and their spreads do not grow
    together. If a spread grows, both are seen.
    """

    def strongest(*chosen: bool) -> float:
        return float(strengths[np.array(chosen)].max(initial=0.0))

    curves = [pair.group == "curve" for pair in pairs]
    of_x = strongest(*(curve and _plain_energy(pair.y) for curve, pair in zip(curves, pairs, strict=True)))
    of_y = strongest(*(curve and _plain_energy(pair.x) for curve, pair in zip(curves, pairs, strict=True)))
    both = strongest(*(pair.group == "spread" and pair.x.view == pair.y.view for pair in pairs))
    return both + min(of_x, of_y) < _ONE_WAY * max(of_x, of_y)


def _plain_energy(side: Member) -> bool:
    return side.kernel == ENERGY and side.ridge is None


def _explained(kind: str, own: float, tiers: Sequence[Mapping[str, float]], needed: Mapping[str, float]) -> str:
    """Return the simplest kind that explains what a member found: its own if it marks one, or ""."""
    for tier in tiers:
        if kind in tier:
            return kind
        best = max(tier, key=lambda name: tier[name], default="")
        if best and tier[best] >= needed[best] * own:
            return best
    return ""
