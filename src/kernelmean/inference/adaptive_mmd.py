"""The adaptive test for two samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ..core.array import Array, as_host, joined, like
from ..kernels import Kernel
from .adaptive import Adaptive, combined_result, in_parts
from .kernel_choice import median_rows
from .members import Member, two_sample_members
from .null import Null
from .result import TestResult
from .samples import in_fixed_order
from .views import Views, available


class MMDNull(Protocol):
    """Anything that returns MMD² of some kernels under relabelings: ``mmd_null`` with its options filled in."""

    def __call__(self, X: Array, Y: Array, kernels: Sequence[Kernel], *, scheme: str, rng: np.random.Generator) -> Null:
        """Return the values, shape (kernels, P)."""


def adaptive_mmd(
    samples: tuple[Array, Array], adaptive: Adaptive, null: MMDNull, scheme: str, rng: np.random.Generator
) -> TestResult:
    """Run all members on the views of the pooled sample, and combine them.

    About 25 times the cost of one kernel, and one linear kernel per column. A common shift or scale changes nothing,
    and a monotone transformation of one column nothing but the members on "data" and "radius".
    """
    X, Y = in_fixed_order(*samples)
    first, pooled = X.shape[0], as_host(joined([X, Y]))
    members = _present(adaptive.members or two_sample_members(), available(*pooled.shape))
    views = Views.of(pooled, [member.view for member in members], median_rows(len(pooled), rng))
    table = like(views.table, X, "float64")  # of the points' type, all but the closest values would be tied
    kernels = [views.kernels(member.view, member.kernel) for member in members]

    def evaluate(part: Sequence[Kernel], scheme: str, rng: np.random.Generator) -> Null:
        return null(table[:first, :], table[first:, :], part, scheme=scheme, rng=rng)

    return combined_result(
        in_parts(evaluate, [kernel for own in kernels for kernel in own], scheme, rng),
        adaptive.combination,
        members,
        [len(own) for own in kernels],
        method="Adaptive two-sample permutation test, maximum mean discrepancies",
        sizes=(samples[0].shape[0], samples[1].shape[0]),
    )


def _present(members: Sequence[Member], views: Sequence[str]) -> list[Member]:
    """Leave out what needs a view that says nothing new."""
    if not all(isinstance(member, Member) for member in members):
        raise TypeError("two samples have one kernel per member; pass Member(view, kernel, weight), not PairMember")
    present = [member for member in members if member.view in views]
    if not present:
        raise ValueError(f"no member is left: data of this shape have the views {', '.join(map(repr, views))}")
    return present
