"""Templates of pages and cards, filled in by Jinja with escaped content. Needs the extra ``plot``."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def clean(text: Any) -> Any:
    """Return a text with a replacement sign for every character that pages must not hold; return other values as is."""
    return _UNPRINTABLE.sub("\ufffd", text) if type(text) is str else text


def available() -> bool:
    """Whether pages can be written."""
    return find_spec("jinja2") is not None


def check() -> None:
    """Raise if pages cannot be written, before long work begins.

    Raises
    ------
    ImportError
    """
    if not available():
        raise ImportError('pages need Jinja2; write: pip install "kernelmean[plot]"')


def filled(name: str, **content: Any) -> str:
    """Return a template with its content filled in.

    Raises
    ------
    ImportError
        When Jinja2 is not installed.
    """
    check()
    return _environment().get_template(name).render(content)


def source(name: str) -> str:
    """Return the text of a file in this folder."""
    return (files(__package__) / name).read_text(encoding="utf-8")


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader(__package__, "")
    return Environment(loader=loader, autoescape=True, finalize=clean, undefined=StrictUndefined)
