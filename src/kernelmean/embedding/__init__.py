"""Embeddings, and what is computed from them: linear forms and features."""

from ..core import lazy as _lazy
from .embedding import Embedding, embed
from .parts import Part, PointPart
from .score import Means, Terms, diagonal_share, means

__all__ = ["Embedding", "Means", "Part", "PointPart", "Terms", "diagonal_share", "embed", "means"]

_lazy.attach(__name__)
