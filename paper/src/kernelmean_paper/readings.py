"""What an experiment measured under one reading of the median bandwidth."""

from __future__ import annotations

from collections.abc import Callable

from .experiment import Findings
from .judged import Verdict
from .paper import BANDWIDTHS
from .verdicts import verdict


class BandwidthReading:
    """The settings with one bandwidth rule, and verdicts on all of them.

    Parameters
    ----------
    findings : Findings
        The findings of settings with the value "bandwidth".
    rule : str
        "median" or "median-unsquared".
    """

    def __init__(self, findings: Findings, rule: str) -> None:
        self.rule, self.label = rule, BANDWIDTHS[rule]
        self._findings, self._settings = findings, findings.where(bandwidth=rule)

    def _verdict(self, claim: str, rule: str, judge: Callable[[], tuple[str, str]]) -> Verdict:
        """Return the verdict by ``judge``, if no trial of the reading is missing."""
        return verdict(f"{claim} ({self.label})", rule, self._findings, self._settings, judge)
