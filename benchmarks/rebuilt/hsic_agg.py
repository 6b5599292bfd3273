"""HSICAgg with all pairs: Schrab, Kim, Guedj & Gretton (2022), Efficient aggregated kernel tests, R = N - 1.

The 2N rows are cut into halves; row i of the one is exchanged at random with row i of the other, of X alone. Gaussian
kernels exp(-|·|² / λ²), λ the median distance times 2^-2 … 2^2, for X and Y separately: 25 tests. The sums run over
all pairs of the N, which takes time quadratic in the number of rows.
"""

from __future__ import annotations

import numpy as np

from rebuilt.level import rejects
from rebuilt.mmd_agg import random_signs
from rebuilt.sums import distances

POWERS = 2.0 ** np.arange(-2, 3)
LOOKED_AT = 500
"""Rows whose distances set the bandwidths."""


def cores(rows: np.ndarray) -> list[np.ndarray]:
    """Return k(a_i, a_j) - k(a_i, b_j) - k(b_i, a_j) + k(b_i, b_j) of the halves a, b for every bandwidth."""
    half = len(rows) // 2
    gaps = distances(rows[: 2 * half], rows[: 2 * half], 2)
    looked_at = distances(rows[:LOOKED_AT], rows[:LOOKED_AT], 2)
    median = np.median(looked_at[looked_at > 0])
    found = []
    for width in median * POWERS:
        gram = np.exp(-((gaps / width) ** 2))
        core = gram[:half, :half] - gram[:half, half:] - gram[half:, :half] + gram[half:, half:]
        np.fill_diagonal(core, 0)
        found.append(core)
    return found


def hsic_agg(x: np.ndarray, y: np.ndarray, copies: int = 500, spare: int = 500, seed: int = 0) -> float:
    """Return 0 where the test rejects at .05, else 1; ``spare`` copies find the level (500 and 500 in the paper)."""
    signs = random_signs(len(x) // 2, copies + spare, np.random.default_rng(seed))
    pairs = [a * b for a in cores(x) for b in cores(y)]
    values = np.array([np.einsum("ij,ij->j", signs, core @ signs) for core in pairs])
    return float(not rejects(values[:, : 1 + copies], values[:, 1 + copies :]))
