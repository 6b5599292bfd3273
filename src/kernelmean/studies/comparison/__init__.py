"""Do two tables come from the same distribution, and which columns tell? The library behind ``kernelmean compare``."""

from .comparing import compare
from .result import ColumnDifference, Comparison

__all__ = ["ColumnDifference", "Comparison", "compare"]
