"""The sidebar opens the branch of its own page only: two hundred pages of the reference on every page help nobody.

The theme asks for the whole tree; making it took most of the time of the build.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx


def collapse(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Let the theme have the tree of contents with the other branches closed, whatever it asks for."""
    del app, page, template, doctree
    whole = context.get("toctree")
    if whole is not None:
        context["toctree"] = lambda **options: whole(**{**options, "collapse": True})


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before the theme, which listens to the same event."""
    app.connect("html-page-context", collapse, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
