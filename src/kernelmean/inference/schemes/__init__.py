"""The schemes by name; all are exact."""

from __future__ import annotations

from ..permutations import Permutations
from .base import Scheme
from .cyclic import Cyclic
from .exact import Exact
from .random_pairs import Gather, permutation_sums

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Exact(),
        Gather(),
        Cyclic(),
    )
}

__all__ = ["SCHEMES", "Cyclic", "Exact", "Permutations", "Scheme", "permutation_sums"]
