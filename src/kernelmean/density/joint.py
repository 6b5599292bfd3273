"""Joint matching of weights, means and covariances: quasi-Newton steps along the analytic gradient."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult, minimize
from sklearn.exceptions import ConvergenceWarning

from ..core.array import Array
from .mixture import GaussianMixture
from .objective import MatchingObjective
from .parameters import ParameterLayout

Watch = Callable[[int, GaussianMixture], bool]


@dataclass(frozen=True)
class Descent:
    """Where a descent ended."""

    mixture: GaussianMixture
    objective: Array
    """Shape (n_steps + 1,). The objective at the start and after every step; it never rises."""
    converged: bool
    """Whether the steps ended by themselves."""


def descend(
    objective: MatchingObjective,
    layout: ParameterLayout,
    start: GaussianMixture,
    max_iter: int,
    tol: float,
    watch: Watch | None = None,
) -> Descent:
    """Minimise the objective from ``start`` by L-BFGS until a step gains less than ``tol`` of its size at the start.

    ``watch(step, mixture)`` may end it by returning True.
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


def warn_of(end: Descent, asked: int, max_iter: int | None) -> None:
    """Warn of fewer components than were asked for, and of a descent that ``max_iter`` (None: early stopping) ended."""
    found = len(end.mixture.weights)
    if found < asked:
        warnings.warn(
            f"n_components is {asked}, the data have {found} distinct rows: the mixture has {found} components, "
            "one around each",
            UserWarning,
            stacklevel=4,
        )
    if not end.converged and max_iter is not None:
        warnings.warn(
            f"the fit did not come to rest in {max_iter} steps; raise max_iter, or stop early",
            ConvergenceWarning,
            stacklevel=4,
        )
