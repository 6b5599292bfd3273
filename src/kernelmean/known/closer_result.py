"""What the test of relative similarity returns: the difference of two distances, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from ..core.array import SILENT, Progress
from ..core.frozen import Frozen
from ..core.validate import check_fraction
from ..inference.adaptive.kinds import LEVEL
from ..inference.base_result import Result
from ..inference.wording import beside
from ..kernels import Kernel
from ..report import pictures
from ..report.description import Description
from ..report.document import Chart, Curve, Panel, Section, Strip
from ..report.html import Document

Alternative = Literal["two-sided", "less", "greater"]

_FARTHEST = 2.0
"""Standard errors up to which values of Δ are supposed when its variance is estimated."""


@final
@dataclass(frozen=True)
class Spread:
    r"""The variance of Δ, a sum over units, if its true value is so much smaller than the estimate.

    The noise of a distance grows with the distance, so a variance that is taken at the estimate is too large where the
    estimate is, and too small on the other side. Here units get the weights :math:`1 - λ A_u` under which the sum has
    the supposed value, up to squares of λ; their parts are then :math:`A - 2 λ \tilde H A`. What this takes away on
    average, :math:`12 |\tilde H A|^2 / |A|^2`, is given back.
    """

    units: float
    """|A|², of the parts A of single units."""
    pairs: float
    """The part of pairs, which |A|² has twice."""
    slope: float
    """AᵀH̃A."""
    bend: float
    """|H̃A|²."""

    def variance(self, gap: Any) -> Any:
        """Return the variance if the estimate is larger than the true value by a gap, or by each of an array."""
        weight = np.clip(gap / np.sqrt(self.units), -_FARTHEST, _FARTHEST) / np.sqrt(self.units)
        tilted = self.units - 4.0 * weight * self.slope + 4.0 * weight**2 * self.bend
        return np.maximum(tilted + 12.0 * self.bend / self.units - self.pairs, self.pairs)

    def reach(self, quantile: float, sign: float) -> float:
        """Return the gap, upward or downward, that is so many standard errors."""

        def beyond(gap: float) -> float:
            return gap - quantile * float(np.sqrt(self.variance(sign * gap)))

        far = _FARTHEST * float(np.sqrt(self.units))
        if beyond(far) <= 0.0:  # from there on the variance stays as it is
            return far - beyond(far)
        return float(brentq(beyond, 0.0, far, xtol=1e-14 * far))


@final
@dataclass(frozen=True, eq=False, repr=False)
class CloserResult(Frozen, Result):
    """Which of two models is nearer to a sample; ``statistic, pvalue = result`` unpacks it.

    Attributes
    ----------
    statistic : float
        MMD²(X, P) - MMD²(X, Q), unbiased: negative if P is nearer.
    pvalue : float
        Of equal distances, against ``alternative``; asymptotic.
    spread : Spread
        The variance of ``statistic``, for any true value.
    degrees_of_freedom : int
        Of the t distribution that ``statistic / standard_error`` is compared with.
    distances : (float, float)
        The unbiased MMD² of X and P, and of X and Q; they may be negative.
    alternative : {"two-sided", "less", "greater"}
    method : str
        The test in words.
    kernel : Kernel
        As used, in the units of the columns.
    sizes : tuple of int or None
        The rows of X, P and Q; None of a distribution with an exact kernel mean.
    notes : tuple of str
        What else a reader should know.
    """

    holds: ClassVar[tuple[type[Any], ...] | None] = (Spread,)

    statistic: float
    pvalue: float
    spread: Spread
    degrees_of_freedom: int
    distances: tuple[float, float]
    alternative: Alternative
    method: str
    kernel: Kernel
    sizes: tuple[int | None, ...]
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    @property
    def standard_error(self) -> float:
        """The standard error of ``statistic`` if both models are equally near."""
        return float(np.sqrt(self.spread.variance(self.statistic)))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the difference."""
        return self.confidence_interval()

    def confidence_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the differences that the test does not reject at 1 - level; one-sided, one end is infinite."""
        check_fraction(level, "level", 0.95)
        two_sided = self.alternative == "two-sided"
        quantile = float(stdtrit(self.degrees_of_freedom, 0.5 + level / 2.0 if two_sided else level))
        low = -math.inf if self.alternative == "less" else self.statistic - self.spread.reach(quantile, 1.0)
        return low, math.inf if self.alternative == "greater" else self.statistic + self.spread.reach(quantile, -1.0)

    def __repr__(self) -> str:
        return f"CloserResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, interval={self.interval})"

    def verdict(self) -> str:
        """Return the outcome at level .05 in one sentence."""
        p = beside(self.pvalue, LEVEL)
        if self.pvalue > LEVEL:
            return f"X does not show which of P and Q is nearer: p = {p}, above {LEVEL:g}."
        nearer, farther = ("P", "Q") if self.statistic < 0.0 else ("Q", "P")
        return f"{nearer} is nearer to X than {farther}: p = {p}, at most {LEVEL:g}."

    def describe(self) -> Description:
        """Return which model is nearer, the difference with its interval, both distances, and what was compared."""
        sizes = ("exact" if size is None else f"{size:,}" for size in self.sizes)
        facts = [
            ("difference", f"{self.statistic:.4g} ± {self.standard_error:.2g}, MMD² to P less MMD² to Q"),
            ("95 % interval", "{:.4g} to {:.4g}".format(*self.interval)),
            ("p-value", f"{self.pvalue:.3g}, asymptotic, not exact, alternative {self.alternative}"),
            ("MMD²", f"{self.distances[0]:.4g} to P, {self.distances[1]:.4g} to Q"),
            ("kernel", repr(self.kernel)),
            ("rows", "X {}, P {}, Q {}".format(*sizes)),
        ]
        return Description(self.method, self.verdict(), facts, notes=self.notes)

    def document(self, *, progress: Progress = SILENT) -> Document:
        """Return the page of the test, with a picture of the difference and its interval."""
        page = super().document(progress=progress)
        chart = Chart("difference", "The difference of both distances", (self._panel(),), self.verdict())
        words = "The curve is the likelihood of every true difference, by the approximation with a t distribution."
        return replace(page, sections=(*page.sections, Section("The difference", (words,), charts=(chart,))))

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain names, numbers and texts; an infinite end of the interval is None."""
        names = ("statistic", "pvalue", "standard_error", "degrees_of_freedom", "alternative", "method")
        return {
            **{name: getattr(self, name) for name in names},
            "interval": [end if math.isfinite(end) else None for end in self.interval],
            "distances": list(self.distances),
            "verdict": self.verdict(),
            "kernel": repr(self.kernel),
            "sizes": list(self.sizes),
            "notes": list(self.notes),
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return the test as one row."""
        (low, high), (to_p, to_q) = self.interval, self.distances
        numbers = {"statistic": self.statistic, "pvalue": self.pvalue, "standard_error": self.standard_error}
        return [{**numbers, "low": low, "high": high, "to_P": to_p, "to_Q": to_q}]

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its interval, and 0, where both are equally near; returns the axes."""
        return pictures.show(self._panel(), ax, size=(6.0, 3.4), words=self.verdict())

    def _panel(self) -> Panel:
        """Return how likely the difference is for every true value, shaded within the interval."""
        degrees, center = self.degrees_of_freedom, self.statistic
        low, high = self.interval
        reach = 2.0 * max(abs(end - center) for end in (low, high) if math.isfinite(end))
        places = np.linspace(center - reach, center + reach, 161)
        squares = np.square(center - places) / self.spread.variance(center - places)
        heights = (1.0 + squares / degrees) ** (-0.5 * (degrees + 1.0))
        inside = (places >= low) & (places <= high)
        within, tops = tuple(places[inside].tolist()), tuple(heights[inside].tolist())
        strip = Strip("95 % interval", within, (0.0,) * len(within), tops)
        curve = Curve("true difference", tuple(places.tolist()), tuple(heights.tolist()))
        marks = ((f"difference, p = {self.pvalue:.3g}", center), ("equally near", 0.0))
        return Panel("", "MMD² to P less MMD² to Q", "likelihood", curves=(curve,), strips=(strip,), marks=marks)
