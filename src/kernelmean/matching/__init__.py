"""Density estimation by kernel mean matching."""

from .kernel_mean_matching import KernelMeanMatching

__all__ = ["KernelMeanMatching"]
