"""Compression: a few weighted points that stand for a kernel mean, with the distance in the RKHS."""

from .coreset import Coreset, compress
from .thinning import Atoms, compressed, halve, split, swapped

__all__ = ["Atoms", "Coreset", "compress", "compressed", "halve", "split", "swapped"]
