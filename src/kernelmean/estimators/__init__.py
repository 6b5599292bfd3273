"""Estimators of kernel means, as scikit-learn knows estimators."""

from typing import TYPE_CHECKING

from ..core import lazy as _lazy
from .base import as_filter
from .bayesian import BayesianKernelMean
from .density_bandwidth import LikelihoodBandwidth, leave_one_out_likelihood, likelihood_bandwidth
from .distribution_encoder import DistributionEncoder, bags_of
from .filters import Cutoff, Filter, IteratedRidge, Landweber, NuMethod, Ridge, Scale
from .group_means import GroupMeans
from .kernel_mean import FKMSE, KME, MKME, MMKME, NAMED, SKMSE, VPMKME, KernelMean
from .median_of_means import MedianOfMeans, geometric_median
from .noise_search import NoiseProblem, search_diagonal, search_free, search_full, search_isotropic, search_tied
from .regularization import Weighing
from .spectral_factors import Damping, damping

if TYPE_CHECKING:
    from .files import read_columns
    from .serialization import saved_kinds

__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "NAMED",
    "SKMSE",
    "VPMKME",
    "BayesianKernelMean",
    "Cutoff",
    "Damping",
    "DistributionEncoder",
    "Filter",
    "GroupMeans",
    "IteratedRidge",
    "KernelMean",
    "Landweber",
    "LikelihoodBandwidth",
    "MedianOfMeans",
    "NoiseProblem",
    "NuMethod",
    "Ridge",
    "Scale",
    "Weighing",
    "as_filter",
    "bags_of",
    "damping",
    "geometric_median",
    "leave_one_out_likelihood",
    "likelihood_bandwidth",
    "read_columns",
    "saved_kinds",
    "search_diagonal",
    "search_free",
    "search_full",
    "search_isotropic",
    "search_tied",
]

_lazy.attach(__name__, {"files": "read_columns", "serialization": "saved_kinds"})
