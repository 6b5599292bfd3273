"""Finite features of kernels: kernel means in constant memory, with stated errors."""

from .base import FeatureMap, Summary
from .embedding import FeatureEmbedding, embed
from .error import Estimate
from .fourier import Fourier, fourier
from .landmarks import Landmarks, nystrom, random_cholesky
from .loocv import choose_noise

__all__ = [
    "Estimate",
    "FeatureEmbedding",
    "FeatureMap",
    "Fourier",
    "Landmarks",
    "Summary",
    "choose_noise",
    "embed",
    "fourier",
    "nystrom",
    "random_cholesky",
]
