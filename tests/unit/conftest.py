"""What tests of several rooms share."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
import sklearn.model_selection
from sklearn.model_selection import ParameterGrid

from drawings import draw_once


class FirstOfGrid:
    """Densities without their search, which takes most of the time: the first of every list is taken."""

    def __init__(self, model: Any, grid: Any, **_: Any) -> None:
        self.best_params_ = ParameterGrid(grid)[0]
        self.best_estimator_ = model.set_params(**self.best_params_)

    def fit(self, X: Any) -> FirstOfGrid:
        self.best_estimator_.fit(X)
        return self


@pytest.fixture
def unsearched_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the searches of a density and of its peers, for tests that are about something else."""
    monkeypatch.setattr(sklearn.model_selection, "GridSearchCV", FirstOfGrid)


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


@pytest.fixture
def on_command_line() -> Callable[[str], str]:
    """Write the options in a text as `kernelmean compare` does."""
    import typer

    from kernelmean.cli import app
    from kernelmean.cli.spelling import OPTIONS, spelled

    group: Any = typer.main.get_command(app)
    known = {each.name: each for each in group.commands["compare"].params}

    def written(text: str) -> str:
        OPTIONS.set(known)
        return spelled(text)

    return lambda text: copy_context().run(written, text)
