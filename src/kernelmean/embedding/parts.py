"""What embeddings are sums of: the parts, and the one that holds points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self, final

from ..core.array import Array, as_host, check_same_home, to_numpy
from ..core.frozen import Frozen, sealed
from ..core.validate import check_same_columns
from ..expected import expected_blocks
from ..kernels.base import Kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import Plan


class Part(Frozen, ABC):
    """A summand of an embedding: rows with weights and a noise, wherever they are and whatever stands for them."""

    features: Any
    """The feature map that stands for the kernel; None where the kernel itself is evaluated."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""

    @property
    @abstractmethod
    def like(self) -> Any:
        """What has as many columns, in the library and on the device in which the part is evaluated."""

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
        """Return the points and their weights in this process, or raise TypeError where they are not."""

    def joined(self, others: tuple[Part, ...]) -> tuple[Part, ...]:
        """Return the parts of the sum of this part and others."""
        return (self, *others)

    def places(self, Y: Array) -> Array:
        """Return points where the part can be evaluated; raise when they have other columns or live elsewhere."""
        check_same_home(self.like, Y, ("the embedding", "Y"))
        check_same_columns(self.like, Y, ("the embedding", "Y"))
        return Y

    def to_numpy(self) -> Part:
        """Return the part with NumPy's arrays."""
        return self


class OneNoisePart(Part):
    """Rows with one noise, which may be one distribution for every row; a dataclass with the field ``noise``."""

    noise: Noise

    @property
    def noises(self) -> tuple[Noise, ...]:
        """The noise."""
        return (self.noise,)


@final
@dataclass(frozen=True, eq=False)
class PointPart(OneNoisePart):
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
    def mass(self) -> float:
        """The sum of the weights."""
        return float(as_host(self.weights).sum())

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j) of this part and another."""
        if not isinstance(other, PointPart):  # whose rows are elsewhere
            return other.inner(self, kernel, plan)
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
        """Return the part with NumPy's arrays, copied from a device where need be."""
        points = to_numpy(self.points)
        return self if points is self.points else PointPart(points, to_numpy(self.weights), self.noise)
