"""Leave-one-out weights of any filter, all points at once, and their score: no shortcut, O(n³) a strength."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import eigh

from ...core.array import Array
from ...embedding.score import Score


class Masked:
    """A Gram matrix from which every point is left out in turn: column i of an (n, n) array lives without point i."""

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self.n = len(gram)
        self._off = 1.0 - np.eye(self.n)

    def start(self) -> Array:
        """Return equal weights 1/(n-1) for the points that stay."""
        return self._off / (self.n - 1)

    def apply(self, columns: Array) -> Array:
        """Multiply column i by the Gram matrix without point i."""
        return self._off * (self.gram @ columns)

    def solve(self, columns: Array, strength: float) -> Array:
        """Solve column i with the Gram matrix without point i plus λI, by one inverse and a rank-one correction."""
        inverse = np.linalg.inv(self.gram + strength * np.eye(self.n))
        solution = inverse @ columns
        solution -= inverse * (np.diagonal(solution) / np.diagonal(inverse))
        return self._off * solution


def score_of(columns: Array, cross: Array, square: Array, constant: float) -> Score:
    r"""Return the score of leave-one-out weights: mean_i (ϱ - 2 Σ_j L_ij B_ji + B_iᵀ Q B_i).

    Parameters
    ----------
    columns : array of shape (n, n)
        Column i holds the weights without point i, and 0 at i.
    cross : array of shape (n, n)
        L_ij = E k(x_i, x̃_j).
    square : array of shape (n, n)
        Q_ij = E k(x̃_i, x̃_j).
    constant : float
        ϱ = mean k(x_i, x_i).
    """
    linear = np.einsum("ij,ji->", cross, columns)
    quadratic = np.einsum("ij,ij->", columns, square @ columns)
    return Score.of(float(quadratic - 2 * linear) / len(columns), constant)


def spectral_score(cross: Array, square: Array, constant: float, factor: Callable[[Array], Array]) -> Score:
    r"""Return the score of a filter that is known by its factor x g_λ(x) only, by n eigendecompositions, O(n⁴).

    Without point i the filtered weights are Σ_k v_k γ_k g_λ(γ_k) (v_kᵀ 1_{n-1}), of eigenvalues γ_k ≥ 0.
    """
    excess = 0.0
    for values, equal, linear in _without_each(cross, square):
        shrunk = factor(values) * equal
        excess += float(shrunk @ (values * shrunk - 2 * linear))
    return Score.of(excess / len(square), constant)


def _without_each(cross: Array, square: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Yield for every i the eigenvalues γ ≥ 0 of Q without point i, equal weights and L_i along its eigenvectors."""
    n = len(square)
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        values, vectors = eigh(square[np.ix_(rest, rest)], check_finite=False)
        yield np.maximum(values, 0.0), vectors.sum(axis=0) / (n - 1), cross[i, rest] @ vectors


def cutoff_scores(cross: Array, square: Array, constant: float, cutoffs: Array) -> list[Score]:
    r"""Return the score of truncated singular values for every cutoff, by n eigendecompositions, O(n⁴).

    Without point i the filtered weights are Σ_{γ_k ≥ λ} v_k (v_kᵀ 1_{n-1}), so one decomposition serves all λ.
    """
    excess = np.zeros(len(cutoffs))
    for values, equal, linear in _without_each(cross, square):
        parts = equal * (values * equal - 2 * linear)
        kept_from = np.searchsorted(values, cutoffs)
        excess += np.append(np.cumsum(parts[::-1])[::-1], 0.0)[kept_from]
    return [Score.of(float(value) / len(square), constant) for value in excess]
