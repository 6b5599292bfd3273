r"""Leave-one-out scores of spectral filters: for the ridge, many λ at once; for any filter, all points at once.

For the ridge, β = (K+λI)^{-1} K 1_n, one eigendecomposition serves all λ. Writing K = c I + E with E zero on the
diagonal (stationary kernels) keeps the digits of narrow kernels, whose score differs from the constant by products of
entries of E. Other filters have no shortcut: O(n³) per strength.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from ...core.array import Array
from ...core.cached import cached_property
from ...embedding.score import Score

LIMIT = 5000
AnyArray = npt.NDArray[np.inexact[Any]]


@dataclass(frozen=True)
class GramSpectrum:
    """An eigendecomposition K = c I + V diag(ε) Vᵀ of a Gram matrix with the constant diagonal c."""

    constant: float
    """c = k(x, x)."""
    values: Array
    """ε, the eigenvalues of K - c I, shape (n,)."""
    vectors: Array
    """V, shape (n, n)."""

    @classmethod
    def of(cls, gram: Array, constant: float) -> GramSpectrum:
        """Decompose a Gram matrix whose diagonal is ``constant`` (what rounding left there is ignored), in O(n³)."""
        check_size(len(gram))
        off = np.array(gram)
        np.fill_diagonal(off, 0.0)
        values, vectors = eigh(off, overwrite_a=True, check_finite=False, driver="evd")
        return cls(constant, np.maximum(values, -constant), vectors)

    @cached_property
    def squared(self) -> Array:
        """The squares of the eigenvectors' entries, shape (n, n)."""
        return np.square(self.vectors)

    def weights(self, strength: float) -> Array:
        """Return β = (K+λI)^{-1} K 1_n, shape (n,)."""
        gamma = self.constant + self.values
        return self.vectors @ (gamma / (gamma + strength) * self.vectors.mean(axis=0))


def check_size(n: int) -> None:
    """Raise above 5,000 points, where an eigendecomposition would need an n × n matrix."""
    if n > LIMIT:
        raise ValueError(
            f"{n} points need an eigendecomposition of an {n} × {n} matrix, the limit is {LIMIT}; use a marginalized "
            "estimator (noise='isotropic' or 'diagonal') or filter='scale', whose memory does not grow with n², or "
            "fit a random subsample"
        )


def ridge_scores(spectrum: GramSpectrum, strengths: Array) -> list[Score]:
    """Return the exact leave-one-out score of every λ in ``strengths``, shape (m,), O(n² m) as matrix products."""
    c, lam = spectrum.constant, np.asarray(strengths, dtype=np.float64)
    excess = mean_excess(spectrum.values, spectrum.vectors, spectrum.squared, np.array(c), lam)
    return [Score.of(float(value), c) for value in excess]


def mean_excess(
    values: Array, vectors: Array, squared: Array, constant: Array, strengths: AnyArray, diagonal: Array | None = None
) -> AnyArray:
    r"""Return the leave-one-out scores less the mean of K_ii, (…, m), for a stack of K = c I + V diag(ε) Vᵀ.

    With s = c + λ, G = (K+λI)^{-1} = (I - H)/s, a = KG1 and w_i = λ (G1)_i / G_ii, the weights without x_i are
    b_j = (a_j - w_i H_ji / s)/(n-1) for j ≠ i. All sums over j ≠ i are written with H, whose diagonal is computed as
    H_ii = E_ii/s - Σ_k V_ik² ε_k²/(s(s+ε_k)), E = K - c I: where E has a zero diagonal, no difference of nearly equal
    numbers is left. O(n² m) as matrix products.

    Parameters
    ----------
    values, vectors, squared : array of shape (…, n), (…, n, n) and (…, n, n)
        ε, V and the squares of the entries of V.
    constant : array of shape (…)
        c.
    strengths : array of shape (…, m)
        λ; complex ones give the analytic continuation, and with it derivatives by a complex step.
    diagonal : array of shape (…, n), optional
        E_ii, 0 when None.
    """
    n, eps, c = vectors.shape[-1], values[..., :, None], constant[..., None, None]
    lam, gamma, ones = strengths[..., None, :], c + eps, vectors.sum(axis=-2)[..., :, None]
    E_ii = np.zeros(1) if diagonal is None else diagonal[..., :, None]
    s = c + lam
    inverse = 1.0 / (s + eps)
    h, shrunk = eps * inverse, gamma * ones * inverse
    HK = h * gamma
    a, u, Ea, HKa = _times(vectors, shrunk, ones * inverse, eps * shrunk, HK * shrunk)
    EH, HKH = _times(squared, eps * h, HK * h)
    H = (E_ii - EH) / s
    v = lam * u / (H - 1)  # b (n-1) = a + v H off the diagonal
    b, Eb = a + v * H, Ea + v * EH
    every = (gamma * shrunk * shrunk).sum(axis=-2)  # aᵀ K a
    rows = v * (2 * HKa + v * HKH) - b * ((c - E_ii) * b + 2 * Eb)
    return np.asarray((every + rows.mean(axis=-2)) / (n - 1) ** 2 - 2 * (Eb - b * E_ii).mean(axis=-2) / (n - 1))


def _times(matrix: Array, *columns: AnyArray) -> list[AnyArray]:
    """Return a matrix times each block of columns, computed as one product."""
    return np.split(times(matrix, np.concatenate(columns, axis=-1)), len(columns), axis=-1)


def times(matrix: Array, columns: AnyArray) -> AnyArray:
    """Return a real matrix times real or complex columns, without making the matrix complex."""
    if not np.iscomplexobj(columns):
        return matrix @ columns
    return (matrix @ np.ascontiguousarray(columns).view(np.float64)).view(np.complex128)


def printed_scores(spectrum: GramSpectrum, strengths: Array) -> Array:
    r"""Return the score printed in Muandet et al. (2014), Theorem 4, for every λ, shape (m,).

    It is (1/n) Σ_i d_iᵀ G K G d_i with d_i = (K1 - n K δ_i - (n-1) λ δ_i)/(n-1). It drops x_i as a target but keeps it
    as a basis point, so it is not the leave-one-out score; it is here to reproduce that paper.
    """
    V, gamma = spectrum.vectors, (spectrum.constant + spectrum.values)[:, None]
    n, lam = len(V), np.asarray(strengths, dtype=np.float64)[None, :]
    ones, squared = V.sum(axis=0)[:, None], spectrum.squared
    shape = gamma / (gamma + lam) ** 2  # of G K G
    left = gamma * ones
    right = n * gamma + (n - 1) * lam
    total = (shape * left**2).sum(axis=0) - 2 * V @ (shape * right * left) + squared @ (shape * right**2)
    return np.asarray(total.mean(axis=0) / (n - 1) ** 2)


class Masked:
    """A Gram matrix from which each point is left out in turn: column i of an (n, n) array is without point i."""

    def __init__(self, gram: Array) -> None:
        self.gram = gram
        self.n = len(gram)
        self._off = 1.0 - np.eye(self.n)

    def start(self) -> Array:
        """Return equal weights 1/(n-1) for the remaining points."""
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


_HALVINGS = 60


def largest_without_each(gram: Array) -> Array:
    r"""Return the largest eigenvalue of a Gram matrix without each of its points, shape (n,), O(n³).

    Without point i the eigenvalues are the roots μ of :math:`Σ_k V_{ik}^2 / (γ_k - μ)`, which grows between any two
    eigenvalues γ of the whole matrix. The largest root lies between its two largest ones and is found by bisection.
    """
    values, vectors = eigh(gram, check_finite=False)
    squared = np.square(vectors)
    low, high = (np.full(len(gram), bound) for bound in values[-2:])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = (squared / (values - middle[:, None])).sum(axis=1) > 0.0
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return high


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
    r"""Return the score of a filter known only by its factor x g_λ(x), by n eigendecompositions, O(n⁴).

    Without point i, the filtered weights are Σ_k v_k γ_k g_λ(γ_k) (v_kᵀ 1_{n-1}), with eigenvalues γ_k ≥ 0.
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


def cutoff_steps(cross: Array, square: Array) -> tuple[Array, Array]:
    r"""Return where the score of the spectral cut-off steps, and what it is from there on, by n eigendecompositions.

    Without point i, the filtered weights are Σ_{γ_k ≥ λ} v_k (v_kᵀ 1_{n-1}). So the score is constant in λ between
    the eigenvalues γ of Q without any one point, and one decomposition for each point serves all λ. O(n⁴).

    Returns
    -------
    values : array of shape (n (n-1),)
        These eigenvalues, ascending.
    excess : array of shape (n (n-1) + 1,)
        The score less ϱ of a λ that keeps all from the value of the same number on; the last keeps none.
    """
    every = [(values, equal * (values * equal - 2 * linear)) for values, equal, linear in _without_each(cross, square)]
    values, parts = (np.concatenate(arrays) for arrays in zip(*every, strict=True))
    order = np.argsort(values, kind="stable")
    kept = np.cumsum(parts[order][::-1])[::-1]
    return values[order], np.append(kept, 0.0) / len(square)
