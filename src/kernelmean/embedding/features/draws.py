"""Standard normal numbers in independent groups: plain, orthogonal, or quasi-random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from ...core.array import Array

Design = Literal["plain", "orthogonal", "quasi"]
GROUPS = 16
"""Independent groups that are there at least, wherever so many frequencies are: their spread tells the error."""


def plain(normals: int, count: int, rng: np.random.Generator) -> Array:
    """Return independent rows, each a group of its own, shape (count, 1, normals)."""
    return rng.standard_normal((count, 1, normals))


def orthogonal(normals: int, count: int, rng: np.random.Generator) -> Array:
    """Return groups of orthogonal rows, each row N(0, I) by itself, shape (groups, rows, normals).

    Directions are those of a uniformly drawn orthogonal matrix, lengths are independent: Yu et al. (2016), section 3.
    """
    rows = min(normals, max(1, count // GROUPS))
    groups = math.ceil(count / rows)
    Q, R = np.linalg.qr(rng.standard_normal((groups, normals, rows)))
    signs = np.sign(np.diagonal(R, axis1=1, axis2=2))  # without them the matrix would not be uniformly distributed
    lengths = np.sqrt(rng.chisquare(normals, (groups, rows)))
    return np.swapaxes(Q * signs[:, None, :], 1, 2) * lengths[:, :, None]


def quasi(normals: int, count: int, rng: np.random.Generator) -> Array:
    """Return independently scrambled Sobol points through the normal quantile, shape (16, rows, normals)."""
    log_rows = max(0, math.ceil(math.log2(count / GROUPS)))
    groups = []
    for child in rng.spawn(GROUPS):
        sobol = qmc.Sobol(normals, scramble=True, seed=child)
        groups.append(ndtri(sobol.random_base2(log_rows) + 2.0**-32))  # never 0 or 1
    return np.stack(groups)


DESIGNS: dict[str, Callable[[int, int, np.random.Generator], Array]] = {
    "plain": plain,
    "orthogonal": orthogonal,
    "quasi": quasi,
}
