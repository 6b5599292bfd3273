"""The reference is complete: public names that no page of docs/api lists by topic get a page by module."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import kernelmean

if TYPE_CHECKING:
    from sphinx.application import Sphinx

API = Path(__file__).parents[1] / "api"
PAGE = API / "more.md"
_NOT_FOR_USERS = re.compile(
    r"kernelmean\.(__main__|cli|core|expected\.profiles|inference\.schemes|report\.(drawing|figures|picture|templates)|studies\.pages|tables\.readers)\b"
)
_SUMMARY = re.compile(r"\.\. currentmodule:: ([\w.]+)\n\n\.\. autosummary::\n((?:   .*\n|\n)+)")
_HEAD = """# More names

By module, and in alphabetical order.
"""
_SECTION = """
## {module}

```{{eval-rst}}
.. currentmodule:: {module}

.. autosummary::
   :toctree: generated
   :nosignatures:

{names}
```
"""


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
    texts = [page.read_text(encoding="utf-8") for page in sorted(API.glob("*.md")) if page != PAGE]
    return [
        (module, line.strip())
        for text in texts
        for module, lines in _SUMMARY.findall(text)
        for line in lines.splitlines()
        if line.strip() and not line.strip().startswith(":")
    ]


def more() -> dict[str, list[str]]:
    """Return the public names of every module that are not listed, each where it is met first."""
    known = [resolved(*pair) for pair in listed()]
    rest: dict[str, list[str]] = {}
    for module in modules():
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if not isinstance(value, ModuleType) and not any(value is other for other in known):
                known.append(value)
                rest.setdefault(module.__name__, []).append(name)
    return rest


def text() -> str:
    """Return the page of the rest."""
    sections = [
        _SECTION.format(module=module, names="\n".join(f"   {name}" for name in names))
        for module, names in more().items()
    ]
    return _HEAD + "".join(sections)


def make(app: Sphinx, config: Any) -> None:
    """Write the page, unless it holds this very text."""
    del app, config
    new = text()
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
        PAGE.write_text(new, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the page before Sphinx looks for pages and autosummary for names."""
    app.connect("config-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
