"""What a caller asks of permutations: how many, from which seed, with which threads and memory.

Which ones are taken is decided by numbers of rows: for pairs in ``permuted_pairs.py``, for samples in
``units/permuted_labels.py``, within a design in ``designs/``.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Self, final

import numpy as np
from joblib import cpu_count

from ..core.array import RngLike, as_rng
from ..plan.plan import Plan, RemotePlan

MIB = 2**20


@final
@dataclass(frozen=True)
class Resources:
    """Threads, and bytes."""

    n_jobs: int = 1
    memory: float = 1024 * MIB


@final
@dataclass(frozen=True, eq=False)
class Resampling:
    """What a test asks of its permutations.

    Attributes
    ----------
    scheme : str
        "auto", "exact" or "random".
    n_resamples : int
        The least number besides the observed one; all of them if there are no more.
    rng : Generator
        Draws the permutations.
    resources : Resources
        Threads and bytes.
    """

    scheme: str
    n_resamples: int
    rng: np.random.Generator
    resources: Resources

    @classmethod
    def of(cls, scheme: str = "auto", n_resamples: int = 999, rng: RngLike = None, plan: Plan | None = None) -> Self:
        """Check the options of a test."""
        resources = resources_of(plan)
        return cls(scheme, check_n_resamples(n_resamples), as_rng(rng), resources)

    def repeated(self) -> Self:
        """Return a copy that starts from the present state of the generator, whatever is drawn from it later."""
        return replace(self, rng=deepcopy(self.rng))


def check_n_resamples(n_resamples: Any, least: int = 1) -> int:
    """Return a whole number of permutations or draws."""
    whole = isinstance(n_resamples, Integral) or (isinstance(n_resamples, float) and n_resamples.is_integer())
    if not whole or isinstance(n_resamples, bool) or n_resamples < least:
        raise ValueError(f"n_resamples is {n_resamples!r}; a whole number from {least} is needed, such as 999")
    return int(n_resamples)


def resources_of(plan: Plan | RemotePlan | None) -> Resources:
    """Return the threads and bytes of a plan; without one, one thread and 1 GiB."""
    if plan is None:
        return Resources()
    if isinstance(plan, RemotePlan):
        raise TypeError(f"plan is {plan!r}; this runs in one process, with a Plan such as Plan(threads=2)")
    if not isinstance(plan, Plan):
        raise TypeError(f"plan is {plan!r}; pass a Plan, such as Plan(threads=2, memory=2**30), or None")
    if plan.dtype != "float64":
        raise ValueError(
            f"plan is {plan!r}; tests sum in float64, or in the type of torch's points: leave dtype='float64'"
        )
    return Resources(plan.threads or cpu_count(), float(plan.memory))
