"""What all pages share: what a reader should keep in mind."""

from __future__ import annotations

from collections.abc import Iterable

from ...report import Section


def caveats(items: Iterable[str], notes: Iterable[str]) -> Section:
    """Return what a reader should keep in mind, and what was noted on the way."""
    return Section("What to keep in mind", items=(*items, *(_sentence(note) for note in dict.fromkeys(notes))))


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:].rstrip(".") + "."
