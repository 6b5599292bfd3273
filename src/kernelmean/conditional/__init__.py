"""Conditional means: regressions of several kinds, stacked by their exact leave-one-out errors."""

from .conditional_mean import ConditionalMean

__all__ = ["ConditionalMean"]
