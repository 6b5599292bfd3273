"""What columns hold: one file a kind, imported here; every kind answers what ``base.py`` asks."""

from .base import KINDS, Coding, ColumnKind, Seen, Wanted
from .categories import CategoryKind, TooManyCategoriesError
from .durations import DurationKind
from .levels import LevelKind
from .numbers import NumberKind
from .times import TimeKind
from .truth_values import TruthKind

__all__ = [
    "KINDS",
    "CategoryKind",
    "Coding",
    "ColumnKind",
    "DurationKind",
    "LevelKind",
    "NumberKind",
    "Seen",
    "TimeKind",
    "TooManyCategoriesError",
    "TruthKind",
    "Wanted",
]
