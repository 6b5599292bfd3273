"""Density estimation by kernel mean matching."""

from .joint import COVARIANCE_TYPES, ParameterLayout
from .kernel_mean_matching import KernelMeanMatching
from .mixture import GaussianMixture
from .objective import MatchingObjective, weights_problem
from .prototypes import kmeans_prototypes
from .selection import Selection, recommended, select

__all__ = [
    "COVARIANCE_TYPES",
    "GaussianMixture",
    "KernelMeanMatching",
    "MatchingObjective",
    "ParameterLayout",
    "Selection",
    "kmeans_prototypes",
    "recommended",
    "select",
    "weights_problem",
]
