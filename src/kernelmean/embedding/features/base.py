"""Feature maps: vectors whose inner products equal or approximate the values of a kernel."""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from ...core.array import Array, IntArray, slices
from ...core.frozen import Frozen
from ...core.validate import check_points
from ...kernels.base import Kernel
from ...noise.base import Noise
from ...noise.dirac import Dirac
from ...plan.plan import DEFAULT, Plan

_TILE_NUMBERS, _LEAST_ROWS, _MOST_ROWS = 2**17, 32, 1024
_PIECE = 2**13  # rows whose moments one thread adds up
_SHORT_GROUP = 16  # rows: shorter groups are summed faster by a sparse matrix
HEAD = 4
"""Numbers before the features in a vector of sums: Σ w, Σ w², Σ w |φ|², and a bound of the distance from Σ w φ."""


_buffers = threading.local()


def scratch(name: str, shape: tuple[int, ...], dtype: npt.DTypeLike = np.float64) -> Array:
    """Return an array that the next call with this name in this thread reuses: fresh pages cost more than sums."""
    size = math.prod(shape)
    buffer = getattr(_buffers, name, None)
    if buffer is None or buffer.dtype != dtype or buffer.size < size:
        buffer = np.empty(size, dtype)
        setattr(_buffers, name, buffer)
    return np.asarray(buffer[:size].reshape(shape))


def grouped_sums(values: Array, starts: IntArray) -> Array:
    """Return the float64 sums of rows (n, m), of any type, from one start to the next, shape (g, m)."""
    edges = np.append(starts, len(values))
    if len(starts) > max(1, len(values) // _SHORT_GROUP):
        counts = np.diff(edges)
        dealt = csr_array((np.ones(len(values)), (np.repeat(np.arange(len(starts)), counts), np.arange(len(values)))))
        return np.asarray(dealt @ values)
    parts = [values[start:stop].sum(axis=0, dtype=np.float64) for start, stop in pairwise(edges.tolist())]
    return np.stack(parts)


def tiled(features: FeatureMap, batches: Iterable[Array]) -> Iterator[Array]:
    """Cut the rows of batches into pieces whose features fit the cache."""
    return (X[rows] for X in batches for rows in features.tiles(len(X)))


class FeatureMap(ABC):
    """A map φ from rows to vectors with φ(x)ᵀφ(y) ≈ k(x, y)."""

    kernel: Kernel
    origin: Array
    """A point near the rows, shape (d,); moments are taken about it."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of columns of the rows."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number m of features."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The features in words."""

    @abstractmethod
    def fill(self, X: Array, noise: Noise, out: Array) -> None:
        """Write the features E φ(x̃_i) of few rows to ``out`` (n, m), under a noise that passed :meth:`check_noise`."""

    @abstractmethod
    def check_noise(self, noise: Noise) -> None:
        """Raise when rows under this noise have no features in closed form."""

    def damped(self, vectors: Array, noise: Noise) -> Array:
        """Return mean features (..., m) under additional noise, without reading the rows again."""
        if isinstance(noise, Dirac):
            return vectors
        raise TypeError(
            f"{noise!r} cannot be added after the embedding: {self.summary} have no frequencies; pass noise= to "
            "features.embed, or use features.fourier(...)"
        )

    def residuals(self, X: Array, tile: Array, noise: Noise) -> Array | None:
        """Return |E k(x̃_i, ·)|² - |φ_i|² ≥ 0, shape (n,), if the features are a projection; otherwise None."""
        del X, tile, noise
        return None

    def check_rows(self, X: Any) -> Array:
        """Return rows with the number of columns that the features are made for, or raise."""
        X = check_points(X)
        if X.shape[1] != self.dim:
            raise ValueError(f"X has {X.shape[1]} columns, the features are made for {self.dim}")
        return X

    def __call__(self, X: Array, noise: Noise | None = None) -> Array:
        """Return the features of all rows, shape (n, m)."""
        noise = Dirac() if noise is None else noise
        out = np.empty((len(X), self.size))
        for rows in self.tiles(len(X)):
            self.fill(X[rows], noise, out[rows])
        return out

    def tiles(self, n: int) -> list[slice]:
        """Cut n rows so that the features of a slice fit the second-level cache."""
        return slices(n, min(max(_TILE_NUMBERS // self.size, _LEAST_ROWS), _MOST_ROWS))

    def augmented(self, X: Array, noise: Noise) -> Array:
        """Return 1, 1, |φ|², √residual, φ of few rows, shape (n, 4 + m); this thread's next call overwrites it."""
        out = scratch("features", (len(X), HEAD + self.size))
        tile = out[:, HEAD:]
        self.fill(X, noise, tile)
        out[:, :2], out[:, 2] = 1.0, self.squared_norms(tile, noise)
        left = self.residuals(X, tile, noise)
        out[:, 3] = 0.0 if left is None else np.sqrt(left)
        return out

    def grouped(self, X: Array, starts: IntArray) -> Array:
        """Return the sums of 1, 1, |φ|², √residual, φ over few rows, from one start to the next, shape (g, 4 + m)."""
        return grouped_sums(self.augmented(X, Dirac()), starts)

    def row_sums(
        self, X: Array, weights: Array | None, noise: Noise, plan: Plan = DEFAULT, *, moments: bool = False
    ) -> Array:
        """Return the sums over rows of w, w², w |φ|², a bound of the distance (:meth:`gap`), and w φ, shape (4 + m,).

        With ``moments``, those of w k(x, x), w (x - o), w (x - o)² and w φφᵀ follow, shape (1 + 2 d + m²,). O(n m d)
        time, O(n m²) with moments; memory does not grow with n.
        """

        def run(piece: slice) -> Array:
            return reduce(np.add, [self._tile_sums(X[rows], w[rows], noise, moments) for rows in tiles(piece)])

        def tiles(piece: slice) -> list[slice]:
            within = self.tiles(piece.stop - piece.start)
            return [slice(piece.start + rows.start, piece.start + rows.stop) for rows in within]

        w = np.ones(len(X)) if weights is None else weights
        pieces = slices(len(X), _PIECE) if moments else self.tiles(len(X))
        return reduce(np.add, plan.map(run, pieces, len(X) * self.size))

    def _tile_sums(self, X: Array, w: Array, noise: Noise, moments: bool) -> Array:
        features = self.augmented(X, noise)
        total = w @ features
        total[1], total[3] = w @ w, min(float(total[3]), self.gap(X, w, total[HEAD:], noise))
        if not moments:
            return np.asarray(total)
        tile, Z = features[:, HEAD:], X - self.origin
        second = tile.T @ tile if (w == 1.0).all() else tile.T @ (w[:, None] * tile)
        return np.concatenate([total, [w @ self.kernel.diag(X)], w @ Z, w @ Z**2, second.ravel()])

    def gap(self, X: Array, w: Array, total: Array, noise: Noise) -> float:
        """Return the distance of Σ w φ, ``total``, from Σ w E k(x̃, ·) for few rows if φ is a projection, else 0."""
        del X, w, total, noise
        return 0.0

    def squared_norms(self, tile: Array, noise: Noise) -> Array:
        """Return |φ_i|², shape (n,)."""
        del noise
        return np.asarray(np.einsum("nm,nm->n", tile, tile))


@final
@dataclass(frozen=True, eq=False)
class Total(Frozen):
    """A vector of sums, each an unevaluated pair high + low of float64, so that merging loses no digits.

    Notes
    -----
    Knuth's two-sum; the error of a merge is about 2⁻¹⁰⁰ times the sum of magnitudes (Dekker 1971).

    Examples
    --------
    >>> parts = [Total.of([x]) for x in (1e16, 1.0, -1e16)]
    >>> float((parts[0] + parts[1] + parts[2]).value[0])
    1.0
    """

    high: Array
    low: Array
    """The rounded sums, and their rounding errors, shape (m,)."""

    @classmethod
    def of(cls, values: Any) -> Total:
        """Return ``values`` as exact sums."""
        high = np.asarray(values, dtype=np.float64)
        return cls(high, np.zeros_like(high))

    @property
    def value(self) -> Array:
        """The sums as float64, shape (m,)."""
        return self.high + self.low

    def __add__(self, other: Total) -> Total:
        total, error = _two_sum(self.high, other.high)
        return Total(*_two_sum(total, error + (self.low + other.low)))


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum and its exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
