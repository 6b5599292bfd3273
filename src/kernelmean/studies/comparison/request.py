"""What is asked of two tables, in one value for both ways to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.array import Progress, RngLike
from ...plan.plan import Plan, RemotePlan
from ...tables.columns import Encoding
from ..designs import NO_DESIGN, TableDesign


@dataclass(frozen=True)
class Testing:
    """How tables are tested; see :func:`kernelmean.compare` for what the fields mean."""

    __test__ = False  # its name makes pytest curious

    estimator: str
    bandwidth: Any
    encoding: Encoding
    n_resamples: int
    rng: RngLike
    plan: Plan | RemotePlan | None
    progress: Progress
    screen: bool


@dataclass(frozen=True)
class Asked(Testing):
    """The question of a comparison of two tables. ``notes`` are on the way to them."""

    names: tuple[str, str]
    notes: tuple[str, ...] = ()
    design: TableDesign = NO_DESIGN
