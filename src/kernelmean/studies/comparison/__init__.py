"""Do two tables come from one distribution, and which columns differ? The library behind ``kernelmean compare``."""

from .comparing import compare
from .result import ColumnDifference, Comparison

__all__ = ["ColumnDifference", "Comparison", "compare"]
