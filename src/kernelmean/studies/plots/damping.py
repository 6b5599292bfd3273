"""What an estimator makes of the spectrum: which eigenvectors or frequencies it damps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...estimators import KernelMean
from ...estimators.spectral_factors import Damping, damping
from ...report import Curve, Panel, Points, Strip, pictures
from ...report.numbers import rounded

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
    return pictures.show(_panel(found), ax, size=(5.6, 3.6), words=_words(found))


def _panel(found: Damping) -> Panel:
    x = tuple(found.places.tolist())
    curves = tuple(
        Curve(_named(name, found), x, tuple(factors.tolist()))
        for name, factors in zip(found.names, found.factors, strict=True)
    )
    seen = (Strip("what the kernel sees", x, (0.0,) * len(x), tuple(found.weights.tolist()), quiet=True),)
    of_sample = found.axis == "eigenvalue"
    return Panel(
        "",
        _label(found),
        "factor",
        curves,
        x_log=of_sample,
        x_falls=of_sample,
        strips=seen if len(found.weights) else (),
        points=(_eigenvalues(found),) if of_sample else (),
        y_range=(0.0, max(1.05, 1.05 * float(found.factors.max()))),
    )


def _eigenvalues(found: Damping) -> Points:
    """Return the eigenvalues of the sample, the largest and others evenly spread below it."""
    kept = np.unique(np.geomspace(1, len(found.eigenvalues), _MOST_MARKS).astype(np.intp)) - 1
    values = found.eigenvalues[kept]
    factors = np.interp(np.log(values), np.log(found.places), found.factors[0])
    label = f"{len(kept)} of {len(found.eigenvalues)} eigenvalues of the sample"
    return Points(label, tuple(values.tolist()), tuple(factors.tolist()))


def _named(name: str, found: Damping) -> str:
    if found.axis == "eigenvalue":
        return name
    return name if len(found.names) > 1 else "every column"


def _label(found: Damping) -> str:
    if found.axis == "eigenvalue":
        return "eigenvalue of the Gram matrix"
    return "frequency × bandwidth, ω θ" if found.unit == "bandwidth" else "frequency × standard deviation of the column"


def _words(found: Damping) -> str:
    """Say by what the ends of the spectrum are multiplied."""
    ends = rounded(found.places[0]), rounded(found.places[-1])
    parts = [
        f"{name}: {rounded(factors[0])} at {ends[0]}, {rounded(factors[-1])} at {ends[1]}"
        for name, factors in zip(found.names, found.factors, strict=True)
    ]
    return f"Factor of every {found.axis}, 1 keeps it and 0 drops it. {'; '.join(parts)}."
