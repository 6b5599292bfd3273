"""Where one column of two samples differs: the witness as a curve, with the band of chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array, RngLike
from ...core.table import as_table
from ...inference.explain import SampleSubject, WitnessBands, witness_bands
from ...inference.samples import matched
from ...report.canvas import FIRST, QUIET, SECOND, describe, ink, new_axes, new_figure, set_legend, set_texts, short
from ...report.canvas.figure import matplotlib
from ...report.canvas.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID, _TICKS, _MARGIN = 121, 200, 0.05


def column_witness(
    x: Any, y: Any, *, names: tuple[str, str] = ("X", "Y"), column: str = "", rng: RngLike = 0, ax: Axes | None = None
) -> Axes:
    """Draw where one column of the first sample is denser than that of the second, and where less dense.

    The curve is the witness, the difference of the two kernel means; the grey band holds it at all points together
    with probability 0.95 if both samples come from one law. Ticks are the data, at most 200 of either sample.

    Parameters
    ----------
    x, y : array of shape (n,) and (m,)
    names : (str, str)
        What the samples are called.
    column : str
        What the column is called.
    rng : int or Generator
        Seeds the relabelings of the band.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> ax = column_witness([0.0, 0.2, 0.5], [1.0, 1.4], column="dose")
    >>> ax.get_xlabel()
    'dose'
    """
    own, samples = ax is None, tuple(as_table(np.asarray(sample, dtype=float)[:, None]).values for sample in (x, y))
    matplotlib()
    bands = _bands(samples, rng)
    ax = _draw(new_axes(ax, (5.0, 3.3)), samples, bands, names, column)
    set_legend(ax, above=own)
    return ax


def _bands(samples: Sequence[Array], rng: RngLike) -> WitnessBands:
    """Return the witness of one column of two samples over its range, with the band of chance."""
    (grid,) = grids(np.concatenate(samples), _GRID)
    return witness_bands(SampleSubject.gaussian(samples[0], samples[1]), grid[:, None], rng=rng)


def _draw(ax: Axes, samples: Sequence[Array], bands: WitnessBands, names: tuple[str, str], column: str) -> Axes:
    """Draw the band, the curve and the data, without a legend."""
    grid = bands.points[:, 0]
    ax.fill_between(grid, -bands.halfwidth, bands.halfwidth, color=QUIET, alpha=0.3, lw=0, label="chance (95 %)")
    ax.axhline(0.0, color=QUIET, lw=0.8)
    for sign, color, name in ((1, FIRST, names[0]), (-1, SECOND, names[1])):
        part = np.where(sign * bands.values > 0, bands.values, 0.0)
        ax.fill_between(grid, 0.0, part, color=color, alpha=0.4, lw=0, label=f"more {short(name)}")
    ax.plot(grid, bands.values, color=ink(), lw=1.2)
    _ticks(ax, samples)
    set_texts(ax, x=column, y="witness")
    return describe(ax, _words(bands, grid, names, column))


def grids(pooled: Array, size: int) -> list[Array]:
    """Return a grid over the range of every column of the pooled rows, and a little beyond."""
    low, high = pooled.min(axis=0), pooled.max(axis=0)
    reach = np.where(high > low, _MARGIN * (high - low), 1.0)
    return [np.linspace(*ends, size) for ends in zip(low - reach, high + reach, strict=True)]


def _ticks(ax: Axes, samples: Sequence[Array]) -> None:
    """Mark the data: the first sample at the top, the second at the bottom."""
    for sample, color, (start, end) in zip(samples, (FIRST, SECOND), ((0.95, 1.0), (0.0, 0.05)), strict=True):
        shown = sample[np.linspace(0, len(sample) - 1, min(len(sample), _TICKS)).astype(np.intp), 0]
        ax.vlines(shown, start, end, color=color, lw=0.5, alpha=0.6, transform=ax.get_xaxis_transform())


def _words(bands: WitnessBands, grid: Array, names: tuple[str, str], column: str) -> str:
    """Say where the witness is largest to either side, and whether it leaves the band."""
    of = f" of {column}" if column else ""
    ends = zip(names, (np.argmax(bands.values), np.argmin(bands.values)), strict=True)
    places = ", ".join(f"of {name} at {number(grid[k])}" for name, k in ends)
    out = bands.outside
    band = "It stays within the band of chance."
    if len(out):
        band = f"It leaves the band of chance between {number(grid[out[0]])} and {number(grid[out[-1]])}."
    return f"Witness{of}, {names[0]} against {names[1]}. Largest surplus {places}. {band}"


def column_witnesses(
    X: Any, Y: Any, columns: Sequence[str], *, names: tuple[str, str] = ("X", "Y"), rng: RngLike = 0
) -> Figure:
    """Draw :func:`column_witness` for several columns of two tables, in one figure.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, or Table
    columns : sequence of str
        Which columns, in the order of the panels.
    names, rng
        As in :func:`column_witness`.

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> figure = column_witnesses([[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.5], [2.0, 0.0]], ["x1", "x0"])
    >>> len(figure.axes)
    2
    """
    first, second = matched(X, Y)
    wide = min(3, len(columns))
    high = -(-len(columns) // wide)
    figure = new_figure((max(4.2 * wide, 5.0), 2.8 * high + 0.3))
    for k, name in enumerate(columns):
        j = first.names.index(name)
        ax = figure.add_subplot(high, wide, k + 1)
        samples = first.values[:, [j]], second.values[:, [j]]
        _draw(ax, samples, _bands(samples, rng), names, name)
        if k % wide:
            ax.set_ylabel("")
    set_legend(figure.axes[0], above=True)
    return figure
