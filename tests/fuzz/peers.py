"""The same number by other libraries: scipy, scikit-learn, mpmath; dcor and hyppo where they are installed."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import permutation_test
from sklearn.neighbors import KernelDensity
from tables import Rng, disguised, size

import kernelmean as km
from kernelmean.kernels import DistanceInduced, Gaussian

sys.path.append(str(Path(__file__).parents[1] / "precision"))
_DIGITS_LOST = 1e-12
_ROUNDING, _APART = 1e-13, 1e-9


def continuous(rng: Rng, n: int, dim: int) -> np.ndarray:
    """Draw rows without ties or offsets, of which every library keeps the digits."""
    laws: tuple[Callable[[], Any], ...] = (
        lambda: rng.standard_normal((n, dim)),
        lambda: rng.standard_t(2.0, (n, dim)),
        lambda: rng.random((n, dim)) ** 3,
    )
    return np.asarray(laws[rng.integers(3)]() * 10.0 ** rng.uniform(-3, 3))


def same(found: float, wanted: float, scale: float, what: str) -> None:
    """Raise when two libraries disagree."""
    if not abs(found - wanted) <= 1e-10 * scale:
        raise AssertionError(f"{what}: {found!r} here, {wanted!r} there")


def enumerated(ours: km.TestResult, theirs: Any, what: str) -> None:
    """Raise when an enumeration of scipy's differs; its own p-value takes some values equal but for rounding apart."""
    same(ours.statistic, float(theirs.statistic), 1.0, what)
    gaps = np.asarray(theirs.null_distribution) - theirs.statistic
    if not ((np.abs(gaps) > _ROUNDING) & (np.abs(gaps) < _APART)).any():
        same(ours.pvalue, float(np.mean(gaps >= -_ROUNDING)), 1.0, f"p of {what}")


def scipy_two_samples(rng: Rng) -> None:
    """scipy.stats.permutation_test enumerates the same p-value of MMD²."""
    n, m = (int(k) for k in rng.integers(2, 5, 2))
    X, Y = np.split(continuous(rng, n + m, size(rng, 1, 4)), [n])
    kernel = Gaussian(float(km.median_bandwidth(np.concatenate([X, Y]))) * 10.0 ** rng.uniform(-0.2, 1))
    K = kernel(np.concatenate([X, Y]), np.concatenate([X, Y]))

    def statistic(a: Any, b: Any) -> float:
        a, b = a.astype(int), b.astype(int)
        return float(K[np.ix_(a, a)].mean() + K[np.ix_(b, b)].mean() - 2 * K[np.ix_(a, b)].mean())

    rows = np.arange(n), np.arange(n, n + m)
    theirs = permutation_test(rows, statistic, n_resamples=np.inf, alternative="greater", vectorized=False)
    ours = km.mmd_test(disguised(rng, X), Y, kernel=kernel, statistic="v", n_resamples=200)
    enumerated(ours, theirs, "MMD²")


def scipy_pairs(rng: Rng) -> None:
    """scipy.stats.permutation_test enumerates the same p-value of HSIC."""
    n = int(rng.integers(3, 6))
    X, Y = continuous(rng, n, size(rng, 1, 3)), continuous(rng, n, size(rng, 1, 3))
    kernels = [Gaussian(float(km.median_bandwidth(one))) for one in (X, Y)]
    K, L = (kernel(one, one) for kernel, one in zip(kernels, (X, Y), strict=True))
    centered = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()

    def statistic(order: Any) -> float:
        order = order.astype(int)
        return float(np.sum(centered[np.ix_(order, order)] * L)) / n**2

    theirs = permutation_test(
        (np.arange(n),), statistic, permutation_type="pairings", n_resamples=np.inf, alternative="greater",
        vectorized=False,
    )  # fmt: skip
    ours = km.hsic_test(disguised(rng, X), Y, kernel=tuple(kernels), n_resamples=200)
    enumerated(ours, theirs, "HSIC")


def scikit_learn_densities(rng: Rng) -> None:
    """The density of a kernel mean under Gaussian noise is scikit-learn's kernel density estimate."""
    X = continuous(rng, size(rng, 2, 60), size(rng, 1, 20))
    Z, width = X[:5] + 0.1 * X.std(), float(X.std()) * 10.0 ** rng.uniform(-1, 1)
    noise = km.noise.Normal(width**2)
    ours = km.embed(disguised(rng, X), Gaussian(1.0), noise=noise).logpdf(Z)
    theirs = KernelDensity(bandwidth=width).fit(X).score_samples(Z)
    for one, other in zip(ours, theirs, strict=True):
        same(float(one), float(other), 1.0 + abs(float(other)), "log density")


def digits(rng: Rng) -> None:
    """A closed form at drawn parameters keeps its digits."""
    from forms import FORMS

    form = FORMS[int(rng.integers(len(FORMS)))]
    errors, _ = form.errors(int(rng.integers(2**31)), 1)
    if errors and not max(errors) < _DIGITS_LOST:
        raise AssertionError(f"{form.kernel}, {form.noise}: an error of {max(errors):.3g}")


def dcor_statistics(rng: Rng) -> None:
    """Energy distance and distance covariance, biased and not, are dcor's."""
    with warnings.catch_warnings(action="ignore"):
        import dcor
    n, dim = size(rng, 4, 300), size(rng, 1, 10)
    X, Y, Z = continuous(rng, n, dim), continuous(rng, size(rng, 2, 100), dim), continuous(rng, n, size(rng, 1, 5))
    kernel, few = DistanceInduced(), {"n_resamples": 1, "rng": 0}
    scale = float(np.abs(X).max() + np.abs(Y).max())
    two = km.mmd_test(X, Y, kernel=kernel, statistic="v", **few).statistic
    same(2 * two, float(dcor.energy_distance(X, Y)), scale, "energy distance")
    scale = float(np.abs(X).max() * np.abs(Z).max())
    for kind, theirs in (("v", dcor.distance_covariance_sqr), ("u", dcor.u_distance_covariance_sqr)):
        ours = km.hsic_test(X, Z, kernel=kernel, statistic=kind, **few).statistic
        same(4 * ours, float(theirs(X, Z)), scale, f"distance covariance ({kind})")


def hyppo_statistics(rng: Rng) -> None:
    """HSIC over the root of the HSIC of either variable with itself is hyppo's statistic."""
    with warnings.catch_warnings(action="ignore"):
        from hyppo.independence import Hsic
    n = size(rng, 5, 200)
    X, Z = (table / table.std() for table in (continuous(rng, n, size(rng, 1, 5)) for _ in range(2)))
    gamma = 10.0 ** rng.uniform(-1, 0.5)
    kernel, few = Gaussian((2 * gamma) ** -0.5), {"n_resamples": 1, "rng": 0, "statistic": "u"}
    both, first, second = (
        km.hsic_test(a, b, kernel=kernel, **few).statistic for a, b in ((X, Z), (X, X), (Z, Z))
    )  # fmt: skip
    theirs = Hsic(compute_kernel="gaussian", bias=False, gamma=gamma).statistic(X, Z)
    root = (first * second) ** 0.5
    least = 1e-5 / min(first, second)  # what a rounding of 1e-15 in any of the three may do
    same(both / root, float(theirs), 1.0 + least, "normalized HSIC")


NEEDS = {digits: "mpmath", dcor_statistics: "dcor", hyppo_statistics: "hyppo"}
COMPARISONS: dict[str, Callable[[Rng], None]] = {
    check.__name__: check
    for check in (scipy_two_samples, scipy_pairs, scikit_learn_densities, digits, dcor_statistics, hyppo_statistics)
    if check not in NEEDS or find_spec(NEEDS[check])
}
MISSING = sorted(module for module in NEEDS.values() if not find_spec(module))
