"""Properties that are computed once, as ``functools.cached_property`` of Python 3.12, in every version.

That of Python 3.11 holds one lock for all instances while a value is computed. So threads wait for each other, and a
process that forks while a thread computes leaves a child that waits for ever.
"""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 (the name of the one that it stands for)
        """A property that is computed once; threads that compute it at once all get the first value."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Return the value, which hides the property from then on."""
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
