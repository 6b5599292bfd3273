"""How numbers of today are held to those that were recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

RELATIVE = 1e-10
"""How far a number may be from the recorded one, relative to it."""

ROUNDING = 1e-12
"""The same relative to the largest number of a list."""

SMALLEST = 1e-15
"""What counts as zero: kernels are of the order of one."""

EXACT = ("pvalue", "loocv")
"""What stands in the names of values that no wider tolerance for all values is for."""

HERE = Path(__file__).parent


def expected_of(group: str) -> dict[str, Any]:
    """Return the recorded entries of a group of calls, none where it has no file yet."""
    path = HERE / "expected" / f"{group}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def all_expected() -> dict[str, Any]:
    """Return all recorded entries by name."""
    groups = sorted(path.stem for path in (HERE / "expected").glob("*.json"))
    return {name: entry for group in groups for name, entry in expected_of(group).items()}


def differences(entry: Mapping[str, Any], today: Mapping[str, Any]) -> list[str]:
    """Return a line for every value of today that is not the recorded one."""
    recorded = entry["values"]
    lines = [f"{key} is missing" for key in recorded.keys() - today.keys()]
    lines += [f"{key} is new" for key in today.keys() - recorded.keys()]
    for key in recorded.keys() & today.keys():
        if not agree(key, recorded[key], today[key], tolerance(entry, key)):
            lines.append(f"{key} was {recorded[key]}, is {today[key]}")
    return sorted(lines)


def tolerance(entry: Mapping[str, Any], key: str) -> float:
    """Return how far a value may be from the recorded one; see ``Call.wider``."""
    wider = entry.get("wider", {})
    rest = {} if any(word in key for word in EXACT) else wider.get("*")
    return (wider.get(key) or rest or (RELATIVE,))[0]


def agree(key: str, recorded: Any, today: Any, relative: float = RELATIVE) -> bool:
    """Whether a value is the recorded one: p-values and texts exactly, other numbers up to rounding.

    A p-value is a count over a count, so it is compared exactly unless a wider tolerance was recorded with a reason.
    """
    if not _is_numeric(recorded) or not _is_numeric(today):
        return type(recorded) is type(today) and bool(recorded == today)
    one, other = np.asarray(recorded, dtype=float), np.asarray(today, dtype=float)
    if one.shape != other.shape:
        return False
    if "pvalue" in key and relative == RELATIVE:
        return np.array_equal(one, other)
    finite = np.isfinite(one)
    if not np.array_equal(one[~finite], other[~finite], equal_nan=True):
        return False
    one, other = one[finite], other[finite]
    scale = np.max(np.abs(one), initial=0.0)
    return bool(np.all(np.abs(one - other) <= relative * np.abs(one) + ROUNDING * scale + SMALLEST))


def _is_numeric(value: Any) -> bool:
    """Whether a value is a number or a list of numbers, of which some may be missing; no truth value, no text."""
    if isinstance(value, list):
        return all(item is None or _is_numeric(item) for item in value)
    return isinstance(value, int | float) and not isinstance(value, bool)
