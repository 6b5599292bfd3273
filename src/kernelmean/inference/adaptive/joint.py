"""The members of an adaptive test of joint independence: one kernel on one view of every variable.

Joint independence of three variables or more has a statistic of products of kernels that are not centered: a kernel on
centered features would see only what all variables do together, and not that two of them go together. So these
members look at views as they are, without landmarks and filters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array, as_host
from ...kernels import Kernel, Polynomial, TensorProduct
from .candidates import UNIT_ROWS, Candidates
from .many_kernels import Adaptive
from .members import MEDIAN, QUARTER, WIDE, Member
from .row_order import put_back, row_order
from .units import DIRECT
from .views import View, ViewSource

AFFINE = Polynomial(1, 1.0)
"""1 + x·y: pairs of columns that go together, and products of three."""


def joint_members() -> tuple[Member, ...]:
    """Return the default members for several variables: four, each with the work of a test of one kernel."""
    groups = ("linear", AFFINE), ("smooth", WIDE), ("smooth", MEDIAN), ("local", QUARTER)
    return tuple(Member("data", kernel, group=group) for group, kernel in groups)


def joint_candidates(adaptive: Adaptive, tables: Sequence[Array], rng: np.random.Generator) -> Candidates:
    """Return the members on views of all variables.

    Raises
    ------
    TypeError, ValueError
        When a member is a pair, has a ridge, or a view that looks at columns one by one.
    """
    members = adaptive.members or joint_members()
    for member in members:
        _check(member)
    orders = [row_order(as_host(points)) for points in tables]
    sources = [ViewSource(as_host(points)[order]) for points, order in zip(tables, orders, strict=True)]
    sides = [_side(source, members, rng) for source in sources]
    kernels: list[list[Any]] = [[own] for own in zip(*(own for _, own in sides), strict=True)]
    for (columns, _), order in zip(sides, orders, strict=True):
        put_back(columns.T, order)
    return Candidates(
        members, kernels, tuple(columns for columns, _ in sides), sources[0].in_spreads[np.argsort(orders[0])]
    )


def _side(source: ViewSource, members: Sequence[Member], rng: np.random.Generator) -> tuple[Array, list[Kernel]]:
    """Return the views of a variable side by side, and the kernel of every member on its columns."""
    rows = source.drawn(UNIT_ROWS, rng)
    views = {name: View.of(name, source, rows)(source) for name in dict.fromkeys(own.view for own in members)}
    ends = np.cumsum([0, *(view.shape[1] for view in views.values())]).tolist()
    places = dict(zip(views, map(range, ends, ends[1:]), strict=False))
    kernels: list[Kernel] = [TensorProduct((own.kernel,), (tuple(places[own.view]),)) for own in members]
    return np.hstack(list(views.values())), kernels


def _check(member: Any) -> None:
    if not isinstance(member, Member):
        raise TypeError(f"{member!r}: joint independence has one kernel for all variables; pass Member(view, kernel)")
    if member.ridge is not None or member.view in (*DIRECT, "volume"):
        raise ValueError(
            f"{member.label}: joint independence takes kernels as they are, on whole views; leave the ridge out, and "
            "pass a view such as 'data', 'scores' or 'ranks'"
        )
