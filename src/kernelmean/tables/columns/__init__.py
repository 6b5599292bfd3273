"""Tables of mixed columns: the kernel of each column, as coordinates for all estimators and tests."""

from .encoded import Encoded, as_frames, encode
from .encoder import TableEncoder
from .encoding import Encoding, spells_out
from .encoding import EncodingOptions as EncodingOptions
from .matching import match_columns
from .missing import Missing, MissingCells
from .noisy import NoisyRows
from .summaries import CategoryShares, ColumnSummary

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
]
