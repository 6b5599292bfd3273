"""Density estimation by kernel mean matching."""

from .kernel_mean_matching import KernelMeanMatching
from .mixture import Mixture
from .objective import Objective, weights_problem
from .parameters import COVARIANCE_TYPES, Layout
from .prototypes import kmeans_prototypes
from .selection import Selection, recommended, select

__all__ = [
    "COVARIANCE_TYPES",
    "KernelMeanMatching",
    "Layout",
    "Mixture",
    "Objective",
    "Selection",
    "kmeans_prototypes",
    "recommended",
    "select",
    "weights_problem",
]
