"""Joint matching of weights, means and covariances as one vector, by quasi-Newton steps with analytic gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from ..core.array import Array
from ..core.frozen import sealed
from .mixture import GaussianMixture
from .objective import MatchingObjective, Value

CovarianceType = Literal["spherical", "diag", "tied", "full"]
COVARIANCE_TYPES: tuple[CovarianceType, ...] = ("spherical", "diag", "tied", "full")


@dataclass(frozen=True)
class ParameterLayout:
    """How a vector (logits, means, factors) defines a mixture: w = softmax, S = floor + factor factorᵀ.

    The floor is the smallest variance in any direction; factors are numbers, axes or lower triangles. Means and factors
    are measured in a ``unit`` of length, so that steps do not depend on the units of the data.
    """

    covariance_type: CovarianceType
    n_components: int
    dim: int
    floor: float
    unit: float = 1.0

    @property
    def _factor_shape(self) -> tuple[int, ...]:
        shapes = {
            "spherical": (self.n_components, 1),
            "diag": (self.n_components, self.dim),
            "tied": (1, self.dim, self.dim),
            "full": (self.n_components, self.dim, self.dim),
        }
        return shapes[self.covariance_type]

    @property
    def _triangular(self) -> bool:
        return self.covariance_type in ("tied", "full")

    def pack(self, mixture: GaussianMixture) -> Array:
        """Return the vector of a mixture; variances below the floor are raised to just above it."""
        least = 1e-6 * self.floor + 1e-300
        excess = mixture.covariances - (self.floor * np.eye(self.dim) if self._triangular else self.floor)
        if self._triangular:
            excess = excess[:1] if self.covariance_type == "tied" else excess
            values, vectors = np.linalg.eigh(excess)
            lifted = (vectors * np.maximum(values, least)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
            factors = np.linalg.cholesky(lifted)[:, *np.tril_indices(self.dim)]
        else:
            excess = excess[:, :1] if self.covariance_type == "spherical" else excess
            factors = np.sqrt(np.maximum(excess, least))
        logits = np.log(np.maximum(mixture.weights, 1e-12))
        return np.concatenate([logits, mixture.means.ravel() / self.unit, factors.ravel() / self.unit])

    def _split(self, vector: Array) -> tuple[Array, Array, Array]:
        """Return logits, means and factors, with lower triangles as matrices."""
        K, dim = self.n_components, self.dim
        logits, lengths = vector[:K], self.unit * vector[K:]
        means, flat = lengths[: K * dim].reshape(K, dim), lengths[K * dim :]
        if not self._triangular:
            return logits, means, flat.reshape(self._factor_shape)
        factors = np.zeros(self._factor_shape)
        factors[:, *np.tril_indices(dim)] = flat.reshape(len(factors), -1)
        return logits, means, factors

    def unpack(self, vector: Array) -> GaussianMixture:
        """Return the mixture of a vector."""
        logits, means, factors = self._split(vector)
        if self._triangular:
            covariances: Array = factors @ np.swapaxes(factors, 1, 2) + self.floor * np.eye(self.dim)
            shape: tuple[int, ...] = (self.n_components, self.dim, self.dim)
        else:
            covariances, shape = np.square(factors) + self.floor, means.shape
        return GaussianMixture(softmax(logits), means, np.broadcast_to(covariances, shape))

    def pull(self, vector: Array, mixture: GaussianMixture, value: Value) -> Array:
        """Return the gradient with respect to the vector from the derivatives with respect to the mixture."""
        _, _, factors = self._split(vector)
        logits = mixture.weights * (value.weights - mixture.weights @ value.weights)
        slopes = value.covariances
        if self.covariance_type == "spherical":
            slopes = slopes.sum(axis=1, keepdims=True)
        if self.covariance_type == "tied":
            slopes = slopes.sum(axis=0, keepdims=True)
        pulled = 2.0 * (slopes @ factors if self._triangular else slopes * factors)
        if self._triangular:
            pulled = pulled[:, *np.tril_indices(self.dim)]
        return np.concatenate([logits, self.unit * value.means.ravel(), self.unit * pulled.ravel()])


def public_covariances(covariances: Array, covariance_type: CovarianceType) -> Array:
    """Return covariances in scikit-learn's shapes: (K,), (K, d), (d, d) or (K, d, d)."""
    if covariance_type == "spherical":
        return np.asarray(sealed(covariances[:, 0]))
    return np.asarray(sealed(covariances[0] if covariance_type == "tied" else covariances))


def given_mixture(means: Array, covariances: Array, covariance_type: CovarianceType) -> GaussianMixture:
    """Return the equally weighted mixture with these means, and covariances in scikit-learn's shapes.

    Raises
    ------
    ValueError
        When the shape does not fit the covariance type, or a covariance is not positive definite.
    """
    K, dim = means.shape
    shape = {"spherical": (K,), "diag": (K, dim), "tied": (dim, dim), "full": (K, dim, dim)}[covariance_type]
    if covariances.shape != shape:
        raise ValueError(
            f"{covariance_type} covariances of {K} prototypes in {dim} columns have shape {shape}, "
            f"not {covariances.shape}"
        )
    axes = covariance_type in ("spherical", "diag")
    smallest = covariances.min() if axes else np.linalg.eigvalsh(covariances).min()
    if not smallest > 0:
        raise ValueError(f"the smallest variance of a prototype is {smallest:.3g}; prototypes need positive variances")
    if covariance_type == "spherical":
        covariances = np.repeat(covariances[:, None], dim, axis=1)
    if covariance_type == "tied":
        covariances = np.repeat(covariances[None], K, axis=0)
    return GaussianMixture(np.full(K, 1.0 / K), means, covariances)


def n_free(covariance_type: CovarianceType, n_components: int, dim: int) -> int:
    """Return the number of free parameters of a mixture."""
    triangle = dim * (dim + 1) // 2
    shapes = {"spherical": n_components, "diag": n_components * dim, "tied": triangle, "full": n_components * triangle}
    return n_components - 1 + n_components * dim + shapes[covariance_type]


Watch = Callable[[int, GaussianMixture], bool]


@dataclass(frozen=True)
class Descent:
    """The end of a descent."""

    mixture: GaussianMixture
    objective: Array
    """The objective at the start and after every step, shape (n_steps + 1,); it never increases."""
    converged: bool
    """Whether the descent converged."""


def descend(
    objective: MatchingObjective,
    layout: ParameterLayout,
    start: GaussianMixture,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
) -> Descent:
    """Minimise the objective from ``start`` by L-BFGS until a step gains less than ``tol`` times its size at the start.

    ``watch(step, mixture)`` ends the descent by returning True.
    """
    vector: Any = layout.pack(start)
    if max_iter == 0:
        return Descent(start, np.array([objective(start).value]), True)
    first = objective(layout.unpack(vector)).value
    scale = abs(first) or 1.0
    path = [first]

    def function(x: Array) -> tuple[float, Array]:
        mixture = layout.unpack(x)
        value = objective(mixture)
        return value.value / scale, layout.pull(x, mixture, value) / scale

    def after_step(intermediate_result: OptimizeResult) -> None:
        path.append(scale * float(intermediate_result.fun))
        if watch is not None and watch(len(path) - 1, layout.unpack(intermediate_result.x)):
            raise StopIteration

    options: Any = {"maxiter": max_iter, "maxfun": 20 * max_iter, "ftol": tol, "gtol": 1e-9, "maxcor": 20}
    result = minimize(function, vector, jac=True, method="L-BFGS-B", callback=after_step, options=options)
    return Descent(layout.unpack(result.x), np.array(path), bool(result.status != 1))


def warn_of(end: Descent, n_components: int, max_iter: int | None) -> None:
    """Warn of fewer components than requested, and of a descent that ``max_iter`` (None: early stopping) ended."""
    size = len(end.mixture.weights)
    if size < n_components:
        warnings.warn(
            f"n_components is {n_components}, the data have {size} distinct rows: the mixture has {size} components, "
            "one around each",
            UserWarning,
            stacklevel=4,
        )
    if not end.converged and max_iter is not None:
        warnings.warn(
            f"the fit did not converge in {max_iter} steps; raise max_iter, or stop early",
            ConvergenceWarning,
            stacklevel=4,
        )
