"""Pictures of a fitted mixture beside the data, for one column or two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...core.array import Array
from ...core.table import Table
from ...core.words import listed
from ...density import GaussianMixture
from ...report import Curve, Panel, Points, Surface, pictures
from ...report.chart_texts import describe
from ...report.marginals import bins, outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVE, _MAP, _MOST_PAIRED, _SEEN = 121, 101, 5, 0.01
"""Points of a curve over the data, and of a side of a map; columns in pairs; how far below its peak a curve goes."""
_HELD = (0.95, 0.75, 0.5, 0.25)
"""The shares of the rows that the contours hold."""


class FittedTable(Protocol):
    """What is drawn of :class:`~kernelmean.studies.Densities`: a table, and a mixture that was fitted to it."""

    @property
    def table(self) -> Table:
        """The rows in their own units."""

    def marginal(self, columns: Sequence[int]) -> GaussianMixture:
        """Return the density of some columns, by position."""


def density_pairs(result: FittedTable, columns: Sequence[str] = ()) -> Figure:
    """Draw the fitted mixture beside the data: the marginal density of every column and of every pair of columns.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.studies.density.fit_densities` returns it.
    columns : sequence of str
        Which columns; by default the first five.

    Raises
    ------
    ValueError
        When there is no such column.

    Examples
    --------
    >>> from kernelmean.studies.density import fit_densities
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> len(density_pairs(fit_densities(rows, estimator="mkme", n_components=[1])).axes)
    4
    """
    names = tuple(columns) or result.table.names[:_MOST_PAIRED]
    cells = [tuple(dict.fromkeys((column, row))) for row in names for column in names]
    panels = [_panel(result, cell) for cell in cells]
    figure = pictures.show_all(panels, list(map(describe, panels)), wide=len(names), size=(2.2, 2.2))
    for k, ax in enumerate(figure.axes):
        i, j = divmod(k, len(names))
        inner = i < len(names) - 1, j > 0
        ax.set_xlabel("" if inner[0] else ax.get_xlabel())
        outer = names[i] if ax.get_ylabel() == "density" and len(names) > 1 else ax.get_ylabel()
        ax.set_ylabel("" if inner[1] else outer)
        ax.tick_params(labelbottom=not inner[0], labelleft=not inner[1] and (i > 0 or len(names) == 1))
    return figure


def marginal_density(result: FittedTable, columns: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw the marginal density of one column over a histogram, or of two columns as contours over the points.

    Contours are lines of equal density of the fitted mixture that enclose 95, 75, 50 and 25 % of the rows of the table.
    They show the mixture, not the rows: where it does not fit, they pass where there are no rows.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.studies.density.fit_densities` returns it.
    columns : sequence of one or two str
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        When ``columns`` are not one or two different columns of the table.

    Examples
    --------
    >>> from kernelmean.studies.density import fit_densities
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> marginal_density(fit_densities(rows, estimator="mkme", n_components=[1]), ["x1"]).get_xlabel()
    'x1'
    """
    panel = _panel(result, columns)
    return pictures.show(panel, ax, size=(4.6, 3.6), words=describe(panel))


def _panel(result: FittedTable, columns: Sequence[str]) -> Panel | Surface:
    names = result.table.names
    if len(columns) not in (1, 2) or len(set(columns)) != len(columns) or any(name not in names for name in columns):
        raise ValueError(f"columns is {tuple(columns)}; pass one or two different names of {listed(names)}")
    index = [names.index(name) for name in columns]
    return curve_panel(result, index[0], "") if len(index) == 1 else _contours(result, index)


def curve_panel(result: FittedTable, column: int, title: str) -> Panel:
    """Return the density of one column over a histogram of its rows."""
    name, values = result.table.names[column], result.table.values[:, column]
    edges = bins(values)
    width = edges[-1] - edges[0]
    grid = np.linspace(edges[0] - width, edges[-1] + width, 3 * _CURVE)
    density = np.exp(result.marginal([column]).logpdf(grid[:, None]))
    shown = (density >= _SEEN * density.max()) | ((grid >= edges[0]) & (grid <= edges[-1]))
    first, last = np.flatnonzero(shown)[[0, -1]]
    grid, density = grid[first : last + 1], density[first : last + 1]
    curve = Curve("mixture", tuple(grid.tolist()), tuple(density.tolist()))
    return Panel(title, name, "density", curves=(curve,), steps=(outline("data", values, edges, density=True),))


def _contours(result: FittedTable, index: Sequence[int]) -> Surface:
    """Return the rows of two columns, and lines of equal density that enclose shares of them."""
    data, mixture = result.table.values[:, index], result.marginal(index)
    x, y = (_axis(column, _MAP) for column in data.T)
    points = np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)
    values = np.exp(mixture.logpdf(points)).reshape(len(y), len(x))
    levels = np.unique(np.quantile(np.exp(mixture.logpdf(data)), [1.0 - share for share in _HELD]))
    rows = Points("rows", *(tuple(column.tolist()) for column in data.T))
    names = [result.table.names[j] for j in index]
    lines = "mixture: lines around 25, 50, 75, 95 % of the rows"
    heights = tuple(map(tuple, values.tolist()))
    axes = tuple(x.tolist()), tuple(y.tolist())
    return Surface("", names[0], names[1], lines, *axes, heights, tuple(levels.tolist()), points=(rows,))


def _axis(values: Array, size: int) -> Array:
    """Return a grid over the range of a column and a little beyond."""
    low, high = float(values.min()), float(values.max())
    return np.linspace(low - 0.08 * (high - low), high + 0.08 * (high - low), size)
