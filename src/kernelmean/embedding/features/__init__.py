"""Finite features of kernels: kernel means in constant memory, with stated errors."""

from .base import FeatureMap, Summary
from .draws import DESIGNS
from .embedding import FeatureEmbedding, embed
from .error import FeatureEstimate
from .fourier import Fourier, fourier
from .landmarks import Landmarks, nystrom, pivoted_triangle, random_cholesky
from .loocv import DampedScore, choose_noise
from .spectral import spectra, spectral_rules

__all__ = [
    "DESIGNS",
    "DampedScore",
    "FeatureEmbedding",
    "FeatureEstimate",
    "FeatureMap",
    "Fourier",
    "Landmarks",
    "Summary",
    "choose_noise",
    "embed",
    "fourier",
    "nystrom",
    "pivoted_triangle",
    "random_cholesky",
    "spectra",
    "spectral_rules",
]
