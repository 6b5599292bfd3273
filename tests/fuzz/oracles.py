"""Definitions in extended precision (64 bits of mantissa, exponents to 10^±4932), loop by loop."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

Long = np.longdouble


def kernel(X: np.ndarray, Z: np.ndarray, theta: float, extra: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the Gaussian kernel smoothed by noise of variances ``extra`` per axis, shape (n, m)."""
    X, Z, theta2 = X.astype(Long), Z.astype(Long), Long(theta) ** 2
    width = theta2 + np.broadcast_to(np.asarray(extra, dtype=Long), (X.shape[1],))
    gaps = X[:, None, :] - Z[None, :, :]
    return np.prod(np.sqrt(theta2 / width)) * np.exp(-np.sum(gaps**2 / width, axis=2) / 2)


def mmd(K: np.ndarray, first: np.ndarray, kind: str) -> np.ndarray:
    """Return MMD² of the rows of ``first`` (True) against the others."""
    a, b = first, ~first
    n, m = int(a.sum()), int(b.sum())
    within = [K[np.ix_(side, side)] for side in (a, b)]
    cross = K[np.ix_(a, b)].mean()
    if kind == "v":
        return within[0].mean() + within[1].mean() - 2 * cross
    parts = [(W.sum() - np.trace(W)) / (size * (size - 1)) for W, size in zip(within, (n, m), strict=True)]
    return parts[0] + parts[1] - 2 * cross


def mmd_pvalues(K: np.ndarray, n: int, kind: str, slack: float) -> tuple[float, float, float]:
    """Return the statistic, and the least and largest p-value of full enumeration when ties are within ``slack``."""
    total = len(K)
    values = []
    for chosen in combinations(range(total), n):
        first = np.zeros(total, dtype=bool)
        first[list(chosen)] = True
        values.append(mmd(K, first, kind))
    return between(np.array(values), slack)


def hsic(K: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return tr(HKHL)/n²."""
    n = len(K)
    center = np.eye(n, dtype=Long) - Long(1) / n
    return np.sum((center @ K @ center) * L) / n**2


def hsic_pvalues(K: np.ndarray, L: np.ndarray, slack: float) -> tuple[float, float, float]:
    """Return the statistic, and the least and largest p-value of full enumeration when ties are within ``slack``."""
    values = [hsic(K, L[np.ix_(order, order)]) for order in permutations(range(len(K)))]
    return between(np.array(values), slack)


def between(values: np.ndarray, slack: float) -> tuple[float, float, float]:
    """Return the first value, and the shares of values above it by more than, or not below it by more than, slack."""
    gap = values - values[0]
    return float(values[0]), float(np.mean((gap > slack) | (np.arange(len(gap)) == 0))), float(np.mean(gap >= -slack))


def loocv(X: np.ndarray, theta: float, noise: float) -> np.ndarray:
    """Return the excess of the leave-one-out score of MKME over mean k(x, x) = 1, by its definition."""
    n = len(X)
    L, Q = kernel(X, X, theta, noise), kernel(X, X, theta, 2 * noise)
    total = Long(0)
    for i in range(n):
        others = np.arange(n) != i
        total += -2 * L[i, others].mean() + Q[np.ix_(others, others)].mean()
    return total / n
