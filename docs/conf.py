"""How the documentation is built: ``python -m sphinx -W -n --keep-going docs docs/_build/html``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from kernelmean import __version__  # noqa: E402

project = "kernelmean"
author = copyright = "The kernelmean developers"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "access",
    "mathml",
    "gallery",
    "names",
    "navigation",
    "notebooks",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "_templates"]
nitpicky = True
needs_sphinx = "8.0"

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"kernelmean {version}"
html_static_path = ["_static"]
html_css_files = ["kernelmean.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
