"""Tables of mixed columns: the kernel of every column, as coordinates that all estimators and tests take."""

from .encoder import TableEncoder
from .encoding import Encoded, Encoding, as_frames, encode, match_columns, spells_out
from .encoding import EncodingOptions as EncodingOptions
from .missing import Missing, MissingCells
from .noisy import NoisyRows
from .number_tables import table_of_numbers
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
    "as_frames",
    "encode",
    "match_columns",
    "spells_out",
    "summarize",
    "table_of_numbers",
]
