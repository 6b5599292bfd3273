"""Kernels at fixed rows y_j: any rows x are mapped to k(y_j, x); work on the fixed rows is done only once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import final

import numpy as np
from scipy.spatial.distance import cdist

from ..core.array import Array, array_api, like
from ..core.cached import cached_property
from .base import Kernel
from .distances import HOPELESS, LOSS
from .gaussian import Gaussian

_MOST_SQUARINGS = 10
"""Of one exponential; each squaring doubles its relative error."""
_WIDEST, _APART = 1e100, 1e6
"""Up to these bandwidths, and ratios of two of them, nothing overflows."""


@final
@dataclass(frozen=True, eq=False)
class Sections:
    """Several kernels at the same fixed rows.

    Parameters
    ----------
    kernels : sequence of Kernel
    points : array of shape (m, d)
        The fixed rows.
    """

    kernels: Sequence[Kernel]
    points: Array

    def __call__(self, X: Array) -> Iterator[tuple[int, Array]]:
        """Yield the number of each kernel and its values k(y_j, x_i), shape (m, n), in any order of the kernels.

        The next array may overwrite the one yielded before.
        """
        yield from _each_at(X, self)

    @cached_property
    def gaussians(self) -> Gaussians:
        """The kernels that share their distances."""
        bandwidths = {
            number: float(kernel.bandwidth)
            for number, kernel in enumerate(self.kernels)
            if type(kernel) is Gaussian and np.ndim(kernel.bandwidth) == 0  # a subclass may be another kernel
            if 1.0 / _WIDEST < kernel.bandwidth < _WIDEST
        }
        widest = max(bandwidths.values(), default=0.0)
        numbers = sorted((k for k in bandwidths if _APART * bandwidths[k] > widest), key=lambda k: -bandwidths[k])
        return Gaussians(self.points, tuple(numbers), tuple(bandwidths[k] for k in numbers))


@array_api
def _each_at(X: Array, sections: Sections) -> Iterator[tuple[int, Array]]:
    """Yield the number and the values of every kernel."""
    for number, kernel in enumerate(sections.kernels):
        yield number, kernel(like(sections.points, X), X)


@_each_at.numpy
def _(X: Array, sections: Sections) -> Iterator[tuple[int, Array]]:
    together = sections.gaussians
    if together.numbers:
        yield from zip(together.numbers, together.at(X), strict=True)
    for number, kernel in enumerate(sections.kernels):
        if number not in together.numbers:
            yield number, kernel(sections.points, X)


@final
@dataclass(frozen=True, eq=False)
class Gaussians:
    """Gaussian kernels of several bandwidths θ: distances are computed once, narrow kernels by squaring wider ones.

    The error of a value is a small multiple of 1e-13, like that of the kernels themselves.
    """

    points: Array
    numbers: tuple[int, ...]
    widths: tuple[float, ...]
    """Descending."""

    @cached_property
    def _steps(self) -> list[tuple[int, float]]:
        """How often to square the values of the wider kernel, or 0 and the factor of the widest one's exponents."""
        steps, so_far = [(0, 1.0)], 0
        for wider, width in pairwise(self.widths):
            squarings = round(2.0 * np.log2(wider / width))
            exact = squarings > 0 and 2.0**squarings == (wider / width) ** 2
            so_far = so_far + squarings if exact and so_far + squarings <= _MOST_SQUARINGS else 0
            steps.append((squarings, 1.0) if so_far else (0, (self.widths[0] / width) ** 2))
        return steps

    @cached_property
    def _sides(self) -> tuple[Array, Array, float]:
        """The origin, the factor (m, d + 2) of the product that gives the exponents, and its largest accurate |x|²."""
        origin = np.median(self.points, axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self._scaled(self.points, origin)
            norms = np.einsum("ij,ij->j", scaled, scaled)
            right = np.vstack([2.0 * scaled, -np.ones(len(norms)), -norms]).T
        farthest = float(norms.max(initial=0.0))
        if not farthest <= HOPELESS:
            return origin, right, -1.0
        # if both rows are farther than that, their product is too coarse for the narrowest kernel
        both = LOSS[np.dtype(np.float64)] / np.finfo(np.float64).eps * (self.widths[-1] / self.widths[0]) ** 2
        return origin, np.ascontiguousarray(right), HOPELESS if farthest <= both else both

    def _scaled(self, X: Array, origin: Array, out: Array | None = None) -> Array:
        """Return rows minus the origin, in units of √2 θ of the widest kernel, shape (d, n)."""
        scaled = np.subtract(X.T, origin[:, None], out=out)
        scaled *= 1.0 / (np.sqrt(2.0) * self.widths[0])
        return scaled

    def at(self, X: Array) -> Iterator[Array]:
        """Yield the values of every kernel; the next array may overwrite them."""
        exponents = self._exponents(X)
        alone = all(squarings for squarings, _ in self._steps[1:])
        values = np.exp(exponents, out=exponents if alone else None)
        yield values
        for squarings, factor in self._steps[1:]:
            if not squarings:
                with np.errstate(over="ignore"):
                    np.exp(np.multiply(exponents, factor, out=values), out=values)
            for _ in range(squarings):
                np.multiply(values, values, out=values)
            yield values

    def _exponents(self, X: Array) -> Array:
        """Return -|y_j - x_i|² / 2 θ² of the widest kernel, shape (m, n)."""
        origin, right, reach = self._sides
        dim = X.shape[1]
        left = np.empty((dim + 2, len(X)))
        with np.errstate(over="ignore", invalid="ignore"):  # infinite norms mark rows computed by differences
            scaled = self._scaled(X, origin, left[:dim])
            norms = np.einsum("ij,ij->j", scaled, scaled, out=left[dim])
            left[dim + 1] = 1.0
            exponents = right @ left
        far = np.flatnonzero(~(norms <= reach))
        if far.size:
            unit = 2.0 ** np.round(np.log2(self.widths[0]))  # a power of two: nothing is rounded
            with np.errstate(over="ignore"):
                gaps = cdist(self.points / unit, X[far] / unit, "sqeuclidean")
                exponents[:, far] = gaps * (-0.5 * (unit / self.widths[0]) ** 2)
        return exponents
