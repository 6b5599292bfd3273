"""Conditional means: regressions of several kinds, stacked by their exact leave-one-out errors."""

from .stacking import Stacked, stacked

__all__ = ["Stacked", "stacked"]
