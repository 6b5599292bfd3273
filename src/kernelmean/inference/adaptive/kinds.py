r"""Where the evidence of an adaptive test lies: a description, not a test.

The combined statistic is :math:`\log \sum_k ω_k / p_k`, so every member has a share in this sum, and a kind of
difference or dependence has the shares of its members. Two things are different here. First, p_k is taken from the
*other* permutations alone: with the observed one among them, all members of a strong difference have the same p-value,
the smallest that so many permutations can have. Second, most members see several kinds. Some see one kind only, such
as linear kernels: they mark it. What another member found counts for the simplest kind that explains it, one whose mark
is nearly as strong, and for something *local* if none does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from scipy.special import logsumexp

from ...core.array import Array
from .member import LINEAR, Member, PairMember

LEVEL = 0.05
"""A kind is named if the p-value is at most this."""
_MOST, _ALMOST_ALL = 0.5, 0.95
_OF_SAMPLES = ((("means", "spread", "columns together"), 0.75), (("shape",), 0.55))
_OF_PAIRS = ((("trend",), 0.75), (("several columns",), 0.75), (("curve", "spread"), 0.75))
"""Kinds that are marked, the simplest first, and the share of a member's strength that explains it."""
_STRONG = 15.0
"""Strengths beyond this count by their logarithm: narrow kernels have p-values much smaller than linear ones."""
_LEAST, _DECIMALS = 1e-9, 6

PHRASES: Mapping[str, str] = {
    "means": "in the means",
    "spread": "in the spread",
    "columns together": "in how columns go together",
    "shape": "in the shape of the distributions",
    "local": "in fine details (clusters, gaps or waves)",
    "trend": "in a trend, rising or falling",
    "curve": "in a curve that turns, or a spread that grows",
    "several columns": "in several columns together",
}
"""What a kind is called in a sentence."""


@final
@dataclass(frozen=True)
class EvidenceKind:
    """Where the evidence of an adaptive test lies: a description, not a test.

    Attributes
    ----------
    name : str
        The kind of difference ("means", "spread", "columns together", "shape", "local") or of dependence ("trend",
        "curve", "spread", "several columns", "local") with more than half of the evidence; "" if there is none.
    shares : dict of str to float
        The share of every kind in the evidence Σ ω/p, the largest first; together 1.

    Examples
    --------
    >>> kind = EvidenceKind("spread", {"spread": 0.71, "means": 0.29})
    >>> print(kind)
    What was found lies mostly in the spread, the simplest kind that explains the evidence.
    >>> kind.clear
    True
    """

    name: str
    shares: Mapping[str, float]

    @classmethod
    def of(cls, shares: Mapping[str, float]) -> Self:
        """Return the kind with most of the evidence, and all shares to six decimals, finer than a description needs."""
        parts = {kind: round(share, _DECIMALS) for kind, share in shares.items()}
        whole = sum(parts.values())
        ordered = dict(sorted(((kind, part / whole) for kind, part in parts.items()), key=lambda it: (-it[1], it[0])))
        first, share = next(iter(ordered.items()))
        return cls(first if share > _MOST else "", ordered)

    @property
    def clear(self) -> bool:
        """Whether one kind has more than half of the evidence."""
        return bool(self.name)

    @property
    def words(self) -> str:
        """Where the evidence lies, in a few words, or "no clear kind"."""
        if not self.clear:
            return "no clear kind"
        words = PHRASES[self.name]
        return words if self.shares[self.name] >= _ALMOST_ALL else f"mostly {words}"

    @property
    def described(self) -> str:
        """The same, and what the name of a kind means."""
        return f"{self.words}, the simplest kind that explains the evidence" if self.clear else self.words

    def __str__(self) -> str:
        return f"What was found lies {self.described}." if self.clear else "What was found is of no clear kind."


def kind_of(members: Sequence[Any], weights: Array, strengths: Array) -> EvidenceKind | None:
    """Return the kind of what a test found, None if its members mark no known kind.

    Parameters
    ----------
    members : sequence of Member or PairMember
    weights : array of shape (k,)
        Their weights.
    strengths : array of shape (k,)
        -log of the p-value of every member, from the other permutations alone.
    """
    marked = [_mark(member) for member in members]
    known = _OF_PAIRS if isinstance(members[0], PairMember) else _OF_SAMPLES
    tiers = [({kind: _strongest(strengths, marked, kind) for kind in kinds}, share) for kinds, share in known]
    if not any(marked):
        return None
    reduced = np.minimum(strengths, _STRONG) * (1.0 + np.log(np.maximum(strengths / _STRONG, 1.0)))
    kinds = [_explained(mark, strength, tiers) for mark, strength in zip(marked, reduced.tolist(), strict=True)]
    logs = np.log(weights) + strengths
    shares = np.exp(logs - logsumexp(logs))
    return EvidenceKind.of({kind: float(shares[[each == kind for each in kinds]].sum()) for kind in kinds})


def _mark(member: Member | PairMember) -> str:
    """Return the kind that a member sees alone, "" of those that see several.

    The spread of one variable against the values of the other grows with these, or turns: that is one picture seen from
    two sides.
    """
    if isinstance(member, PairMember):
        if member.group == "spread" and member.x.view != member.y.view:
            return "curve"
        linear = member.group == "trend" and member.x.kernel == LINEAR == member.y.kernel
        return member.group if linear or member.group in ("curve", "spread", "several columns") else ""
    by_ranks = member.group == "means" and member.view in ("scores", "ranks")
    linear = member.kernel == LINEAR and member.group in ("means", "spread", "columns together")
    return member.group if linear or by_ranks or member.group == "shape" else ""


def _strongest(strengths: Array, marked: Sequence[str], kind: str) -> float:
    return float(strengths[[mark == kind for mark in marked]].max(initial=0.0))


def _explained(mark: str, strength: float, tiers: Sequence[tuple[Mapping[str, float], float]]) -> str:
    """Return the simplest kind that explains what a member found: one with a strong mark, its own, or "local"."""
    for marks, share in tiers:
        best = mark if mark in marks else max(marks, key=lambda kind: marks[kind])
        if best == mark or marks[best] >= max(share * strength, _LEAST):
            return best
    return "local"
