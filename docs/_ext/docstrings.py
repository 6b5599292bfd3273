"""One template of docstrings for all of them: numpydoc compiles its own anew for each, a tenth of the build."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import FileSystemLoader
from jinja2.sandbox import SandboxedEnvironment
from numpydoc import docscrape_sphinx

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FOLDER = Path(docscrape_sphinx.__file__).parent / "templates"


def setup(app: Sphinx) -> dict[str, Any]:
    """Hand the template to every docstring that brings none."""
    del app
    template = SandboxedEnvironment(loader=FileSystemLoader(_FOLDER)).get_template("numpydoc_docstring.rst")
    load = docscrape_sphinx.SphinxDocString.load_config
    docscrape_sphinx.SphinxDocString.load_config = lambda own, config: load(own, {"template": template, **config})
    return {"parallel_read_safe": True, "parallel_write_safe": True}
