"""Questions about distributions that are known: does a sample fit one, and which of two is nearer to it."""

from .closer import closer_test
from .closer_result import CloserResult
from .distribution import KnownDistribution
from .fit import fit_test

__all__ = ["CloserResult", "KnownDistribution", "closer_test", "fit_test"]
