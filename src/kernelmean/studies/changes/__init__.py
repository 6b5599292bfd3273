"""Where does a table in time order change? The library behind ``kernelmean changes``."""

from ...inference.changes import Search
from .finding import changes
from .result import ChangePoint, Changes

__all__ = ["ChangePoint", "Changes", "Search", "changes"]
