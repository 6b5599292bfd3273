"""Pictures in notebooks, scripts and files: panels on matplotlib axes, with words for readers who cannot see them.

Needs the extra ``plot``. The same picture gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.disk import write_file
from .chart_texts import describe, labels
from .document import AnyPanel
from .palette import looks
from .templates import clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""Metadata to leave out: when and by which program a file was written."""
_WHERE = {".png": "Description", ".pdf": "Subject"}
_WORDS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_LETTER, _SAMPLE = 5.5, 50.0
"""The width in points of a letter and of a legend sample."""
_FONT = "'DejaVu Sans'"
"""The font that texts are measured in; Verdana, its fallback, has the same widths."""


def matplotlib() -> Any:
    """Return matplotlib, or say how to install it.

    Raises
    ------
    ImportError
    """
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError('pictures need matplotlib; write: pip install "kernelmean[plot]"') from None
    return matplotlib


def missing() -> str | None:
    """Return why pictures cannot be drawn and what to do, or None if they can."""
    try:
        matplotlib()
    except ImportError as error:
        return str(error)
    return None


def check_format(path: str | Path) -> None:
    """Raise if a picture cannot be written under this name, before long work begins."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture ends in .png, .svg or .pdf")
    matplotlib()


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches, which has no window and which a notebook shows.

    Examples
    --------
    >>> new_figure((4.0, 3.0)).get_size_inches().tolist()
    [4.0, 3.0]
    """
    matplotlib()
    from .notebook_figure import Picture

    return Picture(figsize=size, layout="constrained")


def show(panel: AnyPanel, ax: Axes | None = None, *, size: tuple[float, float] = (5.4, 3.5), words: str = "") -> Axes:
    """Draw a panel with its legend on axes, or on a new figure of pyplot, which notebooks display.

    ``words`` are what :func:`alt_text` says, by default those of the panel.
    """
    from .drawing import draw, samples, size_of

    is_new, styles = ax is None, looks(labels([panel]))
    if ax is None:
        matplotlib()
        from matplotlib import pyplot

        wide, high = size_of(panel, size)
        ax = pyplot.figure(figsize=(wide, high + 0.4), layout="constrained").add_subplot()
    draw(ax, panel, styles)
    handles = samples(panel, styles)
    if is_new:
        _legend(ax.figure, handles)
    elif handles:
        ax.legend(list(handles.values()), _names(handles), loc="best", fontsize="small")
    return described_by(ax, words or describe(panel))


def show_all(panels: Sequence[AnyPanel], words: Sequence[str], *, wide: int, size: tuple[float, float]) -> Figure:
    """Draw panels in rows of ``wide``, each ``size`` inches large, under one legend."""
    from .drawing import draw, samples

    high = -(-len(panels) // wide)
    figure, styles = new_figure((max(size[0] * wide, 5.0), size[1] * high + 0.4)), looks(labels(panels))
    handles: dict[str, Any] = {}
    for k, (panel, text) in enumerate(zip(panels, words, strict=True)):
        draw(described_by(figure.add_subplot(high, wide, k + 1), text), panel, styles)
        handles |= samples(panel, styles)
    _legend(figure, handles)
    return figure


def _legend(figure: Any, handles: dict[str, Any]) -> None:
    """Draw a legend above all axes."""
    if not handles:
        return
    names, width = _names(handles), 72.0 / figure.dpi * figure.bbox.width
    columns = int(width / (_SAMPLE + _LETTER * max(map(len, names))))
    options = {"loc": "outside upper center", "ncols": min(max(columns, 1), 3), "frameon": False}
    figure.legend(list(handles.values()), names, **options)


def _names(handles: dict[str, Any]) -> list[str]:
    from .drawing import plain

    return [plain(label) for label in handles]


def described_by(ax: Axes, words: str) -> Axes:
    """Store what axes show in words, and return the axes."""
    _WORDS[ax] = words
    return ax


def alt_text(picture: Any) -> str:
    r"""Return what a picture of this library shows in words, for the ``alt`` of an HTML page.

    Parameters
    ----------
    picture : Axes or Figure

    Returns
    -------
    str
        Empty for axes that this library has not drawn on.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]], estimator="kme").plot()
    >>> print(alt_text(ax).replace(". ", ".\n"))
    The observed value is 0.9084.
    Those that chance alone makes reach from −0.2466 to 0.9084; as large or larger: 1 of 19.
    """
    axes = picture.axes if hasattr(picture, "add_subplot") else [picture]
    return " ".join(_WORDS[ax] for ax in axes if _WORDS.get(ax))


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of axes, in the format that the ending of the path names.

    The file does not say when and by which program it was written, so the same picture gives the same bytes. It holds
    the words of :func:`alt_text`: an SVG in its description, a PNG or PDF in its metadata.

    Parameters
    ----------
    figure : Figure or Axes
    path : str or Path
        Ends in .png, .svg or .pdf.

    Raises
    ------
    ValueError
        When the path has another ending.
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
    """Write a figure to a file or stream; the same figure gives the same bytes."""
    content, words = io.BytesIO(), alt_text(figure)
    metadata = {_WHERE[ending]: words} if words and ending in _WHERE else {}
    with matplotlib().rc_context({"svg.hashsalt": "kernelmean", "svg.fonttype": "none"}):
        figure.savefig(content, format=ending[1:], dpi=150, metadata=_METADATA[ending] | metadata)
    whole = _told(content.getvalue(), words) if ending == ".svg" else content.getvalue()
    if isinstance(target, str | Path):
        write_file(target, whole)
        return
    stream: Any = target
    stream.write(whole.decode() if isinstance(stream, io.TextIOBase) else whole)


def _told(svg: bytes, words: str) -> bytes:
    """Return an SVG file with common fonts, whose description says what it shows."""
    text = re.sub("<text [^>]*>", lambda tag: tag[0].replace(_FONT, f"{_FONT}, Verdana, sans-serif"), svg.decode())
    if not words:
        return text.encode()
    opening = f' role="img" aria-labelledby="desc">\n {naming("", words)}'
    return re.sub(r"(<svg [^>]*)>", lambda tag: tag[1] + opening, text, count=1).encode()


def naming(title: str, words: str, prefix: str = "") -> str:
    """Return the title, if any, and the description of a picture as SVG elements."""
    heading = f'<title id="{prefix}title">{escape(clean(title))}</title>' if title else ""
    return f'{heading}<desc id="{prefix}desc">{escape(clean(words))}</desc>'
