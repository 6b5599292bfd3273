"""Tables: where rows come from, what their columns hold, and the built-in tables by name.

A ``Source`` says where rows are and yields them; a ``Frame`` holds some of them as they were read, columns of any kind;
a ``Table`` holds finite numbers with names.
"""

from typing import TYPE_CHECKING

from ..core import lazy as _lazy

if TYPE_CHECKING:
    from ..core.table import Frame, Table, as_table
    from .columns import Encoded, Encoding, NoisyRows, encode, match_columns
    from .limits import ADAPTIVE_LIMIT, FIT_LIMIT
    from .read import read
    from .readers import TextFormat
    from .reading import column_names, read_frame, read_table, split_frame
    from .source import Source

__all__ = [
    "ADAPTIVE_LIMIT",
    "FIT_LIMIT",
    "Encoded",
    "Encoding",
    "Frame",
    "NoisyRows",
    "Source",
    "Table",
    "TextFormat",
    "as_table",
    "column_names",
    "encode",
    "match_columns",
    "read",
    "read_frame",
    "read_table",
    "split_frame",
]

_lazy.attach(
    __name__,
    {
        "columns": "Encoded Encoding NoisyRows encode match_columns",
        "limits": "ADAPTIVE_LIMIT FIT_LIMIT",
        "read": "read",
        "readers": "TextFormat",
        "reading": "Frame Table as_table column_names read_frame read_table split_frame",
        "source": "Source",
    },
)

del TYPE_CHECKING
