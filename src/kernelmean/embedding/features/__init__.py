"""Finite features of kernels: kernel means in constant memory, with known errors."""

from .base import FeatureMap, Total
from .embedding import FeaturePart, FeatureSums, embed, pooled, smoothed
from .error import FeatureEstimate, inner
from .fourier import Fourier, fourier
from .landmarks import Landmarks, nystrom, pivoted_triangle, random_cholesky
from .loocv import choose_noise, leave_one_out, noise_score
from .noise_scores import DampedScore, NoiseScore, ProjectedRows, ProjectedScore
from .spectral_measures import DESIGNS, spectra, spectral_rules

__all__ = [
    "DESIGNS",
    "DampedScore",
    "FeatureEstimate",
    "FeatureMap",
    "FeaturePart",
    "FeatureSums",
    "Fourier",
    "Landmarks",
    "NoiseScore",
    "ProjectedRows",
    "ProjectedScore",
    "Total",
    "choose_noise",
    "embed",
    "fourier",
    "inner",
    "leave_one_out",
    "noise_score",
    "nystrom",
    "pivoted_triangle",
    "pooled",
    "random_cholesky",
    "smoothed",
    "spectra",
    "spectral_rules",
]
