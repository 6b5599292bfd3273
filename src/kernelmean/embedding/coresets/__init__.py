"""Compression: a few weighted points that represent a kernel mean, with their distance from it in the RKHS."""

from .coreset import Coreset, compress
from .thinning import Atoms, compressed, halve, split, swapped

__all__ = ["Atoms", "Coreset", "compress", "compressed", "halve", "split", "swapped"]
