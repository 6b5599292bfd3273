"""What chance alone makes of a statistic, and what was observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .figure import QUIET, SECOND, ink, new_axes, set_texts
from .words import describe, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...core.array import Array


_MOST_OUTLINED = 40


class Tested(Protocol):
    """A result with the statistics of all arrangements that were looked at."""

    @property
    def statistic(self) -> float:
        """The observed statistic."""

    @property
    def pvalue(self) -> float:
        """The share of arrangements that reach it."""

    @property
    def null_distribution(self) -> Array:
        """The statistics of the other arrangements, shape (B,)."""


def null_distribution(result: Tested, *, bins: Any = "auto", ax: Axes | None = None) -> Axes:
    """Draw the statistic under rearrangements as a histogram, and the observed statistic as a line.

    Where the histogram reaches the observed statistic it is shaded: the share of that part, with the observed
    arrangement counted, is the p-value.

    Parameters
    ----------
    result : TestResult
        Or anything else that has ``statistic``, ``pvalue`` and ``null_distribution``.
    bins : int, str or sequence
        As in ``matplotlib.axes.Axes.hist``.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    ValueError
        When there was one arrangement only, so that there is nothing to draw.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = null_distribution(km.mmd_test([[0.0], [1.0], [2.0]], [[5.0], [6.0], [9.0]], estimator="kme"))
    >>> ax.get_legend_handles_labels()[1]
    ['19 rearrangements', 'observed, p = 0.1']
    """
    null = np.asarray(result.null_distribution, dtype=np.float64)
    if not len(null):
        raise ValueError("there is no arrangement but the observed one, so no null distribution to draw")
    ax = new_axes(ax, (6.0, 3.2))
    statistic, rearrangements = float(result.statistic), f"{len(null)} rearrangement{'s' if len(null) > 1 else ''}"
    edges = np.histogram_bin_edges(null, bins)
    lines = 0.4 if len(edges) <= _MOST_OUTLINED else 0.0
    ax.hist(null, edges.tolist(), color=QUIET, alpha=0.55, edgecolor=ink(), lw=lines, label=rearrangements)
    ax.axvline(statistic, color=SECOND, lw=2.0, label=f"observed, p = {result.pvalue:.3g}")
    if edges[0] < statistic < edges[-1]:
        ax.axvspan(statistic, edges[-1], color=SECOND, alpha=0.15, lw=0)
    ax.margins(y=0.08)
    set_texts(
        ax,
        x=getattr(result, "statistic_name", "statistic"),
        y="rearrangements",
        title=getattr(result, "method", ""),
    )
    ax.legend(loc="best", frameon=True)
    words = (
        f"Histogram of the statistic over {rearrangements}, from {number(null.min())} to {number(null.max())}. A line "
        f"marks the observed value, {number(statistic)}: p = {result.pvalue:.3g}."
    )
    return describe(ax, words)
