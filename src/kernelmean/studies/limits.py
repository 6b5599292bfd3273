"""How many rows a study takes without being asked for it, which lasts minutes, and how many threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..plan.plan import Plan

FIT_LIMIT, ADAPTIVE_LIMIT, TEST_LIMIT = 5000, 20_000, 100_000
"""The rows of an estimate, of an adaptive test, and of a test of one kernel."""


def threads(plan: Plan | None) -> int | None:
    """Return the threads of tests in memory: one without a plan, and -1, all cores, with one that does not say."""
    return None if plan is None else plan.threads or -1
