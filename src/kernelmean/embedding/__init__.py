"""Embeddings: sums of parts, and what is made of them: linear forms, features, coresets, herding."""

from ..core import lazy as _lazy
from .embedding import Embedding, Part, embed
from .herding import herd
from .means import Means, means
from .score import Terms, diagonal_share

__all__ = ["Embedding", "Means", "Part", "Terms", "diagonal_share", "embed", "herd", "means"]

_lazy.attach(__name__)
