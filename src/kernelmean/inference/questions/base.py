"""What a question is: rows, the kernels over them, and what permutations change. Every test answers one.

The sides of a question are tables with kernels, or labels. Two samples are one pooled table against the labels of the
samples, independence is one table against another; a design says which rows may change places. Whatever answers it, one
kernel, many of them or an estimator that is fitted anew under every permutation, gets its numbers from
:meth:`Question.null`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from ..adaptive import Adaptive, combined, in_parts
from ..asked import Estimators, Known
from ..designs.design import Design
from ..kernel_choice import Chosen
from ..members import Member, PairMember
from ..null import Null
from ..posed import Posed
from ..resampling import Resampling
from ..result import TestResult
from ..statistics import Kind, Statistic


@final
@dataclass(frozen=True)
class Candidates:
    """What an adaptive test evaluates.

    Attributes
    ----------
    members : sequence of Member or PairMember
        Those that say something of these rows.
    kernels : list of lists
        The kernels, or pairs of kernels, of every member.
    null : callable
        From some of the kernels and a resampling to their statistics.
    """

    members: Sequence[Member] | Sequence[PairMember]
    kernels: list[list[Any]]
    null: Callable[[Sequence[Any], Resampling], Null]


class Question(ABC):
    """What a test asks of some rows."""

    kernel_sides: ClassVar[int]
    """How many sides have a kernel."""

    @classmethod
    @abstractmethod
    def of(cls, X: Any, Y: Any, design: Design) -> Self:
        """Check what was passed, which may be arrays of another library."""

    @classmethod
    @abstractmethod
    def known(cls, design: Design) -> Known:
        """Return the estimators that can answer, by name, besides the adaptive ones."""

    @property
    @abstractmethod
    def methods(self) -> tuple[str, str]:
        """Return the test in words: with one estimator, and the adaptive one."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """Return the rows of the samples, or the number of pairs."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """Return what a reader should know of the rows."""

    @abstractmethod
    def null(self, kernels: Sequence[Any], statistic: Kind | Statistic, how: Resampling) -> Any:
        """Return the statistics of all kernels under the same permutations, shape (kernels, P), observed first."""

    @abstractmethod
    def estimated(self, asked: Estimators, statistic: Kind, how: Resampling) -> tuple[Any, list[Chosen]]:
        """Return the null of an estimator, and the kernel of every side with the noise in it."""

    @abstractmethod
    def candidates(self, adaptive: Adaptive, statistic: Kind, rng: np.random.Generator) -> Candidates:
        """Return the members of an adaptive test, on views of the rows."""

    @abstractmethod
    def units_notes(self, *, adaptive: bool) -> tuple[str, ...]:
        """Return what to tell of columns of very different spreads where nobody chose a kernel."""

    @abstractmethod
    def answered_by(self, asked: Estimators) -> Self:
        """Return the question with what answered it, its rows out of reach of the caller."""

    # -- the answer --------------------------------------------------------------------------------------------------

    def answered(self, asked: Estimators, statistic: Kind, how: Resampling) -> TestResult:
        """Return the result of the test."""
        posed = self.posed(asked, statistic, how)
        result = posed if isinstance(posed, TestResult) else posed.result(posed.null)
        notes = self.units_notes(adaptive=True) if asked.default else ()
        return replace(result, notes=(*result.notes, *notes), question=self.answered_by(asked))

    def posed(self, asked: Estimators, statistic: Kind, how: Resampling) -> Posed | TestResult:
        """Return the test with its null; the result itself where it takes more than one null, as an adaptive test."""
        if asked.adaptive is not None:
            return self._adaptive(asked.adaptive, statistic, how)
        null, chosen = self.estimated(asked, statistic, how)
        kernels, noises = tuple(own.kernel for own in chosen), tuple(own.noise for own in chosen)
        alone = self.kernel_sides == 1
        return Posed(
            null,
            method=self.methods[0],
            kernel=kernels[0] if alone else kernels,
            noise=noises[0] if alone else noises,
            sizes=self.sizes,
            notes=tuple(note for own in chosen for note in own.notes) + self.notes,
        )

    def _adaptive(self, adaptive: Adaptive, statistic: Kind, how: Resampling) -> TestResult:
        """Run all members under the same permutations, and combine them."""
        found = self.candidates(adaptive, statistic, how.rng)
        null = in_parts(found.null, [kernel for own in found.kernels for kernel in own], how)
        counts = [len(own) for own in found.kernels]
        outcome = combined(null, adaptive.combination, found.members, counts)
        return TestResult(method=self.methods[1], sizes=self.sizes, notes=self.notes, **outcome)
