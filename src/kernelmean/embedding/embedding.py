"""The one idea: a kernel mean is the embedding of a weighted mixture of noisy points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import add
from typing import Any, cast

import numpy as np

from ..core.array import Array, RngLike, as_host, as_rng, check_same_home, is_foreign, joined, like, to_numpy
from ..core.frozen import Frozen, owned, sealed
from ..core.points import Names, check_names_agree, named_points, points_like
from ..core.validate import check_same_columns, check_weights
from ..expected import expected_blocks
from ..expected._core import check_noise
from ..kernels.base import Kernel, check_kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import DEFAULT, Plan, RemotePlan
from ..report.description import Description
from ..report.shown import Shown
from . import density
from .herding import Herd, herd

_ROUNDING = 1e-13  # relative error of inner products


@dataclass(frozen=True, eq=False)
class Part(Frozen):
    """Weighted points with one noise: a summand of an embedding."""

    points: Array
    weights: Array
    noise: Noise

    def inner(self, other: Part, kernel: Kernel, plan: Plan) -> float:
        """Return Σ β_i γ_j E k(x̃_i, ỹ_j) of this part and another."""
        if type(other) is not Part:  # whose rows are elsewhere
            return other.inner(self, kernel, plan)
        blocks = expected_blocks(kernel, self.points, self.noise, other.points, other.noise)
        return plan.bilinear(blocks, self.weights, other.weights, symmetric=self is other)

    def evaluate(self, Y: Array, kernel: Kernel, plan: Plan) -> Array:
        """Return Σ β_i E k(x̃_i, y_j), shape (m,)."""
        blocks = expected_blocks(kernel, Y, Dirac(), self.points, self.noise)
        return plan.matmul(blocks, Y.shape[0], self.points.shape[0], self.weights[:, None])[:, 0]


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Shown):
    r"""A function :math:`μ = Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)` in the RKHS of a kernel.

    Made by :func:`embed`, and by ``+``, ``-`` and scaling of others. Values: ``mu @ nu`` is the inner product,
    ``mu(Y)`` the function's values, ``(mu - nu).norm()`` the maximum mean discrepancy.

    Attributes
    ----------
    kernel : Kernel
    parts : tuple of Part
        Weighted points with a noise; a sum keeps the parts of its terms.
    plan : Plan
        How big sums run: tiles, threads.
    """

    kernel: Kernel
    parts: tuple[Part, ...]
    plan: Plan = DEFAULT
    names: Names = None

    @property
    def points(self) -> Array:
        """The points x_i of all parts, shape (n, d); read-only, or a copy where they are on a device."""
        return _whole([part.points for part in self.parts])

    @property
    def weights(self) -> Array:
        """The weights β_i of all parts, shape (n,); read-only, or a copy where they are on a device."""
        return _whole([part.weights for part in self.parts])

    @property
    def noise(self) -> Noise:
        """The noise of all points; a sum of embeddings with different noises has none, see ``parts``."""
        first = self.parts[0].noise
        if any(part.noise != first for part in self.parts[1:]):
            raise ValueError("this sum has parts with different noises; read .parts instead of .noise")
        return first

    def __matmul__(self, other: Embedding) -> float:
        """Return the inner product ⟨μ, ν⟩ = Σ β_i γ_j E k(x̃_i, ỹ_j), signed, in O(n m d) time and O(block²) memory."""
        self._check_compatible(other)
        if other is self:
            return self._squared_norm()
        return sum(self._inner(a, b) for a in self.parts for b in other.parts)

    def _squared_norm(self) -> float:
        """Return ⟨μ, μ⟩, every unordered pair of parts once."""
        total = 0.0
        for index, part in enumerate(self.parts):
            total += self._inner(part, part) + 2.0 * sum(self._inner(part, b) for b in self.parts[index + 1 :])
        return total

    def _inner(self, a: Part, b: Part) -> float:
        return a.inner(b, self.kernel, self.plan)

    def norm(self) -> float:
        """Return |μ|; rounding below zero is clipped here and nowhere else.

        The square is exact to about 1e-16 times (Σ|w_i|)² max k. So the distance of two embeddings, the norm of their
        difference, is rounding below about 1e-8, whatever it truly is; above 1e-4 it has eight digits.
        """
        return float(np.sqrt(max(self @ self, 0.0)))

    def __call__(self, Y: Any) -> Array:
        """Return μ(y_j) for the rows of ``Y`` (m, d), shape (m,)."""
        Y = self._places(Y)
        return reduce(add, [part.evaluate(Y, self.kernel, self.plan) for part in self.parts])

    def _places(self, Y: Any) -> Array:
        """Return points at which the embedding can be evaluated."""
        Y = points_like(Y, self.names, "Y", "the embedding")
        check_same_home(self.parts[0].points, Y, ("the embedding", "Y"))
        check_same_columns(self.parts[0].points, Y, ("the embedding", "Y"))
        return Y

    def __add__(self, other: Embedding) -> Embedding:
        self._check_compatible(other)
        return replace(self, parts=self.parts + other.parts, names=self.names or other.names)

    def __sub__(self, other: Embedding) -> Embedding:
        return self + (-1.0) * other

    def __neg__(self) -> Embedding:
        return (-1.0) * self

    def __mul__(self, factor: float) -> Embedding:
        if not isinstance(factor, Real):
            return NotImplemented
        if not np.isfinite(factor):
            raise ValueError(f"the factor is {factor!r}, a finite number is needed")
        return replace(
            self, parts=tuple(replace(part, weights=sealed(float(factor) * part.weights)) for part in self.parts)
        )

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Embedding:
        if not isinstance(divisor, Real):
            return NotImplemented
        if divisor == 0:
            raise ValueError("the divisor is 0; divide by a number that is not, or drop what has no weight")
        return self * (1.0 / divisor)

    def witness(self, other: Embedding) -> Embedding:
        """Return (μ - ν)/|μ - ν|, the unit function on which the two means differ most.

        Raises
        ------
        ValueError
            When the two embeddings are equal up to rounding: |μ - ν|² ≤ 1e-13 (|μ|² + |ν|²).
        """
        difference = self - other
        lengths = self @ self + other @ other
        squared = lengths - 2.0 * (self @ other)
        if squared <= _ROUNDING * lengths:
            raise ValueError("the two embeddings are equal, so no function tells them apart")
        return difference / np.sqrt(squared)

    def sample(self, n: int, rng: RngLike = None) -> Array:
        """Draw ``n`` points of the mixture Σ β_i v(·|x_i), shape (n, d).

        Raises
        ------
        ValueError
            When a weight is negative or all are zero: then the embedding is not that of a distribution.
        """
        return like(density.sample(self.to_numpy().parts, n, as_rng(rng)), self.parts[0].points)

    def herd(self, m: int, *, candidates: Any = None, n_candidates: int = 2000, rng: RngLike = 0) -> Herd:
        """Choose ``m`` points whose plain average stands for the embedding; see :func:`.herding.herd`.

        Returns
        -------
        Herd
            ``points`` (m, d) in the order of their choice, and ``errors`` (m,), the distance after each.
        """
        return herd(self.to_numpy(), m, candidates=candidates, n_candidates=n_candidates, rng=rng)

    def logpdf(self, Y: Any) -> Array:
        """Return the log density of the mixture Σ β_i v(·|x_i) / Σ β_i at the rows of ``Y``, shape (m,).

        Raises
        ------
        TypeError
            When a part has no density (no noise, say).
        ValueError
            When a weight is negative or all are zero, or a part's noise has width 0 in a direction: a point mass.
        """
        Y = self._places(Y)
        return density.logpdf(self.parts, Y)

    def to_numpy(self) -> Embedding:
        """Return the same embedding with NumPy's arrays, copied from a device where need be."""
        if not is_foreign(self.parts[0].points):
            return self
        return replace(
            self, parts=tuple(Part(to_numpy(part.points), to_numpy(part.weights), part.noise) for part in self.parts)
        )

    def _check_compatible(self, other: Embedding) -> None:
        if not isinstance(other, Embedding):
            raise TypeError(f"{other!r} is no Embedding; write km.embed(X, kernel) first")
        if self.kernel != other.kernel:
            raise ValueError(
                f"the embeddings live in different spaces, of {self.kernel!r} and of {other.kernel!r}; "
                "embed both with the same kernel"
            )
        pair, names = (self.parts[0].points, other.parts[0].points), ("one embedding", "the other")
        check_same_home(*pair, names)
        check_same_columns(*pair, names)
        check_names_agree(self.names, other.names, names)

    def describe(self) -> Description:
        """Return what it is made of; nothing is evaluated for it."""
        n, dim = sum(part.points.shape[0] for part in self.parts), self.parts[0].points.shape[1]
        total = sum(float(as_host(part.weights).sum()) for part in self.parts)
        facts = [("points", f"{n:,}"), ("columns", f"{dim:,}"), ("kernel", repr(self.kernel))]
        facts += [("noise", ", ".join(dict.fromkeys(repr(part.noise) for part in self.parts)))]
        facts += [("weights", f"sum {total:.6g}")]
        return Description("Kernel mean embedding", facts=facts)

    def __repr__(self) -> str:
        noises = ", ".join(sorted({repr(part.noise) for part in self.parts}))
        n, dim = sum(part.points.shape[0] for part in self.parts), self.parts[0].points.shape[1]
        return f"Embedding(n={n}, d={dim}, kernel={self.kernel!r}, noise={noises})"


def embed(
    X: Any, kernel: Kernel, *, weights: Any = None, noise: Noise | None = None, plan: Plan | RemotePlan = DEFAULT
) -> Embedding:
    r"""Return the embedding :math:`Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)` of a noisy weighted sample.

    Parameters
    ----------
    X : array of shape (n, d), data frame or Series
        The points, which are copied; for a Gaussian mixture the component means. Those of torch, or of another library
        that speaks the array API, stay on their device, and all sums run there.
    kernel : Kernel
        A bandwidth that is a rule, such as ``Gaussian("median")``, is found in X.
    weights : array of shape (n,), optional
        β, of any sign; 1/n each by default.
    noise : Noise, optional
        v; none by default, which gives the empirical kernel mean. With one covariance per point, ``weights`` the
        mixing proportions and ``X`` the means, the result is the exact mean of a Gaussian mixture.
    plan : Plan or DaskPlan, optional
        How big sums run; on a cluster, where X is a dask array, a dask data frame or a folder of Parquet files.

    Raises
    ------
    TypeError, ValueError
        When X is not a finite table of numbers, or weights or noise do not fit it.

    Notes
    -----
    Xia et al. (2021), eq. (mkme). Nothing is computed until the embedding is evaluated. It is a value: it keeps copies
    of what was passed, and hands out arrays that are read-only.

    Examples
    --------
    >>> import kernelmean as km
    >>> kernel = km.kernels.Gaussian(1.0)
    >>> mu = km.embed([[0.0], [1.0]], kernel)
    >>> truth = km.embed([[0.5]], kernel, noise=km.noise.Normal(0.25))
    >>> round((mu - truth).norm(), 4)
    0.0338
    """
    check_kernel(kernel)
    if isinstance(plan, RemotePlan):
        return cast("Embedding", plan.embed(X, kernel, weights=weights, noise=noise))
    read, names = named_points(X)
    points = owned(read, X)
    kernel = kernel.resolved(points)
    noise = Dirac() if noise is None else noise
    check_noise(noise, *points.shape)
    n = points.shape[0]
    beta = sealed(np.full(n, 1.0 / n)) if weights is None else owned(check_weights(weights, n), weights)
    return Embedding(kernel, (Part(points, like(beta, points, "float64"), noise),), plan, names)


def _whole(arrays: list[Array]) -> Array:
    """Return the arrays of all parts as one that nobody can change the parts by."""
    alone = len(arrays) == 1 and isinstance(arrays[0], np.ndarray)
    whole: Array = arrays[0] if alone else sealed(joined(arrays))
    return whole
