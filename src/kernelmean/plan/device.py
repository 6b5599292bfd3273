"""Sums over pairs for arrays of any library: tiles one after another, added up in float64 where the arrays live."""

from __future__ import annotations

from typing import Any

from ..core.array import as_float64, joined, namespace, slices
from ..kernels.blocks import Blocks


def matmul(blocks: Blocks, n: int, weights: Any, tile: tuple[int, int], *, symmetric: bool = False) -> Any:
    """Return Σ_j f(i, j) w_j, shape (n, k) and float64, for weights (m, k) of float64; see ``Plan.matmul``."""
    columns = slices(weights.shape[0], tile[1])
    if not symmetric:
        return joined([sum(as_float64(blocks(i, j)) @ weights[j, :] for j in columns) for i in slices(n, tile[0])])
    return _mirrored(blocks, weights, slices(n, min(tile)))


def _mirrored(blocks: Blocks, weights: Any, rows: list[slice]) -> Any:
    """Return the product of a symmetric matrix: tiles right of the diagonal serve twice."""
    xp = namespace(weights)
    parts = [xp.zeros_like(weights[i, :]) for i in rows]
    for a, i in enumerate(rows):
        for b, j in enumerate(rows[a:], start=a):
            tile = as_float64(blocks(i, j))
            parts[a] = parts[a] + tile @ weights[j, :]
            if b > a:
                parts[b] = parts[b] + tile.T @ weights[i, :]
    return joined(parts)
