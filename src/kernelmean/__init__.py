"""Kernel mean embeddings: estimate them, test with them, and see where two data sets differ."""

from . import kernels, noise
from .embedding import Embedding, embed
from .expected import difference, expected, smoothed, support
from .kernels.bandwidth import median_bandwidth
from .plan import Plan

__version__ = "0.1.0"

__all__ = [
    "Embedding",
    "Plan",
    "difference",
    "embed",
    "expected",
    "kernels",
    "median_bandwidth",
    "noise",
    "smoothed",
    "support",
]
