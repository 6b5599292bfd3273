"""How strongly columns depend on each other: a heat map of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ...core.array import Array
from ...report import HeatMap, pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Pairwise(Protocol):
    """What is drawn of a :class:`~kernelmean.studies.Dependence`: two groups of columns, and a number for each pair."""

    @property
    def x(self) -> tuple[str, ...]:
        """The columns of the first group."""

    @property
    def y(self) -> tuple[str, ...]:
        """The columns of the second group; all columns again if there is only one group."""

    def matrix(self, what: str = "strength") -> Array:
        """Return a number for every pair, shape (columns of x, columns of y)."""


def dependence_map(result: Pairwise, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw how strongly all pairs of columns depend on each other, as a heat map.

    Pairs whose adjusted p-value is at most ``level`` carry a star; darker is stronger.

    Parameters
    ----------
    result : Dependence
        As :func:`kernelmean.studies.dependence.dependence` returns it.
    level : float
        The level of the stars.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelmean.studies.dependence import dependence
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> ax = dependence_map(dependence(np.column_stack([x, x**2]), estimator="kme"))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['x0', 'x1']
    """
    return pictures.show(heat_map(result, result.x, result.y, level), ax, size=(4.2, 3.4))


def heat_map(result: Pairwise, x: Sequence[str], y: Sequence[str], level: float) -> HeatMap:
    """Return the strength of some pairs; a column beside itself has none."""
    strength, adjusted = result.matrix(), result.matrix("adjusted")
    places = [[(result.x.index(a), result.y.index(b)) for b in y] for a in x]
    known = [[a != b for b in y] for a in x]
    cells = [(i, j) for i, row in enumerate(known) for j, there in enumerate(row) if there]
    values = tuple(
        tuple(max(float(strength[at]), 0.0) if there else None for at, there in zip(row, beside, strict=True))
        for row, beside in zip(places, known, strict=True)
    )
    stars = frozenset((i, j) for i, j in cells if adjusted[places[i][j]] <= level)
    return HeatMap("", "strength", tuple(x), tuple(y), values, stars, f"adjusted p at most {level:g}")
