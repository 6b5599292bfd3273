"""The adaptive test of independence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from ..core.array import Array, as_host, like
from ..kernels import Kernel
from .adaptive import Adaptive, combined_result, in_parts
from .kernel_choice import representative_rows
from .members import PairMember, independence_members
from .null import Null
from .result import TestResult
from .views import Views, available

Pair = tuple[Kernel, Kernel]


class HSICNull(Protocol):
    """Anything that returns HSIC of some pairs of kernels: ``hsic_null`` with its options filled in."""

    def __call__(self, X: Array, Y: Array, kernels: Sequence[Pair], *, scheme: str, rng: np.random.Generator) -> Null:
        """Return the values, shape (pairs, P)."""


def adaptive_hsic(
    variables: tuple[Array, Array], adaptive: Adaptive, null: HSICNull, scheme: str, rng: np.random.Generator
) -> TestResult:
    """Run all pairs of members on the views of both variables, and combine them.

    About 25 times the cost of one pair. A shift or scale of either variable changes nothing.
    """
    known = [available(*variable.shape) for variable in variables]
    pairs = _present(adaptive.members or independence_members(), known)
    sides = [[pair.x for pair in pairs], [pair.y for pair in pairs]]
    views = [
        Views.of(points, [member.view for member in side], representative_rows(points))
        for points, side in zip(map(as_host, variables), sides, strict=True)
    ]
    tables = [like(view.table, variable, "float64") for view, variable in zip(views, variables, strict=True)]
    made = [
        {member: view.kernels(member.view, member.kernel)[0] for member in side}
        for view, side in zip(views, sides, strict=True)
    ]

    def evaluate(part: Sequence[Pair], scheme: str, rng: np.random.Generator) -> Null:
        return null(tables[0], tables[1], part, scheme=scheme, rng=rng)

    return combined_result(
        in_parts(evaluate, [(made[0][pair.x], made[1][pair.y]) for pair in pairs], scheme, rng),
        adaptive.combination,
        pairs,
        [1] * len(pairs),
        method="Adaptive permutation test of independence, Hilbert-Schmidt criteria",
        sizes=(variables[0].shape[0],),
    )


def _present(pairs: Sequence[PairMember], known: Sequence[Sequence[str]]) -> list[PairMember]:
    """Let one column stand in for its whitened self, and leave out what then says nothing new."""
    if not all(isinstance(pair, PairMember) for pair in pairs):
        raise TypeError("independence has two kernels per member; pass PairMember(Member(...), Member(...), weight)")
    if any("axes" in (pair.x.view, pair.y.view) for pair in pairs):
        raise ValueError("view 'axes' serves two samples only; use 'scores'")
    present = [kept for pair in pairs if (kept := _fitting(pair, known)) is not None]
    if not present:
        raise ValueError(f"no pair is left: the views are {', '.join(map(repr, known[0]))} of X, {known[1]} of Y")
    return present


def _fitting(pair: PairMember, known: Sequence[Sequence[str]]) -> PairMember | None:
    """Return the pair, on a side without white with scores in its place, or None where that adds nothing."""
    fits = [member.view in views for member, views in zip((pair.x, pair.y), known, strict=True)]
    if all(fits):
        return pair
    if not any(fits) or (pair.x.view, pair.y.view) != ("white", "white"):
        return None
    x, y = (
        member if fit else replace(member, view="scores") for member, fit in zip((pair.x, pair.y), fits, strict=True)
    )
    return replace(pair, x=x, y=y)
