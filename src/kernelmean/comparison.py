"""Do two tables come from the same law, and which columns tell? The library behind ``kernelmean compare``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._array import Array
from ._table import Table, as_table, count, listed
from .inference import TestResult, mmd_test

Progress = Callable[[str, int, int], None]
"""Called with what is being done, the steps done, and the steps in all."""


@dataclass(frozen=True)
class ColumnDifference:
    """How one column differs between two tables.

    Attributes
    ----------
    name : str
    means : (float, float)
        The two means, in the units of the column.
    gap : float
        Their difference, first less second, in standard deviations of the pooled column.
    statistic : float
        The unbiased squared maximum mean discrepancy of the column alone.
    pvalue : float
        The p-value of its permutation test.
    adjusted : float
        The p-value by Holm's method over all columns: below α for any column that does not differ with
        probability at most α.
    noise : float
        The standard deviation of the noise that the joint test chose, in the units of the column.
    """

    name: str
    means: tuple[float, float]
    gap: float
    statistic: float
    pvalue: float
    adjusted: float
    noise: float
