"""Options of which one leaves another without effect: passing both raises."""

from __future__ import annotations

from typing import Any

import numpy as np

from .option_names import written


def is_passed(value: Any, default: Any) -> bool:
    """Say whether an option has another value than its default, or None."""
    if value is None or value is default:
        return False
    if type(value) is not type(default):
        return True
    return not bool(np.all(value == default))


def refuse(reason: str, **options: tuple[Any, Any]) -> None:
    """Raise when one of some options, each with its default, was passed where it has no effect.

    Examples
    --------
    >>> refuse("kernel=Gaussian(1.0) has a bandwidth", bandwidth=("median", "median"))
    >>> refuse("kernel=Gaussian(1.0) has a bandwidth", bandwidth=(2.0, "median"))
    Traceback (most recent call last):
    ...
    ValueError: kernel=Gaussian(1.0) has a bandwidth; leave bandwidth= out
    """
    names = [name for name, given in options.items() if is_passed(*given)]
    if names:
        words = " and ".join(written(f"{name}=", f"--{name.replace('_', '-')}") for name in names)
        raise ValueError(f"{reason}; leave {words} out")
