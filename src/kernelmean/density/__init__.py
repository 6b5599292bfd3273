"""Density estimation by kernel mean matching."""

from .grids import settings
from .joint import COVARIANCE_TYPES, ParameterLayout
from .kernel_mean_matching import KernelMeanMatching
from .mixture import GaussianMixture
from .objective import MatchingObjective, weights_problem
from .prototypes import KMeansPrototypes

__all__ = [
    "COVARIANCE_TYPES",
    "GaussianMixture",
    "KMeansPrototypes",
    "KernelMeanMatching",
    "MatchingObjective",
    "ParameterLayout",
    "settings",
    "weights_problem",
]
