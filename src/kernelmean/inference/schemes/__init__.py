"""The schemes by name; every one of them is exact."""

from __future__ import annotations

from ..permutations import Permutations
from .base import Scheme
from .blocks import Blocks
from .cyclic import Cyclic
from .exact import Exact, count_all
from .gather import Gather, permutation_sums
from .gemm import Gemm, label_sums
from .low_rank import LowRank
from .torus import TwoHalves

SCHEMES: dict[str, Scheme] = {
    scheme.name: scheme
    for scheme in (
        Exact(),
        Gemm(),
        Gather(),
        LowRank(),
        Cyclic("cyclic"),
        Cyclic("cyclic-tiles", factors="never"),
        Cyclic("cyclic-low-rank", tiles=False, factors="fitting"),
        Blocks(),
        TwoHalves(),
    )
}

__all__ = ["SCHEMES", "Cyclic", "Permutations", "Scheme", "count_all", "label_sums", "permutation_sums"]
