"""Which columns of a table depend on which? The library behind ``kernelmean dependence``."""

from .result import Dependence, PairDependence
from .testing import dependence

__all__ = ["Dependence", "PairDependence", "dependence"]
