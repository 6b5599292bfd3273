"""Names of places in a document, as GitHub makes them of headings."""

from __future__ import annotations

import unicodedata
from typing import final

_OF_WORDS = ("L", "M", "Nd", "Pc")
"""The categories of letters, marks on them, digits, and what joins words as _ does."""


@final
class Anchors:
    """Gives every text a name that no other has.

    Examples
    --------
    >>> anchors = Anchors()
    >>> [anchors.take(title) for title in ("Table 3: NLL, σ² = 0", "Summary", "Summary")]
    ['table-3-nll-σ--0', 'summary', 'summary-1']
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, text: str) -> str:
        """Return the name: lower case, spaces as hyphens, without signs; numbered when it was taken before."""
        signs = text.strip().lower()
        kept = (sign for sign in signs if sign in "- " or unicodedata.category(sign).startswith(_OF_WORDS))
        stem = "".join(kept).replace(" ", "-") or "part"
        name, number = stem, 0
        while name in self._taken:
            number += 1
            name = f"{stem}-{number}"
        self._taken.add(name)
        return name
