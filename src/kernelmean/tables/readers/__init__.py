"""From files to frames: the format of text, and the types of its cells."""

from .columns import TextColumns, Widened, check_units
from .text_format import PLAIN, TextFormat

__all__ = ["PLAIN", "TextColumns", "TextFormat", "Widened", "check_units"]
