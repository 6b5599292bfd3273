"""Where two columns of two samples differ: the witness as a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array, RngLike
from ...core.table import Table
from ...core.words import listed
from ...inference.explain import SampleSubject, WitnessBands, witness_bands
from ...inference.samples import matched
from ...report.canvas import FIRST, QUIET, SECOND, describe, new_axes, set_legend, set_texts, short
from ...report.canvas.figure import matplotlib
from ...report.canvas.words import number
from .witness import grids

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID, _SHADES, _MOST_POINTS = 41, 13, 400


def witness_map(
    X: Any,
    Y: Any,
    columns: Sequence[str] = (),
    *,
    names: tuple[str, str] = ("X", "Y"),
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw where two columns of the first sample are denser than those of the second, and where less dense.

    The colour is the witness, the difference of the two kernel means. Where the map is hatched it stays within the band
    that holds it at all points together with probability 0.95 if both samples come from one law. Circles are rows of
    the first sample, triangles rows of the second, at most 400 of either.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, or Table
    columns : sequence of two str
        Which columns: the first goes to the right, the second up. By default the first two.
    names : (str, str)
        What the samples are called.
    rng : int or Generator
        Seeds the relabelings of the band.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    ValueError
        When ``columns`` are not two different columns of both tables.

    Notes
    -----
    Other columns play no part: the two are looked at as tables of their own. 1681 points, each with 999 relabelings of
    n + m rows.

    Examples
    --------
    >>> ax = witness_map([[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.5], [2.0, 0.0]], ["x1", "x0"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x0')
    """
    colors = matplotlib().colors.LinearSegmentedColormap.from_list("witness", [SECOND, "#f7f7f7", FIRST])
    tables = matched(X, Y)
    chosen = tuple(columns) or tables[0].names[:2]
    first, second = (_two(table, chosen) for table in tables)
    across, up = grids(np.concatenate([first, second]), _GRID)
    points = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    bands = witness_bands(SampleSubject.gaussian(first, second), points, rng=rng)
    own = ax is None
    ax = new_axes(ax, (5.4, 4.2))
    _shade(ax, across, up, bands, colors)
    ax.plot(*_some(first).T, "o", ms=3.8, mfc="white", mec="black", mew=0.7, label=short(names[0]))
    ax.plot(*_some(second).T, "^", ms=4.4, mfc="black", mec="white", mew=0.6, label=short(names[1]))
    set_texts(ax, x=chosen[0], y=chosen[1])
    set_legend(ax, above=own)
    return describe(ax, _words(bands, names, chosen))


def _two(table: Table, columns: Sequence[str]) -> Array:
    """Return two columns of a table, shape (n, 2)."""
    if len(columns) != 2 or len(set(columns)) != 2 or any(name not in table.names for name in columns):
        raise ValueError(f"columns is {tuple(columns)}; pass two different names of {listed(table.names)}")
    return table.values[:, [table.names.index(name) for name in columns]]


def _shade(ax: Axes, across: Array, up: Array, bands: WitnessBands, colors: Any) -> None:
    """Colour the values from that of the second sample to that of the first, and hatch where they stay in the band."""
    values, most = bands.values.reshape(len(up), -1), float(np.abs(bands.values).max()) or 1.0
    levels = np.linspace(-most, most, _SHADES)
    image = ax.contourf(across, up, values, levels=levels, cmap=colors)
    ax.figure.colorbar(image, ax=ax, label="witness", ticks=[-most, 0.0, most], format=lambda v, _: number(v))
    excess = np.abs(values) - bands.halfwidth.reshape(values.shape)
    if excess.min() < 0:
        with matplotlib().rc_context({"hatch.color": QUIET, "hatch.linewidth": 0.7}):
            ax.contourf(across, up, excess, levels=[float(excess.min()), 0.0], colors="none", hatches=["///"])
        ax.fill_between([], [], facecolor="none", edgecolor=QUIET, hatch="///", lw=0, label="chance (95 %)")


def _some(sample: Array) -> Array:
    return sample[np.linspace(0, len(sample) - 1, min(len(sample), _MOST_POINTS)).astype(np.intp)]


def _words(bands: WitnessBands, names: tuple[str, str], columns: Sequence[str]) -> str:
    """Say where either sample is densest beside the other, and how much of the map is beyond chance."""
    ends = zip(names, (np.argmax(bands.values), np.argmin(bands.values)), strict=True)
    places = [
        f"of {name} at {columns[0]} {number(bands.points[k, 0])} and {columns[1]} {number(bands.points[k, 1])}"
        for name, k in ends
    ]
    share = len(bands.outside) / len(bands.points)
    return (
        f"Map of the witness over {columns[0]} and {columns[1]}. Largest surplus {', '.join(places)}. Beyond chance: "
        f"{share:.0%} of the map."
    )
