"""How strongly columns depend on each other: a heat map of all pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...core.array import Array
from ...core.words import count
from ...report.canvas import describe, new_axes, set_texts, short
from ...report.canvas.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CELLS_WITH_TEXT, _LIGHT = 16, 0.55


class Dependences(Protocol):
    """What :func:`kernelmean.studies.dependence.dependence` returns."""

    @property
    def x(self) -> tuple[str, ...]:
        """The columns down the map."""

    @property
    def y(self) -> tuple[str, ...]:
        """The columns along the map."""

    def matrix(self, what: str = "strength") -> Array:
        """Return the strength or the adjusted p-value of all pairs, shape (len(x), len(y))."""


def dependence_map(result: Dependences, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw the strength of the dependence of all pairs of columns as a heat map.

    Pairs whose adjusted p-value is at most ``level`` carry a star; darker is stronger.

    Parameters
    ----------
    result : Dependence
        As :func:`kernelmean.studies.dependence.dependence` returns it.
    level : float
        The level of the stars.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> from kernelmean.studies.dependence import dependence
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> ax = dependence_map(dependence(np.column_stack([x, x**2]), estimator="kme"))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['x0', 'x1']
    """
    strength, adjusted = result.matrix(), result.matrix("adjusted")
    ax = new_axes(ax, map_size(result))
    image = ax.imshow(strength, vmin=0.0, vmax=1.0, cmap="Blues")
    rows, columns = ([short(name) for name in names] for names in (result.x, result.y))
    ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor", parse_math=False)
    ax.set_yticks(range(len(rows)), rows, parse_math=False)
    in_full = max(strength.shape) <= _CELLS_WITH_TEXT
    for (i, j), value in np.ndenumerate(strength):
        if result.x[i] != result.y[j]:
            _cell(ax, (i, j), float(value), starred=bool(adjusted[i, j] <= level), in_full=in_full)
    ax.figure.colorbar(image, ax=ax, shrink=0.9, label="strength\n(unbiased, normalised HSIC)")
    set_texts(ax, title=f"* adjusted p at most {level:g}")
    return describe(ax, _words(result, strength, adjusted, level))


def map_size(result: Dependences) -> tuple[float, float]:
    """Return the inches that all cells, names and the bar of colours need."""
    names = 0.092 * max(len(short(name)) for name in (*result.x, *result.y))
    height = max(1.2 + 0.7 * names + 0.45 * len(result.x), 3.4)
    return max(2.0 + names + 0.45 * len(result.y), 4.2), height


def _cell(ax: Axes, at: tuple[int, int], value: float, *, starred: bool, in_full: bool) -> None:
    """Write into one cell: the number where there is room, and the star."""
    written = f"{value:z.2f}".replace("0.", ".").replace("-", "−") if in_full else ""
    color = "white" if value > _LIGHT else "black"
    text = written + ("*" if starred else "")
    ax.text(at[1], at[0], text, ha="center", va="center", fontsize="x-small", color=color)


def _words(result: Dependences, strength: Array, adjusted: Array, level: float) -> str:
    """Say how large the map is, which pair depends most, and how many pairs carry a star."""
    pairs = [
        (float(strength[i, j]), bool(adjusted[i, j] <= level), frozenset((x, y)))
        for i, x in enumerate(result.x)
        for j, y in enumerate(result.y)
        if x != y
    ]
    most = max(pairs, key=lambda pair: pair[0])
    every, found = len({names for _, _, names in pairs}), len({names for _, star, names in pairs if star})
    return (
        f"Heat map of the dependence of {count(len(result.x), 'column')} and {count(len(result.y), 'column')}. "
        f"Strongest: {' and '.join(sorted(most[2]))}, {number(most[0])}. Of {count(every, 'pair')} {found} with a star."
    )
