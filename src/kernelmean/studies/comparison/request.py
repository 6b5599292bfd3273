"""What is asked of two tables, in one value for both ways to answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...core.array import Progress, RngLike
from ...plan.plan import Plan, RemotePlan
from ...tables.columns import Encoding


@dataclass(frozen=True)
class Asked:
    """The question of a comparison; see :func:`kernelmean.compare` for what the fields mean.

    ``notes`` are on the way to the tables.
    """

    names: tuple[str, str]
    estimator: str
    bandwidth: Any
    encoding: Encoding
    n_resamples: int
    rng: RngLike
    plan: Plan | RemotePlan | None
    progress: Progress
    screen: bool
    notes: tuple[str, ...] = ()
