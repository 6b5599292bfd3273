r"""What kind of difference or dependence an adaptive test found: where its evidence lies, in words. Not a test.

*Samples.* The evidence for the means, the spread, the way columns go together and the shape is that of the columns
themselves, see :mod:`kernelmean.inference.adaptive.aspects`; every kind with clear evidence is named. If the strongest
of the members for shape and for local differences finds more than all that, the difference is local. If a design
decides which rows may change places, columns themselves say too much: the kind is that of the strongest member which
sees one kind only.

*Pairs.* The combined statistic is :math:`\log \sum_k ω_k / p_k`, so the share of a kind is that of its members in this
sum. Here p_k is taken from the *other* permutations alone, without the observed one: with it, all members of a strong
dependence have the same p-value, the smallest that so many permutations can have. Most members see several kinds. Some
see one kind only, such as linear kernels: they mark it. What another member found counts for a kind that is marked at
least as strongly as three fifths of it, and else for something local.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy.special import logsumexp

from ...core.array import Array
from .aspects import LEAST_ROWS, MEANS, MOST_SUMMED, SHAPE, SPREAD, TAILS, TOGETHER, Compared, minus_log_tail
from .members import ENERGY, LINEAR, Member, PairMember

LEAST_SKEWNESS = 0.05
LEVEL = 0.05
"""A kind is named if the p-value is at most this."""
_MOST, _ALMOST_ALL = 0.5, 0.95
_CLEAR = 4.8
"""A kind of samples is named from this evidence on, -log of a p-value: six kinds at the level .05 together."""
_EXPLAINED, _EXPLAINED_PAIRS = 0.7, 0.6
"""A member is explained by kinds that have this share of its strength (chosen on design settings)."""
_TAILS_COUNT = 3.0
"""How much more tails explain than their evidence says."""
_STRONG, _FALL, _FALL_PAIRS = 20.0, 0.5, 0.4
"""Strengths beyond the first fall by this power: narrow kernels have p-values much smaller than linear ones."""
_ONE_WAY, _ONE_TURN = 1.4, 0.3
"""Up to this ratio, spreads that go together and a mean in the weaker direction leave a dependence one-sided; from that
share of a curve's evidence on, squares see it as well, so that it turns once."""
_EITHER, _ONE_SIDED = "curve or spread", "one-sided spread"
_DECIMALS = 6

PHRASES: Mapping[str, str] = {
    "means": "in the means",
    "blank cells": "in the shares of blank cells",
    "spread": "in the spread",
    "columns together": "in how columns go together",
    "tails": "in the tails",
    "shape": "in the shape of the distributions",
    "local": "in fine details (clusters, gaps or waves)",
    "trend": "in a trend, rising or falling",
    "curve": "in a curve that turns",
    _EITHER: "in a curve that turns or a spread that changes",
    "several columns": "in several columns together",
}
"""What a kind is called in a sentence."""

_TIERS = ("trend",), ("several columns",), ("curve", "spread")
"""The kinds that pairs mark, the simplest first; a simple one explains members of those behind it."""


@final
@dataclass(frozen=True)
class EvidenceKind:
    """Where the evidence of an adaptive test lies: a description, not a test.

    Attributes
    ----------
    name : str
        The kind of difference ("means", "blank cells", "spread", "columns together", "tails", "shape", "local") or of
        dependence ("trend", "curve", "spread", "curve or spread", "several columns", "local") with the most evidence;
        "" where none is clear.
    shares : dict of str to float
        The share of every kind in the evidence, the largest first; together 1. Of samples that is -log of the p-value
        of what a kind adds to those before it, of pairs Σ w/p.
    kinds : tuple of str
        Every kind of difference that is clear, the one with the most evidence first: ``name`` and those beside it.

    Examples
    --------
    >>> kind = EvidenceKind("spread", {"spread": 0.71, "means": 0.29}, ("spread", "means"))
    >>> print(kind)
    The evidence lies in the spread and in the means.
    >>> kind.clear
    True
    """

    name: str
    shares: Mapping[str, float]
    kinds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", tuple(self.kinds) or ((self.name,) if self.name else ()))

    @classmethod
    def of(cls, found: Mapping[str, float], clear: Mapping[str, bool]) -> Self:
        """Return those of the kinds that are clear, and all shares to six decimals, finer than a description needs."""
        sums = sum(found.values())
        parts = {kind: round(part / sums, _DECIMALS) for kind, part in found.items()}
        whole = sum(parts.values())
        ordered = dict(sorted(((kind, part / whole) for kind, part in parts.items()), key=lambda it: (-it[1], it[0])))
        kinds = tuple(kind for kind in ordered if clear[kind])
        return cls("".join(kinds[:1]), ordered, kinds)

    @property
    def clear(self) -> bool:
        """Whether there is a clear kind."""
        return bool(self.name)

    @property
    def words(self) -> str:
        """Where the evidence lies, the kind with the most first, in a few words, or "no clear kind"."""
        if not self.clear:
            return "no clear kind"
        *others, last = (PHRASES[kind] for kind in self.kinds)
        if others:
            return f"{', '.join(others)} and {last}"
        return last if self.shares[self.name] >= _ALMOST_ALL else f"mostly {last}"

    def __str__(self) -> str:
        return f"The evidence lies {self.words}." if self.clear else "The evidence is of no clear kind."


def kind_of(members: Sequence[Any], weights: Array, rows: Array, compared: Compared) -> EvidenceKind | None:
    """Return the kind of what a test found, None if its members mark no known kind.

    Parameters
    ----------
    members : sequence of Member or PairMember
    weights : array of shape (k,)
        Their weights.
    rows : array of shape (k, P)
        Their statistics, the observed arrangement first.
    compared : Compared
        The samples whose columns are compared; none for variables.
    """
    strengths = strengths_of(rows)
    if isinstance(members[0], Member):
        return _of_samples(members, strengths, compared)
    turns = _turns(members, strengths)
    marked = _marked_pairs(members, turns=turns)
    if not any(marked):
        return None
    marks = sorted(zip(strengths.tolist(), marked, strict=True))  # so that the strongest of every kind comes last
    tiers = [{kind: own for own, kind in marks if kind in tier} for tier in _TIERS]
    reduced = _compressed(strengths, _FALL_PAIRS).tolist()
    counted = [_explained(kind, own, tiers) or "local" for kind, own in zip(marked, reduced, strict=True)]
    shares = np.exp(np.log(weights) + strengths - logsumexp(np.log(weights) + strengths))
    found = {kind: float(shares[[own == kind for own in counted]].sum()) for kind in counted}
    if turns and "curve" in found and _turns_once(members, strengths):
        found[_EITHER] = found.pop("curve")
    return EvidenceKind.of(found, {kind: share > _MOST for kind, share in found.items()})


def _of_samples(members: Sequence[Member], strengths: Array, compared: Compared) -> EvidenceKind | None:
    """Return the kinds of a difference between samples, None of few rows."""
    marks = _marks(members, strengths)
    if not marks or min(map(len, compared.samples), default=LEAST_ROWS) < LEAST_ROWS:
        return None
    found = compared.evidence()
    if max(found.values(), default=0.0) < _CLEAR:  # under a design, or where there are many columns or rows
        wide = any(own.shape[1] > MOST_SUMMED for own in compared.samples)  # then distances of ranks see the spread too
        alone = _marks(members, strengths, robust=False) if wide and marks.get(SPREAD, 0.0) >= _CLEAR else marks
        best = max(alone, key=lambda kind: alone[kind])
        found[best] = max(found.get(best, 0.0), alone[best])
    clear = {kind: own for kind, own in found.items() if own >= _CLEAR}
    explained = max(*found.values(), *marks.values(), sum(clear.values()), _TAILS_COUNT * clear.get(TAILS, 0.0))
    fine = [member.group in (SHAPE, "local") for member in members]
    most = float(_compressed(strengths[fine], _FALL).max(initial=0.0))
    if most * _EXPLAINED > explained:
        found["local"] = most
    if not any(found.values()):
        return None
    return EvidenceKind.of(found, {kind: own >= _CLEAR for kind, own in found.items()})


def _compressed(strengths: Array, power: float) -> Array:
    """Return strengths of which those beyond a strong one count less."""
    return np.asarray(strengths * (_STRONG / np.maximum(strengths, _STRONG)) ** power)


def strengths_of(rows: Array) -> Array:
    """Return -log of the approximate p-value of every member, from the other permutations alone."""
    others = rows[:, 1:]
    centered = others - others.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.square(centered).mean(axis=1, keepdims=True))
    varies = (np.ptp(others, axis=1) > 0.0) & (deviation[:, 0] > 0.0)
    scores = np.divide(centered, deviation, out=np.zeros_like(centered), where=varies[:, None])
    observed = np.divide(rows[:, 0] - others.mean(axis=1), deviation[:, 0], out=np.zeros(len(rows)), where=varies)
    skewness = np.maximum(np.mean(scores * scores * scores, axis=1), LEAST_SKEWNESS)
    return minus_log_tail(4.0 / skewness**2, observed)


def _marks(members: Sequence[Member], strengths: Array, *, robust: bool = True) -> dict[str, float]:
    """Return the kinds that members see alone, with the strongest of each; means also by distances of ranks."""
    found: dict[str, float] = {}
    for member, own in zip(members, strengths.tolist(), strict=True):
        alone = member.kernel == LINEAR and member.group in (MEANS, SPREAD, TOGETHER)
        if alone or (robust and member.group == MEANS and member.view in ("scores", "ranks")):
            found[member.group] = max(found.get(member.group, 0.0), own)
    return found


def _marked_pairs(members: Sequence[Any], *, turns: bool) -> list[str]:
    """Return the kind that every pair of members marks, "" of those that see several."""
    marked = [_marked_by_pair(pair) for pair in members]
    one_way = "curve" if turns else "spread"
    return [one_way if kind == _ONE_SIDED else kind for kind in marked]


def _marked_by_pair(pair: PairMember) -> str:
    """Return the kind that a pair marks; for a spread against the values of the other variable there are two."""
    if pair.group == "trend":
        return "trend" if pair.x.kernel == LINEAR == pair.y.kernel else ""
    if pair.group == "spread" and pair.x.view != pair.y.view:
        return _ONE_SIDED
    return pair.group if pair.group in ("curve", "spread", "several columns") else ""


def _turns(pairs: Sequence[PairMember], strengths: Array) -> bool:
    """Say whether the spread of one variable changes with the other in one direction only, as of a curve that turns.

    Then the mean of one variable depends on the other, but not the other way round, and their spreads do not go
    together. If they do, both are seen.
    """
    curves = [pair.group == "curve" for pair in pairs]
    of_x = _strongest(strengths, (c and _plain_energy(pair.y) for c, pair in zip(curves, pairs, strict=True)))
    of_y = _strongest(strengths, (c and _plain_energy(pair.x) for c, pair in zip(curves, pairs, strict=True)))
    both = _strongest(strengths, (pair.group == "spread" and pair.x.view == pair.y.view for pair in pairs))
    return both + min(of_x, of_y) < _ONE_WAY * max(of_x, of_y)


def _turns_once(pairs: Sequence[PairMember], strengths: Array) -> bool:
    """Say whether a curve may be a spread: y = x² + ε looks, seen from the side, as a spread that grows with y.

    So does any curve that turns once. One that turns more often is not seen by squares and distances from the middle.
    """
    squares = _strongest(strengths, (_marked_by_pair(pair) == _ONE_SIDED for pair in pairs))
    return squares >= _ONE_TURN * _strongest(strengths, (pair.group == "curve" for pair in pairs))


def _strongest(strengths: Array, chosen: Iterable[bool]) -> float:
    return float(strengths[np.fromiter(chosen, dtype=bool)].max(initial=0.0))


def _plain_energy(side: Member) -> bool:
    return side.kernel == ENERGY and side.ridge is None


def _explained(kind: str, own: float, tiers: Sequence[Mapping[str, float]]) -> str:
    """Return the simplest kind that explains what a pair found, itself where it marks one, or ""."""
    for tier in tiers:
        if kind in tier:
            return kind
        best = max(tier, key=lambda name: tier[name], default="")
        if best and tier[best] >= _EXPLAINED_PAIRS * own:
            return best
    return ""
