"""The generalised covariance measure of Shah and Peters (2020) with random forests, for one column against another."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor


def forest_gcm(columns: np.ndarray) -> float:
    """Return the p-value of X and Y, the first two columns, given the others, by forests' out-of-bag residuals."""
    X, Y, Z = columns[:, 0], columns[:, 1], columns[:, 2:]
    forests = [RandomForestRegressor(100, min_samples_leaf=5, oob_score=True, random_state=k) for k in range(2)]
    left = [side - forest.fit(Z, side).oob_prediction_ for side, forest in zip((X, Y), forests, strict=True)]
    products = left[0] * left[1]
    return float(2.0 * norm.sf(abs(products.mean()) * len(products) ** 0.5 / products.std()))
