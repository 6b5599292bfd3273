"""Tables of mixed columns: the kernel of every column, as coordinates that all estimators and tests take."""

from .column_codings import CategoryShares, ColumnSummary, summarize
from .encoder import TableEncoder
from .encoding import Encoded, Encoding, as_frames, encode, match_columns
from .encoding import EncodingOptions as EncodingOptions
from .keywords import spells_out
from .missing import Missing, MissingCells
from .noisy import NoisyRows

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
]
