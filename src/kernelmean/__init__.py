"""Kernel mean embeddings."""

__version__ = "0.1.0"
