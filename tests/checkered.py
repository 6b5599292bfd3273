"""Products of parameters of which every other cell runs by default, like the black squares of a board."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def checkered(*axes: Sequence[Any], every: int = 2) -> list[Any]:
    """Return all cells for ``pytest.mark.parametrize``; those with an odd sum of places wait for ``-m slow``.

    Or those whose sum is no multiple of ``every``.

    Every value of every axis is met by default; the rules that such tests hold must not depend on the cell.
    """
    cells = product(*map(enumerate, axes))
    return [
        pytest.param(
            *(value for _, value in cell), marks=[pytest.mark.slow] * (sum(place for place, _ in cell) % every > 0)
        )
        for cell in cells
    ]


def mostly_slow(values: Iterable[Any], *quick: Any) -> list[Any]:
    """Return values for ``pytest.mark.parametrize`` of which all but the ``quick`` ones wait for ``-m slow``.

    For rules that a study in ``benchmarks/`` counts at length, or that hold alike in every cell.
    """
    values = list(values)
    assert set(quick) <= set(values), f"{quick} of {values}"
    return [value if value in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]
