"""Formulas as MathML, which browsers draw by themselves: no script, no font and no picture is loaded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from sphinx.util import logging

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

_WORDS = {r"\operatorname": r"\mathrm", r"\arg\min": r"\mathrm{arg\,min}"}
"""Commands that the converter does not know, and what it knows."""
_RELATIONS = set("∼≤≥≠∝∈→⊗∘")
"""What the converter takes for letters, and stands with space around it."""
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
_BAR = "\u00af"
logger = logging.getLogger(__name__)


def mathml(latex: str, *, block: bool) -> str:
    r"""Return a formula as a MathML element.

    Raises
    ------
    ValueError
        When a command is not known.

    Examples
    --------
    >>> mathml(r"\overline{x}", block=False).count("overline")
    1
    """
    for sign, word in _WORDS.items():
        latex = latex.replace(sign, word)
    ElementTree.register_namespace("", _NAMESPACE[1:-1])
    root = ElementTree.fromstring(convert(latex, display="block" if block else "inline"))
    _draw_bars(root)
    for letter in root.iter(f"{_NAMESPACE}mi"):
        if letter.text in _RELATIONS:
            letter.tag = f"{_NAMESPACE}mo"
    text = ElementTree.tostring(root, encoding="unicode")
    if "\\" in text:
        raise ValueError(f"the formula {latex!r} has a command that is not known: {re.findall(r'.{9}.*', text)[0]}")
    return text


def _draw_bars(root: ElementTree.Element) -> None:
    """Make bars over terms borders: as accents they do not grow with what is under them."""
    for over in root.iter(f"{_NAMESPACE}mover"):
        if len(over) == 2 and over[1].text in {_BAR, "\u2015", "\u203e"} and _letters(over[0]) > 1:
            over.tag = f"{_NAMESPACE}mrow"
            over.set("class", "overline")
            over.remove(over[1])


def _letters(element: ElementTree.Element) -> int:
    return len("".join(element.itertext()))


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_checked(node, block=False))
    raise _skip()


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    self.body.append(f'<div class="math" tabindex="0">{_checked(node, block=True)}</div>')
    raise _skip()


def _checked(node: nodes.Element, *, block: bool) -> str:
    try:
        return mathml(node.astext(), block=block)
    except ValueError as error:
        logger.warning("%s", error, location=node)
        return "?"


def _skip() -> Exception:
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app: Sphinx) -> dict[str, Any]:
    """Make this the way in which formulas are drawn."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
