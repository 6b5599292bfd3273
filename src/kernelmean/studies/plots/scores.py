"""How parameters were chosen: the leave-one-out score along each of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.curves import ScoreCurve, ScoreCurves, score_curves
from ...report.canvas import (
    COLORS,
    DASHES,
    FIRST,
    MARKERS,
    QUIET,
    describe,
    ink,
    new_axes,
    set_legend,
    set_texts,
    short,
)
from ...report.canvas.words import number

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
    ImportError
        When matplotlib is not installed.
    ValueError
        When the estimator chose nothing by its score, or a column is unknown.

    Examples
    --------
    >>> import kernelmean as km
    >>> ax = loocv_curve(km.MKME().fit(np.random.default_rng(0).normal(size=(30, 2))))
    >>> ax.get_legend_handles_labels()[1]
    ['without noise: 0.42859', 'chosen σ = 0.332']
    """
    found = score_curves(estimator, columns)
    ax = new_axes(ax, (5.6, 3.6))
    label, symbol, without = _PARAMETERS[found.parameter]
    ax.axhline(0.0, color=QUIET, lw=1.2, ls=(0, (5, 2)), label=f"{without}: {found.without:.5g}")
    for k, curve in enumerate(found.curves):
        _draw(ax, curve, found, k, symbol)
    if found.parameter in ("noise", "strength"):
        ax.set_xscale("log")
    ax.ticklabel_format(axis="y", scilimits=(-2, 3))
    _cut(ax, found)
    set_texts(ax, x=label, y=f"{_SCORES[found.criterion]}\nminus that {without}")
    set_legend(ax, above=False)
    return describe(ax, _words(found, symbol))


def _draw(ax: Axes, curve: ScoreCurve, found: ScoreCurves, k: int, symbol: str) -> None:
    """Draw one curve and its mark; what was chosen to be 0 is marked at the left end, what is infinite not at all."""
    color, name = COLORS[k % len(COLORS)], f"{short(curve.name)}: " if curve.name else ""
    label = f"{name}chosen {symbol} = {number(curve.chosen)}"
    ax.plot(curve.values, curve.scores - found.without, color=color, ls=DASHES[k % len(DASHES)], lw=1.6)
    place = [max(curve.chosen, curve.values[0])] if math.isfinite(curve.chosen) else []
    height = [found.score - found.without] * len(place)
    ax.plot(place, height, MARKERS[k % len(MARKERS)], color=color, ms=7, mec="white", mew=0.8, label=label)


def _cut(ax: Axes, found: ScoreCurves) -> None:
    """Cut curves that rise so high that the minimum would be a dent."""
    every = np.concatenate([curve.scores for curve in found.curves])
    depth, height = found.without - float(every.min()), float(every.max()) - found.without
    if 0 < _HEADROOM * depth < height:
        ax.set_ylim(-1.15 * depth, _HEADROOM * depth)


def _words(found: ScoreCurves, symbol: str) -> str:
    """Say what was chosen, and what it gained."""
    chosen = [
        f"{symbol} = {number(curve.chosen)}" + (f" for {curve.name}" if curve.name else "") for curve in found.curves
    ]
    label, _, without = _PARAMETERS[found.parameter]
    gain = f"{number(found.without - found.score)} less than {without}"
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

    Raises
    ------
    ImportError
        When matplotlib is not installed.

    Examples
    --------
    >>> ax = scores_below_kme({"kme": 0.0, "mkme": 0.02})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['kme', 'mkme']
    """
    ax = new_axes(ax, (5.4, 1.2 + 0.3 * len(gains)))
    ax.barh(range(len(gains)), list(gains.values()), height=0.65, color=FIRST, alpha=0.8, edgecolor=ink(), lw=0.5)
    ax.set_yticks(range(len(gains)), list(gains), parse_math=False)
    ax.invert_yaxis()
    ax.axvline(0.0, color=QUIET, lw=0.8)
    set_texts(ax, x="leave-one-out score of KME less that of the estimator")
    bars = ", ".join(f"{name} {number(gain)}" for name, gain in gains.items())
    return describe(ax, f"Bars of how much lower the leave-one-out score is than that of KME: {bars}.")
