"""What is asked of a test in bins, and why it uses bins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self, final

import numpy as np

from ...core.array import RngLike, as_rng
from ...core.validate import check_integer
from ..permutations import BINS
from ..questions import Pairs, Question
from ..request import Request, is_plain
from ..resampling import check_n_resamples
from ..result import TestResult


@final
@dataclass(frozen=True)
class Reason:
    """Why a test uses bins, and what to write if it cannot."""

    why: str
    instead: str
    """In words."""
    by_caller: bool = True
    """Whether the caller asked for it."""

    def noted(self, result: TestResult) -> TestResult:
        """Return a result with a note on this, unless the caller asked for bins, or its units are rows or clusters."""
        if self.by_caller or result.scheme != BINS:
            return result
        note = f"rows were added up in bins, which permutations move as a whole, {self.why}"
        return replace(result, notes=(*result.notes, note))


BY_SCHEME = Reason("as scheme= asks for it", "leave scheme= out")
"""The reason if the caller asked for bins."""


@final
@dataclass(frozen=True, eq=False)
class BinnedTest:
    """A test whose options work with bins."""

    question: type[Question]
    request: Request
    seed: int
    """The seed of the deal of rows to bins, of the rows that features are fitted to, and of the permutations."""

    @classmethod
    def of(cls, question: type[Question], request: Request, reason: Reason) -> Self:
        """Return what a caller asks for.

        Raises
        ------
        ValueError
            When a test in bins does not have an option.
        """
        for other in cls.obstacles(request):
            raise ValueError(
                f"{other} does not go with a test in bins, which is used {reason.why}; bins take adaptive estimators "
                f"and those of one kernel, such as 'kme', 'mkme' or 'mmkme'; {reason.instead}"
            )
        if question is Pairs and request.statistic != "v":
            raise ValueError(f"statistic is {request.statistic!r}; independence in bins has the V-statistic, 'v'")
        check_n_resamples(request.n_resamples)
        return cls(question, request, seed_of(request.rng))

    @staticmethod
    def obstacles(request: Request) -> Iterator[str]:
        """Yield the options that do not work with bins."""
        if request.design.in_series:
            yield f"design = {request.design!r}"
        if request.scheme not in ("auto", BINS):
            yield f"scheme = {request.scheme!r}"
        if request.wanted.adaptive is None:
            for side in request.wanted.sides:
                if not is_plain(side):
                    yield f"estimator = {side!r}"


def seed_of(rng: RngLike) -> int:
    """Return the seed of a test in bins, drawn from a generator or at random unless it is an integer."""
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool):
        return check_integer(rng, "rng", 0)
    return int(as_rng(rng).integers(2**63))
