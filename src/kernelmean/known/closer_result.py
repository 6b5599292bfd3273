"""What the test of relative similarity returns: the difference of two distances, with its interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np
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
    standard_error : float
        Of ``statistic``.
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

    holds: ClassVar[tuple[type[Any], ...] | None] = ()

    statistic: float
    pvalue: float
    standard_error: float
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
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the difference."""
        return self.confidence_interval()

    def confidence_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the differences that the test does not reject at 1 - level; one-sided, one end is infinite."""
        check_fraction(level, "level", 0.95)
        two_sided = self.alternative == "two-sided"
        reach = float(stdtrit(self.degrees_of_freedom, 0.5 + level / 2.0 if two_sided else level)) * self.standard_error
        low = -math.inf if self.alternative == "less" else self.statistic - reach
        return low, math.inf if self.alternative == "greater" else self.statistic + reach

    def __repr__(self) -> str:
        return f"CloserResult(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, interval={self.interval})"

    def verdict(self) -> str:
        """Return the outcome at level .05 in one sentence."""
        p = beside(self.pvalue, LEVEL)
        if self.pvalue > LEVEL:
            return f"X does not show which of P and Q is nearer: p = {p}, above {LEVEL:g}."
        nearer, farther = ("P", "Q") if self.statistic < 0.0 else ("Q", "P")
        return f"{nearer} is nearer to X than {farther}: p = {p}, at most {LEVEL:g}."

    def facts(self) -> list[tuple[str, str]]:
        """Return the difference with its interval, both distances, and what was compared."""
        low, high = self.interval
        rows = ", ".join(
            f"{name} {'exact' if size is None else f'{size:,}'}" for name, size in zip("XPQ", self.sizes, strict=True)
        )
        return [
            ("difference", f"{self.statistic:.4g} ± {self.standard_error:.2g}, MMD² to P less MMD² to Q"),
            ("95 % interval", f"{low:.4g} to {high:.4g}"),
            ("p-value", f"{self.pvalue:.3g}, asymptotic, not exact, alternative {self.alternative}"),
            ("MMD²", f"{self.distances[0]:.4g} to P, {self.distances[1]:.4g} to Q"),
            ("kernel", repr(self.kernel)),
            ("rows", rows),
        ]

    def describe(self) -> Description:
        """Return which model is nearer, and the numbers behind it."""
        return Description(self.method, self.verdict(), self.facts(), notes=self.notes)

    def document(self, *, progress: Progress = SILENT) -> Document:
        """Return the page of the test, with a picture of the difference and its interval."""
        del progress
        page = self.describe().document()
        chart = Chart("difference", "The difference of both distances", (self._panel(),), self.verdict())
        words = "The curve is the approximation, by a t distribution, of what other samples of these sizes would give."
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
        numbers = {"statistic": self.statistic, "pvalue": self.pvalue, "standard_error": self.standard_error}
        ends = dict(zip(("low", "high"), self.interval, strict=True))
        return [{**numbers, **ends, "to_P": self.distances[0], "to_Q": self.distances[1]}]

    def plot(self, ax: Any = None) -> Any:
        """Draw the difference with its interval, and 0, where both are equally near; returns the axes."""
        return pictures.show(self._panel(), ax, size=(6.0, 3.4), words=self.verdict())

    def _panel(self) -> Panel:
        """Return the curve of the t distribution around the difference, shaded within the interval."""
        degrees, center, error = self.degrees_of_freedom, self.statistic, self.standard_error
        reach = 2.0 * float(stdtrit(degrees, 0.975)) * error
        places = np.linspace(center - reach, center + reach, 161)
        heights = (1.0 + np.square((places - center) / error) / degrees) ** (-0.5 * (degrees + 1.0))
        low, high = self.interval
        inside = (places >= low) & (places <= high)
        within, tops = tuple(places[inside].tolist()), tuple(heights[inside].tolist())
        strip = Strip("95 % interval", within, (0.0,) * len(within), tops)
        curve = Curve("other samples", tuple(places.tolist()), tuple(heights.tolist()))
        marks = ((f"difference, p = {self.pvalue:.3g}", center), ("equally near", 0.0))
        return Panel("", "MMD² to P less MMD² to Q", "likelihood", curves=(curve,), strips=(strip,), marks=marks)
