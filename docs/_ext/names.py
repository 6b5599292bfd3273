"""Docstrings as they are meant: short names become links, and |x - y| is a norm and not a substitution."""

from __future__ import annotations

import importlib.util
import inspect
import re
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from docutils.nodes import Text, literal_block
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


_KINDS = {"class", "function", "data", "module"}


def by_last_part(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element
) -> nodes.Element | None:
    """Return a link to the one documented object whose name ends so, or to the one of the same module.

    What exists in the package and is not in the reference becomes plain text; anything else is a warning.
    """
    if node.get("refdomain") != "py":
        return None
    last = node["reftarget"].rsplit(".", 1)[-1]
    found = {
        name: entry
        for name, entry in env.domains["py"].objects.items()
        if name.rsplit(".", 1)[-1] == last and entry.objtype in _KINDS and not entry.aliased
    }
    near = {name: entry for name, entry in found.items() if name.startswith(f"{node.get('py:module')}.")}
    if len(found) != 1:
        found = near
    if len(found) != 1:
        return content if exists(node["reftarget"]) else None
    ((name, entry),) = found.items()
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, name)


def exists(name: str) -> bool:
    """Whether a full name is one of the package: a module, or what is in one."""
    module, *inner = name.split(".")
    if module != "kernelmean":
        return False
    value: Any = importlib.import_module(module)
    for part in inner:
        path = f"{getattr(value, '__name__', '')}.{part}"
        if not hasattr(value, part) and not (inspect.ismodule(value) and importlib.util.find_spec(path)):
            return False
        value = getattr(value, part) if hasattr(value, part) else importlib.import_module(path)
    return True


_LITERAL = re.compile(r"(``.*?``|:[a-z:]+:`[^`]*`|`[^`]*`)")
_SIGNS = ((re.compile(r"(?<!\\)\|"), r"\|"), (re.compile(r"(?<![\\\w])([A-Za-z]\w*)_(?!\w)"), r"\1\_"))
"""What reStructuredText would take for a substitution or for a reference, and how it stays what it is."""


def escape(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape signs of mathematics in a docstring, outside of literals, formulas and examples."""
    del app, what, name, obj, options
    lines[:] = [line if kept else _escaped(line) for line, kept in zip(lines, _kept(lines), strict=True)]


def _kept(lines: list[str]) -> list[bool]:
    """Whether every line belongs to a formula or an example."""

    def kept(before: int, line: str) -> int:
        indent = len(line) - len(line.lstrip())
        if line.lstrip().startswith((".. math::", ">>>")):
            return indent + 1
        return before if not line.strip() or indent >= before else 0

    states = accumulate(lines, kept, initial=0)
    return [state > 0 for state in list(states)[1:]]


def _escaped(line: str) -> str:
    parts = _LITERAL.split(line)
    for i in range(0, len(parts), 2):
        for sign, text in _SIGNS:
            parts[i] = sign.sub(text, parts[i])
        if i and parts[i][:1] in {"²", "³"}:
            parts[i] = "\\ " + parts[i]
    return "".join(parts)


def trim(app: Sphinx, doctree: nodes.document) -> None:
    """Take the blank line off the end of examples, which doctests need and readers do not."""
    del app
    for block in doctree.findall(literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [Text(text)]
        block.children[0].parent = block


def skip(app: Sphinx, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Leave out what every estimator has from scikit-learn."""
    del app, what, name, skipped, options
    return True if str(getattr(obj, "__module__", "")).startswith("sklearn.") else None


_environments: dict[type[Any], SandboxedEnvironment] = {}


def _one_environment(loader: Any) -> SandboxedEnvironment:
    """Return one environment for all loaders of a kind: numpydoc would compile its template for every docstring."""
    kind = type(loader)
    if kind not in _environments:
        _environments[kind] = SandboxedEnvironment(loader=loader)
    return _environments[kind]


def setup(app: Sphinx) -> dict[str, Any]:
    """Resolve names where Sphinx finds nothing, and read docstrings after numpydoc."""
    docscrape_sphinx.SandboxedEnvironment = _one_environment
    app.connect("missing-reference", by_last_part)
    app.connect("autodoc-skip-member", skip)
    app.connect("doctree-read", trim)
    app.connect("autodoc-process-docstring", escape, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
