"""Change points of rows in time order: features, the scan of a stretch, the search, and where a change is."""

from .features import ChangeFeatures
from .search import Change, Search

__all__ = ["Change", "ChangeFeatures", "Search"]
