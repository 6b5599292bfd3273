"""Features that stand for a kernel that the caller chose, fitted to a pilot of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.array import Array
from ...core.words import count
from ...kernels import Kernel
from ..adaptive.columns import AS_IT_IS
from ..adaptive.member import Member
from ..adaptive.views import Views, ViewSource
from ..request import is_constant
from ..samples import alone

_LANDMARKS = 256
"""Features of a kernel; for two kernels half as many each, since their products are added up."""
_LOOKED_AT = 1000
"""About how many rows are used to judge how much of a kernel its features hold."""


def kernel_features(
    tables: Sequence[Array], kernels: Sequence[Kernel], rng: np.random.Generator
) -> tuple[list[ViewSource], list[Views], Any]:
    """Return the tables, the features of the kernel of each, and a kernel, or a tuple of kernels, on these features."""
    sources = [ViewSource(table) for table in tables]
    members = [Member(AS_IT_IS, kernel) for kernel in kernels]
    views = [
        Views.of(source, [member], np.arange(1), source.drawn(_LANDMARKS // len(tables), rng))
        for source, member in zip(sources, members, strict=True)
    ]
    return sources, views, alone(view.kernels[member][0] for view, member in zip(views, members, strict=True))


def share_held(source: ViewSource, kernel: Kernel, views: Views) -> str:
    """Say how much of a kernel its features hold, on the rows of the pilot."""
    if is_constant(source.points):
        return "all rows that features were fitted to are equal; other rows count by their distance from these"
    some = source.points[:: 1 + len(source.points) // _LOOKED_AT]
    with np.errstate(over="ignore", invalid="ignore"):
        gram = kernel(some, some)
        bounded = np.isfinite(kernel.diag(source.points)).all() and np.isfinite(gram).all()
    if not bounded:
        raise ValueError("the kernel's values are not finite numbers; divide the columns by their standard deviations")
    whole = float(np.trace(gram) / len(some) - gram.mean()) * len(some) / max(len(some) - 1, 1)
    share = min(float(np.square(views.table).sum()) / max(len(views.table) - 1, 1) / (whole or 1.0), 1.0)
    return (
        f"{count(views.table.shape[1], 'feature')} on landmarks instead of the kernel; over the pilot they hold "
        f"{100 * share:.4g} % of its variance"
    )
