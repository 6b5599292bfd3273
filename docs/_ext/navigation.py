"""The sidebar opens the branch of its own page only: two hundred pages of the reference on every page help nobody.

The theme asks for the whole tree; making it took most of the time of the build. The generated pages that one page of
the reference lists have the same tree but for the mark at their own name, so it is made once for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_GENERATED = "api/generated/"
_HERE = '<li class="toctree-l3 current{more}"><a class="current reference internal" href="#">'
_ELSEWHERE = '<li class="toctree-l3"><a class="reference internal" href="{file}">'
_TREE = "furo_navigation_tree"
_unmarked: dict[tuple[str, ...], str] = {}
"""The trees of generated pages without a mark, by the links to the pages above."""


def collapse(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Let the theme have the tree of contents with the other branches closed, whatever it asks for."""
    del app, template, doctree
    whole = context.get("toctree")
    if whole is None:
        return

    def closed(**options: Any) -> str:
        return str(whole(**{**options, "collapse": True}))

    def shared(**options: Any) -> str:
        above = tuple(parent["link"] for parent in context["parents"])
        if above not in _unmarked:
            _unmarked[above] = closed(**options).replace(_HERE.format(more=""), _ELSEWHERE.format(file=_file(page)))
        return _unmarked[above]

    context["toctree"] = shared if page.startswith(_GENERATED) else closed


def mark(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Mark a generated page in its tree, as the theme marks the others."""
    del app, template, doctree
    if not page.startswith(_GENERATED):
        return
    link = _ELSEWHERE.format(file=_file(page))
    if context[_TREE].count(link) != 1:
        raise ValueError(f"the sidebar of {page} does not name it once; give the theme a tree of its own")
    tree = context[_TREE].replace(" current-page", "")  # the theme's, at the page above
    context[_TREE] = tree.replace(link, _HERE.format(more=" current-page"))


def _file(page: str) -> str:
    return f"{page.removeprefix(_GENERATED)}.html"


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the theme, which listens to the same event, and after it."""
    app.connect("html-page-context", collapse, priority=400)
    app.connect("html-page-context", mark, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
