"""The central idea: a kernel mean is the embedding of a weighted mixture of noisy points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from numbers import Real
from operator import add
from typing import Any

import numpy as np

from ..core.array import Array, RngLike, as_rng, check_same_home, joined, like
from ..core.frozen import owned, sealed
from ..core.points import Names, check_names_agree, named_points, points_like
from ..core.row_order import check_one_order
from ..core.validate import check_same_columns, check_weights
from ..expected.expectations import check_noise
from ..kernels.any_kernel import as_kernel
from ..kernels.base import Kernel, check_kernel
from ..noise.base import Noise
from ..noise.dirac import Dirac
from ..plan.plan import DEFAULT, Plan, RemotePlan, check_plan
from ..report.description import Description, Shown
from .parts import Part, PointPart, logpdf, sampled

_ROUNDING = 1e-13  # relative error of inner products


@dataclass(frozen=True, eq=False, repr=False)
class Embedding(Shown):
    r"""A function :math:`μ = Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)` in the RKHS of a kernel.

    Make one with :func:`embed`, or from others by ``+``, ``-`` and scaling. ``mu @ nu`` is the inner product, ``mu(Y)``
    are the values of the function, and ``(mu - nu).norm()`` is the maximum mean discrepancy. All of this works the same
    wherever the rows are: in memory, on a device, or summed as features that approximate the kernel
    (:func:`kernelmean.embedding.features.embed`).

    Attributes
    ----------
    kernel : Kernel
    parts : tuple of Part
        Weighted points with a noise, or features; a sum keeps the parts of its terms.
    plan : Plan
        How to run big sums: tiles, threads.
    """

    kernel: Kernel
    parts: tuple[Part, ...]
    plan: Plan = DEFAULT
    names: Names = None

    @property
    def point_parts(self) -> tuple[PointPart, ...]:
        """The parts as points; raises TypeError if they were not kept."""
        return tuple(part.here() for part in self.parts)

    @property
    def points(self) -> Array:
        """The points x_i of all parts, shape (n, d); read-only, or a copy if they are on a device."""
        return _whole([part.here().points for part in self.parts])

    @property
    def weights(self) -> Array:
        """The weights β_i of all parts, shape (n,); read-only, or a copy if they are on a device."""
        return _whole([part.here().weights for part in self.parts])

    @property
    def noise(self) -> Noise:
        """The noise of all points; a sum of embeddings with different noises has no single one, see ``parts``."""
        first, *others = self._noises
        if others.count(first) < len(others):
            raise ValueError("this sum has parts with different noises; read .parts instead of .noise")
        return first

    @property
    def features(self) -> Any:
        """The feature map that approximates the kernel; None if the kernel itself is evaluated."""
        return self.parts[0].features

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return sum(part.shape[0] for part in self.parts), self.parts[0].shape[1]

    def __matmul__(self, other: Embedding) -> float:
        """Return the inner product ⟨μ, ν⟩ = Σ β_i γ_j E k(x̃_i, ỹ_j), signed, in O(n m d) time and O(block²) memory."""
        self.check_compatible(other)
        if other is self:
            return self._squared_norm()
        return sum(self._inner(a, b) for a in self.parts for b in other.parts)

    def _squared_norm(self) -> float:
        """Return ⟨μ, μ⟩, with every unordered pair of parts once."""
        total = 0.0
        for index, part in enumerate(self.parts):
            total += self._inner(part, part) + 2.0 * sum(self._inner(part, b) for b in self.parts[index + 1 :])
        return total

    def _inner(self, a: Part, b: Part) -> float:
        return a.inner(b, self.kernel, self.plan)

    def norm(self) -> float:
        """Return |μ|; squares that rounding made negative count as 0 here, and only here.

        The square is exact to about 1e-16 times (Σ|w_i|)² max k. So the distance of two embeddings, the norm of their
        difference, is only rounding below about 1e-8; above 1e-4 it has eight digits.
        """
        return float(np.sqrt(max(self @ self, 0.0)))

    def __call__(self, Y: Any) -> Array:
        """Return μ(y_j) for the rows of ``Y`` (m, d), shape (m,)."""
        Y = self._places(Y)
        return reduce(add, [part.evaluate(Y, self.kernel, self.plan) for part in self.parts])

    def _places(self, Y: Any) -> Array:
        return self.parts[0].places(points_like(Y, self.names, "Y", "the embedding"))

    def __add__(self, other: Embedding) -> Embedding:
        self.check_compatible(other)
        parts = (*self.parts[:-1], *self.parts[-1].joined(other.parts))
        return replace(self, parts=parts, names=self.names or other.names)

    def __sub__(self, other: Embedding) -> Embedding:
        return self + (-1.0) * other

    def __neg__(self) -> Embedding:
        return (-1.0) * self

    def __mul__(self, factor: float | Real) -> Embedding:
        if not isinstance(factor, Real):
            return NotImplemented
        if not np.isfinite(float(factor)):
            raise ValueError(f"the factor is {factor!r}, a finite number is needed")
        return replace(self, parts=tuple(part.scaled(float(factor)) for part in self.parts))

    __rmul__ = __mul__

    def __truediv__(self, divisor: float | Real) -> Embedding:
        if not isinstance(divisor, Real):
            return NotImplemented
        if divisor == 0:
            raise ValueError("the divisor is 0; divide by a number that is not, or drop what has no weight")
        return self * (1.0 / float(divisor))

    def witness(self, other: Embedding) -> Embedding:
        """Return (μ - ν)/|μ - ν|, the function of norm 1 whose two means differ most.

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
        """Draw ``n`` points from the mixture Σ β_i v(·|x_i), shape (n, d).

        Raises
        ------
        ValueError
            When a weight is negative or all are zero: the embedding is then not that of a distribution.
        TypeError
            When the points were summed as features.
        """
        return like(sampled(self.to_numpy().point_parts, n, as_rng(rng)), self.parts[0].like)

    def logpdf(self, Y: Any) -> Array:
        """Return the log density of the mixture Σ β_i v(·|x_i) / Σ β_i at the rows of ``Y``, shape (m,).

        Raises
        ------
        TypeError
            When a part has no density (no noise, say), or its points were summed as features.
        ValueError
            When a weight is negative or all are zero, or a part's noise has width 0 in a direction: a point mass.
        """
        return logpdf(self.point_parts, self._places(Y))

    def to_numpy(self) -> Embedding:
        """Return the same embedding with NumPy arrays, copied from a device if necessary."""
        return replace(self, parts=tuple(part.to_numpy() for part in self.parts))

    def check_compatible(self, other: Embedding) -> None:
        """Raise when another embedding has another kernel, other features or other columns."""
        if not isinstance(other, Embedding):
            raise TypeError(f"{type(other).__name__} is not an Embedding; write km.embed(X, kernel) first")
        if self.kernel != other.kernel:
            raise ValueError(
                f"the embeddings are in different spaces, of {self.kernel!r} and of {other.kernel!r}; "
                "embed both with the same kernel"
            )
        names = ("one embedding", "the other")
        _check_features(self.features, other.features)
        check_same_home(self.parts[0].like, other.parts[0].like, names)
        check_same_columns(self.parts[0].like, other.parts[0].like, names)
        check_names_agree(self.names, other.names, names)

    def describe(self) -> Description:
        """Return a description of the parts; nothing is evaluated."""
        n, dim = self.shape
        total = sum(part.mass for part in self.parts)
        facts = [("rows" if self.features else "points", f"{n:,}"), ("columns", f"{dim:,}")]
        facts += [("kernel", repr(self.kernel))]
        facts += [("features", self.features.summary)] if self.features else []
        facts += [("noise", ", ".join(dict.fromkeys(repr(noise) for noise in self._noises)))]
        facts += [("weights", f"sum {total:.6g}")]
        return Description("Kernel mean embedding", facts=facts)

    @property
    def _noises(self) -> list[Noise]:
        return [noise for part in self.parts for noise in part.noises]

    def __repr__(self) -> str:
        noises = ", ".join(sorted({repr(noise) for noise in self._noises}))
        space = f"kernel={self.kernel!r}" + (f", {self.features.summary}" if self.features else "")
        return f"Embedding(n={self.shape[0]}, d={self.shape[1]}, {space}, noise={noises})"


def embed(
    X: Any,
    kernel: Kernel | Callable[[Any, Any], Any],
    *,
    weights: Any = None,
    noise: Noise | None = None,
    plan: Plan | None = None,
) -> Embedding:
    r"""Return the embedding :math:`Σ_i β_i E_{\tilde x ∼ v(·|x_i)} k(\tilde x, ·)` of a noisy weighted sample.

    Parameters
    ----------
    X : array of shape (n, d), data frame or Series
        The points; for a Gaussian mixture, the means of the components. They are copied. Arrays of torch, or of another
        library with the array API, stay on their device, and all sums run there.
    kernel : Kernel or function
        If its bandwidth is a rule, as in ``Gaussian("median")``, the rule is applied to X. A function as in
        :class:`kernelmean.kernels.KernelFunction`.
    weights : array of shape (n,), optional
        β, of any sign; 1/n each by default.
    noise : Noise, optional
        v; none by default, which gives the empirical kernel mean. With one covariance per point, the mixing
        proportions as ``weights`` and the means as ``X``, the result is the exact kernel mean of a Gaussian mixture.
    plan : Plan, optional
        How to run big sums. For rows on a cluster see :func:`kernelmean.embedding.features.embed`.

    Raises
    ------
    TypeError, ValueError
        When X is not a finite table of numbers, or weights or noise do not fit it.

    Notes
    -----
    Xia et al. (2021), eq. (7). Nothing is computed until the embedding is evaluated. It is a value: it keeps copies
    of what you pass, and returns read-only arrays.

    Examples
    --------
    >>> import kernelmean as km
    >>> kernel = km.kernels.Gaussian(1.0)
    >>> mu = km.embed([[0.0], [1.0]], kernel)
    >>> truth = km.embed([[0.5]], kernel, noise=km.noise.Normal(0.25))
    >>> round((mu - truth).norm(), 4)
    0.0338
    """
    kernel = check_kernel(as_kernel(kernel))
    how = check_plan(plan)
    if isinstance(how, RemotePlan):
        raise TypeError(
            f"plan is {plan!r}, and an embedding of single rows is made in this process; leave plan= out, or write "
            "features.embed(X, features, plan=plan), which adds up rows where they are"
        )
    read, names = named_points(X)
    points = owned(read, X)
    kernel = kernel.resolved(points)
    noise = Dirac() if noise is None else noise
    check_noise(noise, *points.shape)
    n = points.shape[0]
    check_one_order(X, weights, ("X", "weights"))
    beta = sealed(np.full(n, 1.0 / n)) if weights is None else owned(check_weights(weights, n), weights)
    return Embedding(kernel, (PointPart(points, like(beta, points, "float64"), noise),), how, names)


def _whole(arrays: list[Array]) -> Array:
    """Return the arrays of all parts as one array, through which the parts cannot be changed."""
    alone = len(arrays) == 1 and isinstance(arrays[0], np.ndarray)
    whole: Array = arrays[0] if alone else sealed(joined(arrays))
    return whole


def _check_features(first: Any, second: Any) -> None:
    """Raise when one of two embeddings is made of features and the other is not, or of other features."""
    if first is second or first == second:
        return
    if first is None or second is None:
        raise ValueError(
            f"one embedding is made of features and the other is not: {first or second!r} only come near their kernel; "
            "embed both by the same features, features.embed(X, features)"
        )
    raise ValueError(
        f"the embeddings have different features, {first!r} and {second!r}; make the features once and use them for "
        "both"
    )
