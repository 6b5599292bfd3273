"""Questions asked of whole tables: compare, dependence, density, estimate; their results, pages and pictures."""

from ..core import lazy as _lazy

__all__ = ["comparison", "density", "dependence", "estimate", "plots"]

_lazy.attach(__name__)
