"""The schemes by name; every one of them is exact."""

from __future__ import annotations

from .base import Scheme
from .blocks import Blocks
from .cyclic import Cyclic
from .exact import Exact, count_all
from .gather import Gather
from .gemm import Gemm
from .low_rank import LowRank
from .torus import TwoHalves
from .xor import Xor

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
        Xor(),
        TwoHalves(),
    )
}

__all__ = ["SCHEMES", "Cyclic", "Scheme", "count_all"]
