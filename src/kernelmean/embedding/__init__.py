"""Embeddings: sums of parts, and what is made of them: linear forms, features, coresets, herding."""

from ..core import lazy as _lazy
from .embedding import Embedding, Part, embed

__all__ = ["Embedding", "Part", "embed"]

_lazy.attach(__name__)
