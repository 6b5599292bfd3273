"""--fail-on-drift: an exit code for automatic checks. A check that could never fail is refused."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..core.words import count
from ..inference import TestResult
from ..inference.monitoring import DriftState
from ..inference.wording import beside
from .stderr import tell

LEVEL, DRIFTED = 0.05, 1
_LARGE = 1.0
"""A large difference of means, in standard deviations."""


def check_drift(alpha: float, resamples: int) -> None:
    """Raise if no p-value of so many permutations can be at most ``alpha``."""
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"--fail-on-drift is {alpha:g}; write a number between 0 and 1, such as 0.01")
    if 1.0 / (1 + resamples) > alpha:
        raise ValueError(
            f"--fail-on-drift {alpha:g} cannot fail with --resamples {resamples}, whose smallest p-value is "
            f"{1.0 / (1 + resamples):.3g}; write --resamples {int(np.ceil(1.0 / alpha - 1.0 - 1e-9))} or more"
        )


def check_power(alpha: float, test: TestResult) -> None:
    """Raise if no arrangement of the rows has a p-value of at most ``alpha``: with few rows, or many equal ones."""
    values = np.append(test.null_distribution, test.statistic)
    least = float(np.mean(values >= values.max() - test.tolerance))
    if least > alpha:
        raise ValueError(
            f"--fail-on-drift {alpha:g} cannot fail on {' and '.join(count(n, 'row') for n in test.sizes)}: the "
            f"smallest p-value that they can have is {least:.3g}; pass more rows, or a larger level"
        )


def drifted(alpha: float, test: TestResult) -> int:
    """Return the exit code, and print why it is not 0, or that there are few rows, on stderr."""
    if test.pvalue <= alpha:
        tell(f"kernelmean: drift: p = {beside(test.pvalue, alpha)}, at most {alpha:g}")
        return DRIFTED
    few, many = min(test.sizes), max(test.sizes)
    # a z-test of one column would miss a large difference more often than not
    if _LARGE * np.sqrt(few * many / (few + many)) < -ndtri(alpha / 2.0):
        tell(
            f"kernelmean: {count(few, 'row')} can show only very large differences; a mean that moved by one standard "
            "deviation would be missed more often than not"
        )
    return 0


def drift_found(state: DriftState, batch: str) -> int:
    """Return the exit code of a monitor; if it is not 0, print why on stderr, with the batch if it is known."""
    if not state.drift:
        return 0
    p = f"{state.p_in_words}, at most {state.alpha:g}, " if state.p_in_words else ""
    named = f"in {batch}, " if batch else ""
    tell(f"kernelmean: drift: {p}found {named}after {count(state.detected_at or 0, 'row')}")
    return DRIFTED
