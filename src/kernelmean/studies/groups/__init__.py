"""Do several groups of rows come from the same distribution, and which differ? The library behind ``compare --by``."""

from .comparing import compare_groups
from .parts import GroupColumn, GroupPair
from .result import GroupComparison

__all__ = ["GroupColumn", "GroupComparison", "GroupPair", "compare_groups"]
