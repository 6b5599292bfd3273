"""The error of features: bounds with a given probability, from the spread over independent frequencies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, final

from scipy import stats

from ...core.array import Array
from ..embedding import Embedding
from .embedding import part_of
from .fourier import Fourier

_CAUTION = 0.03  # group means are skewed: with Student's own quantile, 97.5 to 98.8 % of the 99 % bounds hold
Guarantee = Literal["auto", "bernstein", "student", "projection"]


@final
@dataclass(frozen=True)
class FeatureEstimate:
    """A number estimated by features, and its possible error: the distance from the kernel's value for the same rows.

    Attributes
    ----------
    value : float
    standard_error : float
        Over the draw of the features; 0 for landmarks, nan if only one independent group of frequencies was drawn.
    bound : float
        |value - exact| ≤ bound with probability ``confidence`` over the draw of the features.
    confidence : float
        1 for landmarks: their bound always holds.
    guarantee : str
        "bernstein" holds for any number of features, "student" for many, "projection" always.
    """

    value: float
    standard_error: float
    bound: float
    confidence: float
    guarantee: str


def inner(mu: Embedding, nu: Embedding, *, confidence: float = 0.99, guarantee: Guarantee = "auto") -> FeatureEstimate:
    r"""Return ⟨μ, ν⟩ of two embeddings by features, with its error.

    For a squared distance, set ``gap = mu - nu`` and call ``inner(gap, gap)``: the V-statistic of the squared maximum
    mean discrepancy.

    Parameters
    ----------
    mu, nu : Embedding
        From :func:`embed`, with the same features; also sums and multiples.
    confidence : float
        The probability, over the draw of the features, with which the bound holds; in [0.5, 1).
    guarantee : {"auto", "bernstein", "student"}
        The bound, see the notes; "auto" is "student" for quasi-random frequencies and "bernstein" for others.
        Landmarks have a single bound, which always holds: the product of the mean distances of the rows from the span
        of the landmarks.

    Raises
    ------
    TypeError, ValueError
        When one is not by features, the features differ, or the confidence or the guarantee is not valid.

    Notes
    -----
    Groups of frequencies are independent, and the expectation of their means is the exact value. "bernstein" is the
    smaller of Hoeffding's bound and the empirical Bernstein bound of Maurer & Pontil (2009), theorem 4, both two-sided
    and jointly with probability 1 - δ: with R the length of the range and V the variance of G group means,
    :math:`\min\{R\sqrt{\ln(4/δ)/2G}, \sqrt{2V\ln(8/δ)/G} + 7R\ln(8/δ)/(3(G-1))\}`. "student" is the standard
    error times Student's t-quantile for .03 δ, for group means that are nearly normal. Several components of a spectrum
    share δ evenly.

    Examples
    --------
    >>> import numpy as np
    >>> import kernelmean as km
    >>> phi = km.features.fourier(km.kernels.Gaussian(1.0), dim=1, n_frequencies=2048)
    >>> mu, nu = km.features.embed([[0.0]], phi), km.features.embed([[1.0]], phi)
    >>> found = inner(mu, nu)
    >>> abs(found.value - np.exp(-0.5)) < found.bound < 0.2
    True
    """
    left, right = part_of(mu), part_of(nu)
    mu.check_compatible(nu)
    if isinstance(left.features, Fourier):
        limit = left.total_variation * right.total_variation
        limits = (0.0 if mu is nu else -limit, limit)
        parts = left.features.power(left.vector, right.vector)
        return from_frequencies(left.features, parts, limits, confidence, guarantee)
    if guarantee != "auto":
        raise ValueError(f"guarantee is {guarantee!r}; landmarks have one bound, leave guarantee='auto'")
    return FeatureEstimate(mu @ nu, 0.0, left.residual * right.residual, 1.0, "projection")


def from_frequencies(
    features: Fourier, parts: Array, limits: tuple[float, float], confidence: float, guarantee: Guarantee
) -> FeatureEstimate:
    r"""Return :math:`Σ_s c_s \overline{t}_s` with its error, from the ``parts`` t (M,), each within ``limits``."""
    if guarantee == "auto":
        guarantee = "student" if features.design == "quasi" else "bernstein"
    if not 0.5 <= confidence < 1 or guarantee not in ("bernstein", "student"):
        raise ValueError(
            f"confidence is {confidence!r} and guarantee {guarantee!r}; a number in [0.5, 1) and 'auto', 'bernstein' "
            "or 'student' are needed"
        )
    delta, length = (1 - confidence) / len(features.strata), limits[1] - limits[0]
    value, bound = 0.0, 0.0
    for mass, means in _groups(features, parts):
        count = len(means)
        spread = float(means.var(ddof=1)) if count > 1 else math.nan
        value += mass * float(means.mean())
        half = _bernstein(spread, count, length, delta) if guarantee == "bernstein" else _student(spread, count, delta)
        bound += mass * min(half, length)
    return FeatureEstimate(value, standard_error(features, parts), bound, confidence, guarantee)


def _groups(features: Fourier, parts: Array) -> Iterator[tuple[float, Array]]:
    """Yield the mass of every component, and the means of its groups of frequencies."""
    start = 0
    for mass, groups, size in features.strata:
        stop = start + groups * size
        yield mass, parts[start:stop].reshape(groups, size).mean(axis=1)
        start = stop


def _bernstein(variance: float, count: int, length: float, delta: float) -> float:
    hoeffding = length * math.sqrt(math.log(4 / delta) / (2 * count))
    if count < 2:
        return hoeffding
    log = math.log(8 / delta)
    return min(hoeffding, math.sqrt(2 * variance * log / count) + 7 * length * log / (3 * (count - 1)))


def _student(variance: float, count: int, delta: float) -> float:
    if count < 2:
        raise ValueError(
            "there is only one independent group of frequencies, so their spread is unknown; make more features, or "
            "pass guarantee='bernstein'"
        )
    return float(stats.t.isf(_CAUTION * delta / 2, count - 1)) * math.sqrt(variance / count)


def standard_error(features: Fourier, parts: Array) -> float:
    """Return the standard error of Σ_s c_s t̄_s over the draw of the frequencies; nan with one group in a component."""
    variance = 0.0
    for mass, means in _groups(features, parts):
        variance += mass**2 * means.var(ddof=1) / len(means) if len(means) > 1 else math.nan
    return math.sqrt(variance)
