"""What all pictures share: axes, colours, files, and what a picture says in words. Needs the extra ``plot``.

The picture of a null distribution is here too and not in ``plots``: the results of tests draw it, and they stand below.
"""

from .figure import (
    COLORS,
    DASHES,
    FIRST,
    FORMATS,
    MARKERS,
    QUIET,
    SECOND,
    check_format,
    ink,
    new_axes,
    new_figure,
    set_legend,
    set_texts,
    short,
)
from .files import save, write
from .null import null_distribution
from .words import alt_text, describe

__all__ = [
    "COLORS",
    "DASHES",
    "FIRST",
    "FORMATS",
    "MARKERS",
    "QUIET",
    "SECOND",
    "alt_text",
    "check_format",
    "describe",
    "ink",
    "new_axes",
    "new_figure",
    "null_distribution",
    "save",
    "set_legend",
    "set_texts",
    "short",
    "write",
]
