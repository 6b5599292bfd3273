"""Density estimation by kernel mean matching."""

from .kernel_mean_matching import KernelMeanMatching
from .mixture import Mixture
from .selection import Selection, recommended, select

__all__ = ["KernelMeanMatching", "Mixture", "Selection", "recommended", "select"]
