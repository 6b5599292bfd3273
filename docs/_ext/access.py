"""Pages for the keyboard and for those who listen: what scrolls can be reached, headings say their level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

_MENDED = (
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('class="caption" role="heading"', 'class="caption" role="heading" aria-level="2"'),
)


def mend(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """Add to the text and to the tree of pages what the theme leaves out."""
    del app, page, template, doctree
    for part in ("body", "furo_navigation_tree"):
        for found, mended in _MENDED:
            if isinstance(context.get(part), str):
                context[part] = context[part].replace(found, mended)


def setup(app: Sphinx) -> dict[str, Any]:
    """Mend pages after the theme made them."""
    app.connect("html-page-context", mend, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
