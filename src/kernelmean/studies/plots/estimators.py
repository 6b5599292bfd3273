"""What a fitted estimator chose, and why: its scores, its noise, and how it damps the spectrum."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...core.words import rounded
from ...estimators import KernelMean
from ...estimators.spectral_factors import Damping, column_names, damping, sample_of
from ...noise import Normal
from ...report import Bars, Curve, Panel, Points, Strip, pictures

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    >>> spectrum_damping(km.MKME().fit(X)).get_xlabel(), spectrum_damping(km.estimators.FKMSE().fit(X)).get_xlabel()
    ('frequency × bandwidth, ω θ', 'eigenvalue of the Gram matrix')
    """
    result = damping(estimator, columns)
    return pictures.show(_damping_panel(result), ax, size=(5.6, 3.6), words=_damping_words(result))


def _damping_panel(result: Damping) -> Panel:
    x = tuple(result.places.tolist())
    of_sample = result.axis == "eigenvalue"
    label = f"frequency × {'bandwidth, ω θ' if result.unit == 'bandwidth' else 'standard deviation of the column'}"
    names = result.names if of_sample or len(result.names) > 1 else ("every column",)
    curves = tuple(Curve(name, x, tuple(values.tolist())) for name, values in zip(names, result.factors, strict=True))
    strips = (Strip("what the kernel sees", x, (0.0,) * len(x), tuple(result.weights.tolist()), quiet=True),)
    return Panel(
        "",
        "eigenvalue of the Gram matrix" if of_sample else label,
        "factor",
        curves,
        x_log=of_sample,
        x_falls=of_sample,
        strips=strips if len(result.weights) else (),
        points=(_eigenvalues(result),) if of_sample else (),
        y_range=(0.0, max(1.05, 1.05 * float(result.factors.max()))),
    )


def _eigenvalues(result: Damping) -> Points:
    """Return eigenvalues of the sample: the largest, and others spread evenly below it."""
    kept = np.unique(np.geomspace(1, len(result.eigenvalues), _MOST_MARKS).astype(np.intp)) - 1
    values = result.eigenvalues[kept]
    factors = np.interp(np.log(values), np.log(result.places), result.factors[0])
    label = f"{len(kept)} of {len(result.eigenvalues)} eigenvalues of the sample"
    return Points(label, tuple(values.tolist()), tuple(factors.tolist()))


def _damping_words(result: Damping) -> str:
    ends = rounded(result.places[0]), rounded(result.places[-1])
    parts = [
        f"{name}: {rounded(factors[0])} at {ends[0]}, {rounded(factors[-1])} at {ends[1]}"
        for name, factors in zip(result.names, result.factors, strict=True)
    ]
    return f"Factor of every {result.axis}, 1 keeps it and 0 drops it. {'; '.join(parts)}."
