"""Many tests read together: a screen first, then permutations as Holm's method needs them, and how long that takes.

Permutations grow: a test of which at most ten permutations, the observed one counted, reach the observed statistic is
run again with fresh and more permutations, and the new p-value takes the place of the old one. That is exact: with
P₁ < P₂ < … permutations one run decides for every α, the first for α ≥ 10 / P₁, the second for α from 10 / P₂ up to
that, and so on. The result is at most α only where the p-value of that run is, and each of these is valid alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, final

import numpy as np

from ..core.array import Progress
from ..core.option_names import written
from ..core.words import Notice, count, roughly
from ..inference.null import enough_for_holm
from ..inference.resampling_options import check_n_resamples
from ..inference.schemes.base import in_order
from .screening import UNSCREENED, limit_of

Item = TypeVar("Item")
Result = TypeVar("Result")
SCREENED = "1 (screened)"
"""The p-value of a test that the screen dropped, as a report shows it."""
_FEW = 10
_DIRECTLY, _GROWTH = 20, 10
_LONG = 10.0
_SURE_AFTER, _SURE_OF_ONE = 1.0, 3.0


class OneTest(NamedTuple):
    """What one of many tests found."""

    statistic: float
    pvalue: float
    n_resamples: int
    """0 where the screen dropped the test."""

    def needs(self, n_resamples: int) -> bool:
        """Say whether so many permutations are more, and may matter."""
        return n_resamples > self.n_resamples and round(self.pvalue * (self.n_resamples + 1)) <= _FEW


class Run(NamedTuple):
    """One of the runs of a test."""

    number: int
    n_resamples: int


def runs(n_resamples: int, tests: int) -> tuple[Run, ...]:
    """Return the runs of each of so many tests, the last one with permutations enough for Holm's method."""
    numbers = [check_n_resamples(n_resamples)]
    enough = enough_for_holm(numbers[0], tests)
    while numbers[-1] < enough:
        numbers.append(enough if enough <= _DIRECTLY * numbers[-1] else _GROWTH * numbers[-1])
    return tuple(map(Run, range(len(numbers)), numbers))


@final
@dataclass(frozen=True)
class ManyTests(Generic[Item]):
    """Tests that are alike, and read together by Holm's method."""

    items: Sequence[Item]
    """What is tested."""
    named: Callable[[Item], str]
    noun: str
    """What an item is: "column"."""
    test: Callable[[Item, Run], OneTest]
    progress: Progress
    steps: int
    """All steps that the progress counts; those of the items are the last ones."""
    n_jobs: int = 1
    clock: Callable[[], float] = time.monotonic

    def kept(self, evidence: Callable[[Item], float] | None) -> list[Item]:
        """Return the items that a screen, where there is one and many items are tested, leaves; one at least."""
        if evidence is None or len(self.items) <= UNSCREENED:
            return list(self.items)
        found = np.fromiter(self._timed(map(evidence, self.items), self.items, "screen"), np.float64)
        limit = max(limit_of(len(self.items)), found.min())
        return [item for item, own in zip(self.items, found, strict=True) if own <= limit]

    def tested(self, items: Sequence[Item], planned: Sequence[Run]) -> dict[Item, OneTest]:
        """Test items, and again where more permutations are needed."""
        found: dict[Item, OneTest] = {}
        for run in planned:
            small = items if not run.number else [item for item in items if found[item].needs(run.n_resamples)]
            found |= zip(small, self._each(small, run), strict=True)
        return found

    def note(self, tested: int) -> tuple[str, ...]:
        """Return what to tell a reader when not all items were tested in full."""
        dropped = len(self.items) - tested
        if not dropped:
            return ()
        option = written("screen=False tests all", "--no-screen tests all")
        return (
            f"screened: {tested:,} of {count(len(self.items), self.noun)} {'was' if tested == 1 else 'were'} tested in "
            f"full; the other {dropped:,} show no evidence and have p = 1 ({option})",
        )

    def _each(self, items: Sequence[Item], run: Run) -> Iterator[OneTest]:
        outcomes = in_order(lambda item: self.test(item, run), items, self.n_jobs)
        first = self.steps - len(items)
        for step, (item, outcome) in enumerate(zip(items, self._timed(outcomes, items, "test"), strict=True)):
            self.progress(self.named(item), first + step, self.steps)
            yield outcome

    def _timed(self, outcomes: Iterable[Result], items: Sequence[Item], verb: str) -> Iterator[Result]:
        def tell(seconds: float) -> None:
            work = f"{count(len(items), self.noun)} to {verb}: about {roughly(seconds)} more"
            self.progress(Notice(work), self.steps - len(self.items), self.steps)

        return timed(outcomes, len(items), tell, self.clock)


def timed(
    outcomes: Iterable[Result], many: int, tell: Callable[[float], None], clock: Callable[[], float] = time.monotonic
) -> Iterator[Result]:
    """Yield outcomes, and tell once, as soon as the time of some is known, when the rest takes more than ten seconds.

    The first one takes longer than it should, so that one second of others is waited for, or it took seconds itself.
    """
    begun = since = clock()
    told = False
    for done, outcome in enumerate(outcomes, start=1):
        now = clock()
        if done == 1:
            since = now
        if not told and (now - since >= _SURE_AFTER or (done == 1 and now - begun >= _SURE_OF_ONE)):
            told = True
            each = (now - since) / (done - 1) if done > 1 else now - begun
            if each * (many - done) > _LONG:
                tell(each * (many - done))
        yield outcome
