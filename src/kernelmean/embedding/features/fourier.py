"""Random Fourier features for shift-invariant kernels and, by its characteristic function, any additive noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, final

import numpy as np

from ...core.array import Array, IntArray, RngLike, as_rng
from ...core.cached import cached_property
from ...core.frozen import Frozen, sealed
from ...core.validate import check_finite, check_integer, check_numbers
from ...expected.expectations import check_dim
from ...kernels.base import Kernel, check_kernel
from ...noise.base import Additive, Noise
from ...noise.dirac import Dirac
from .base import HEAD, FeatureMap, grouped_sums, scratch
from .spectral_measures import DESIGNS, Design, spectra

_MOST_TURNS = 2.0**44  # of a wave from the origin to a row: the phase is then known to 1/500 of a turn
_WORDS = {"plain": "random", "orthogonal": "orthogonal random", "quasi": "quasi-random"}


def wrapped(turns: Array, dtype: str) -> Array:
    """Return phases in turns (overwritten) as angles in [-π, π]; this thread's next call overwrites them."""
    whole = scratch("whole", turns.shape)
    with np.errstate(over="ignore", invalid="ignore"):
        np.rint(turns, out=whole)
    if not max(whole.max(), -whole.min()) <= _MOST_TURNS:
        raise ValueError(
            "rows lie so far from the origin of the features, in units of the bandwidth, that float64 loses "
            "the phase of their waves; pass origin= amid the data, a wider bandwidth, or rescaled columns"
        )
    turns -= whole  # in float64, so that far points keep their phase in float32
    angles = scratch(f"angles {dtype}", turns.shape, dtype)
    return np.multiply(turns, 2 * np.pi, out=angles, casting="same_kind")


@final
@dataclass(frozen=True, eq=False, repr=False)
class Fourier(Frozen, FeatureMap):
    r"""The features :math:`\sqrt{w_j} (\cos ω_j^⊤ (x - o), \sin ω_j^⊤ (x - o))`, j = 1 … M; see :func:`fourier`.

    Attributes
    ----------
    kernel : Kernel
        The kernel that they approximate.
    frequencies : array of shape (M, d)
        ω, in units of 1/X.
    strata : tuple of (float, int, int)
        For every component of the spectrum: its mass, the number of independent groups and the size of a group. The
        frequencies are in this order.
    origin : array of shape (d,)
        o, subtracted from all rows; inner products depend on it only by rounding.
    design : {"plain", "orthogonal", "quasi"}
    dtype : {"float64", "float32"}
        The type in which cosines are computed.
    """

    kernel: Kernel
    frequencies: Array
    strata: tuple[tuple[float, int, int], ...]
    origin: Array
    design: Design
    dtype: Literal["float64", "float32"] = "float64"

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        super().__post_init__()
        check_kernel(self.kernel)
        many = sum(groups * size for _, groups, size in self.strata)
        fits = self.frequencies.ndim == 2 and self.frequencies.shape == (many, *self.origin.shape) and many > 0
        masses = all(mass > 0 and min(groups, size) > 0 for mass, groups, size in self.strata)
        if not (fits and masses and self.design in DESIGNS and self.dtype in ("float64", "float32")):
            raise ValueError("frequencies, strata, origin, design and type do not go together; write features.fourier")
        check_finite(self.frequencies, "frequencies")
        check_finite(self.origin, "origin")

    @property
    def dim(self) -> int:
        """The number of columns of the rows."""
        return int(self.frequencies.shape[1])

    @property
    def size(self) -> int:
        """The number of features, two for each frequency."""
        return 2 * len(self.frequencies)

    @property
    def summary(self) -> str:
        """The features in words."""
        return f"{len(self.frequencies)} {_WORDS[self.design]} Fourier frequencies"

    @cached_property
    def weights(self) -> Array:
        """The weight w_j of every frequency, shape (M,); they sum to k(x, x)."""
        shares = [np.full(groups * size, mass / (groups * size)) for mass, groups, size in self.strata]
        return np.asarray(sealed(np.concatenate(shares)))

    @property
    def mass(self) -> float:
        """The constant k(x, x)."""
        return float(sum(mass for mass, _, _ in self.strata))

    def check_noise(self, noise: Noise) -> None:
        """Raise unless a noise is additive and shared by all points."""
        self.damping(noise)

    def damping(self, noise: Noise) -> Array:
        """Return the characteristic function of a noise at every frequency, shape (M,).

        Raises
        ------
        TypeError
            When the noise is not additive, or its characteristic function is not known.
        ValueError
            When every point has its own noise, or the noise is made for another number of columns.
        """
        if not isinstance(noise, Additive):
            raise TypeError(f"{noise!r} is not additive, so it damps no frequencies; use features.nystrom(...)")
        if noise.per_point is not None:
            raise ValueError(
                f"{noise!r} has one distribution per point; embed the points of each distribution separately"
            )
        check_dim(noise, self.dim)
        return np.asarray(noise.characteristic(self.frequencies), dtype=np.float64)

    def damped(self, vectors: Array, noise: Noise) -> Array:
        """Return mean features (..., 2M) under additional noise: cosines and sines times its damping."""
        return vectors if isinstance(noise, Dirac) else vectors * np.tile(self.damping(noise), 2)

    @cached_property
    def _turns(self) -> Array:
        """Frequencies in turns instead of radians, transposed."""
        return self.frequencies.T / (2 * np.pi)

    def angles(self, X: Array, columns: slice = slice(None)) -> Array:
        """Return ωᵀ(x - o) in [-π, π] over some columns, shape (n, M); this thread's next call overwrites it."""
        turns = scratch("turns", (len(X), len(self.frequencies)))
        with np.errstate(over="ignore", invalid="ignore"):
            np.matmul(X[:, columns] - self.origin[columns], self._turns[columns], out=turns)
        return wrapped(turns, self.dtype)

    def fill(self, X: Array, noise: Noise, out: Array) -> None:
        """Write the features of few rows to ``out``, shape (n, 2M)."""
        amplitudes = self._amplitudes * (1.0 if isinstance(noise, Dirac) else np.tile(self.damping(noise), 2))
        np.multiply(self._waves(X), amplitudes, out=out)

    @cached_property
    def _amplitudes(self) -> Array:
        """The factors of cosines and sines, shape (2M,)."""
        return np.tile(np.sqrt(self.weights), 2)

    def _waves(self, X: Array) -> Array:
        """Return cosines and sines of few rows, shape (n, 2M); this thread's next call overwrites them."""
        count, angles = len(self.frequencies), self.angles(X)
        waves = scratch(f"waves {self.dtype}", (len(X), 2 * count), self.dtype)
        np.cos(angles, out=waves[:, :count])
        np.sin(angles, out=waves[:, count:])
        return waves

    def grouped(self, X: Array, starts: IntArray) -> Array:
        """Return the sums of 1, 1, |φ|², 0, φ over few rows, from one start to the next, shape (g, 4 + 2M)."""
        out = np.empty((len(starts), HEAD + self.size))
        out[:, :2] = np.diff(np.append(starts, len(X)))[:, None]
        out[:, 2], out[:, 3] = self.mass * out[:, 0], 0.0
        np.multiply(grouped_sums(self._waves(X), starts), self._amplitudes, out=out[:, HEAD:])
        return out

    def squared_norms(self, tile: Array, noise: Noise) -> Array:
        """Return the constant Σ_j w_j φ_v(ω_j)², shape (n,)."""
        constant = self.mass if isinstance(noise, Dirac) else self.weights @ self.damping(noise) ** 2
        return np.full(len(tile), constant)

    def power(self, left: Array, right: Array) -> Array:
        """Return each frequency's part of an inner product, divided by its weight, shape (M,)."""
        products = (left * right).reshape(2, -1).sum(axis=0)
        return np.asarray(products / self.weights)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fourier):
            return NotImplemented
        same = (self.kernel, self.strata, self.design) == (other.kernel, other.strata, other.design)
        arrays = (self.frequencies, other.frequencies), (self.origin, other.origin)
        return same and self.dtype == other.dtype and all(np.array_equal(*pair) for pair in arrays)

    def __hash__(self) -> int:
        return hash((self.kernel, self.strata, self.frequencies.tobytes()))

    def __repr__(self) -> str:
        return f"Fourier({self.kernel!r}, {self.summary}, d={self.dim})"


def fourier(
    kernel: Kernel,
    dim: int,
    n_frequencies: int = 512,
    *,
    design: Design = "orthogonal",
    origin: Any = 0.0,
    dtype: Literal["float64", "float32"] = "float64",
    rng: RngLike = 0,
) -> Fourier:
    r"""Return random Fourier features of a shift-invariant kernel.

    .. math:: k(x, y) = c\, E_ω \cos ω^⊤(x - y) ≈ \frac cM \sum_j \cos ω_j^⊤(x - y)

    Parameters
    ----------
    kernel : Kernel
        Gaussian, Laplacian, Matérn, rational quadratic, and sums, scalings, products and tensor products of these.
    dim : int
        The number of columns d.
    n_frequencies : int
        The smallest M; it is rounded up to whole groups of the design. A frequency has two features, cosine and sine.
    design : {"plain", "orthogonal", "quasi"}
        "plain": independent frequencies; "orthogonal": orthogonal ones, in independent blocks of up to d; "quasi": 16
        independently scrambled Sobol sequences. The last two have smaller errors for smooth kernels in few columns.
    origin : float or array of shape (d,)
        A point near the data. It is subtracted from all rows, so that a large offset costs no digits.
    dtype : {"float64", "float32"}
        The type in which cosines are computed. In float32, a feature has an absolute error of about 1e-7 and takes a
        fifth of the time. Sums are in float64 in both cases.
    rng : int or Generator
        The seed.

    Raises
    ------
    TypeError
        When there is no sampler for the frequencies of the kernel.
    ValueError
        When a number is not positive, or an option is unknown.

    Notes
    -----
    O(n d M) time for n rows. Rahimi & Recht (2007), algorithm 1; Yu et al. (2016) for orthogonal frequencies, Avron
    et al. (2016) for quasi-random ones. Noise multiplies the features of a frequency ω by its characteristic function
    φ_v(ω), so E k(x̃, ỹ) does not need a closed form.

    Examples
    --------
    >>> from kernelmean.kernels import Gaussian
    >>> phi = fourier(Gaussian(1.0), dim=2, n_frequencies=4096)(np.array([[0.0, 0.0], [1.0, 0.0]]))
    >>> bool(abs(phi[0] @ phi[1] - np.exp(-0.5)) < 0.03)
    True
    """
    check_kernel(kernel)
    check_integer(dim, "dim", 1)
    check_integer(n_frequencies, "n_frequencies", 1)
    if design not in DESIGNS:
        raise ValueError(f"design is {design!r}; pass one of {', '.join(map(repr, DESIGNS))}")
    if dtype not in ("float64", "float32"):
        raise ValueError(f"dtype is {dtype!r}; write 'float64' or 'float32'")
    center = check_numbers(origin, "origin")
    if center.shape not in ((), (1,), (dim,)):
        raise ValueError(f"origin has shape {center.shape}; a number or one number per column, ({dim},), is needed")
    generator, parts = as_rng(rng), [part for part in spectra(kernel, dim) if part.mass > 0]
    total = sum(part.mass for part in parts)
    if not total:
        raise ValueError(f"{kernel!r} is 0 everywhere, so there is nothing to approximate")
    frequencies, strata = [], []
    for part in parts:
        count = max(1, round(n_frequencies * part.mass / total))
        groups = DESIGNS[design](part.normals, count, generator)
        frequencies.append(part.frequencies(groups.reshape(-1, part.normals)))
        strata.append((float(part.mass), *groups.shape[:2]))
    center = np.broadcast_to(center, (dim,)).copy()
    return Fourier(kernel, np.concatenate(frequencies), tuple(strata), center, design, dtype)
