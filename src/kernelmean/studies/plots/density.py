"""What a fitted mixture says of one column or two, beside the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ...core.array import Array
from ...core.table import Table
from ...core.words import listed
from ...density import Mixture
from ...report.canvas import FIRST, QUIET, describe, new_axes, new_figure, set_legend, set_texts
from ...report.canvas.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVE, _MAP, _MOST_PAIRED = 241, 101, 5
_HELD = (0.95, 0.75, 0.5, 0.25)
"""The shares of the rows that the contours hold."""


class Fitted(Protocol):
    """What :func:`kernelmean.studies.density.fit_densities` returns."""

    @property
    def table(self) -> Table:
        """The data."""

    def marginal(self, index: Sequence[int]) -> Mixture:
        """Return the mixture of some columns."""


def density_pairs(result: Fitted, columns: Sequence[str] = ()) -> Figure:
    """Draw the fitted mixture beside the data: the marginal of every column, and of every pair of columns.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.studies.density.fit_densities` returns it.
    columns : sequence of str
        Which columns; by default the first five.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
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
    size = len(names)
    figure = new_figure((2.2 * size + 0.6, 2.2 * size + 0.4))
    for i, j in np.ndindex(size, size):
        ax = figure.add_subplot(size, size, 1 + i * size + j)
        marginal_density(result, tuple(dict.fromkeys((names[j], names[i]))), ax=ax)
        outer = names[j] if i == size - 1 else "", ("density" if size == 1 else names[i]) if j == 0 else ""
        set_texts(ax, x=outer[0], y=outer[1])
        ax.tick_params(labelbottom=i == size - 1, labelleft=j == 0 and (i > 0 or size == 1))
    return figure


def marginal_density(result: Fitted, columns: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw the marginal density of one column over a histogram, or of two as contours over the points.

    Contours are lines of equal density; inside them are 95, 75, 50 and 25 % of the rows of the table.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.studies.density.fit_densities` returns it.
    columns : sequence of one or two str
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    ValueError
        When these are not one or two different columns.

    Examples
    --------
    >>> from kernelmean.studies.density import fit_densities
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> marginal_density(fit_densities(rows, estimator="mkme", n_components=[1]), ["x1"]).get_xlabel()
    'x1'
    """
    names = result.table.names
    if len(columns) not in (1, 2) or len(set(columns)) != len(columns) or any(name not in names for name in columns):
        raise ValueError(f"columns is {tuple(columns)}; pass one or two different names of {listed(names)}")
    index = [names.index(name) for name in columns]
    data, mixture = result.table.values[:, index], result.marginal(index)
    own = ax is None
    ax = new_axes(ax, (4.6, 3.6))
    words = _curve(ax, data, mixture) if len(index) == 1 else _contours(ax, data, mixture)
    if own:
        set_legend(ax, above=True)
    set_texts(ax, x=columns[0], y="density" if len(index) == 1 else columns[1])
    return describe(ax, f"Density of {' and '.join(columns)}: {words}")


def _curve(ax: Axes, data: Array, mixture: Mixture) -> str:
    """Draw a histogram and the density over it, and return in words where the density is highest."""
    x = _axis(data[:, 0], _CURVE)
    values = np.exp(mixture.logpdf(x[:, None]))
    ax.hist(data[:, 0], bins="auto", density=True, color=QUIET, alpha=0.45, label="rows")
    ax.plot(x, values, color=FIRST, lw=1.8, label="fitted density")
    ax.set_xlim(x[0], x[-1])
    return f"a curve over a histogram of {len(data)} rows, highest at {number(x[np.argmax(values)])}."


def _contours(ax: Axes, data: Array, mixture: Mixture) -> str:
    """Draw the rows and lines of equal density that hold shares of them, and return in words where it is highest."""
    x, y = (_axis(column, _MAP) for column in data.T)
    points = np.stack([part.ravel() for part in np.meshgrid(x, y)], axis=1)
    values = np.exp(mixture.logpdf(points)).reshape(len(y), len(x))
    levels = np.unique(np.quantile(np.exp(mixture.logpdf(data)), [1.0 - share for share in _HELD]))
    ax.plot(*data.T, ".", color=QUIET, ms=2.5, alpha=0.7, label="rows")
    ax.plot([], [], color=FIRST, lw=1.0, label="lines that hold 25, 50, 75, 95 %")
    ax.contour(x, y, values, colors=FIRST, linewidths=1.0, levels=levels)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    top = points[np.argmax(values)]
    return f"contours over {len(data)} rows, highest at {number(top[0])} and {number(top[1])}."


def _axis(values: Array, size: int) -> Array:
    """Return a grid over the range of a column and a little beyond."""
    low, high = float(values.min()), float(values.max())
    return np.linspace(low - 0.08 * (high - low), high + 0.08 * (high - low), size)
