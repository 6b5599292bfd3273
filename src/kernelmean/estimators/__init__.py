"""Estimators of kernel means, as scikit-learn knows estimators."""

from ..core import lazy as _lazy
from .bayesian import BayesianKernelMean
from .curves import ScoreCurve, ScoreCurves, score_curves
from .density_bandwidth import LikelihoodBandwidth, likelihood_bandwidth
from .kernel_mean import KernelMean
from .median_of_means import MedianOfMeans
from .named import FKMSE, KME, MKME, MMKME, NAMED, SKMSE, VPMKME
from .spectral_factors import Damping, damping

__all__ = [
    "FKMSE",
    "KME",
    "MKME",
    "MMKME",
    "NAMED",
    "SKMSE",
    "VPMKME",
    "BayesianKernelMean",
    "Damping",
    "KernelMean",
    "LikelihoodBandwidth",
    "MedianOfMeans",
    "ScoreCurve",
    "ScoreCurves",
    "damping",
    "likelihood_bandwidth",
    "score_curves",
]

_lazy.attach(__name__)
