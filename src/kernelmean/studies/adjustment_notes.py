"""What is said about p-values adjusted for many tests: how, from how many permutations, and which are close calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from ..core.words import count, listed
from ..inference.null import ADJUSTMENTS
from ..inference.wording import brief, near

_NAMED = 3


class OneOfMany(Protocol):
    """One of many tests."""

    @property
    def pvalue(self) -> float:
        """The p-value of this test alone."""

    @property
    def adjusted(self) -> float:
        """The p-value adjusted for all tests."""

    @property
    def n_resamples(self) -> int:
        """The permutations that it comes from; 0 without a test."""


def facts_on_adjusted(
    adjustment: str, level: float, families: Mapping[str, Mapping[str, OneOfMany]], *, of_all: int = 0
) -> list[tuple[str, str]]:
    """Return how p-values were adjusted, from how many permutations, and which lie within chance of the level.

    That is not said where there are no more than ``of_all`` permutations; nothing is said about a single test.
    """
    texts = [_told(noun, tests, level, of_all) for noun, tests in families.items() if len(tests) > 1]
    return [("adjusted p", f"{ADJUSTMENTS[adjustment][0]} {'; '.join(texts)}")] if texts else []


def _told(noun: str, tests: Mapping[str, OneOfMany], level: float, of_all: int) -> str:
    numbers = {test.n_resamples for test in tests.values()} - {0} or {0}
    least, most = min(numbers), max(numbers)
    span = f"{most:,}" if least == most else f"{least:,} to {most:,}"
    calls = [
        f"{brief(name)} {varies}"
        for name, test in tests.items()
        if test.n_resamples not in (0, of_all)
        and (varies := near(test.adjusted, level, test.n_resamples, max(1.0, test.adjusted / test.pvalue)))
    ]
    close = (
        "; close call, so that another seed may decide otherwise (± by the choice of permutations): "
        f"{listed(calls, _NAMED)}"
    )
    return f"over {count(len(tests), noun)}, {span} permutations each{close if calls else ''}"
