"""Finite features of kernels: kernel means in constant memory, with known errors."""

from .base import FeatureMap, Total
from .embedding import FeaturePart, FeatureSums, embed, pooled, smoothed
from .error import FeatureEstimate, inner
from .fourier import Fourier, fourier
from .landmarks import Landmarks, nystrom, pivoted_triangle, random_cholesky
from .spectral_measures import DESIGNS, spectra, spectral_rules

__all__ = [
    "DESIGNS",
    "FeatureEstimate",
    "FeatureMap",
    "FeaturePart",
    "FeatureSums",
    "Fourier",
    "Landmarks",
    "Total",
    "embed",
    "fourier",
    "inner",
    "nystrom",
    "pivoted_triangle",
    "pooled",
    "random_cholesky",
    "smoothed",
    "spectra",
    "spectral_rules",
]
