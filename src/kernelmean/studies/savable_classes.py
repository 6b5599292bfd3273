"""What files of results may name beside the results: the tables that they rest on."""

from __future__ import annotations

from typing import Any

from ..core.cells import Declared
from ..core.table import Frame
from ..tables.columns import Encoded, MissingCells
from ..tables.columns.column_codings import Categories, Numbers
from ..tables.columns.kinds import ColumnType
from ..tables.columns.missing import MissingColumn

ENCODED: tuple[type[Any], ...] = (
    Encoded,
    Numbers,
    Categories,
    ColumnType,
    Frame,
    Declared,
    MissingCells,
    MissingColumn,
)
"""The classes of encoded tables."""
