"""Embeddings: sums of parts, and what is made of them: linear forms, features, coresets, herding."""

from .embedding import Embedding, Part, embed

__all__ = ["Embedding", "Part", "embed"]
