"""What pages share: caveats."""

from __future__ import annotations

from collections.abc import Iterable

from ...report import Section

COARSE = (
    "The kernels of the strength are coarse: it is low for waves and fine patterns even where one column fixes the "
    "other, so look at the picture before you drop a pair."
)
"""How to read the strength of a pair of columns."""


def caveats(items: Iterable[str], notes: Iterable[str]) -> Section:
    """Return the section of caveats, followed by the notes."""
    return Section("What to keep in mind", items=(*items, *map(_sentence, dict.fromkeys(notes))))


def _sentence(note: str) -> str:
    """Return a note as a sentence; a file or column that it begins with keeps its small letter.

    Examples
    --------
    >>> _sentence("constant, so left out: a"), _sentence("orders.csv: 2 rows left out")
    ('Constant, so left out: a.', 'orders.csv: 2 rows left out.')
    """
    first = note.split(maxsplit=1)[0].rstrip(",:;")
    return f"{note[0].upper() if first.isalpha() else note[0]}{note[1:].rstrip('.')}."
