"""Tables: where rows come from, what their columns hold, and the built-in tables by name.

A ``Source`` knows where rows are and yields them. A ``Frame`` holds some of them as they were read, with columns of any
kind. A ``Table`` holds finite numbers with column names.
"""

from typing import TYPE_CHECKING

from ..core import lazy as _lazy

if TYPE_CHECKING:
    from ..core.table import Frame, Table, as_frame, as_table
    from .columns import Encoded, Encoding, NoisyRows, as_frames, encode, match_columns
    from .datasets import BUILT_IN
    from .limits import ADAPTIVE_LIMIT, FIT_LIMIT
    from .read import read
    from .readers import TextFormat
    from .reading import column_names, read_frame, read_table, split_groups
    from .shuffle import shuffled
    from .source import Source, joined

__all__ = [
    "ADAPTIVE_LIMIT",
    "BUILT_IN",
    "FIT_LIMIT",
    "Encoded",
    "Encoding",
    "Frame",
    "NoisyRows",
    "Source",
    "Table",
    "TextFormat",
    "as_frame",
    "as_frames",
    "as_table",
    "column_names",
    "encode",
    "joined",
    "match_columns",
    "read",
    "read_frame",
    "read_table",
    "shuffled",
    "split_groups",
]

_lazy.attach(
    __name__,
    {
        "columns": "Encoded Encoding NoisyRows as_frames encode match_columns",
        "datasets": "BUILT_IN",
        "limits": "ADAPTIVE_LIMIT FIT_LIMIT",
        "read": "as_frame read",
        "readers": "TextFormat",
        "reading": "Frame Table as_table column_names read_frame read_table split_groups",
        "shuffle": "shuffled",
        "source": "Source joined",
    },
)

del TYPE_CHECKING
