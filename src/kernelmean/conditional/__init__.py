"""Conditional means: regressions of several kinds, stacked by their exact leave-one-out errors."""

from .conditional_mean import ConditionalMean
from .stacking import Stacked, stacked

__all__ = ["ConditionalMean", "Stacked", "stacked"]
