"""What an estimator makes of the spectrum: which eigenvectors or frequencies it damps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.spectral_factors import Damping, damping
from ...report.canvas import COLORS, DASHES, QUIET, SECOND, describe, new_axes, set_legend, set_texts, short
from ...report.canvas.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_MARKS = 60


def spectrum_damping(estimator: KernelMean, columns: Sequence[str] = (), *, ax: Axes | None = None) -> Axes:
    """Draw by what a fitted estimator multiplies the parts of the empirical kernel mean: 1 keeps a part, 0 drops it.

    A spectral filter damps eigenvectors of the Gram matrix, those of small eigenvalues most: a curve over the
    eigenvalue, and dots at the eigenvalues of the sample. A noise damps frequencies: a curve over the frequency along
    each column, and in grey how much the kernel looks at this frequency at all.

    Parameters
    ----------
    estimator : KernelMean
        Fitted, with a noise or a filter.
    columns : sequence of str
        Along which columns frequencies go; by default the first six. Columns that are damped alike share a curve.
    ax : Axes, optional
        Where to draw; a new figure by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
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
    ax = new_axes(ax, (5.6, 3.4))
    if len(found.weights):
        ax.fill_between(found.places, 0.0, found.weights, color=QUIET, alpha=0.3, lw=0, label="what the kernel sees")
    for k, (name, factors) in enumerate(zip(found.names, found.factors, strict=True)):
        ax.plot(
            found.places,
            factors,
            color=COLORS[k % len(COLORS)],
            ls=DASHES[k % len(DASHES)],
            lw=1.8,
            label=_named(name, found),
        )
    if found.axis == "eigenvalue":
        _mark(ax, found)
    ax.set_ylim(0.0, max(1.05, 1.05 * float(found.factors.max())))
    set_texts(ax, x=_label(found), y="factor")
    set_legend(ax, above=False)
    return describe(ax, _words(found))


def _mark(ax: Axes, found: Damping) -> None:
    """Mark the eigenvalues of the sample, the largest and others evenly spread below it."""
    ax.set_xscale("log")
    ax.invert_xaxis()
    kept = np.unique(np.geomspace(1, len(found.eigenvalues), _MOST_MARKS).astype(np.intp)) - 1
    values = found.eigenvalues[kept]
    factors = np.interp(np.log(values), np.log(found.places), found.factors[0])
    ax.plot(
        values,
        factors,
        "o",
        color=SECOND,
        ms=4,
        mec="white",
        mew=0.5,
        label=f"{len(kept)} of {len(found.eigenvalues)} eigenvalues of the sample",
    )


def _named(name: str, found: Damping) -> str:
    if found.axis == "eigenvalue":
        return name
    return short(name) if len(found.names) > 1 else "every column"


def _label(found: Damping) -> str:
    if found.axis == "eigenvalue":
        return "eigenvalue of the Gram matrix"
    return "frequency × bandwidth, ω θ" if found.unit == "bandwidth" else "frequency × standard deviation of the column"


def _words(found: Damping) -> str:
    """Say by what the ends of the spectrum are multiplied."""
    ends = number(found.places[0]), number(found.places[-1])
    parts = [
        f"{name}: {number(factors[0])} at {ends[0]}, {number(factors[-1])} at {ends[1]}"
        for name, factors in zip(found.names, found.factors, strict=True)
    ]
    return f"Factor of every {found.axis}, 1 keeps it and 0 drops it. {'; '.join(parts)}."
