"""A page: what is said and shown, in the order in which it is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from .document import Section
from .html import framed


@dataclass(frozen=True)
class Document:
    """A title, a summary in plain words, sections, and what made it (versions, seed, commit).

    ``headline`` is the one sentence that a reader with no time needs; it stands before the summary.
    """

    title: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    made_by: tuple[tuple[str, str], ...] = field(default=())
    headline: str = ""

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, for notebooks: no script runs in it, and nothing of it gets out."""
        return framed(self)
