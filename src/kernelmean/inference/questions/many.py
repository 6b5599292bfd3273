"""What questions of several samples and of several variables share: what they refuse, and what explains two of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from ..designs.design import Design
from .base import Question


class OfMany(Question):
    """Several samples, or several variables: a question of which two are another question."""

    noun: ClassVar[str]
    """What there are several of."""
    two: ClassVar[str]
    """What to do with two of them at a time, in words."""
    test: ClassVar[str]
    """The name of the test of two."""

    @property
    @abstractmethod
    def members(self) -> int:
        """Return how many there are."""

    @abstractmethod
    def of_both(self) -> Question:
        """Return the question of two as such."""

    def explained(self) -> Question:
        """Return the question of two; explanations know no more of them."""
        if self.members == 2:
            return self.of_both()
        raise ValueError(
            f"explanations are of two {self.noun}, and this test had {self.members}; ask the test of two of them, such "
            f"as {self.test}(X, Y).effect_size()"
        )

    @classmethod
    def refuse(cls, design: Design) -> None:
        """Raise where a design says something, which is of two samples or of pairs."""
        if design.paired or design.says_more:
            raise ValueError(
                f"{design!r} is for two samples or for pairs; leave design= out, or {cls.two} at a time, "
                f"{cls.test}(X, Y, design=...), and adjust the p-values by Holm's method"
            )
