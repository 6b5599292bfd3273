"""From files to frames: how text is written, and what its cells are."""

from .columns import TextColumns, Widened, check_units
from .text_format import PLAIN, TextFormat

__all__ = ["PLAIN", "TextColumns", "TextFormat", "Widened", "check_units"]
