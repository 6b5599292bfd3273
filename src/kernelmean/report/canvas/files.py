"""Pictures as files: the same picture gives the same bytes, which say in words what is to be seen."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...core.disk import write_file
from .figure import check_format, matplotlib
from .words import alt_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""What a file would otherwise say of when and by what it was written."""
_WORDS = {".png": "Description", ".pdf": "Subject"}


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of axes, in the format that the ending names.

    The file says neither when nor by which program it was written: the same picture gives the same bytes. It says what
    is to be seen, as :func:`alt_text` does: an SVG in its description, a PNG and a PDF in their metadata.

    Parameters
    ----------
    figure : Figure or Axes
    path : str or Path
        Ends in .png, .svg or .pdf.

    Raises
    ------
    ValueError
        When the ending is another one.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> save(None, "picture.doc")
    Traceback (most recent call last):
    ValueError: picture.doc: a picture ends in .png, .svg or .pdf
    """
    check_format(path)
    write(getattr(figure, "figure", figure), path, Path(path).suffix.lower())


def write(figure: Figure, target: str | Path | IO[Any], ending: str) -> None:
    """Write a figure to a file or stream, always with the same bytes."""
    content, words = io.BytesIO(), alt_text(figure)
    metadata = {_WORDS[ending]: words} if words and ending in _WORDS else {}
    with matplotlib().rc_context({"svg.hashsalt": "kernelmean"}):
        figure.savefig(content, format=ending[1:], dpi=150, metadata=_METADATA[ending] | metadata)
    whole = described(content.getvalue(), words) if ending == ".svg" and words else content.getvalue()
    if isinstance(target, str | Path):
        write_file(target, whole)
    elif isinstance(target, io.TextIOBase):
        target.write(whole.decode())
    else:
        target.write(whole)


def described(svg: bytes, words: str) -> bytes:
    """Return an SVG file whose description says what is to be seen."""
    named = f' role="img" aria-labelledby="desc">\n <desc id="desc">{escape(words)}</desc>'
    return re.sub(r"(<svg [^>]*)>", lambda found: found[1] + named, svg.decode(), count=1).encode()
