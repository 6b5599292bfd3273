"""Spectra of shift-invariant kernels: frequencies ω drawn so that k(x, y) = c E cos(ωᵀ(x - y)) (Bochner's theorem).

Every sampler turns standard normal numbers into frequencies, so independent, orthogonal and quasi-random draws differ
only in how these numbers are made.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product
from typing import Literal, final

import numpy as np
from scipy import stats
from scipy.linalg import cholesky, solve_triangular
from scipy.special import ndtr, ndtri
from scipy.stats import qmc

from ...core.array import Array
from ...core.type_rules import NoClosedFormError, Rules
from ...kernels.base import Kernel, Product, Scaled, Sum
from ...kernels.gaussian import Gaussian, QuadraticGaussian
from ...kernels.laplacian import Laplacian
from ...kernels.matern import Matern
from ...kernels.rational_quadratic import RationalQuadratic
from ...kernels.tensor_product import TensorProduct


@final
@dataclass(frozen=True)
class Spectrum:
    """One component of a spectral measure."""

    mass: float
    """Its share c of k(x, x)."""
    normals: int
    """How many standard normal numbers make one frequency."""
    frequencies: Callable[[Array], Array]
    """From those, shape (M, normals), to frequencies, shape (M, d), in units of 1/X."""

    @classmethod
    def convolved(cls, parts: tuple[Spectrum, ...]) -> Spectrum:
        """Return the component whose frequencies are sums of those of independent ones."""
        edges = np.cumsum([part.normals for part in parts])

        def frequencies(Z: Array) -> Array:
            pieces = zip(parts, np.split(Z, edges[:-1], axis=1), strict=True)
            return reduce(np.add, (part.frequencies(piece) for part, piece in pieces))

        return cls(float(np.prod([part.mass for part in parts])), int(edges[-1]), frequencies)


Spectra = tuple[Spectrum, ...]
spectral_rules: Rules[Callable[..., Spectra]] = Rules("spectra")


def spectra(kernel: Kernel, dim: int) -> Spectra:
    """Return the components of the spectral measure of a kernel; a sum of kernels has several.

    Raises
    ------
    TypeError
        When there is no sampler for the kernel; the message lists the kernels that have one.

    Examples
    --------
    >>> [round(part.mass, 2) for part in spectra(Gaussian(1.0) + 0.5 * Laplacian(2.0), dim=3)]
    [1.0, 0.5]
    """
    rule = spectral_rules.find(kernel)
    if rule is None:
        known = ", ".join(sorted(signature[0].__name__ for signature in spectral_rules))
        raise NoClosedFormError(
            f"{kernel!r} has no sampler of frequencies; {known} have one; use features.nystrom or "
            "features.random_cholesky, which serve every kernel"
        )
    return rule(kernel, dim)


@spectral_rules.register(Gaussian)
def _gaussian(kernel: Gaussian, dim: int) -> Spectra:
    bandwidths = kernel.bandwidths(dim)
    return (Spectrum(1.0, dim, lambda Z: Z / bandwidths),)


@spectral_rules.register(QuadraticGaussian)
def _quadratic(kernel: QuadraticGaussian, dim: int) -> Spectra:
    """Frequencies are N(0, C⁻¹)."""
    factor = cholesky(np.asarray(kernel.covariance), lower=True)
    return (Spectrum(1.0, dim, lambda Z: solve_triangular(factor, Z.T, lower=True, trans="T").T),)


@spectral_rules.register(Laplacian)
def _laplacian(kernel: Laplacian, dim: int) -> Spectra:
    """Frequencies are Cauchy, independent between the axes: Student's t of one degree of freedom."""
    return _student(1.0, kernel.bandwidths(dim), dim)


@spectral_rules.register(Matern)
def _matern(kernel: Matern, dim: int) -> Spectra:
    """Frequencies are Student's t of 2ν degrees of freedom over θ, independent between the axes."""
    return _student(2.0 * kernel.nu, kernel.bandwidths(dim), dim)


def _student(freedom: float, bandwidths: Array, dim: int) -> Spectra:
    def frequencies(Z: Array) -> Array:
        return np.sign(Z) * stats.t.isf(ndtr(-np.abs(Z)), freedom) / bandwidths

    return (Spectrum(1.0, dim, frequencies),)


@spectral_rules.register(RationalQuadratic)
def _rational_quadratic(kernel: RationalQuadratic, dim: int) -> Spectra:
    """Mix Gaussian kernels over a Gamma distribution of the precision, drawn from one more normal number."""
    bandwidths = kernel.bandwidths(dim)

    def frequencies(Z: Array) -> Array:
        precision = stats.gamma.ppf(ndtr(Z[:, -1]), kernel.alpha) / kernel.alpha
        return Z[:, :-1] * np.sqrt(precision)[:, None] / bandwidths

    return (Spectrum(1.0, dim + 1, frequencies),)


@spectral_rules.register(Scaled)
def _scaled(kernel: Scaled, dim: int) -> Spectra:
    return tuple(replace(part, mass=kernel.factor * part.mass) for part in spectra(kernel.kernel, dim))


@spectral_rules.register(Sum)
def _sum(kernel: Sum, dim: int) -> Spectra:
    return tuple(part for term in kernel.terms for part in spectra(term, dim))


@spectral_rules.register(Product)
def _product(kernel: Product, dim: int) -> Spectra:
    """Frequencies of a product of kernels are sums of frequencies of its factors."""
    return _combined([spectra(factor, dim) for factor in kernel.factors])


@spectral_rules.register(TensorProduct)
def _tensor_product(kernel: TensorProduct, dim: int) -> Spectra:
    """Every factor has frequencies on its own columns; columns that none uses have frequency 0."""
    placed = [
        tuple(
            replace(part, frequencies=partial(_place, part.frequencies, columns, dim))
            for part in spectra(factor, len(columns))
        )
        for factor, columns in zip(kernel.kernels, kernel.columns, strict=True)
    ]
    return _combined(placed)


def _place(frequencies: Callable[[Array], Array], columns: tuple[int, ...], dim: int, Z: Array) -> Array:
    if max(columns) >= dim:
        raise ValueError(f"the kernel uses column {max(columns)}, the data have {dim} columns")
    out = np.zeros((len(Z), dim))
    out[:, list(columns)] = frequencies(Z)
    return out


def _combined(factors: list[Spectra]) -> Spectra:
    return tuple(Spectrum.convolved(parts) for parts in product(*factors))


Design = Literal["plain", "orthogonal", "quasi"]
GROUPS = 16
"""The least number of independent groups, if there are as many frequencies: their spread gives the error."""


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
    """Return independently scrambled Sobol points mapped by the normal quantile, shape (16, rows, normals)."""
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
