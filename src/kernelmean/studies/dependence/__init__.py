"""Which columns of a table depend on which? The library behind ``kernelmean dependence``."""

from .pair import PairDependence
from .result import Dependence
from .testing import dependence

__all__ = ["Dependence", "PairDependence", "dependence"]
