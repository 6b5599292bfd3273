"""Gaussian noise: isotropic, diagonal or full, shared or one covariance per point."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np
from scipy.special import factorial2

from ..core.array import Array, array_api, like, total
from ..core.frozen import Frozen, owned, sealed
from ..core.type_rules import NoClosedFormError
from ..core.validate import check_finite, check_numbers, check_positive
from .base import Additive, Noise, check_density
from .dirac import Dirac

Form = Literal["isotropic", "diagonal", "full"]
_EVENT = {"isotropic": 0, "diagonal": 1, "full": 2}


@final
@dataclass(frozen=True, eq=False, init=False, repr=False)
class Normal(Frozen, Additive):
    """Gaussian noise N(0, Σ) around every point (the noise of MKME and MMKME).

    Parameters
    ----------
    covariance : float or array of shape (d, d) or (n, d, d)
        In squared units of X. A number is the variance σ² of every axis (MKME), a (d, d) array a full Σ, and an
        (n, d, d) array gives every point its own Σ. For one variance per axis (MMKME), shape (d,) or (n, d), write
        ``Normal.diagonal(e)``; for one variance per point, shape (n,), write ``Normal.isotropic(s)``.

    Raises
    ------
    ValueError
        When a variance is negative, a matrix is not symmetric positive semi-definite, or the shape is (n,) or (d,),
        which is ambiguous: use ``Normal.diagonal`` or ``Normal.isotropic``.

    Notes
    -----
    Xia et al. (2021), eq. (8).

    Examples
    --------
    >>> Normal(0.1)
    Normal(0.1)
    >>> Normal.diagonal([0.1, 0.2])
    Normal.diagonal([0.1, 0.2])
    """

    covariance: Array
    form: Form

    @classmethod
    def examples(cls) -> Mapping[str, Noise]:
        """Return example noises for the support table and the tests."""
        covariance = np.array([[1.0, 0.3], [0.3, 0.5]])
        return {
            "Normal": cls(0.1),
            "Normal, diagonal": cls.diagonal([0.1, 0.2]),
            "Normal, full": cls(covariance),
            "Normal, one per point": cls(np.stack([covariance, 2 * covariance])),
        }

    def __init__(self, covariance: Any) -> None:
        ndim = np.ndim(covariance)
        if ndim == 1:
            raise ValueError(
                f"a covariance of shape {np.shape(covariance)} is ambiguous; write Normal.diagonal(e) for one "
                "variance per column or Normal.isotropic(s) for one per point"
            )
        self._fill(covariance, "isotropic" if ndim == 0 else "full")

    def _fill(self, covariance: Any, form: Form) -> None:
        if form == "full":
            array = check_numbers(covariance, "covariance", finite=False)
            _check_covariance(array)
        else:
            array = check_positive(covariance, "variance", zero=True)
        if array.ndim - _EVENT[form] not in (0, 1):
            raise ValueError(f"a {form} covariance cannot have shape {array.shape}")
        self._set(owned(array, covariance), form)

    def _set(self, covariance: Array, form: Form) -> None:
        object.__setattr__(self, "covariance", sealed(covariance))
        object.__setattr__(self, "form", form)

    def _cut(self, covariance: Array) -> Normal:
        """Return the noise of a part of the points or columns; its covariances were checked with the whole."""
        noise = Normal.__new__(Normal)
        noise._set(covariance, self.form)
        return noise

    @classmethod
    def of_form(cls, covariance: Any, form: Form) -> Normal:
        """Return the noise with an array of covariances of a form: "isotropic", "diagonal" or "full"."""
        noise = cls.__new__(cls)
        noise._fill(covariance, form)
        return noise

    @classmethod
    def diagonal(cls, variances: Any) -> Normal:
        """Return the noise with one variance per axis, shape (d,), or per point and axis, (n, d)."""
        return cls.of_form(variances, "diagonal")

    @classmethod
    def isotropic(cls, variances: Any) -> Normal:
        """Return the noise with one variance for all axes, a number, or one per point, (n,)."""
        return cls.of_form(variances, "isotropic")

    @property
    def per_point(self) -> int | None:
        """The number of points when every point has its own covariance, else None."""
        return len(self.covariance) if self.covariance.ndim > _EVENT[self.form] else None

    @property
    def dim(self) -> int | None:
        """The number of columns of a diagonal or a full covariance; None for an isotropic one."""
        return None if self.form == "isotropic" else self.covariance.shape[-1]

    def take(self, index: slice | Array) -> Normal:
        """Return the noise of a subset of the points."""
        if self.per_point is None:
            return self
        return self._cut(self.covariance[index])

    def columns(self, index: tuple[int, ...]) -> Normal:
        """Return the marginal noise on a block of columns."""
        if self.form == "isotropic":
            return self
        chosen = self.covariance[..., list(index)]
        return self._cut(chosen if self.form == "diagonal" else chosen[..., list(index), :])

    def is_independent(self, blocks: Sequence[tuple[int, ...]]) -> bool:
        """Return whether no covariance between two of the blocks of columns differs from 0."""
        if self.form != "full":
            return True
        label = np.full(self.covariance.shape[-1], -1)
        for number, block in enumerate(blocks):
            label[list(block)] = number
        tied = (label[:, None] != label) & (label[:, None] >= 0) & (label >= 0)
        return not np.any(self.covariance[..., tied])

    def matrices(self, dim: int) -> Array:
        """Return Σ as full matrices, shape (d, d) or (n, d, d)."""
        if self.form == "full":
            return self.covariance
        return self.variances(dim)[..., None] * np.eye(dim)

    def variances(self, dim: int) -> Array:
        """Return the variance of every axis, shape (d,) or (n, d)."""
        if self.form == "full":
            return np.diagonal(self.covariance, axis1=-2, axis2=-1)
        if self.form == "diagonal":
            return self.covariance
        return np.broadcast_to(self.covariance[..., None], (*self.covariance.shape, dim))

    def sample_gap(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Draw ε ~ N(0, Σ), shape (n, d)."""
        gap = rng.standard_normal(shape)
        if self.form != "full":
            return gap * np.sqrt(self.variances(shape[1]))
        values, vectors = np.linalg.eigh(self.covariance)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        return np.einsum("...ij,...j->...i", scaled, gap)

    def logpdf(self, gap: Array) -> Array:
        """Return log N(gap; 0, Σ), shape (..., d) to (...); with one Σ per point, (..., n, d) to (..., n)."""
        dim = gap.shape[-1]
        check_density(self, self._is_regular() if self.form == "full" else self.covariance)
        if self.form == "full":
            factor = np.linalg.cholesky(self.covariance)
            inverse = np.swapaxes(np.linalg.inv(factor), -1, -2)
            white = gap @ like(inverse, gap) if inverse.ndim == 2 else _rows_times(gap, inverse)
            log_scale = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        else:
            deviation = np.sqrt(self.variances(dim))
            white, log_scale = gap / like(deviation, gap), np.log(deviation).sum(axis=-1)
        squared: Array = total(white * white, axis=-1)
        return -0.5 * squared - like(log_scale, gap) - 0.5 * dim * math.log(2 * math.pi)

    def moments(self, order: int, dim: int) -> Array:
        """Return E ε_j^r = (r - 1)!! e_j^{r/2} for even r, shape (order + 1, d) or (order + 1, n, d)."""
        if self.form == "full":
            raise TypeError(f"{self!r} has dependent coordinates; axis-wise moments need a diagonal covariance")
        variances = self.variances(dim)
        factors = [float(factorial2(r - 1)) if r % 2 == 0 and r else float(r == 0) for r in range(order + 1)]
        return np.stack([factor * variances ** (r / 2) for r, factor in enumerate(factors)])

    def characteristic(self, frequencies: Array) -> Array:
        """Return exp(-½ ωᵀΣω), shape (m,); a shared Σ only."""
        quadratic = np.einsum("mi,ij,mj->m", frequencies, self.matrices(frequencies.shape[1]), frequencies)
        return np.exp(-0.5 * quadratic)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Normal):
            return NotImplemented
        return self.form == other.form and np.array_equal(self.covariance, other.covariance)

    def __hash__(self) -> int:
        return hash((self.form, self.covariance.tobytes()))

    def __repr__(self) -> str:
        if self.per_point is not None:
            return f"Normal({self.form}, one per point, n={self.per_point})"
        name = {"isotropic": "Normal", "diagonal": "Normal.diagonal", "full": "Normal"}[self.form]
        return f"{name}({np.array2string(self.covariance, separator=', ', threshold=12)})"

    def _is_regular(self) -> Any:
        """Return whether full covariances, in units of their standard deviations, are definite beyond rounding."""
        deviations = np.sqrt(np.diagonal(self.covariance, axis1=-2, axis2=-1))
        if not deviations.all():
            return False
        correlations = self.covariance / deviations[..., :, None] / deviations[..., None, :]
        return np.linalg.eigvalsh(correlations)[..., 0] > self.covariance.shape[-1] * np.finfo(np.float64).eps


@array_api
def _rows_times(gap: Array, matrices: Array) -> Array:
    """Return the row n of ``gap`` (..., n, d) times the matrix n, shape (n, d, d)."""
    product: Array = (gap[..., None, :] @ like(matrices, gap))[..., 0, :]
    return product


@_rows_times.numpy
def _(gap: Array, matrices: Array) -> Array:
    return np.einsum("...nj,nji->...ni", gap, matrices)


def _check_covariance(array: Array) -> None:
    """Raise unless ``array`` is a symmetric positive semi-definite matrix, or a stack of them."""
    if array.ndim not in (2, 3) or array.shape[-1] != array.shape[-2]:
        diagonal = "; for one variance per row and column write Normal.diagonal(e)" if array.ndim == 2 else ""
        raise ValueError(f"a full covariance has shape (d, d) or (n, d, d), not {array.shape}{diagonal}")
    check_finite(array, "covariance")
    scale = np.abs(array).max(initial=0.0)
    if np.abs(array - np.swapaxes(array, -1, -2)).max(initial=0.0) > 1e-10 * scale:
        raise ValueError("the covariance is not symmetric; pass (C + C.T) / 2 if it should be")
    if np.linalg.eigvalsh(array).min(initial=0.0) < -1e-10 * scale:
        raise ValueError("the covariance has a negative eigenvalue; a covariance is positive semi-definite")


def as_normal(noise: Noise, refusal: str) -> Normal:
    """Return Normal noise, also for none; of any other raise ``refusal``, which names it by "{noise!r}"."""
    if isinstance(noise, Dirac):
        return Normal(0.0)
    if not isinstance(noise, Normal):
        raise NoClosedFormError(refusal.format(noise=noise))
    return noise
