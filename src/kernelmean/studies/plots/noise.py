"""How much noise an estimator added to every column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.curves import column_names, sample_of
from ...noise import Normal
from ...report import Bars, pictures
from ...report.numbers import rounded

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
    left = f"\n{len(sigma) - len(shown)} columns with less are left out" if len(sigma) > len(shown) else ""
    bars = Bars(
        "",
        f"noise, in standard deviations of the column\n(at the bars: σ in its units){left}",
        tuple(names),
        (("noise", tuple(relative[shown].tolist())),),
        tuple(rounded(sigma[j]) for j in shown),
    )
    return pictures.show(bars, ax, size=(5.4, 2.0))
