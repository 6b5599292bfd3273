"""What all pages share: what a reader should keep in mind."""

from __future__ import annotations

from collections.abc import Iterable

from ...report import Section


def caveats(items: Iterable[str], notes: Iterable[str]) -> Section:
    """Return what a reader should keep in mind, and what was noted on the way."""
    sentences = (f"{note[0].upper()}{note[1:].rstrip('.')}." for note in dict.fromkeys(notes))
    return Section("What to keep in mind", items=(*items, *sentences))
