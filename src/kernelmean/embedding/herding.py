"""Herding: a few points whose plain average approximates an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..core.array import Array, RngLike, as_rng
from ..core.frozen import Frozen
from ..core.points import Names, points_like
from ..core.validate import check_same_columns
from ..kernels.base import Kernel


class Target(Protocol):
    """What is herded: an embedding."""

    @property
    def kernel(self) -> Kernel:
        """The kernel."""

    @property
    def points(self) -> Array:
        """The points x_i, shape (n, d)."""

    @property
    def names(self) -> Names:
        """The names of the columns, if any."""

    @property
    def weights(self) -> Array:
        """The weights β_i, shape (n,)."""

    def __call__(self, Y: Array) -> Array:
        """Return μ at the rows of ``Y``."""

    def norm(self) -> float:
        """Return |μ|."""

    def sample(self, n: int, rng: RngLike) -> Array:
        """Draw rows of the mixture behind μ."""


@dataclass(frozen=True, eq=False)
class Herd(Frozen):
    """Super-samples of an embedding.

    Attributes
    ----------
    points : array of shape (m, d)
        In the order in which they were chosen; the first t points are a herd, too.
    errors : array of shape (m,)
        |μ - (1/t) Σ_{s ≤ t} k(x_s, ·)| for t = 1 … m.
    """

    points: Array
    errors: Array


def herd(mu: Target, m: int, *, candidates: Any = None, n_candidates: int = 2000, rng: RngLike = 0) -> Herd:
    r"""Choose ``m`` points whose embedding is near ``mu``, greedily from a set of candidates.

    Point t + 1 is the candidate that minimises :math:`|μ - \tfrac{1}{t+1} Σ_{s ≤ t+1} k(x_s, ·)|`, which maximises
    :math:`μ(x) - \tfrac{1}{t+1} (Σ_{s ≤ t} k(x_s, x) + \tfrac12 k(x, x))`. A candidate may be chosen again.

    Parameters
    ----------
    mu : Embedding
        With total weight near one, because the average of points has weight one.
    m : int
    candidates : array of shape (c, d), optional
        By default, ``n_candidates`` draws from the mixture of ``mu``, or from its points if a weight is negative.
    n_candidates : int
    rng : int or Generator
        Seeds the draw of the candidates.

    Returns
    -------
    Herd

    Raises
    ------
    ValueError
        When m is below one, or candidates have another number of columns.

    Notes
    -----
    O(c n d) once, and O(c d) per point. The errors fall like 1/m if the mean lies inside the convex hull of the
    candidates' features, otherwise like 1/√m, down to the distance from that hull. Chen, Welling & Smola (2010), with
    the greedy step on the error itself (Bach, Lacoste-Julien & Obozinski 2012, section 4).

    Examples
    --------
    >>> import kernelmean as km
    >>> mu = km.embed(np.random.default_rng(0).normal(size=(500, 2)), km.kernels.Gaussian(1.0))
    >>> few = mu.herd(20)
    >>> few.points.shape, bool(few.errors[-1] < 0.2 * few.errors[0])
    ((20, 2), True)
    """
    if m < 1:
        raise ValueError(f"m is {m}; at least one point is needed")
    generator = as_rng(rng)
    if candidates is not None:
        C = points_like(candidates, mu.names, "candidates", "the embedding")
    elif (mu.weights < 0).any():  # no distribution to draw from
        C = mu.points[generator.choice(len(mu.points), min(n_candidates, len(mu.points)), replace=False)]
    else:
        C = mu.sample(n_candidates, generator)
    check_same_columns(mu.points, C, ("the embedding", "candidates"))
    values, own = mu(C), mu.kernel.diag(C)
    inner, square, norm = 0.0, 0.0, mu.norm() ** 2
    sums, chosen, errors = np.zeros(len(C)), np.empty(m, dtype=np.intp), np.empty(m)
    for t in range(m):
        best = int(np.argmax(values - (sums + 0.5 * own) / (t + 1)))
        inner += values[best]
        square += 2.0 * sums[best] + own[best]
        sums += mu.kernel(C, C[best : best + 1])[:, 0]
        chosen[t] = best
        errors[t] = np.sqrt(max(norm - 2.0 * inner / (t + 1) + square / (t + 1) ** 2, 0.0))
    return Herd(C[chosen], errors)
