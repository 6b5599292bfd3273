"""What a fitted estimator chose, and why: its scores, its noise, and how it damps the spectrum."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.words import rounded
from ...estimators import KernelMean
from ...estimators.curves import ScoreCurve, ScoreCurves, column_names, sample_of, score_curves
from ...estimators.spectral_factors import Damping, damping
from ...noise import Normal
from ...report import Bars, Curve, Panel, Points, Strip, pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# -- the leave-one-out score along the parameters ----------------------------------------------------------------------


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
"""How far a picture extends above the score without noise, in units of the depth of the minimum."""


def loocv_curve(estimator: KernelMean, columns: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
    """Draw the leave-one-out score along the parameters that a fitted estimator chose, and mark its choice.

    MKME has one curve over the standard deviation σ of its noise. MMKME has one curve per column, with the chosen noise
    in all other columns, so all marks are at the same height. S-KMSE and F-KMSE have one curve over λ. The score
    without noise or shrinkage, the dashed line, is subtracted, so the depth of a mark is the gain of the choice. Curves
    that rise far above the line are cut.

    Parameters
    ----------
    estimator : KernelMean
        Fitted.
    columns : sequence of str
        For a noise per column, which columns to show; by default the first six.
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
    return pictures.show(
        _score_panel(found), ax, size=(5.6, 3.8), words=_score_words(found, _PARAMETERS[found.parameter][1])
    )


def _score_panel(found: ScoreCurves) -> Panel:
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
    """Return the mark of the choice: at the left end if it is 0, without a place if it is infinite."""
    name = f"{curve.name}: " if curve.name else ""
    place = (float(max(curve.chosen, curve.values[0])),) if math.isfinite(curve.chosen) else (math.nan,)
    return Points(f"{name}chosen {symbol} = {rounded(curve.chosen)}", place, (float(found.score - found.without),))


def _cut(found: ScoreCurves) -> tuple[float, float] | None:
    """Return the range to show if curves rise so high that the minimum would hardly be seen."""
    every = np.concatenate([curve.scores for curve in found.curves])
    depth, height = found.without - float(every.min()), float(every.max()) - found.without
    return (-1.15 * depth, _HEADROOM * depth) if 0 < _HEADROOM * depth < height else None


def _score_words(found: ScoreCurves, symbol: str) -> str:
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
        The score of KME minus that of each estimator.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Examples
    --------
    >>> ax = scores_below_kme({"kme": 0.0, "mkme": 0.02})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['kme', 'mkme']
    """
    return pictures.show(gains_panel(gains), ax, size=(5.4, 2.0))


def gains_panel(gains: Mapping[str, float]) -> Bars:
    """Return a bar for every estimator: how much lower its leave-one-out score is than that of KME."""
    values = tuple(float(gain) for gain in gains.values())
    label = "leave-one-out score of KME less that of the estimator"
    return Bars("", label, tuple(gains), (("score below that of kme", values),))


# -- the noise of every column -----------------------------------------------------------------------------------------


_MOST_BARS = 30


def noise_per_column(estimator: KernelMean, *, ax: Axes | None = None) -> Axes:
    """Draw the standard deviation of the noise in every column, relative to the spread of the column.

    Bars are in standard deviations of the column, so you can compare columns in different units. The number at a bar is
    the standard deviation σ_j of the noise in the units of the column. Of more than 30 columns the 30 with the longest
    bars are shown.

    Parameters
    ----------
    estimator : KernelMean
        Fitted, with one normal noise for all rows: MKME, MMKME, VPMKME, or a noise that you passed.
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


# -- which eigenvectors or frequencies are damped ----------------------------------------------------------------------


_MOST_MARKS = 60


def spectrum_damping(estimator: KernelMean, columns: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
    """Draw the factors by which a fitted estimator multiplies parts of the empirical kernel mean: 1 keeps, 0 drops.

    A spectral filter damps eigenvectors of the Gram matrix, mostly those of small eigenvalues: you see a curve over the
    eigenvalue, with dots at the eigenvalues of the sample. A noise damps frequencies: you see a curve over the
    frequency along each column, and in grey how much weight the kernel gives to each frequency.

    Parameters
    ----------
    estimator : KernelMean
        Fitted, with a noise or a filter.
    columns : sequence of str
        The columns along which to draw frequencies; by default the first six. Columns damped alike share a curve.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError, TypeError
        As :func:`kernelmean.estimators.damping` raises.

    Examples
    --------
    >>> import kernelmean as km
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> spectrum_damping(km.MKME().fit(X)).get_xlabel(), spectrum_damping(km.FKMSE().fit(X)).get_xlabel()
    ('frequency × bandwidth, ω θ', 'eigenvalue of the Gram matrix')
    """
    found = damping(estimator, columns)
    return pictures.show(_damping_panel(found), ax, size=(5.6, 3.6), words=_damping_words(found))


def _damping_panel(found: Damping) -> Panel:
    x = tuple(found.places.tolist())
    of_sample = found.axis == "eigenvalue"
    label = f"frequency × {'bandwidth, ω θ' if found.unit == 'bandwidth' else 'standard deviation of the column'}"
    names = found.names if of_sample or len(found.names) > 1 else ("every column",)
    curves = tuple(Curve(name, x, tuple(own.tolist())) for name, own in zip(names, found.factors, strict=True))
    seen = (Strip("what the kernel sees", x, (0.0,) * len(x), tuple(found.weights.tolist()), quiet=True),)
    return Panel(
        "",
        "eigenvalue of the Gram matrix" if of_sample else label,
        "factor",
        curves,
        x_log=of_sample,
        x_falls=of_sample,
        strips=seen if len(found.weights) else (),
        points=(_eigenvalues(found),) if of_sample else (),
        y_range=(0.0, max(1.05, 1.05 * float(found.factors.max()))),
    )


def _eigenvalues(found: Damping) -> Points:
    """Return eigenvalues of the sample: the largest, and others spread evenly below it."""
    kept = np.unique(np.geomspace(1, len(found.eigenvalues), _MOST_MARKS).astype(np.intp)) - 1
    values = found.eigenvalues[kept]
    factors = np.interp(np.log(values), np.log(found.places), found.factors[0])
    label = f"{len(kept)} of {len(found.eigenvalues)} eigenvalues of the sample"
    return Points(label, tuple(values.tolist()), tuple(factors.tolist()))


def _damping_words(found: Damping) -> str:
    ends = rounded(found.places[0]), rounded(found.places[-1])
    parts = [
        f"{name}: {rounded(factors[0])} at {ends[0]}, {rounded(factors[-1])} at {ends[1]}"
        for name, factors in zip(found.names, found.factors, strict=True)
    ]
    return f"Factor of every {found.axis}, 1 keeps it and 0 drops it. {'; '.join(parts)}."
