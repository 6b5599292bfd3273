"""Where two samples differ: the witness of one column as areas with a band of chance, of two columns as a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...core.array import Array, RngLike
from ...core.table import as_table
from ...core.words import listed, percent, rounded
from ...inference.explain import SampleSubject, WitnessBands, witness_bands
from ...inference.samples import matched
from ...report import Panel, Points, Strip, Surface, Ticks, pictures
from ...report.marginals import has_long_tail

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID, _TICKS, _MARGIN = 121, 200, 0.05


def column_witness(
    x: Any, y: Any, *, names: tuple[str, str] = ("X", "Y"), column: str = "", rng: RngLike = 0, ax: Axes | None = None
) -> Axes:
    """Draw where a column of the first sample is denser than that of the second, and where it is less dense.

    The edge of the areas is the witness, the difference of the two kernel means. The grey band contains it at all
    points at once with probability 0.95 if both samples come from one distribution. Ticks are the data, at most 200 of
    each sample.

    Parameters
    ----------
    x, y : array of shape (n,) and (m,)
    names : (str, str)
        What the samples are called.
    column : str
        What the column is called.
    rng : int or Generator
        Seeds the permutations of the band.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> ax = column_witness([0.0, 0.2, 0.5], [1.0, 1.4], column="dose")
    >>> ax.get_xlabel()
    'dose'
    """
    samples = tuple(as_table(np.asarray(sample, dtype=float)[:, None]).values for sample in (x, y))
    pictures.matplotlib()
    panel, words = _drawn(samples, names, column, rng)
    return pictures.show(panel, ax, size=(5.0, 3.4), words=words)


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

    Examples
    --------
    >>> figure = column_witnesses([[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.5], [2.0, 0.0]], ["x1", "x0"])
    >>> len(figure.axes)
    2
    """
    first, second = matched(X, Y)
    index = [first.names.index(name) for name in columns]
    drawn = [
        _drawn((first.values[:, [j]], second.values[:, [j]]), names, name, rng)
        for j, name in zip(index, columns, strict=True)
    ]
    panels, words = zip(*drawn, strict=True) if drawn else ((), ())
    return pictures.show_all(panels, words, wide=min(3, max(len(columns), 1)), size=(4.2, 2.8))


def _drawn(samples: Sequence[Array], names: tuple[str, str], column: str, rng: RngLike) -> tuple[Panel, str]:
    """Return the panel of one column of two samples, and a description in words."""
    pooled = np.concatenate(samples)
    grid = line(pooled, pooled, _GRID)
    bands = witness_bands(SampleSubject.gaussian(samples[0], samples[1]), grid[:, None], rng=rng)
    return witness_panel("", column, bands, names, samples), _words(bands, grid, names, column)


def witness_panel(
    title: str, label: str, bands: WitnessBands, names: tuple[str, str], samples: Sequence[Array] = ()
) -> Panel:
    """Return the witness of one column as two areas, over the strip of chance; samples are ticks at the edges.

    The axis is logarithmic if the points are at equal ratios, as :func:`line` lays them.
    """
    x = tuple(bands.points[:, 0].tolist())
    is_log = x[0] > 0.0 and x[-1] > 2.0 * x[0] and np.isclose(x[1] / x[0], x[-1] / x[-2])
    zero = (0.0,) * len(x)
    above, below = (tuple(part.tolist()) for part in (np.maximum(bands.values, 0), np.minimum(bands.values, 0)))
    width = bands.halfwidth.tolist()
    first, second = (f"more of {name}" for name in names)
    strips = (
        Strip("chance (95 %)", x, tuple(-w for w in width), tuple(width), quiet=True),
        Strip(first, x, zero, above),
        Strip(second, x, below, zero),
    )
    pairs = zip((first, second), samples, (True, False), strict=False)
    ticks = tuple(Ticks(name, tuple(some(sample, _TICKS)[:, 0].tolist()), top) for name, sample, top in pairs)
    return Panel(title, label, "witness", strips=strips, ticks=ticks, x_log=bool(is_log))


def line(values: Array, ends: Any, size: int) -> Array:
    """Return a grid over values with a long tail, at equal ratios; of others over a little more than their ends."""
    if has_long_tail(values):
        return np.geomspace(values.min(), values.max(), size)
    (grid,) = grids(np.asarray(ends).reshape(-1, 1), size)
    return grid


def grids(pooled: Array, size: int) -> list[Array]:
    """Return a grid over a little more than the range of every column of the pooled rows, not below 0 if none is."""
    low, high = pooled.min(axis=0), pooled.max(axis=0)
    reach = np.where(high > low, _MARGIN * (high - low), 1.0)
    start = np.where(low >= 0.0, np.maximum(low - reach, 0.0), low - reach)
    return [np.linspace(*ends, size) for ends in zip(start, high + reach, strict=True)]


def some(sample: Array, most: int) -> Array:
    """Return at most ``most`` rows, evenly spread over the sample."""
    return sample[np.linspace(0, len(sample) - 1, min(len(sample), most)).astype(np.intp)]


def _words(bands: WitnessBands, grid: Array, names: tuple[str, str], column: str) -> str:
    """Return in words where the witness is largest on either side, and whether it leaves the band."""
    of = f" of {column}" if column else ""
    ends = zip(names, (np.argmax(bands.values), np.argmin(bands.values)), strict=True)
    places = ", ".join(f"of {name} at {rounded(grid[k])}" for name, k in ends)
    out = bands.outside
    band = "It stays within the band of chance."
    if len(out):
        band = f"It leaves the band of chance between {rounded(grid[out[0]])} and {rounded(grid[out[-1]])}."
    return f"Witness{of}, {names[0]} against {names[1]}. Largest surplus {places}. {band}"


# -- two columns -------------------------------------------------------------------------------------------------------


_GRID_OF_MAP, _POINTS_OF_MAP = 41, 400


def witness_map(
    X: Any,
    Y: Any,
    columns: Sequence[str] = (),
    *,
    names: tuple[str, str] = ("X", "Y"),
    rng: RngLike = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw where two columns of the first sample are denser than those of the second, and where they are less dense.

    The colour is the witness, the difference of the two kernel means. Where the map is hatched, the witness stays
    within the band that contains it at all points at once with probability 0.95 if both samples come from one
    distribution. Circles are rows of the first sample, triangles rows of the second, at most 400 of each.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, or Table
    columns : sequence of two str
        The columns of the horizontal and the vertical axis; by default the first two.
    names : (str, str)
        What the samples are called.
    rng : int or Generator
        Seeds the permutations of the band.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        When ``columns`` are not two different columns of both tables.

    Notes
    -----
    Other columns are ignored: the two columns are a table of their own. The map has 1,681 points, each with 999
    permutations of n + m rows.

    Examples
    --------
    >>> ax = witness_map([[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.5], [2.0, 0.0]], ["x1", "x0"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x0')
    """
    pictures.matplotlib()
    tables = matched(X, Y)
    chosen = tuple(columns) or tables[0].names[:2]
    if len(chosen) != 2 or len(set(chosen)) != 2 or any(name not in tables[0].names for name in chosen):
        raise ValueError(f"columns is {chosen}; pass two different names of {listed(tables[0].names)}")
    samples = [table.values[:, [table.names.index(name) for name in chosen]] for table in tables]
    across, up = grids(np.concatenate(samples), _GRID_OF_MAP)
    points = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    bands = witness_bands(SampleSubject.gaussian(samples[0], samples[1]), points, rng=rng)
    shape = len(up), len(across)
    excess = np.abs(bands.values) - bands.halfwidth
    panel = Surface(
        "",
        chosen[0],
        chosen[1],
        "witness",
        tuple(across.tolist()),
        tuple(up.tolist()),
        _rows(bands.values.reshape(shape)),
        chance=_rows(excess.reshape(shape)),
        points=tuple(_points(name, sample) for name, sample in zip(names, samples, strict=True)),
    )
    return pictures.show(panel, ax, size=(5.4, 4.2), words=_map_words(bands, names, chosen))


def _rows(values: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, values.tolist()))


def _points(name: str, sample: Array) -> Points:
    x, y = some(sample, _POINTS_OF_MAP).T
    return Points(name, tuple(x.tolist()), tuple(y.tolist()))


def _map_words(bands: WitnessBands, names: tuple[str, str], columns: Sequence[str]) -> str:
    """Return in words where each sample exceeds the other most, and how much of the map is beyond chance."""
    ends = zip(names, (np.argmax(bands.values), np.argmin(bands.values)), strict=True)
    places = [
        f"of {name} at {columns[0]} {rounded(bands.points[k, 0])} and {columns[1]} {rounded(bands.points[k, 1])}"
        for name, k in ends
    ]
    share = len(bands.outside) / len(bands.points)
    return (
        f"Map of the witness over {columns[0]} and {columns[1]}. Largest surplus {', '.join(places)}. Beyond chance: "
        f"{percent(share)} of the map."
    )
