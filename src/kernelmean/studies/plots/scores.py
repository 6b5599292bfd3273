"""How parameters were chosen: the leave-one-out score along each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.curves import ScoreCurve, ScoreCurves, score_curves
from ...report import Bars, Curve, Panel, Points, pictures
from ...report.numbers import rounded

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PARAMETERS = {
    "noise": ("standard deviation of the noise, σ", "σ", "without noise"),
    "strength": ("strength of the shrinkage, λ", "λ", "without shrinkage"),
    "iterations": ("number of iterations", "t", "after 100 iterations"),
    "contraction": ("contraction, r", "r", "without contraction"),
}
_SCORES = {
    "loocv": "leave-one-out score",
    "risk": "estimate of the risk",
    "printed": "score as printed in 2014",
}
_HEADROOM = 1.2
"""How far a picture reaches above the score without noise, in depths of the minimum."""


def loocv_curve(estimator: KernelMean, columns: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
    """Draw the leave-one-out score along the parameters that a fitted estimator chose, and mark what it chose.

    MKME has one curve over the standard deviation σ of its noise; MMKME one per column, each with the noise of all
    other columns as it was chosen, so that all marks are at the same height; S-KMSE and F-KMSE one over λ. Scores are
    drawn minus that without noise or shrinkage, the dashed line, so that a mark is as low as the choice gained. Curves
    that rise far above the line are cut.

    Parameters
    ----------
    estimator : KernelMean
        Fitted.
    columns : sequence of str
        Of a noise per column: which; by default the first six.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        When the estimator chose nothing by its score, or a column is unknown.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = loocv_curve(km.MKME().fit(np.random.default_rng(0).normal(size=(30, 2))))
    >>> [text.get_text() for text in ax.figure.legends[0].get_texts()]
    ['without noise: 0.42859', 'score', 'chosen σ = 0.332']
    """
    found = score_curves(estimator, columns)
    return pictures.show(_panel(found), ax, size=(5.6, 3.8), words=_words(found, _PARAMETERS[found.parameter][1]))


def _panel(found: ScoreCurves) -> Panel:
    label, symbol, without = _PARAMETERS[found.parameter]
    ends = tuple(float(end(curve.values[k] for curve in found.curves)) for end, k in ((min, 0), (max, -1)))
    line = Curve(f"{without}: {found.without:.5g}", ends, (0.0, 0.0), dashed=True)
    curves = [
        Curve(curve.name or "score", tuple(curve.values.tolist()), tuple((curve.scores - found.without).tolist()))
        for curve in found.curves
    ]
    return Panel(
        "",
        label,
        f"{_SCORES[found.criterion]}\nminus that {without}",
        (line, *curves),
        x_log=found.parameter in ("noise", "strength"),
        points=tuple(_chosen(curve, found, symbol) for curve in found.curves),
        y_range=_cut(found),
    )


def _chosen(curve: ScoreCurve, found: ScoreCurves, symbol: str) -> Points:
    """Return the mark of what was chosen: at the left end where it is 0, nowhere where it is infinite."""
    name = f"{curve.name}: " if curve.name else ""
    place = (float(max(curve.chosen, curve.values[0])),) if math.isfinite(curve.chosen) else (math.nan,)
    return Points(f"{name}chosen {symbol} = {rounded(curve.chosen)}", place, (float(found.score - found.without),))


def _cut(found: ScoreCurves) -> tuple[float, float] | None:
    """Return what to show of curves that rise so high that the minimum would be a dent."""
    every = np.concatenate([curve.scores for curve in found.curves])
    depth, height = found.without - float(every.min()), float(every.max()) - found.without
    return (-1.15 * depth, _HEADROOM * depth) if 0 < _HEADROOM * depth < height else None


def _words(found: ScoreCurves, symbol: str) -> str:
    """Say what was chosen, and what it gained."""
    chosen = [
        f"{symbol} = {rounded(curve.chosen)}" + (f" for {curve.name}" if curve.name else "") for curve in found.curves
    ]
    label, _, without = _PARAMETERS[found.parameter]
    gain = f"{rounded(found.without - found.score)} less than {without}"
    return (
        f"{_SCORES[found.criterion].capitalize()} along {label}: a curve with a mark at what was chosen, "
        f"{', '.join(chosen)}, score {found.score:.5g}, which is {gain}."
    )


def scores_below_kme(gains: Mapping[str, float], *, ax: Axes | None = None) -> Axes:
    """Draw how much lower the leave-one-out score of every estimator is than that of the empirical kernel mean.

    Parameters
    ----------
    gains : mapping from str to float
        The score of KME less that of each estimator.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> ax = scores_below_kme({"kme": 0.0, "mkme": 0.02})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['kme', 'mkme']
    """
    values = tuple(float(gain) for gain in gains.values())
    label = "leave-one-out score of KME less that of the estimator"
    return pictures.show(Bars("", label, tuple(gains), (("score below that of kme", values),)), ax, size=(5.4, 2.0))
