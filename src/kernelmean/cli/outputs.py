"""Where the output goes: the screen, JSON, and files that are checked before long work begins."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .. import __version__
from .._array import Array
from . import show

SCREEN = "-"


def check_target(path: str | Path | None) -> None:
    """Raise when a file cannot be written there; nothing is made."""
    if path is None or str(path) == SCREEN:
        return
    target = Path(path)
    if not target.name or target.is_dir():
        raise ValueError(f"{str(path)!r} is a folder or empty; write the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write {target.name!r} in; make it first")


def put(
    lines: Sequence[str], notes: Sequence[str], quiet: bool, content: dict[str, Any], json_path: str | None
) -> None:
    """Print the lines (with ``quiet`` the first), and write JSON where it was asked for: "-" prints it instead."""
    told = list(dict.fromkeys(notes))
    if json_path is not None:
        text = json.dumps(plain({**content, "notes": told, "version": __version__}), indent=2, allow_nan=False)
        if json_path == SCREEN:
            print(text)
            return
        Path(json_path).write_text(text + "\n", encoding="utf-8")
    print("\n".join(lines[:1] if quiet else [*lines, *show.notes(told)]))


def write_rows(values: Array, names: Sequence[str], path: Path) -> None:
    """Write a table of numbers as CSV; every number reads back as it was."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(values.tolist())


def plain(value: Any) -> Any:
    """Return a value with infinite numbers as "inf" and "-inf" and NaN as null, for which JSON has no numbers."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
