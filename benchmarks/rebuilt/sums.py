"""What the rebuilt tests share: distances, labels, unbiased MMD², and what rounding may hide as a tie."""

from __future__ import annotations

import numpy as np

TIE = 1e-9


def distances(x: np.ndarray, y: np.ndarray, order: int) -> np.ndarray:
    """Return all distances in L1 (``order`` 1) or L2 (2), summed column by column: equal rows are at 0 exactly."""
    found = np.zeros((len(x), len(y)))
    for a, b in zip(x.T, y.T, strict=True):
        found += np.abs(a[:, None] - b) ** order
    return found ** (1 / order)


def labels(n: int, m: int, copies: int, rng: np.random.Generator) -> np.ndarray:
    """Return columns of n ones and m zeros: the first as observed, the others permuted."""
    found = np.zeros((n + m, 1 + copies))
    found[:n] = 1
    found[:, 1:] = rng.permuted(found[:, 1:], axis=0)
    return found


def unbiased(gram: np.ndarray, ones: np.ndarray) -> np.ndarray:
    """Return MMD² without the diagonal for every column of labels; ``gram`` has zeros on its diagonal."""
    n = ones[:, 0].sum()
    m = len(ones) - n
    within = np.einsum("ij,ij->j", ones, gram @ ones)
    reach = gram.sum(axis=0) @ ones
    others = gram.sum() - 2 * reach + within
    return within / (n * (n - 1)) + others / (m * (m - 1)) - 2 * (reach - within) / (n * m)


def tolerance(values: np.ndarray) -> np.ndarray:
    """Return, for every row of statistics, how far two may lie apart and still count as equal."""
    return TIE * np.abs(values).max(axis=-1, keepdims=True)


def pvalue(values: np.ndarray) -> np.ndarray:
    """Return the share of statistics in every row that reach the first, which is the observed one."""
    return np.mean(values >= values[..., :1] - tolerance(values), axis=-1)
