"""Formulas of the paper beside their corrections and a reference by brute force, on random points.

The references do not use the library's closed forms: expectations are Gauss-Hermite sums, derivatives are finite
differences, and distributions with few atoms are enumerated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from kernelmean import hsic_test, linear_form, mmd_test
from kernelmean.kernels import Gaussian
from kernelmean.noise import Normal

from .arrays import Array
from .brute_force import DIM, POINTS, SMALL, Case

_ATOMS, _ROWS, _SPLIT = 3, 4, 5
_REPEATS = 1000
"""Repetitions in the paper's two-sample procedure."""


@dataclass(frozen=True)
class Triple:
    """A number, or several (k,), as printed in the paper, as corrected, and as found by brute force."""

    printed: Array
    corrected: Array
    reference: Array

    @classmethod
    def of(cls, printed: ArrayLike, corrected: ArrayLike, reference: ArrayLike) -> Triple:
        """Return the triple of numbers or of vectors."""
        return cls(*(np.atleast_1d(np.asarray(side, dtype=float)) for side in (printed, corrected, reference)))


@dataclass(frozen=True)
class Erratum:
    """A formula of the paper that a number contradicts."""

    name: str
    number: int
    """In docs/errata.md."""
    where: str
    printed: str
    corrected: str
    reference: str
    """How the reference is found."""
    quantity: str
    measure: Callable[[np.random.Generator], Triple]
    size: int = 1
    """How many numbers the quantity has."""
    partly: bool = False
    """Whether other errata are corrected on the printed side, so that the paper does not print exactly this."""

    @property
    def quantities(self) -> tuple[str, ...]:
        """The names of its numbers."""
        return (self.quantity,) if self.size == 1 else tuple(f"{self.quantity}, {k + 1}" for k in range(self.size))


def expansion(rng: np.random.Generator) -> Triple:
    """Return the change of E|k(x̃,·) - g|² under a small noise: to second order, with -½ and with +½."""
    case = Case.random(rng)
    x, weights = case.points[0], rng.normal(size=POINTS - 1)

    def loss(z: Array) -> Array:
        return 1 - 2 * sum(w * case.kernel(z, y) for w, y in zip(weights, case.points[1:], strict=True))

    half = float(case.variances @ case.second_derivatives(loss, x)) / 2
    return Triple.of(-half, half, case.expected(loss, x, case.variances) - float(loss(x)))


def weights_without_noise(rng: np.random.Generator) -> Triple:
    """Return the weights n β of Theorem 1 at σ = 0."""
    return _weights(Case.random(rng), np.zeros(DIM))


def weights_isotropic(rng: np.random.Generator) -> Triple:
    """Return the changes n β - 1ₙ of Theorem 1."""
    return _changes(*_isotropic(rng))


def weights_diagonal(rng: np.random.Generator) -> Triple:
    """Return the changes n β - 1ₙ of Theorem 2."""
    return _changes(*_diagonal(rng))


def mended_isotropic(rng: np.random.Generator) -> Triple:
    """Return the changes n β - 1ₙ of Theorem 1, with only the factor 2 corrected on the printed side."""
    return _changes(*_isotropic(rng), mended=0.5)


def mended_diagonal(rng: np.random.Generator) -> Triple:
    """Return the changes n β - 1ₙ of Theorem 2, with only the factor 2 corrected on the printed side."""
    return _changes(*_diagonal(rng), mended=0.5)


def _isotropic(rng: np.random.Generator) -> tuple[Case, Array]:
    case = Case.random(rng, SMALL)
    return case, np.full(DIM, case.variances[0])


def _diagonal(rng: np.random.Generator) -> tuple[Case, Array]:
    case = Case.random(rng, SMALL)
    return case, case.variances


def _weights(case: Case, variances: Array) -> Triple:
    """Return weights in units of 1/n."""
    one = bool((variances == variances[0]).all())
    noise = Normal(float(variances[0])) if one else Normal.diagonal(variances)

    def weights(method: Literal["projected", "second_order", "printed"]) -> Array:
        return POINTS * linear_form(case.estimate(noise), method).weights

    return Triple.of(weights("printed"), weights("second_order"), POINTS * case.brute_weights(variances))


def _changes(case: Case, variances: Array, mended: float = 0.0) -> Triple:
    """Return the changes by the noise: weights with a sum near 1 would hide a wrong sign of a small correction."""
    found = _weights(case, variances)
    return Triple(found.printed + mended - 1, found.corrected - 1, found.reference - 1)


def hessian(rng: np.random.Generator) -> Triple:
    """Return tr(Σ ∇²k(x, y)) for Σ = σ²I: the printed second derivative times tr Σ, and the trace of the product."""
    case = Case.random(rng)
    x, y = case.pair
    squared, value = float(np.square(x - y).sum()) / case.theta**2, float(case.kernel(x, y))
    unit = case.variances[0] / case.theta**2 * value
    found = case.variances[0] * case.second_derivatives(case.from_point(y), x).sum()
    printed, corrected = DIM * unit * (squared - 1), unit * (squared - DIM)
    return Triple.of(float(printed), float(corrected), float(found))


def trace(rng: np.random.Generator) -> Triple:
    """Return E|x̃ - x|² for the noise N(0, diag e): Σ e_j², and Σ e_j."""
    case = Case.random(rng)
    x = case.pair[0]
    found = case.expected(lambda z: np.square(z - x).sum(axis=-1), x, case.variances)
    return Triple.of(float(np.square(case.variances).sum()), float(case.variances.sum()), found)


def curvature(rng: np.random.Generator) -> Triple:
    """Return the entry of K'' of Theorem 2: with the same weight on every axis, and with e_j on axis j."""
    case = Case.random(rng)
    x, y = case.pair
    squares, value = np.square(x - y), float(case.kernel(x, y))
    second = case.second_derivatives(case.from_point(y), x)
    found = float(case.variances @ (case.theta**4 * second + case.theta**2 * value))
    return Triple.of(
        value * float(case.variances.mean() * squares.sum()), value * float(case.variances @ squares), found
    )


def squares(rng: np.random.Generator) -> Triple:
    """Return k'(x, y): with |x-y| in the exponent, and with |x-y|²."""
    case = Case.random(rng)
    x, y = case.pair
    squared, value = float(np.square(x - y).sum()), float(case.kernel(x, y))
    laplacian = case.second_derivatives(case.from_point(y), x).sum()
    found = float(case.theta**4 * laplacian + DIM * case.theta**2 * value)
    return Triple.of(float(np.exp(-np.sqrt(squared) / (2 * case.theta**2))) * squared, value * squared, found)


def hsic_mean(rng: np.random.Generator) -> Triple:
    """Return the means of both HSIC statistics over all samples of 4 pairs from a distribution on 3 atoms."""
    atoms, masses = rng.normal(size=(2, _ATOMS, 1)), rng.dirichlet(np.ones(_ATOMS))
    kernels = Gaussian(1.0), Gaussian(1.0)
    means = {"v": 0.0, "u": 0.0}
    for chosen in product(range(_ATOMS), repeat=_ROWS):
        x, y = atoms[:, list(chosen)]
        for kind in ("v", "u"):
            found = hsic_test(x, y, kernel=kernels, statistic=kind, n_resamples=1, rng=0)
            means[kind] += float(np.prod(masses[list(chosen)])) * found.statistic
    left, right = (k(side, side) for k, side in zip(kernels, atoms, strict=True))
    crossed = float(masses @ ((left @ masses) * (right @ masses)))
    apart = float(masses @ left @ masses) * float(masses @ right @ masses)
    return Triple.of(means["v"], means["u"], float(masses @ (left * right) @ masses) + apart - 2 * crossed)


def two_sample(rng: np.random.Generator) -> Triple:
    """Return p-values of two samples: with steps i and ii repeated, of our test, and with all splits enumerated.

    The first is 1 for all samples. These range from near to far apart, so that the other p-values are small and large.
    """
    case = Case(rng.normal(size=(2 * _SPLIT, DIM)), 1.5, np.zeros(DIM))
    points = case.points + np.repeat([[0.0], [rng.uniform(0.0, 2.0)]], _SPLIT, axis=0)
    gram = np.array([case.kernel(points, y) for y in points])
    whole = set(range(2 * _SPLIT))

    def distance(first: tuple[int, ...]) -> float:
        one, two = list(first), sorted(whole - set(first))
        within = sum((gram[np.ix_(s, s)].sum() - _SPLIT) / (_SPLIT * (_SPLIT - 1)) for s in (one, two))
        return float(within - 2 * gram[np.ix_(one, two)].mean())

    drawn = tuple(range(_SPLIT))
    repeated = [distance(drawn) for _ in range(_REPEATS)]  # step i again: the split of step ii is never used
    every = np.array([distance(split) for split in combinations(range(2 * _SPLIT), _SPLIT)])
    test = mmd_test(points[:_SPLIT], points[_SPLIT:], kernel=Gaussian(case.theta), n_resamples=len(every), rng=0)
    printed = (1 + sum(m >= distance(drawn) for m in repeated)) / (1 + len(repeated))
    return Triple.of(printed, test.pvalue, float(np.mean(every >= distance(drawn) - 1e-12)))


_BEST = "best weights K⁻¹L1ₙ, L by Gauss-Hermite sums"
_CHANGES = "changes β - 1ₙ"
_DIFFERENCES = "finite differences of k"

ERRATA = (
    Erratum(
        "expansion",
        1,
        "proof of Theorem 1",
        "-½ (x̃-x)ᵀ∇²ℓ(x̃-x)",
        "+½ (x̃-x)ᵀ∇²ℓ(x̃-x)",
        "Gauss-Hermite sum of ℓ",
        "change of E ℓ by a small noise",
        expansion,
    ),
    Erratum(
        "weights without noise",
        2,
        "Theorem 1 at σ = 0",
        "β = ½ 1ₙ, by a factor 2 that is dropped",
        "β = 1ₙ: KME",
        _BEST,
        "weights β",
        weights_without_noise,
        POINTS,
    ),
    Erratum(
        "weights of Theorem 1",
        2,
        f"Theorem 1, σ² of about {SMALL:g} θ²",
        "β = (θ²+dσ²)/(2θ²) 1ₙ - dσ²/(2θ⁴) K⁻¹K'1ₙ",
        "β = (1-dσ²/(2θ²)) 1ₙ + σ²/(2θ⁴) K⁻¹K'1ₙ",
        _BEST,
        _CHANGES,
        weights_isotropic,
        POINTS,
    ),
    Erratum(
        "Theorem 1 but for the factor 2",
        3,
        "Theorem 1, σ² as before",
        "β = (1+dσ²/(2θ²)) 1ₙ - dσ²/(2θ⁴) K⁻¹K'1ₙ",
        "sign and d mended as well",
        _BEST,
        _CHANGES,
        mended_isotropic,
        POINTS,
        partly=True,
    ),
    Erratum(
        "Hessian",
        3,
        "proof of Theorem 1",
        "tr(Σ) ∂²k, the Hessian as a number: dσ²(|x-y|²/θ⁴ - 1/θ²) k",
        "tr(Σ∇²k) = σ²(|x-y|²/θ⁴ - d/θ²) k",
        _DIFFERENCES,
        "tr(Σ∇²k(x, y))",
        hessian,
    ),
    Erratum(
        "weights of Theorem 2",
        4,
        f"Theorem 2, eⱼ of about {SMALL:g} θ²",
        "β = (θ²+Σeⱼ²)/(2θ²) 1ₙ - Σeⱼ²/(2θ⁴) K⁻¹K'1ₙ",
        "β = (1-Σeⱼ/(2θ²)) 1ₙ + 1/(2θ⁴) K⁻¹K''1ₙ",
        _BEST,
        _CHANGES,
        weights_diagonal,
        POINTS,
    ),
    Erratum(
        "Theorem 2 but for the factor 2",
        4,
        "Theorem 2, eⱼ as before",
        "β = (1+Σeⱼ²/(2θ²)) 1ₙ - Σeⱼ²/(2θ⁴) K⁻¹K'1ₙ",
        "sign, eⱼ and K'' mended as well",
        _BEST,
        _CHANGES,
        mended_diagonal,
        POINTS,
        partly=True,
    ),
    Erratum(
        "trace",
        4,
        "Theorem 2",
        "tr E(x̃-x)(x̃-x)ᵀ = Σ eⱼ²",
        "Σ eⱼ: they are variances",
        "Gauss-Hermite sum",
        "E|x̃-x|²",
        trace,
    ),
    Erratum(
        "K''",
        4,
        "Theorem 2, K''",
        "K' weighs all axes alike",
        "K''(x, y) = k(x, y) Σ eⱼ (xⱼ-yⱼ)²",
        _DIFFERENCES,
        "K''(x, y)",
        curvature,
        partly=True,
    ),
    Erratum(
        "k'",
        5,
        "k' in both theorems",
        "exp(-|x-y|/(2θ²)) |x-y|²",
        "exp(-|x-y|²/(2θ²)) |x-y|²",
        _DIFFERENCES,
        "k'(x, y)",
        squares,
    ),
    Erratum(
        "HSIC",
        6,
        "HSIC",
        "tr(KHZH)/n² is unbiased",
        "it is the V-statistic; the unbiased one is another",
        f"HSIC of a distribution with {_ATOMS} atoms; means over all samples of {_ROWS} pairs",
        "mean of the statistic",
        hsic_mean,
    ),
    Erratum(
        "p-value of two samples",
        7,
        "two-sample procedure",
        f"repeat steps i and ii: the distance of the same two samples, {_REPEATS} times, so p = 1 by construction",
        "repeat ii and iii: the distances of new splits",
        f"all {comb(2 * _SPLIT, _SPLIT)} splits enumerated",
        "p-value of two samples",
        two_sample,
    ),
)


def relative_errors(triples: list[Triple]) -> tuple[float, float]:
    """Return the errors of the printed and the corrected numbers: root mean squares in units of the reference's.

    For vectors, these are norms of differences in units of the norm of the reference, over all trials together.

    Examples
    --------
    >>> relative_errors([Triple.of(0.5, 1.0, 1.0), Triple.of(1.0, 2.0, 2.0)])
    (0.5, 0.0)
    """
    sides = zip(*((one.printed, one.corrected, one.reference) for one in triples), strict=True)
    printed, corrected, reference = (np.concatenate(side) for side in sides)
    size = np.linalg.norm(reference)
    first, second = (float(np.linalg.norm(one - reference) / size) for one in (printed, corrected))
    return first, second
