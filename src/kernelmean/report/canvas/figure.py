"""Axes to draw on, and the colours, dashes and markers that tell lines apart."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#0072B2", "#D55E00", "#00AA5A", "#D1779D", "#6D4313", "#8D74FF", "#583A66")
"""Of lines in one picture, in an order in which neighbours differ to the colour-blind; none tells lines apart alone."""
FIRST, SECOND = COLORS[:2]
"""Colours of the first and the second sample."""
QUIET = "#8a8a8a"
"""The colour of what is chance, or of what all else is compared with."""
DASHES: tuple[Any, ...] = ("solid", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (9, 2)), (0, (3, 3)))
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
FORMATS = (".png", ".svg", ".pdf")
_LETTER, _SAMPLE, _LETTERS = 5.5, 50.0, 24
"""The points that a letter takes, those of the sample of a line in a legend, and the letters of a name."""


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


def check_format(path: str | Path) -> None:
    """Raise when a picture cannot be written under this name, before long work begins."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture ends in .png, .svg or .pdf")
    matplotlib()


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches, that belongs to no window and that a notebook shows.

    Examples
    --------
    >>> new_figure((4.0, 3.0)).get_size_inches().tolist()
    [4.0, 3.0]
    """
    matplotlib()
    from .picture import Picture

    return Picture(figsize=size, layout="constrained")


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes that were passed; or those of a new figure of pyplot, which notebooks and ``show`` display."""
    if ax is not None:
        return ax
    matplotlib()
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained").add_subplot()


def ink() -> str:
    """Return the colour of text: black, or white in a dark style."""
    return str(matplotlib().rcParams["text.color"])


def set_texts(ax: Axes, *, x: str = "", y: str = "", title: str = "") -> None:
    """Set labels and title as plain text: dollars are no mathematics, and long lines are broken to fit."""
    wide, high = (72.0 / ax.figure.dpi * side for side in (ax.bbox.width, ax.bbox.height))
    ax.set_xlabel(_broken(x, wide), parse_math=False)
    ax.set_ylabel(_broken(y, high), parse_math=False)
    if title:
        ax.set_title(_broken(title, wide), parse_math=False, fontsize="medium", loc="left")


def short(name: str) -> str:
    """Return a name, or the start of a long one.

    Examples
    --------
    >>> short("dose"), short("a" * 30) == "a" * 23 + "…"
    ('dose', True)
    """
    return name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"


def _broken(text: str, points: float) -> str:
    """Break a text into lines of so many points."""
    width = max(int(points / _LETTER), 12)
    return "\n".join(fill(line, width, break_long_words=False) for line in text.splitlines())


def set_legend(ax: Axes, *, above: bool) -> None:
    """Name what is drawn: above the axes of a figure of our own, else inside the axes, where there is room."""
    handles, labels = ax.get_legend_handles_labels()
    names = [label.replace("$", r"\$") for label in labels]
    if above:
        width = 72.0 / ax.figure.dpi * ax.figure.bbox.width
        columns = int(width / (_SAMPLE + _LETTER * max(map(len, names), default=0)))
        ax.figure.legend(handles, names, loc="outside upper center", ncols=min(max(columns, 1), 3), frameon=False)
    else:
        ax.legend(handles, names, loc="best", fontsize="small")
