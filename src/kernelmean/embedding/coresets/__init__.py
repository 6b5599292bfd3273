"""Compression: a few weighted points that stand for a kernel mean, with the distance in the RKHS."""

from .coreset import Coreset, compress

__all__ = ["Coreset", "compress"]
