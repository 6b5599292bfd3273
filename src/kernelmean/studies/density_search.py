"""The search of a density's settings by cross-validation, which says how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.array import Array

Steps = Callable[[int, int], object]
"""Is told the steps done, and the steps in all."""


def searched(model: Any, grid: Any, X: Array, seed: int, folds: int, progress: Steps) -> Any:
    """Return the finished search; steps are components, as the time of a fit grows with their number."""
    from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid  # slow to import

    done = 0
    total = folds * sum(setting.get("n_components", 1) for setting in ParameterGrid(grid))
    parts = KFold(folds, shuffle=True, random_state=seed)
    progress(done, total)

    def scored(fitted: Any, rows: Array, _: None = None) -> float:
        nonlocal done
        done += fitted.get_params().get("n_components", 1)
        progress(done, total)
        return float(fitted.score(rows))

    return GridSearchCV(model, grid, scoring=scored, cv=parts, error_score="raise").fit(X)
