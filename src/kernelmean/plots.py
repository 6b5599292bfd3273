"""Pictures: each function draws on matplotlib axes and returns them. Needs the extra ``plot``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ._array import Array, RngLike
from ._table import as_table
from .densities import Densities
from .dependence import Dependence
from .explain import witness_bands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIRST, SECOND, QUIET = "#0072B2", "#D55E00", "#8a8a8a"
"""Colours of the first and the second sample, which the colour-blind can tell apart, and of what is chance."""
_METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""What a file would otherwise say of when and by what it was written; the same picture is the same file."""
FORMATS = tuple(_METADATA)
_GRID, _TICKS, _CELLS_WITH_TEXT, _MOST_PAIRED = 121, 200, 16, 5


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
    ax = _axes(ax, (5.0, 3.0))
    first, second = (as_table(np.asarray(sample, dtype=float)[:, None]).values for sample in (x, y))
    pooled = np.concatenate([first, second])
    low, high = float(pooled.min()), float(pooled.max())
    reach = 0.05 * (high - low) or 1.0
    grid = np.linspace(low - reach, high + reach, _GRID)
    bands = witness_bands(first, second, grid[:, None], rng=rng)
    ax.fill_between(grid, -bands.halfwidth, bands.halfwidth, color=QUIET, alpha=0.3, lw=0, label="chance (95 %)")
    ax.axhline(0.0, color=QUIET, lw=0.8)
    for sign, color, name in ((1, FIRST, names[0]), (-1, SECOND, names[1])):
        part = np.where(sign * bands.values > 0, bands.values, 0.0)
        ax.fill_between(grid, 0.0, part, color=color, alpha=0.35, lw=0, label=f"more {name}")
    ax.plot(grid, bands.values, color="black", lw=1.2)
    _ticks(ax, (first, second))
    ax.set_xlabel(column)
    ax.set_ylabel("witness")
    return ax


def _ticks(ax: Axes, samples: Sequence[Array]) -> None:
    """Mark the data: the first sample at the top, the second at the bottom."""
    for sample, color, (start, end) in zip(samples, (FIRST, SECOND), ((0.95, 1.0), (0.0, 0.05)), strict=True):
        shown = sample[np.linspace(0, len(sample) - 1, min(len(sample), _TICKS)).astype(np.intp), 0]
        ax.vlines(shown, start, end, color=color, lw=0.5, alpha=0.6, transform=ax.get_xaxis_transform())


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
    first, second = as_table(X), as_table(Y)
    wide = min(3, len(columns))
    high = -(-len(columns) // wide)
    figure = new_figure((4.2 * wide, 2.8 * high))
    for k, name in enumerate(columns):
        j = first.names.index(name)
        ax = figure.add_subplot(high, wide, k + 1)
        column_witness(first.values[:, j], second.values[:, j], names=names, column=name, rng=rng, ax=ax)
        if k % wide:
            ax.set_ylabel("")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def dependence_map(result: Dependence, *, level: float = 0.05, ax: Axes | None = None) -> Axes:
    """Draw the strength of the dependence of all pairs of columns as a heat map.

    Pairs whose adjusted p-value is at most ``level`` carry a star; darker is stronger.

    Parameters
    ----------
    result : Dependence
        As :func:`kernelmean.dependence.dependence` returns it.
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
    >>> from kernelmean.dependence import dependence
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> ax = dependence_map(dependence(np.column_stack([x, x**2]), estimator="kme"))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['x0', 'x1']
    """
    strength, adjusted = result.matrix(), result.matrix("adjusted")
    side = 1.5 + 0.45 * max(strength.shape)
    ax = _axes(ax, (side + 1.2, side))
    image = ax.imshow(strength, vmin=0.0, vmax=1.0, cmap="Blues")
    ax.set_xticks(range(len(result.y)), result.y, rotation=45, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(result.x)), result.x)
    in_full = max(strength.shape) <= _CELLS_WITH_TEXT
    for (i, j), value in np.ndenumerate(strength):
        if result.x[i] != result.y[j]:
            _cell(ax, (i, j), float(value), bool(adjusted[i, j] <= level), in_full=in_full)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label="strength (unbiased, normalised HSIC)")
    ax.set_title(f"* adjusted p at most {level:g}", fontsize="medium", loc="left")
    return ax


def _cell(ax: Axes, at: tuple[int, int], value: float, starred: bool, *, in_full: bool) -> None:
    """Write into one cell: the number where there is room, and the star."""
    text = (f"{value:.2f}".replace("0.", ".") if in_full else "") + ("*" if starred else "")
    ax.text(at[1], at[0], text, ha="center", va="center", fontsize="x-small", color="white" if value > 0.6 else "black")


def density_pairs(result: Densities, columns: Sequence[str] = ()) -> Figure:
    """Draw the fitted mixture beside the data: the marginal of every column, and of every pair of columns.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.densities.fit_densities` returns it.
    columns : sequence of str
        Which columns; by default the first five.

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> from kernelmean.densities import fit_densities
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
        ax.set_xlabel(names[j] if i == size - 1 else "")
        ax.set_ylabel(names[i] if j == 0 else "")
    return figure


def marginal_density(result: Densities, columns: Sequence[str], *, ax: Axes | None = None) -> Axes:
    """Draw the marginal density of one column over a histogram, or of two as contours over the points.

    Parameters
    ----------
    result : Densities
        As :func:`kernelmean.densities.fit_densities` returns it.
    columns : sequence of one or two str
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> from kernelmean.densities import fit_densities
    >>> rows = np.random.default_rng(0).normal(size=(40, 2))
    >>> marginal_density(fit_densities(rows, estimator="mkme", n_components=[1]), ["x1"]).get_xlabel()
    'x1'
    """
    ax = _axes(ax, (4.0, 3.0))
    index = [result.table.names.index(name) for name in columns]
    data, mixture = result.table.values[:, index], result.marginal(index)
    axes = [np.linspace(low, high, _GRID) for low, high in zip(data.min(axis=0), data.max(axis=0), strict=True)]
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    values = np.exp(mixture.logpdf(points)).reshape((_GRID,) * len(axes))
    if len(index) == 1:
        ax.hist(data[:, 0], bins="auto", density=True, color=QUIET, alpha=0.4)
        ax.plot(axes[0], values, color=FIRST, lw=1.5)
    else:
        ax.plot(*data.T, ".", color=QUIET, ms=2, alpha=0.6)
        ax.contour(axes[0], axes[1], values.T, colors=FIRST, linewidths=0.8, levels=6)
    ax.set_xlabel(columns[0])
    ax.set_ylabel("density" if len(index) == 1 else columns[1])
    return ax


def save(figure: Any, path: str | Path) -> None:
    """Write a figure, or the figure of axes, in the format that the ending names.

    The file says neither when nor by which program it was written: the same picture gives the same bytes.

    Parameters
    ----------
    figure : Figure or Axes
    path : str or Path
        Ends in .png, .svg or .pdf.

    Raises
    ------
    ValueError
        When the ending is another one.
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
    """Write a figure to a file or stream, always with the same bytes."""
    with _matplotlib().rc_context({"svg.hashsalt": "kernelmean"}):
        figure.savefig(target, format=ending[1:], dpi=150, metadata=_METADATA[ending])


def check_format(path: str | Path) -> None:
    """Raise when a picture cannot be written under this name, before long work begins."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: a picture ends in .png, .svg or .pdf")
    _matplotlib()


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise ImportError('pictures need matplotlib; write: pip install "kernelmean[plot]"') from None
    return matplotlib


def new_figure(size: tuple[float, float]) -> Figure:
    """Return an empty figure of a size in inches, that belongs to no window."""
    return _matplotlib().figure.Figure(figsize=size, layout="constrained")


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    return new_figure(size).add_subplot() if ax is None else ax
