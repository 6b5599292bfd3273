"""Compression: a few weighted points that stand for a kernel mean, with the distance in the RKHS."""

from .atoms import Atoms
from .coreset import Coreset, compress
from .halving import halve
from .thinning import compressed, split, swapped

__all__ = ["Atoms", "Coreset", "compress", "compressed", "halve", "split", "swapped"]
