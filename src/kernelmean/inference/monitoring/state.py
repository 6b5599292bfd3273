"""What a monitor has found."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, final

from ...core.words import count
from ..wording import beside
from .guarantee import Guarantee

_LEAST = 1e-100


@final
@dataclass(frozen=True)
class DriftState:
    """What a monitor has found so far, and what it promises.

    Attributes
    ----------
    n_rows : int
        New rows so far; those that ``missing="drop"`` leaves out are not counted.
    log_wealth : float
        The logarithm of what the richest gambler owns now. Without drift its exponential is an e-value: the expectation
        after any given number of rows is at most 1; where a run length is promised, at most that number.
    log_peak : float
        The largest ``log_wealth`` after any row so far.
    alpha : float or None
        The probability, at most, that ``detected_at`` is ever set without drift; None where a run length is promised.
    average_run_length : float or None
        The mean number of rows, at least, until ``detected_at`` is set without drift; None where a level is promised.
    detected_at : int or None
        The number of the new row, from 1, at which drift was found; within a shuffled batch in the shuffled order.
    notes : tuple of str
        What else a reader should know, such as that rows of a long reference were drawn.
    """

    n_rows: int
    log_wealth: float
    log_peak: float
    alpha: float | None
    average_run_length: float | None
    detected_at: int | None
    notes: tuple[str, ...] = ()

    @property
    def drift(self) -> bool:
        """Whether drift was found."""
        return self.detected_at is not None

    @property
    def pvalue(self) -> float | None:
        """1 / (largest wealth so far), at most 1: P(p ≤ α at any time) ≤ α without drift. None with a run length."""
        return None if self.alpha is None else min(1.0, math.exp(-self.log_peak))

    @property
    def p_in_words(self) -> str:
        """The p-value as a reader sees it, such as "p = 0.01"; "" where a run length is promised."""
        if self.pvalue is None or self.alpha is None:
            return ""
        return f"p = {beside(self.pvalue, self.alpha)}" if self.pvalue >= _LEAST else f"p < {_LEAST:g}"

    def verdict(self, batch: str = "") -> str:
        """Return one sentence for a reader, with the name of the batch of the alarm if it is given."""
        named = f"in {batch}, " if batch else ""
        where = (
            f"found {named}after {self.detected_at:,} of {self.n_rows:,} rows" if self.detected_at is not None else ""
        )
        sentence = f"Drift: {where}" if where else f"No drift found in {count(self.n_rows, 'row')}"
        p = f"{self.p_in_words}, " if self.p_in_words else ""
        return f"{sentence} ({p}{Guarantee(self.alpha, self.average_run_length)})."

    def as_dict(self) -> dict[str, Any]:
        """Return plain names and numbers."""
        return {**asdict(self), "pvalue": self.pvalue, "drift": self.drift}
