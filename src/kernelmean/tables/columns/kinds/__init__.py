"""What columns hold: one file a kind, imported here; every kind answers what ``base.py`` asks."""

from .base import IS_MISSING as IS_MISSING
from .base import KINDS as KINDS
from .base import CellsSeen as CellsSeen
from .base import Coding as Coding
from .base import ColumnKind as ColumnKind
from .base import Wanted as Wanted
from .categories import CategoryKind as CategoryKind
from .categories import TooManyCategoriesError as TooManyCategoriesError
from .levels import LevelKind as LevelKind
from .numbers import NumberKind as NumberKind
from .times import DurationKind as DurationKind
from .times import TimeKind as TimeKind
from .truth_values import TruthKind as TruthKind
