"""Charts of pages that are drawn once, for tests about the rest of a page; ``tests/unit/report`` draws them again."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from kernelmean.report import page_charts

_DRAWN: dict[tuple[bytes, str], Any] = {}


def draw_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let equal charts of pages be drawn once in a process."""
    draw = page_charts.drawing

    def once(chart: Any, prefix: str) -> Any:
        key = pickle.dumps(chart), prefix
        if key not in _DRAWN:
            _DRAWN[key] = draw(chart, prefix)
        return _DRAWN[key]

    monkeypatch.setattr(page_charts, "drawing", once)
