"""Cells of CSV files that no spreadsheet runs."""

from __future__ import annotations

import re
from typing import Any

from ..core.cells import is_float

_FORMULA = re.compile("[=+\\-@＝＋－＠\t\r\n]")
"""How a cell begins that a spreadsheet would run, as a formula or by what follows the break."""


def csv_cell(cell: Any) -> Any:
    """Return a cell of a CSV file that a spreadsheet shows and does not run: such text gets an apostrophe before it.

    Numbers, and text that is a number, stay as they are. Every break of a line becomes a newline, which a writer
    quotes: a bare carriage return would begin another row, with a cell of its own.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("a=1"), csv_cell("-2.5"), csv_cell(-2.5)
    ("'=1+1", 'a=1', '-2.5', -2.5)
    """
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if _FORMULA.match(text) and not (is_float(text) and text == text.strip()) else text
