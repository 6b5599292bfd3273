"""Embeddings: sums of parts, and what is made of them: linear forms, features, coresets, herding."""

from ..core import lazy as _lazy
from .embedding import Embedding, embed
from .herding import herd
from .means import Means, means
from .parts import Part, PointPart
from .score import Terms, diagonal_share

__all__ = ["Embedding", "Means", "Part", "PointPart", "Terms", "diagonal_share", "embed", "herd", "means"]

_lazy.attach(__name__)
