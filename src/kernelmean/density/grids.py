"""Settings of kernel mean matching that are worth trying."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.array import Array
from ..kernels.gaussian import Gaussian
from .prototypes import KMeansPrototypes


def settings(X: Array, n_components: Sequence[int] = (1, 2, 3, 5, 10, 20)) -> list[dict[str, Any]]:
    """Return settings of matching that are worth trying for standardised rows, as grids for ``GridSearchCV``.

    These are fixed prototypes of every covariance type, with exactly matched weights, and joint fits with early
    stopping for spherical and diagonal covariances. There are fewer components than a quarter of the distinct rows.

    Parameters
    ----------
    X : array of shape (n, d)
    n_components : sequence of int
        The numbers of components of the mixtures whose weights alone are matched.

    Examples
    --------
    >>> [len(grid["n_components"]) for grid in settings(np.arange(12.0)[:, None])]
    [3, 3, 3]
    """
    most = max(1, len(np.unique(X, axis=0)) // 4)
    over_data, within = (partial(KMeansPrototypes, pool_over=over, n_init=3) for over in ("data", "clusters"))
    ridges = (0.01, 0.1)
    shapes: dict[str, list[KMeansPrototypes]] = {
        "diag": [*(over_data(pooling) for pooling in (0.3, 1.0, 3.0)), within(0.3)],
        "tied": [within(ridge=ridge) for ridge in ridges],
        "full": [*(within(pooling, ridge=ridge) for ridge in ridges for pooling in (1.0, 10.0, 30.0)), over_data()],
    }
    weights: dict[str, Any] = {"estimator": ["kme"], "kernel": [Gaussian("median")], "update": ["weights"]}
    starts = (("diag", over_data(), (5, 10, 20)), ("diag", within(), (20,)), ("spherical", within(), (10, 20)))
    grids: list[dict[str, Any]] = [
        *(weights | {"covariance_type": [k], "prototypes": p, "n_components": n_components} for k, p in shapes.items()),
        *({"covariance_type": [k], "prototypes": [p], "n_components": some} for k, p, some in starts),
    ]
    few = [{**grid, "n_components": [K for K in grid["n_components"] if most >= K]} for grid in grids]
    return [grid for grid in few if grid["n_components"]]
