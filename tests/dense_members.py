"""Members of the adaptive tests from dense Gram matrices, written out again: views, filters, all permutations."""

from __future__ import annotations

from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.polynomial import hermite_e
from scipy import stats
from scipy.spatial.distance import pdist, squareform

Array = np.ndarray[Any, Any]
SINGLE = "axes", "square axes", "moment axes", "curve axes", "product axes", "interactions"


def spread_units(points: Array) -> Array:
    """Columns less their means, over the distance of their quartiles in units of that of a normal distribution."""
    low, high = np.quantile(points, (0.25, 0.75), axis=0)
    spread = np.where(high > low, (high - low) / (2 * stats.norm.ppf(0.75)), points.std(0))
    return (points - points.mean(0)) / np.where(spread > 0, spread, 1.0)


def whitened(scores: Array) -> Array:
    """Scores times C^{-1/2}, C shrunk by d / (n + d)."""
    n, d = scores.shape
    covariance = np.cov(scores.T, bias=True)
    shrunk = n / (n + d) * covariance + d / (n + d) * np.trace(covariance) / d * np.eye(d)
    values, vectors = np.linalg.eigh(shrunk)
    return (scores - scores.mean(0)) @ vectors @ np.diag(values**-0.5) @ vectors.T


def widest(scores: Array) -> Array:
    """Where the rows lie along the direction in which they vary most, in its deviation; 0 if there are two of these."""
    values, vectors = np.linalg.eigh(np.cov(scores.T, bias=True).reshape(scores.shape[1], -1))
    if values[-1] <= 0 or (len(values) > 1 and values[-2] >= (1 - 1e-6) * values[-1]):
        return np.zeros(len(scores))
    return scores @ vectors[:, -1] / np.sqrt(values[-1])


def raw_view(points: Array, name: str) -> Array:
    """A view in no units."""
    ranks = (stats.rankdata(points, axis=0) - 0.5) / len(points)
    scores = stats.norm.ppf(ranks)
    data = spread_units(points)
    pairs = list(combinations(range(points.shape[1]), 2))
    products = np.array([scores[:, i] * scores[:, j] for i, j in pairs]).reshape(len(pairs), len(points)).T
    interactions = (products - products.mean(0)) * widest(scores)[:, None]
    made = {
        "scores": lambda: scores,
        "axes": lambda: scores,
        "ranks": lambda: ranks - 0.5,
        "radius": lambda: np.linalg.norm(data, axis=1)[:, None],
        "spread": lambda: np.linalg.norm(scores, axis=1)[:, None],
        "white": lambda: whitened(scores),
        "squares": lambda: scores**2 - (scores**2).mean(0),
        "square axes": lambda: scores**2 - (scores**2).mean(0),
        "products": lambda: products,
        "product axes": lambda: products,
        "interactions": lambda: interactions - interactions.mean(0),
        "moment axes": lambda: np.hstack([hermite_e.hermeval(scores, [0] * k + [1]) for k in (3, 4)]),
        "curve axes": lambda: np.hstack([np.cos(k * np.pi * ranks) for k in (2, 3, 4)]),
    }.get(name, lambda: data)()
    return made - made.mean(0) if name.startswith(("product", "moment")) else made


def viewed(points: Array, name: str) -> Array:
    """A view in its unit; rows that are all equal are 0."""
    table = raw_view(points, name)
    table = np.where(np.ptp(table, axis=0) <= 1e-12, table[0], table)
    if np.ptp(table, axis=0).max() <= 1e-12:
        return np.zeros_like(table)
    if name in SINGLE:
        return table / np.where(np.ptp(table, axis=0) > 0, table.std(0), 1.0)
    distances = pdist(table, "cityblock" if name == "blocks" else "euclidean")
    positive = distances[distances > 0]
    middle = np.median(positive) if name == "blocks" else np.sqrt(np.median(distances**2) or np.median(positive**2))
    if name in ("near", "nearest"):
        share = {"near": 0.1, "nearest": 0.03}[name]
        place = max(1, round(share * len(table)))
        near = np.median(np.sort(squareform(distances), axis=1)[:, place])
        middle = near if near > 0 else middle
    return table / middle


def filtered(gram: Array, ridge: float | None) -> Array:
    """Σ_i g(w_i) u_i u_iᵀ of HKH, g(w) = w, or w / (w + λ Σ w) times Σ w."""
    n = len(gram)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(H @ gram @ H)
    if ridge is None or values.max() <= 1e-12:
        return H @ gram @ H
    values = np.maximum(values, 0.0)
    total = values.sum()
    return (vectors * (total * values / (values + ridge * total))) @ vectors.T


def grams(points: Array, member: Any) -> list[Array]:
    """The Gram matrix of a member, or one for every column."""
    table = viewed(points, member.view)
    if member.view in SINGLE:
        return [filtered(np.outer(column, column), None) for column in table.T]
    return [filtered(member.kernel(table, table), member.ridge)]


def labelings(n: int, first: int) -> Array:
    """All 0/1 labels of which ``first`` are 1, the first rows of all to begin with."""
    return np.array([np.isin(np.arange(n), rows) for rows in combinations(range(n), first)], dtype=float)


def mmd_values(gram: Array, labels: Array) -> Array:
    """MMD², unbiased, of every labeling."""
    off, other = gram - np.diag(np.diag(gram)), 1 - labels
    n, m = labels[0].sum(), other[0].sum()
    within = np.einsum("pi,ij,pj->p", labels, off, labels) / (n * (n - 1))
    within += np.einsum("pi,ij,pj->p", other, off, other) / (m * (m - 1))
    return within - 2 * np.einsum("pi,ij,pj->p", labels, gram, other) / (n * m)


def two_sample_values(points: Array, labels: Array, member: Any) -> Array:
    """The statistic of a member under every labeling."""
    return _largest([mmd_values(gram, labels) for gram in grams(points, member)])


def all_orders(n: int) -> Array:
    """All permutations of n rows, the identity first."""
    return np.array(list(permutations(range(n))))


def independence_values(X: Array, Y: Array, orders: Array, pair: Any) -> Array:
    """HSIC, the V-statistic, of every permutation of the rows of Y."""
    n = len(X)
    return _largest(
        [
            np.einsum("ij,pij->p", own, other[orders[:, :, None], orders[:, None, :]]) / n**2
            for own, other in product(grams(X, pair.x), grams(Y, pair.y))
        ]
    )


def _largest(rows: list[Array]) -> Array:
    """The only row; of several the largest standardized one."""
    return rows[0] if len(rows) == 1 else np.max([standardized(row) for row in rows], axis=0)


def standardized(row: Array) -> Array:
    """Less the mean, over the deviation; 0 where there is none but rounding."""
    deviation = row.std()
    return (row - row.mean()) / deviation if deviation > 1e-10 * np.abs(row).max() + 1e-13 else np.zeros_like(row)


def combined(values: Array, weights: Any) -> Array:
    """log Σ w / p with p from the gamma distribution of every row's own first three moments; low values by a line."""
    weights = np.array(weights) / np.sum(weights)
    z = (values - values.mean(1, keepdims=True)) / values.std(1, keepdims=True)
    shape = 4 / np.maximum(stats.skew(values, axis=1), 0.05) ** 2
    places, floor = shape[:, None] + z * np.sqrt(shape)[:, None], 0.1 * shape[:, None]
    line = np.exp(1e-6 * np.minimum(places / floor - 1, 0))
    return np.log((weights[:, None] * line / stats.gamma.sf(np.maximum(places, floor), shape[:, None])).sum(0))


def rank(values: Array) -> float:
    """The share of values that reach the first one, near ties counted."""
    return float(np.mean(values >= values[0] - 1e-9 * np.ptp(values) - 1e-12))
