"""Tests of other authors, written anew from their published definitions with NumPy alone; never part of the library.

A test takes two arrays, a number of permutations and a seed, and returns a p-value; MMDAgg and HSICAgg decide at level
.05 only and return 0 where they reject and 1 where they do not. ``python benchmarks/public/run.py --check`` holds each
to published powers.
"""

from rebuilt.hsic_agg import hsic_agg
from rebuilt.mmd_agg import mmd_agg
from rebuilt.mmd_fuse import mmd_fuse
from rebuilt.spectral_mmd import spectral_mmd

__all__ = ["hsic_agg", "mmd_agg", "mmd_fuse", "spectral_mmd"]
