"""Do two tables come from one distribution, and which columns differ? The library behind ``kernelmean compare``."""

from .column import ColumnDifference
from .comparing import compare
from .result import Comparison

__all__ = ["ColumnDifference", "Comparison", "compare"]
