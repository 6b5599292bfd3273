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
from ...report import Points, Surface, pictures
from ...report.numbers import rounded
from .witness import grids, some

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_GRID, _MOST_POINTS = 41, 400


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
    that holds it at all points together with probability 0.95 if both samples come from one distribution. Circles are
    rows of the first sample, triangles rows of the second, at most 400 of either.

    Parameters
    ----------
    X, Y : array of shape (n, d) and (m, d), data frame, or Table
    columns : sequence of two str
        Which columns: the first goes to the right, the second up. By default the first two.
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
    Other columns play no part: the two are looked at as tables of their own. 1681 points, each with 999 permutations of
    n + m rows.

    Examples
    --------
    >>> ax = witness_map([[0.0, 1.0], [0.5, 2.0]], [[1.0, 1.5], [2.0, 0.0]], ["x1", "x0"])
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('x1', 'x0')
    """
    pictures.matplotlib()
    tables = matched(X, Y)
    chosen = tuple(columns) or tables[0].names[:2]
    samples = [_two(table, chosen) for table in tables]
    across, up = grids(np.concatenate(samples), _GRID)
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
    return pictures.show(panel, ax, size=(5.4, 4.2), words=_words(bands, names, chosen))


def _rows(values: Array) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, values.tolist()))


def _points(name: str, sample: Array) -> Points:
    x, y = some(sample, _MOST_POINTS).T
    return Points(name, tuple(x.tolist()), tuple(y.tolist()))


def _two(table: Table, columns: Sequence[str]) -> Array:
    """Return two columns of a table, shape (n, 2)."""
    if len(columns) != 2 or len(set(columns)) != 2 or any(name not in table.names for name in columns):
        raise ValueError(f"columns is {tuple(columns)}; pass two different names of {listed(table.names)}")
    return table.values[:, [table.names.index(name) for name in columns]]


def _words(bands: WitnessBands, names: tuple[str, str], columns: Sequence[str]) -> str:
    """Say where either sample is densest beside the other, and how much of the map is beyond chance."""
    ends = zip(names, (np.argmax(bands.values), np.argmin(bands.values)), strict=True)
    places = [
        f"of {name} at {columns[0]} {rounded(bands.points[k, 0])} and {columns[1]} {rounded(bands.points[k, 1])}"
        for name, k in ends
    ]
    share = len(bands.outside) / len(bands.points)
    return (
        f"Map of the witness over {columns[0]} and {columns[1]}. Largest surplus {', '.join(places)}. Beyond chance: "
        f"{share:.0%} of the map."
    )
