"""What tests of several rooms share."""

from __future__ import annotations

from typing import Any

import pytest
import sklearn.model_selection

from drawings import draw_once


class FirstOfGrid:
    """The peers of a density without their search, which takes most of the time: the first of every list is taken."""

    def __init__(self, model: Any, grid: dict[str, list[Any]], **_: Any) -> None:
        self.best_params_ = {name: choices[0] for name, choices in grid.items()}
        self.best_estimator_ = model.set_params(**self.best_params_)

    def fit(self, X: Any) -> FirstOfGrid:
        self.best_estimator_.fit(X)
        return self


@pytest.fixture
def unsearched_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the searches of the peers that a density is compared with, for tests that are about something else.

    Its own settings are chosen in two parts of the rows, not in five.
    """
    monkeypatch.setattr(sklearn.model_selection, "GridSearchCV", FirstOfGrid)
    monkeypatch.setattr("kernelmean.studies.density._FOLDS", 2)


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw equal charts of pages once, for tests about the rest of a page."""
    draw_once(monkeypatch)


@pytest.fixture
def few_for_what_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let few permutations decide on the kind and the columns of every change, for tests about something else."""
    monkeypatch.setattr("kernelmean.studies.changes.finding._RESAMPLES", 19)
    monkeypatch.setattr("kernelmean.studies.changes.finding._COLUMN_RESAMPLES", 99)


@pytest.fixture
def no_refits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out that estimators of few rows are fitted again without each row, for tests about something else."""
    monkeypatch.setattr("kernelmean.studies.estimate._FEW", 0)
