"""Questions about distributions that are known: does a sample fit one."""

from .distribution import KnownDistribution
from .fit import fit_test

__all__ = ["KnownDistribution", "fit_test"]
