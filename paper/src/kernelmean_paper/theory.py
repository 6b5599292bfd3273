"""Measurements of what theory says about marginalized estimates: damping, linear forms, the risk and its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.optimize import minimize_scalar

from kernelmean import MKME, embed, expected, linear_form
from kernelmean.embedding import Embedding
from kernelmean.expected import smoothed
from kernelmean.kernels import Gaussian, Kernel, Laplacian, Matern
from kernelmean.noise import Normal

from .arrays import Array
from .experiment import Finding
from .mixtures import Mixture

DIM = 5
_PILOT = 200
"""The number of rows from which the bandwidth of a distribution is found."""

KERNELS: dict[str, Kernel] = {
    "Gaussian": Gaussian(1.0),
    "Laplacian": Laplacian(1.0),
    "Matérn 3/2": Matern(1.5, 1.0),
}
FREQUENCIES = tuple(float(w) for w in np.linspace(0.0, 3.0, 13))
DAMPING_VARIANCES = (0.1, 0.5, 2.0)
_REACH, _KNOTS = 60.0, 240_001

FORM_VARIANCES = tuple(float(s) for s in np.geomspace(1e-3, 0.2, 7))
"""Of the noise, in units of θ²."""
FORMS: tuple[Literal["second_order", "printed"], ...] = ("second_order", "printed")

RISK_VARIANCES = (0.0, *(float(s) for s in np.geomspace(2e-3, 0.5, 11)))
"""In units of θ², as all variances below."""
FIXED = 0.03


@dataclass(frozen=True)
class Law:
    """A mixture and a Gaussian kernel that does not depend on a sample: the risks of its estimates are exact.

    Parameters
    ----------
    mixture : Mixture
    theta : float
    """

    mixture: Mixture
    theta: float

    @classmethod
    def random(cls, rng: np.random.Generator, dim: int = DIM) -> Law:
        """Draw a mixture; θ² is the median of the squared distances of a pilot sample."""
        mixture = Mixture.random(dim, rng)
        pilot = mixture.sample(_PILOT, rng)
        halves = pilot[: _PILOT // 2] - pilot[_PILOT // 2 :]
        return cls(mixture, float(np.sqrt(np.median(np.square(halves).sum(axis=1)))))

    @property
    def kernel(self) -> Gaussian:
        """The kernel."""
        return Gaussian(self.theta)

    @property
    def dim(self) -> int:
        """Columns."""
        return int(self.mixture.means.shape[1])

    @cached_property
    def truth(self) -> Embedding:
        """The exact mean."""
        return self.mixture.embed(self.kernel)

    def noisy(self, variance: float) -> Embedding:
        """Return the kernel mean of the distribution with added noise of this variance."""
        covariances = self.mixture.covariances + variance * np.eye(self.dim)
        return embed(self.mixture.means, self.kernel, weights=self.mixture.weights, noise=Normal(covariances))

    def risk(self, n: float, variance: float) -> float:
        """Return E|μ̃ - μ|² of the marginalized mean of n rows with a fixed σ², exactly; n may be infinite."""
        noisy, noise = self.noisy(variance), Normal(variance)
        origin = np.zeros((1, self.dim))
        own = float(expected(self.kernel, origin, origin, noise, noise)[0, 0])
        return own / n + (1 - 1 / n) * (noisy @ noisy) - 2 * (noisy @ self.truth) + self.truth @ self.truth

    def best(self, n: int) -> tuple[float, float]:
        """Return the σ² with the smallest risk, and that risk."""
        unit = self.theta**2
        found = minimize_scalar(lambda u: self.risk(n, float(np.exp(u)) * unit), bounds=(-14, 3), method="bounded")
        return float(np.exp(found.x)) * unit, float(found.fun)

    def slope(self, n: int) -> float:
        """Return dR/dσ² at 0: -(1/n) {d/θ² - E[k(x, x')(d/θ² - |x-x'|²/θ⁴)]}, the expectation in closed form.

        The gap of two components is N(m, C); multiplied by k it is E k times N(m', C'), C' = θ²(C+θ²I)^{-1}C and
        m' = θ²(C+θ²I)^{-1}m.
        """
        squared, weights = self.theta**2, self.mixture.weights
        gaps = self.mixture.means[:, None] - self.mixture.means
        spreads = self.mixture.covariances[:, None] + self.mixture.covariances
        shrink = squared * np.linalg.inv(spreads + squared * np.eye(self.dim))
        root = np.sqrt(np.linalg.det(shrink))
        k = root * np.exp(-np.einsum("abi,abij,abj->ab", gaps, shrink, gaps) / (2 * squared))
        moved = np.einsum("abij,abj->abi", shrink, gaps)
        second = np.square(moved).sum(axis=-1) + np.trace(shrink @ spreads, axis1=-2, axis2=-1)
        inner = float(weights @ (k * (self.dim / squared - second / squared**2)) @ weights)
        return -(self.dim / squared - inner) / n

    def measured_slope(self, n: int) -> float:
        """Return the same slope by one-sided differences of the exact risk."""
        step = 1e-4 * self.theta**2
        zero, one, two = (self.risk(n, k * step) for k in range(3))
        return (-3 * zero + 4 * one - two) / (2 * step)

    def spectral_risk(self, n: int, variance: float) -> float:
        """Return ∫ |1-φ_v|²|φ_P|² + |φ_v|²(1-|φ_P|²)/n dΛ for one column, by a sum over frequencies."""
        nodes = np.linspace(-12, 12, 4001) / self.theta
        masses = np.exp(-np.square(nodes * self.theta) / 2)
        waves = np.exp(1j * np.outer(nodes, self.mixture.means[:, 0]))
        decay = np.exp(-np.outer(np.square(nodes), self.mixture.covariances[:, 0, 0]) / 2)
        law = np.square(np.abs((waves * decay) @ self.mixture.weights))
        damped = np.exp(-variance * np.square(nodes) / 2)
        return float(masses @ (np.square(1 - damped) * law + np.square(damped) * (1 - law) / n) / masses.sum())

    def loss(self, estimate: Embedding) -> float:
        """Return |μ̂ - μ|² of an estimate."""
        return estimate @ estimate - 2 * (estimate @ self.truth) + self.truth @ self.truth


def slope(rng: np.random.Generator, n: int = 10) -> list[Finding]:
    """Measure the derivative of the risk at σ² = 0 by the formula and by differences, in units of 1/θ²."""
    law = Law.random(rng)
    unit = law.theta**2
    return [
        Finding("formula", "slope", law.slope(n) * unit),
        Finding("differences", "slope", law.measured_slope(n) * unit),
    ]


def spectrum(rng: np.random.Generator, n: int = 10) -> list[Finding]:
    """Measure the risk of one column as an integral over frequencies and in closed form."""
    law = Law.random(rng, dim=1)
    variance = float(rng.uniform(0.05, 1.0)) * law.theta**2
    return [
        Finding("integral", "risk", law.spectral_risk(n, variance)),
        Finding("closed form", "risk", law.risk(n, variance)),
    ]


def damping() -> list[Finding]:
    """Measure the factor by which noise multiplies the spectrum of kernels: cosine transforms after and before."""
    grid = np.linspace(-_REACH, _REACH, _KNOTS)[:, None]
    waves = np.cos(np.outer(FREQUENCIES, grid[:, 0]))
    found = []
    for name, kernel in KERNELS.items():
        plain = waves @ kernel(grid, np.zeros((1, 1)))[:, 0]
        for variance in DAMPING_VARIANCES:
            damped = waves @ smoothed(kernel, Normal(variance), dim=1)(grid, np.zeros((1, 1)))[:, 0]
            ratios = zip(FREQUENCIES, damped / plain, strict=True)
            found += [Finding(name, f"σ²={variance:g}, ω={w:g}", float(ratio)) for w, ratio in ratios]
    return found


def linear_forms(rng: np.random.Generator) -> list[Finding]:
    """Measure the distances of linear forms from the best one, in units of its norm, for several noise variances."""
    points, theta = rng.normal(size=(12, 3)), 1.0
    found = []
    for variance in FORM_VARIANCES:
        mu = embed(points, Gaussian(theta), noise=Normal(variance * theta**2))
        best = linear_form(mu)
        for form in FORMS:
            error = (linear_form(mu, form) - best).norm() / best.norm()
            found.append(Finding(form, f"error at {variance:g}", error))
    return found


def risks(rng: np.random.Generator, n: int) -> list[Finding]:
    """Measure the loss of one sample beside the exact risk, for several σ²."""
    law = Law.random(rng)
    X = law.mixture.sample(n, rng)
    found = []
    for share in RISK_VARIANCES:
        variance = share * law.theta**2
        loss = law.loss(embed(X, law.kernel, noise=Normal(variance)))
        found += [
            Finding("loss", f"at {share:g}", loss),
            Finding("risk", f"at {share:g}", law.risk(n, variance)),
        ]
    return found


def consistency(rng: np.random.Generator, n: int) -> list[Finding]:
    """Measure exact risks with n rows: of KME, with a fixed σ², with the best one; and the loss of leave-one-out's."""
    law = Law.random(rng)
    X = law.mixture.sample(n, rng)
    best, least = law.best(n)
    return [
        Finding("KME", "risk", law.risk(n, 0.0)),
        Finding("fixed σ²", "risk", law.risk(n, FIXED * law.theta**2)),
        Finding("fixed σ²", "limit", law.risk(np.inf, FIXED * law.theta**2)),
        Finding("best σ²", "risk", least),
        Finding("best σ²", "variance", best / law.theta**2),
        Finding("KME", "loss", law.loss(embed(X, law.kernel))),
        Finding("MKME", "loss", law.loss(MKME(law.kernel).fit(X).embedding_)),
    ]


def power_of_ten(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of log y against log x by least squares.

    Examples
    --------
    >>> round(power_of_ten([1.0, 10.0, 100.0], [2.0, 200.0, 20000.0]), 9)
    2.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def damped(variance: float, frequencies: Sequence[float] = FREQUENCIES) -> Array:
    """Return exp(-σ²ω²/2), the characteristic function of the noise."""
    return np.exp(-variance * np.square(np.asarray(frequencies)) / 2)
