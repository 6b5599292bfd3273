"""Compression: a few weighted points that stand for a kernel mean, with the distance in the RKHS."""

from .coreset import Coreset, compress
from .testing import compress_then_test

__all__ = ["Coreset", "compress", "compress_then_test"]
