"""The parts of embeddings, among them the one that holds points; the density and samples of noisy points."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast, final

import numpy as np

from ..core.array import Array, as_float64, as_host, check_same_home, joined, namespace, slices, tile_shape, to_numpy
from ..core.frozen import Frozen, sealed
from ..core.validate import check_same_columns
from ..expected import expected_blocks
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import Plan


class Part(Frozen, ABC):
    """A summand of an embedding: rows with weights and a noise, however they are represented."""

    features: Any
    """The feature map that approximates the kernel; None if the kernel itself is evaluated."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

    @property
    @abstractmethod
    def like(self) -> Any:
        """An array with the same columns, library and device as the part's evaluation."""

    @property
    @abstractmethod
    def noises(self) -> tuple[Noise, ...]:
        """The noises of the rows."""

    @property
    @abstractmethod
    def mass(self) -> float:
        """The sum of the weights, Σ β_i."""

    @abstractmethod
    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j) of this part and another."""

    @abstractmethod
    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return Σ β_i E k(x̃_i, y_j), shape (m,)."""

    @abstractmethod
    def scaled(self, factor: float) -> Self:
        """Return the part with all weights times a factor."""

    @abstractmethod
    def here(self) -> PointPart:
        """Return the points and their weights; raise TypeError if they were not kept."""

    def joined(self, others: tuple[Part, ...]) -> tuple[Part, ...]:
        """Return the parts of the sum of this part and others."""
        return (self, *others)

    def places(self, Y: Array) -> Array:
        """Return points where the part can be evaluated; raise when they have other columns or are elsewhere."""
        check_same_home(self.like, Y, ("the embedding", "Y"))
        check_same_columns(self.like, Y, ("the embedding", "Y"))
        return Y

    def to_numpy(self) -> Part:
        """Return the part with NumPy's arrays."""
        return self


@final
@dataclass(frozen=True, eq=False)
class PointPart(Part):
    """Weighted points with one noise.

    Attributes
    ----------
    points : array of shape (n, d)
    weights : array of shape (n,)
    noise : Noise
    """

    points: Array
    weights: Array
    noise: Noise

    features = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of points and columns."""
        n, dim = self.points.shape
        return n, dim

    @property
    def like(self) -> Array:
        """The points."""
        return self.points

    @property
    def noises(self) -> tuple[Noise, ...]:
        """The noise, which may be one distribution for every row."""
        return (self.noise,)

    @property
    def mass(self) -> float:
        """The sum of the weights."""
        return float(as_host(self.weights).sum())

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j) of this part and another."""
        other = cast("PointPart", other)
        blocks = expected_blocks(kernel, self.points, self.noise, other.points, other.noise)
        return plan.bilinear(blocks, self.weights, other.weights, symmetric=self is other)

    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return Σ β_i E k(x̃_i, y_j), shape (m,)."""
        blocks = expected_blocks(kernel, Y, Dirac(), self.points, self.noise)
        return plan.matmul(blocks, Y.shape[0], self.points.shape[0], self.weights[:, None])[:, 0]

    def scaled(self, factor: float) -> PointPart:
        """Return the points with all weights times a factor."""
        return replace(self, weights=sealed(factor * self.weights))

    def here(self) -> PointPart:
        """Return the part itself."""
        return self

    def to_numpy(self) -> PointPart:
        """Return the part with NumPy arrays, copied from a device if necessary."""
        points = to_numpy(self.points)
        return self if points is self.points else PointPart(points, to_numpy(self.weights), self.noise)


_BLOCK, _DEVICE_MEMORY = (2**10, 2**11), 2.0**30  # numbers in one block of gaps, 16 MiB; bytes on a device


def logpdf(parts: Sequence[PointPart], Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i) / Σ_i β_i at the rows of ``Y``, shape (m,), in O(n m d) time and O(block) memory."""
    log_total = float(np.log(_check_weights(parts).sum()))
    terms = [_part_logpdf(part, Y) for part in parts]
    return _logsumexp(namespace(terms[0]).stack(terms), 0) - log_total


def _part_logpdf(part: PointPart, Y: Array) -> Array:
    """Return log Σ_i β_i v(y|x_i), block by block: the values of only one exist at a time."""
    points, Y = as_float64(part.points), as_float64(Y)
    size = max(1, math.prod(tile_shape(points, _BLOCK, _DEVICE_MEMORY)) // math.prod(points.shape))

    def block(j: slice) -> Array:
        logs = part.noise.logpdf(Y[j, :][:, None, :] - points)
        return _logsumexp(logs, 1, part.weights)

    logs: Array = joined([block(j) for j in slices(Y.shape[0], size)])
    return logs


def _logsumexp(logs: Array, axis: int, weights: Array | None = None) -> Array:
    """Return log Σ w e^l over an axis; terms of weight 0 are ignored, however large."""
    xp = namespace(logs)
    if weights is not None:
        logs = xp.where(weights > 0, logs, xp.full_like(logs, -xp.inf))
    largest = xp.max(logs, axis=axis, keepdims=True)
    largest = xp.where(xp.isfinite(largest), largest, xp.zeros_like(largest))
    terms = xp.exp(logs - largest)
    total = xp.sum(terms if weights is None else terms * weights, axis=axis)
    with np.errstate(divide="ignore"):  # density 0 has logarithm -inf
        logarithm: Array = xp.log(total) + xp.squeeze(largest, axis=axis)
    return logarithm


def sampled(parts: Sequence[PointPart], n: int, rng: np.random.Generator) -> Array:
    """Draw ``n`` points: a component by its weight, then its noise, shape (n, d)."""
    weights = _check_weights(parts)
    sizes = np.cumsum([len(part.points) for part in parts])
    chosen = rng.choice(sizes[-1], size=n, p=weights / weights.sum())
    owner = np.searchsorted(sizes, chosen, side="right")
    draws = np.empty((n, parts[0].points.shape[1]))
    for number, part in enumerate(parts):
        mine = owner == number
        index = chosen[mine] - (sizes[number] - len(part.points))
        draws[mine] = part.noise.take(index).sample(part.points[index], rng)
    return draws


def _check_weights(parts: Sequence[PointPart]) -> Array:
    """Return all weights, or raise when they are not those of a distribution."""
    weights = np.concatenate([as_host(part.weights) for part in parts])
    if (weights < 0).any() or weights.sum() <= 0:
        raise ValueError(
            f"{int((weights < 0).sum())} of {len(weights)} weights are negative (their sum is {weights.sum():.3g}); "
            "a density needs weights ≥ 0. A difference of embeddings is no distribution: take one of them. Of one "
            "embedding, use an estimator with equal weights, such as MKME, fitted to all rows"
        )
    return weights
