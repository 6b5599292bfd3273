"""From files to frames: the format of text, and the types of its cells."""

from .columns import TextColumns, check_absent
from .text_format import PLAIN, TextFormat

__all__ = ["PLAIN", "TextColumns", "TextFormat", "check_absent"]
