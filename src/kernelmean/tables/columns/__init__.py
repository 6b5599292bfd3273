"""Tables of mixed columns: the kernel of every column, as coordinates that all estimators and tests take."""

from .encoded import Encoded, Encoding, encode, match_columns, spells_out
from .encoded import EncodingOptions as EncodingOptions
from .encoder import TableEncoder
from .missing import Missing, MissingCells
from .noisy import NoisyRows
from .numbers import table_of_numbers
from .summary import CategoryShares, ColumnSummary, summarize

__all__ = [
    "CategoryShares",
    "ColumnSummary",
    "Encoded",
    "Encoding",
    "Missing",
    "MissingCells",
    "NoisyRows",
    "TableEncoder",
    "encode",
    "match_columns",
    "spells_out",
    "summarize",
    "table_of_numbers",
]
