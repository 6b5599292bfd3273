"""Values that describe themselves: printed, and shown by notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from . import card, templates, terminal
from .description import Description


class Shown(ABC):
    """A value that describes itself: ``print`` shows it in at most 80 columns, a notebook as a card."""

    holds: ClassVar[tuple[type[Any], ...] | None] = None
    """The classes of what it holds, where files may hold such values."""

    @abstractmethod
    def describe(self) -> Description:
        """Return what is to be said."""

    def check(self) -> None:
        """Raise where what was read from a file does not fit together, or cannot be described."""
        self.describe()

    def summary(self) -> str:
        """Return what ``print`` and the terminal show, in at most 80 columns."""
        return terminal.render(self.describe())

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; without the extra "plot" it shows the text."""
        return card.render(self.describe()) if templates.available() else None
