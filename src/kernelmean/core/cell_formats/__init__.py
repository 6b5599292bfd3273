"""How cells of text are written: as numbers with marks and units, or as dates; and which options would read them."""

from .dates import date_format
from .form import Form
from .marks import absent_words, other_marks
from .numbers import has_decimal_comma, is_bare, is_number, number_format

__all__ = [
    "Form",
    "absent_words",
    "date_format",
    "has_decimal_comma",
    "is_bare",
    "is_number",
    "number_format",
    "other_marks",
]
