"""The schemes by name; all are exact."""

from __future__ import annotations

from ..permutations import Permutations
from .base import Scheme
from .blocks import Blocks
from .cyclic import Cyclic
from .exact import Exact
from .random_labels import Gemm, label_sums
from .random_pairs import Gather, permutation_sums

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Exact(),
        Gemm(),
        Gather(),
        Cyclic("cyclic"),
        Cyclic("cyclic-low-rank", tiles=False),
        Blocks(),
    )
}

__all__ = ["SCHEMES", "Cyclic", "Exact", "Permutations", "Scheme", "label_sums", "permutation_sums"]
