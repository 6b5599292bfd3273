"""The reference: what the pages of docs/api list, by topic. Whatever they do not list is not public."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import kernelmean

API = Path(__file__).parents[1] / "api"
_NOT_FOR_USERS = re.compile(
    r"kernelmean\.(__main__|cli|core|expected\.profiles|inference\.schemes|report\.(drawing|chart_texts|notebook_figure|templates)|studies\.pages|tables\.readers)\b"
)
_SUMMARY = re.compile(r"\.\. currentmodule:: ([\w.]+)\n\n\.\. autosummary::\n((?:   .*\n|\n)+)")


def modules() -> Iterator[ModuleType]:
    """Yield the package, and its modules that name what is public."""
    yield kernelmean
    for found in pkgutil.walk_packages(kernelmean.__path__, "kernelmean."):
        if not _NOT_FOR_USERS.match(found.name) and _names_something(found):
            yield importlib.import_module(found.name)


def _names_something(found: pkgutil.ModuleInfo) -> bool:
    """Say whether a module has ``__all__``, by its text: importing it may need an extra that is not installed."""
    spec = found.module_finder.find_spec(found.name, None)
    return spec is not None and "\n__all__" in Path(spec.origin or "").read_text(encoding="utf-8")


def resolved(module: str, name: str) -> Any:
    """Return the object that a page names.

    Raises
    ------
    AttributeError, ModuleNotFoundError
        When there is none.
    """
    *inner, last = name.split(".")
    return getattr(importlib.import_module(".".join([module, *inner])), last)


def listed() -> list[tuple[str, str]]:
    """Return the pairs (module, name) that the pages list by topic."""
    texts = [page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md"))]
    return [
        (module, line.strip())
        for text in texts
        for module, lines in _SUMMARY.findall(text)
        for line in lines.splitlines()
        if line.strip() and not line.strip().startswith(":")
    ]


def doors() -> set[tuple[str, str]]:
    """Return every public name with each module that offers it: that of its page, and those with it in ``__all__``."""
    pairs = listed()
    values = [resolved(*pair) for pair in pairs]
    found = {(".".join([module, *name.split(".")[:-1]]), name.split(".")[-1]) for module, name in pairs}
    for module in modules():
        public = (getattr(module, name) for name in module.__all__)
        pairs_of = zip(module.__all__, public, strict=True)
        found |= {
            (module.__name__, name)
            for name, value in pairs_of
            if isinstance(value, ModuleType) or any(value is each for each in values)
        }
    return found
