"""Every closed form at drawn parameters, beside its value with hundreds of digits.

A form is a function of a random generator that draws one case and yields triples: what the library found, the truth,
and the size that one unit of rounding may have. For a value f > 0 that is f (1 + |log f|): a rounding of the exponent
by one part in 10^16 moves f by |log f| parts. For sums that cancel it is the sum of the absolute terms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import product
from math import comb
from typing import Any

import mpmath as mp
import numpy as np

import exact
from kernelmean import kernels as k
from kernelmean import noise as v
from kernelmean.estimators import KernelMean
from kernelmean.expected import NoClosedFormError, expected
from kernelmean.kernels import DistanceInduced

Checks = Iterator[tuple[float, Any, Any]]
Rng = np.random.Generator
TINY = mp.mpf("1e-290")  # below this a float has no more digits to compare
WIDEST = 8.0  # widths are up to 10^8 times apart, and points up to 10^8 widths from the origin


@dataclass(frozen=True)
class Form:
    """A closed form: its row and column in the table, and its cases."""

    kernel: str
    noise: str
    draw: Callable[[Rng], Checks]

    def errors(self, seed: int, cases: int) -> tuple[list[float], int]:
        """Return the error of every number of some cases, and how many cases the library refused."""
        rng, errors, refused = np.random.default_rng([seed, *f"{self.kernel} {self.noise}".encode()]), [], 0
        for _ in range(cases):
            try:
                errors += [error(*check) for check in self.draw(rng)]
            except NoClosedFormError:
                refused += 1
        return errors, refused


def error(found: float, truth: Any, size: Any) -> float:
    """Return |found - truth| in units of ``size``; infinite for what is no number, zero where both underflow."""
    if not np.isfinite(found):
        return np.inf
    if abs(truth) < TINY and size < TINY * 10**4:
        return 0.0 if abs(found) <= 10 * TINY else np.inf
    with mp.workdps(50):
        return float(abs(mp.mpf(float(found)) - truth) / size)


def positive(found: float, truth: Any) -> tuple[float, Any, Any]:
    """A value that is the exponential of a sum."""
    with mp.workdps(50):
        return found, truth, truth * (1 + abs(mp.log(truth))) if truth > 0 else mp.mpf(0)


# -- kernels that are products over the axes, under noise on each axis ------------------------------------------------

AXIS_KERNELS: dict[str, tuple[Callable[[float], k.Kernel], Callable[[float], exact.Law]]] = {
    "Gaussian": (k.Gaussian, exact.gaussian),
    "Laplacian": (k.Laplacian, exact.laplacian),
    "Matérn 3/2": (partial(k.Matern, 1.5), partial(exact.matern, 1)),
    "Matérn 5/2": (partial(k.Matern, 2.5), partial(exact.matern, 2)),
    "Matérn 7/2": (partial(k.Matern, 3.5), partial(exact.matern, 3)),
    "Wendland 0": (partial(k.Wendland, 0), partial(exact.wendland, 0)),
    "Wendland 2": (partial(k.Wendland, 2), partial(exact.wendland, 2)),
}
AXIS_NOISES: dict[str, tuple[Callable[[float], v.Noise], Callable[[exact.Law, float], exact.Law]]] = {
    "Normal": (lambda w: v.Normal(w * w), lambda law, w: law.plus_normal(w * w)),
    "Laplace": (v.Laplace, exact.Law.plus_laplace),
    "Uniform": (v.Uniform, exact.Law.plus_box),
}
SIDES = {
    "none": (),
    **{f"{name}, {sides}": (name,) * (1 + (sides == "both")) for name in AXIS_NOISES for sides in ("one", "both")},
    **{f"{a} and {b}": (a, b) for a, b in (("Normal", "Laplace"), ("Normal", "Uniform"), ("Laplace", "Uniform"))},
}


def points(rng: Rng, widths: Sequence[float], dim: int) -> tuple[Any, Any]:
    """Draw one point, and five at distances from nothing to a thousand widths, at or far from the origin."""
    theta, scale = widths[0], rng.choice(widths)
    tail = rng.uniform(0, 40) * max(widths)  # where a normal law is no zero yet
    reach = [0.0, rng.uniform(0, 3) * theta, rng.uniform(0, 5) * scale, 10 ** rng.uniform(-3, 3) * scale, tail]
    gaps = np.array(reach)[:, None] * rng.choice([1.0, -0.5, 0.1], size=(len(reach), dim)) / np.sqrt(dim)
    origin = rng.choice([0.0, 1.0]) * theta * 10 ** rng.uniform(0, WIDEST)
    return np.full((1, dim), origin), origin + gaps


def differences(X: Any, Y: Any) -> list[list[Any]]:
    """Return the exact differences of the floats."""
    return [[mp.mpf(float(a)) - mp.mpf(float(b)) for a, b in zip(X[0], y, strict=True)] for y in Y]


def on_axes(kernel: str, sides: str, rng: Rng) -> Checks:
    make, law_of = AXIS_KERNELS[kernel]
    dim = int(rng.choice([1, 1, 1, 2, 20, 200]))
    theta = 10.0 ** rng.uniform(-3, 3)
    ratios = 10.0 ** (rng.uniform(-WIDEST, WIDEST if dim == 1 else 0.0, len(SIDES[sides])))
    widths = [theta, *(theta * ratios).tolist()]
    noises = [AXIS_NOISES[name][0](w) for name, w in zip(SIDES[sides], widths[1:], strict=True)]
    X, Y = points(rng, widths, dim)
    found = expected(make(theta), X, Y, *noises)[0]
    with mp.workdps(exact.DIGITS):
        law = law_of(theta)
        for name, w in zip(SIDES[sides], widths[1:], strict=True):
            law = AXIS_NOISES[name][1](law, w)
        truth = [exact.product([law] * dim, row) for row in differences(X, Y)]
    yield from map(positive, found, truth)


# -- Gaussian kernels under correlated noise, and noise of every point ------------------------------------------------


def correlated(per_point: bool, rng: Rng) -> Checks:
    """Errors are in units of the condition number of θ² I + Σ as well."""
    dim, theta = int(rng.integers(2, 6)), 10.0 ** rng.uniform(-3, 3)
    factor = np.linalg.qr(rng.normal(size=(dim, dim)))[0] * theta * 10 ** rng.uniform(-3, 3) * rng.uniform(0.1, 3, dim)
    covariance = factor @ factor.T
    X, Y = points(rng, [theta, float(np.sqrt(np.diag(covariance).max()))], dim)
    noise = v.Normal(covariance[None] if per_point else covariance)
    found = expected(k.Gaussian(theta), X, Y, noise)[0]
    with mp.workdps(60):
        base = mp.mpf(theta) ** 2 * mp.eye(dim)
        total = base + mp.matrix(covariance.tolist())
        gaps = [mp.matrix(row) for row in differences(X, Y)]
        root = mp.sqrt(mp.det(base) / mp.det(total))
        truth = [root * mp.exp(-(gap.T * mp.lu_solve(total, gap))[0] / 2) for gap in gaps]
    condition = np.linalg.cond(theta**2 * np.eye(dim) + covariance)
    yield from ((f, t, s * condition) for f, t, s in map(positive, found, truth))


def diagonal_per_point(rng: Rng) -> Checks:
    dim, theta = 3, 10.0 ** rng.uniform(-3, 3)
    X, Y = points(rng, [theta], dim)
    left, right = ((theta * 10 ** rng.uniform(-WIDEST, 2, size=(n, dim))) ** 2 for n in (1, 5))
    found = expected(k.Gaussian(theta), X, Y, v.Normal.diagonal(left), v.Normal.diagonal(right))[0]
    with mp.workdps(60):
        for value, row, own in zip(found, differences(X, Y), right, strict=True):
            laws = [
                exact.gaussian(theta).plus_normal(a).plus_normal(b)
                for a, b in zip(left[0].tolist(), own.tolist(), strict=True)
            ]
            yield positive(value, exact.product(laws, row))


# -- products, and kernels without noise ------------------------------------------------------------------------------


def gaussian_times_laplacian(rng: Rng) -> Checks:
    """∫ exp(-u²/2θ² - |u|/b) N(t - u; s²) du, each half of it a Gaussian integral with a linear exponent."""
    theta, b, s = 10.0 ** rng.uniform(-3, 3, 3)
    X, Y = points(rng, [theta, b, s], 1)
    found = expected(k.Gaussian(theta) * k.Laplacian(b), X, Y, v.Normal(s * s))[0]
    with mp.workdps(exact.DIGITS):
        variance = mp.mpf(s * s)
        precision = 1 / mp.mpf(theta) ** 2 + 1 / variance
        for value, (gap,) in zip(found, differences(X, Y), strict=True):
            slopes = [gap / variance - 1 / mp.mpf(b), -gap / variance - 1 / mp.mpf(b)]
            halves = [mp.exp(c * c / precision / 2) * mp.erfc(-c / mp.sqrt(2 * precision)) for c in slopes]
            yield positive(value, mp.exp(-gap * gap / variance / 2) / mp.sqrt(variance * precision) / 2 * sum(halves))


def tensor_product(rng: Rng) -> Checks:
    theta, b, s = 10.0 ** rng.uniform(-3, 3, 3)
    X, Y = points(rng, [theta, b, s], 2)
    kernel = k.TensorProduct((k.Gaussian(theta), k.Laplacian(b)), ((0,), (1,)))
    found = expected(kernel, X, Y, v.Normal(s * s))[0]
    laws = [exact.gaussian(theta).plus_normal(s * s), exact.laplacian(b).plus_normal(s * s)]
    truth = [exact.product(laws, row) for row in differences(X, Y)]
    yield from map(positive, found, truth)


def rational_quadratic(rng: Rng) -> Checks:
    theta, alpha, dim = 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-1, 3), int(rng.choice([1, 2, 20, 200]))
    X, Y = points(rng, [theta], dim)
    found = k.RationalQuadratic(theta, alpha)(X, Y)[0]
    with mp.workdps(60):
        for value, row in zip(found, differences(X, Y), strict=True):
            squared = mp.fsum(gap * gap for gap in row) / mp.mpf(theta) ** 2
            yield positive(value, (1 + squared / (2 * mp.mpf(alpha))) ** -mp.mpf(alpha))


def distance_induced(rng: Rng) -> Checks:
    alpha, dim = rng.uniform(0.1, 1.9), int(rng.choice([1, 2, 20, 200]))
    X, Y = (10.0 ** rng.uniform(-3, 3) * rng.normal(size=(n, dim)) for n in (1, 4))
    found = DistanceInduced(alpha)(X, Y)[0]
    with mp.workdps(60):
        x = [mp.mpf(float(a)) for a in X[0]]
        for value, y, row in zip(found, Y, differences(X, Y), strict=True):
            terms = [
                mp.fsum(a * a for a in vector) ** (mp.mpf(alpha) / 2) / 2
                for vector in (x, [mp.mpf(float(b)) for b in y], row)
            ]
            yield value, terms[0] + terms[1] - terms[2], mp.fsum(terms)


# -- noises that replace, and polynomial kernels ----------------------------------------------------------------------


def blanked(kernel: str, rng: Rng) -> Checks:
    """Each axis is a sum over the atoms of both sides."""
    make, law_of = AXIS_KERNELS[kernel]
    dim, theta = int(rng.choice([1, 2, 20])), 10.0 ** rng.uniform(-3, 3)
    X, Y = points(rng, [theta], dim)
    (p, q), (a, b) = rng.uniform(0, 1, 2), theta * rng.normal(size=2)
    found = expected(make(theta), X, Y, v.Blankout(p, a), v.Blankout(q, b))[0]
    with mp.workdps(exact.DIGITS):
        law = law_of(theta)
        for value, y in zip(found, Y, strict=True):
            atoms = [
                [
                    [(1 - mp.mpf(p), mp.mpf(s)), (mp.mpf(p), mp.mpf(a))],
                    [(1 - mp.mpf(q), mp.mpf(t)), (mp.mpf(q), mp.mpf(b))],
                ]
                for s, t in zip(X[0].tolist(), y.tolist(), strict=True)
            ]
            axes = [
                mp.fsum(u * w * exact.value(law, abs(s - t)) for (u, s), (w, t) in product(*both)) for both in atoms
            ]
            yield positive(value, mp.fprod(axes))


def categories(rng: Rng) -> Checks:
    dim, levels, similarity = int(rng.choice([1, 3, 20])), int(rng.integers(2, 9)), rng.uniform(0, 1)
    p, q = rng.uniform(0, 1, 2)
    X, Y = (rng.integers(levels, size=(n, dim)).astype(float) for n in (1, 4))
    found = expected(k.Categorical(similarity), X, Y, v.Switch(p, levels), v.Switch(q, levels))[0]
    with mp.workdps(60):
        kept = (1 - mp.mpf(p)) * (1 - mp.mpf(q))
        agree = [kept * same + (1 - kept) / levels for same in (0, 1)]
        values = [share + (1 - share) * mp.mpf(similarity) for share in agree]
        for value, y in zip(found, Y, strict=True):
            yield positive(value, mp.fprod(values[int(same)] for same in X[0] == y))


def raw_moments(x: float, law: str, width: Any, order: int) -> list[Any]:
    """Return E (x + ε)^r for r = 0 … order."""
    central = {
        "Normal": lambda r: mp.fac2(r - 1) * width**r if r else mp.mpf(1),
        "Laplace": lambda r: mp.factorial(r) * width**r,
        "Uniform": lambda r: width**r / (r + 1),
    }[law]
    moments = [mp.mpf(0) if r % 2 else central(r) for r in range(order + 1)]
    return [mp.fsum(comb(r, i) * mp.mpf(x) ** (r - i) * moments[i] for i in range(r + 1)) for r in range(order + 1)]


def power_of_sum(terms: Sequence[Sequence[Any]], offset: Any, degree: int) -> Any:
    """Return E (c + Σ_j z_j)^p for independent z_j with the raw moments ``terms[j]``."""

    def plus(moments: Sequence[Any], term: Sequence[Any]) -> list[Any]:
        return [mp.fsum(comb(r, i) * moments[r - i] * term[i] for i in range(r + 1)) for r in range(degree + 1)]

    return reduce(plus, terms, [offset**r for r in range(degree + 1)])[degree]


def polynomial(degree: int, law: str, rng: Rng) -> Checks:
    dim, scale = int(rng.choice([1, 3, 30])), 10.0 ** rng.uniform(-3, 3)
    offset = 0.0 if degree == 1 else scale**2 * 10 ** rng.uniform(-3, 3)
    widths = scale * 10 ** rng.uniform(-4, 4, 2)
    X, Y = scale * rng.normal(size=(1, dim)), scale * rng.normal(size=(4, dim))
    make = AXIS_NOISES[law][0]
    kernel = k.Linear() if degree == 1 else k.Polynomial(degree, offset)
    found = expected(kernel, X, Y, make(widths[0]), make(widths[1]))[0]
    with mp.workdps(60):
        sizes = [mp.sqrt(mp.mpf(w * w)) if law == "Normal" else mp.mpf(w) for w in widths.tolist()]
        for value, y in zip(found, Y, strict=True):
            both = []
            for sign in (0, 1):
                pairs = [(abs(a), abs(b)) if sign else (a, b) for a, b in zip(X[0].tolist(), y.tolist(), strict=True)]
                moments = [
                    [raw_moments(z, law, width, degree) for z, width in zip(pair, sizes, strict=True)] for pair in pairs
                ]
                terms = [[m * n for m, n in zip(left, right, strict=True)] for left, right in moments]
                both.append(power_of_sum(terms, mp.mpf(offset), degree))
            yield value, both[0], both[1]


# -- scores and densities, as logarithms ------------------------------------------------------------------------------


def loocv(form: str, rng: Rng) -> Checks:
    """The logarithm of |score less k(x, x)|, of kernels 10⁴ times narrower or wider than the data."""
    n, dim = 5, int(rng.choice([1, 3, 20, 200]))
    X = rng.normal(size=(n, dim)) + 10 ** rng.uniform(0, 6)
    theta = float(np.sqrt(dim) * 10 ** rng.uniform(-4, 4))
    e = np.zeros(dim) if form == "KME" else (theta * 10 ** rng.uniform(-WIDEST, 3, 1 if form == "MKME" else dim)) ** 2
    noise = None if form == "KME" else v.Normal(float(e[0])) if form == "MKME" else v.Normal.diagonal(e)
    found = KernelMean(k.Gaussian(theta), noise=noise).fit(X).criterion_
    with mp.workdps(80):
        squared, variances = mp.mpf(theta) ** 2, [mp.mpf(x) for x in np.broadcast_to(e, dim).tolist()]

        def mean(i: int, j: int, sides: int) -> Any:
            added = [squared + sides * a for a in variances]
            gaps = differences(X[i : i + 1], X[j : j + 1])[0]
            exponent = mp.fsum(g * g / a for g, a in zip(gaps, added, strict=True))
            return mp.exp(-exponent / 2 - mp.fsum(mp.log(a / squared) for a in added) / 2)

        pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
        cross, off = (mp.fsum(mean(i, j, sides) for i, j in pairs) / len(pairs) for sides in (1, 2))
        terms = [-2 * cross, (n - 2) * off / (n - 1), mean(0, 0, 2) / (n - 1)]
        excess = mp.fsum(terms)
        lost = mp.fsum(map(abs, terms)) / abs(excess)
        log = mp.log(abs(excess))
        yield (found.log if found.sign == mp.sign(excess) else np.nan), log, lost * (1 + abs(log))


def log_density(form: str, rng: Rng) -> Checks:
    n, dim = 6, int(rng.choice([1, 3, 20, 200]))
    X = rng.normal(size=(n, dim)) + 10 ** rng.uniform(0, 6)
    e = (10 ** rng.uniform(-WIDEST, WIDEST, 1 if form == "MKME" else dim)) ** 2
    noise = v.Normal(float(e[0])) if form == "MKME" else v.Normal.diagonal(e)
    Z = X[:3] + 10 ** rng.uniform(-3, 3) * np.sqrt(e) * rng.normal(size=(3, dim))
    found = KernelMean(k.Gaussian(1e-3), noise=noise).fit(X).score_samples(Z)
    with mp.workdps(80):
        variances = [mp.mpf(x) for x in np.broadcast_to(e, dim).tolist()]
        constant = mp.fsum(mp.log(2 * mp.pi * a) for a in variances) / 2
        for value, z in zip(found, Z, strict=True):
            rows = differences(z[None], X)
            exponents = [mp.fsum(g * g / a for g, a in zip(row, variances, strict=True)) / 2 for row in rows]
            least = min(exponents)
            log = mp.log(mp.fsum(mp.exp(least - one) for one in exponents) / n) - least - constant
            size = 1 + least + mp.fsum(abs(mp.log(2 * mp.pi * a)) for a in variances) / 2
            yield value, log, size


# -- all of them ------------------------------------------------------------------------------------------------------


def _works(kernel: str, sides: str) -> bool:
    make, noises = AXIS_KERNELS[kernel][0], [AXIS_NOISES[name][0](1.0) for name in SIDES[sides]]
    try:
        expected(make(1.0), np.zeros((1, 1)), np.zeros((1, 1)), *noises)
    except NoClosedFormError:
        return False
    return True


FORMS: tuple[Form, ...] = (
    *(Form(a, b, partial(on_axes, a, b)) for a in AXIS_KERNELS for b in SIDES if _works(a, b)),
    *(Form(name, "Blankout, both", partial(blanked, name)) for name in AXIS_KERNELS),
    Form("Gaussian", "Normal, full", partial(correlated, False)),
    Form("Gaussian", "Normal, full, per point", partial(correlated, True)),
    Form("Gaussian", "Normal, diagonal, per point", diagonal_per_point),
    Form("Gaussian × Laplacian", "Normal, one", gaussian_times_laplacian),
    Form("Gaussian ⊗ Laplacian", "Normal, one", tensor_product),
    Form("rational quadratic", "none", rational_quadratic),
    Form("distance-induced", "none", distance_induced),
    Form("categorical", "Switch, both", categories),
    *(
        Form(f"polynomial {p}" if p > 1 else "linear", f"{law}, both", partial(polynomial, p, law))
        for p in (1, 2, 3, 5)
        for law in AXIS_NOISES
    ),
    *(Form("leave-one-out score", name, partial(loocv, name)) for name in ("KME", "MKME", "MMKME")),
    *(Form("log density", name, partial(log_density, name)) for name in ("MKME", "MMKME")),
)
