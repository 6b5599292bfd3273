"""How much noise an estimator added to every column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.curves import column_names, sample_of
from ...noise import Normal
from ...report.canvas import FIRST, describe, ink, new_axes, set_texts, short
from ...report.canvas.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_BARS = 30


def noise_per_column(estimator: KernelMean, *, ax: Axes | None = None) -> Axes:
    """Draw the standard deviation of the noise in every column, beside the spread of the column.

    Bars are in standard deviations of the column, so that columns in different units can be compared; the number at a
    bar is the standard deviation σ_j of the noise in the units of the column. More than 30 columns are cut to the 30
    with the longest bars.

    Parameters
    ----------
    estimator : KernelMean
        Fitted, with one normal noise for all rows: MKME, MMKME, VPMKME, or a noise that was passed.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    ValueError
        When the noise is not normal, or not the same for all rows.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = noise_per_column(km.MMKME().fit(np.random.default_rng(0).normal(size=(30, 2))))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    noise, X = estimator.noise_, sample_of(estimator)
    if not isinstance(noise, Normal) or noise.per_point is not None:
        raise ValueError(
            f"the noise is {noise!r}; fit an estimator with one normal noise for all rows, such as km.MMKME()"
        )
    sigma, spread = np.sqrt(np.broadcast_to(noise.variances(X.shape[1]), X.shape[1:])), X.std(axis=0)
    relative = np.divide(sigma, spread, out=np.zeros_like(sigma), where=spread > 0)
    shown = np.sort(np.argsort(-relative, kind="stable")[:_MOST_BARS])
    names = [column_names(estimator)[j] for j in shown]
    ax = new_axes(ax, (5.4, 1.3 + 0.28 * len(shown)))
    ax.barh(range(len(shown)), relative[shown], height=0.65, color=FIRST, alpha=0.8, edgecolor=ink(), lw=0.5)
    for place, j in enumerate(shown):
        ax.annotate(
            number(sigma[j]),
            (relative[j], place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.set_yticks(range(len(shown)), [short(name) for name in names], parse_math=False)
    ax.invert_yaxis()
    ax.set_xlim(0.0, 1.22 * (float(relative.max()) or 1.0))
    left = f"\n{len(sigma) - len(shown)} columns with less are left out" if len(sigma) > len(shown) else ""
    set_texts(ax, x=f"noise, in standard deviations of the column\n(at the bars: σ in its units){left}")
    bars = ", ".join(f"{name} {number(relative[j])}" for name, j in zip(names, shown, strict=True))
    return describe(ax, f"Bars of the noise in every column, in standard deviations of the column: {bars}.")
