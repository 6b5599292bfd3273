"""Estimators of kernel means, as scikit-learn knows estimators."""

from .bayesian import BayesianKernelMean
from .density_bandwidth import LikelihoodBandwidth, likelihood_bandwidth
from .kernel_mean import KernelMean
from .median_of_means import MedianOfMeans
from .named import FKMSE, KME, MKME, MMKME, SKMSE, VPMKME

__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "SKMSE",
    "VPMKME",
    "BayesianKernelMean",
    "KernelMean",
    "LikelihoodBandwidth",
    "MedianOfMeans",
    "likelihood_bandwidth",
]
