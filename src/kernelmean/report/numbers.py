"""Numbers as people read them."""

from __future__ import annotations

from typing import Any

import numpy as np


def signed(value: float, form: str = "z.4g") -> str:
    """Return a number with a true minus sign.

    Examples
    --------
    >>> signed(-0.5), signed(0.125, "+.2f"), signed(-0.001, "z.2f")
    ('−0.5', '+0.12', '0.00')
    """
    return f"{value:{form}}".replace("-", "−")


def rounded(value: float) -> str:
    """Return a number of three digits with a true minus sign."""
    return signed(value, ".3g")


def percent(share: float) -> str:
    """Return a share in percent, with two digits.

    Examples
    --------
    >>> percent(0.0123), percent(0.5), percent(0.0), percent(1.0)
    ('1.2 %', '50 %', '0 %', '100 %')
    """
    value = 100.0 * share
    return f"{value:.0f} %" if value >= 10 or value == 0 else f"{value:.2g} %"


def number_range(values: Any) -> str:
    """Return one number, or the range of several."""
    array = np.asarray(values, dtype=np.float64)
    if np.ptp(array) == 0:
        return f"{array.flat[0]:.4g}"
    return f"{array.min():.3g} to {array.max():.3g}"
