"""Tables of mixed columns: the kernel of each column, as coordinates for all estimators and tests."""

from .encoder import TableEncoder
from .encoding import Encoded, Encoding, as_frames, encode
from .encoding import EncodingOptions as EncodingOptions
from .keywords import spells_out
from .matching import match_columns
from .missing import Missing, MissingCells
from .noisy import NoisyRows
from .summaries import CategoryShares, ColumnSummary, summarize
from .summaries import Weigh as Weigh

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
