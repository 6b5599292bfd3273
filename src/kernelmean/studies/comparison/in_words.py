"""What a comparison found in single columns, in one or two sentences for screen and page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.words import listed
from ...inference.wording import brief

if TYPE_CHECKING:
    from .result import Comparison


def on_columns(result: Comparison) -> str:
    """Return in words which columns differ on their own, and what that means together with the joint test."""
    values = result.adjusted()
    names = [brief(name) for name, p in values.items() if p <= result.level]
    if len(values) == 1:
        return f"{brief(*values)} is the only column, so the test of both tables is the test of it."
    if names:
        how_many, differ = ("One", "differs") if len(names) == 1 else (len(names), "differ")
        found = f"{how_many} of {len(values)} columns {differ}"
        if result.differ():
            return f"{found} on {'its' if len(names) == 1 else 'their'} own: {listed(names)}."
        return (
            f"Still, {found.lower()} when each is tested alone: {listed(names)}. A difference in few of many "
            "columns can escape the test of all of them together."
        )
    if result.limits():
        return f"With so few rows or permutations none of the {len(values)} columns can be found to differ on its own."
    if result.differ():
        return (
            f"None of the {len(values)} columns differs clearly on its own: the difference lies in how columns go "
            "together, or is spread over several of them."
        )
    return f"None of the {len(values)} columns differs on its own either."
