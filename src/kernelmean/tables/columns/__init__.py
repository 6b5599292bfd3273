"""Tables of mixed columns: the kernel of each column, as coordinates for all estimators and tests."""

from .column_codings import CategoryShares, ColumnSummary, summarize
from .column_codings import Weigh as Weigh
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
