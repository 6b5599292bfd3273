"""Tables of mixed columns: the kernel of every column, as coordinates that all estimators and tests take."""

from .encoded import Encoded, Encoding, encode, match_columns
from .encoder import TableEncoder
from .missing import Missing, MissingCells
from .noisy import NoisyRows
from .numbers import table_of_numbers
from .summary import CategoryShares, Summary, summarize

__all__ = [
    "CategoryShares",
    "Encoded",
    "Encoding",
    "Missing",
    "MissingCells",
    "NoisyRows",
    "Summary",
    "TableEncoder",
    "encode",
    "match_columns",
    "summarize",
    "table_of_numbers",
]
