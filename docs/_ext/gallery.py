"""The gallery: runs every file of examples/ and makes a page of its text, its code, what it prints and what it draws.

An example is a script. Its docstring holds the title, the text in Markdown, and a last paragraph ``Picture: ...``
that describes the picture for those who do not see it. It writes one picture with the name of the script.
"""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDER = Path(__file__).parents[1] / "gallery"


@dataclass(frozen=True)
class Example:
    """What a script says about itself."""

    path: Path
    title: str
    text: str
    alt: str
    code: str

    @property
    def picture(self) -> str:
        """The name of the picture that the script writes."""
        return f"{self.path.stem}.svg"


def read(path: Path) -> Example:
    """Take a script apart.

    Raises
    ------
    ValueError
        When the docstring lacks its last paragraph ``Picture: ...``.
    """
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    title, *paragraphs = (ast.get_docstring(tree) or "").split("\n\n")
    if not paragraphs or not paragraphs[-1].startswith("Picture: "):
        raise ValueError(f"{path.name}: the last paragraph of the docstring says what is seen: 'Picture: ...'")
    alt = " ".join(paragraphs[-1].removeprefix("Picture: ").split())
    code = "\n".join(source.splitlines()[tree.body[0].end_lineno :]).strip()
    return Example(path, title.rstrip("."), "\n\n".join(paragraphs[:-1]), alt, code)


def run(example: Example, folder: Path) -> str:
    """Run a script in a folder, where it leaves its picture, and return what it printed."""
    printed = io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        runpy.run_path(str(example.path), run_name="__main__")
    return printed.getvalue()


def page(example: Example, printed: str) -> str:
    """Return the page of an example, in Markdown."""
    output = f"It prints:\n\n```text\n{printed.rstrip()}\n```\n\n" if printed.strip() else ""
    return (
        f"# {example.title}\n\n{example.text}\n\n"
        f"```{{image}} {example.picture}\n:alt: {example.alt}\n:class: picture\n```\n\n"
        f"```python\n{example.code}\n```\n\n{output}The file is `examples/{example.path.name}`.\n"
    )


def index(examples: list[Example]) -> str:
    """Return the first page of the gallery."""
    cards = "\n".join(
        f"- [![{each.alt}]({each.picture})]({each.path.stem}.md)\n  [{each.title}]({each.path.stem}.md)"
        for each in examples
    )
    names = "\n".join(each.path.stem for each in examples)
    return (
        "# Gallery\n\nEvery page is one script of the folder `examples`, which ran when this site was built.\n\n"
        f":::{{container}} gallery\n{cards}\n:::\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    )


def make(app: Sphinx) -> None:
    """Write all pages and pictures of the gallery."""
    del app
    FOLDER.mkdir(exist_ok=True)
    examples = [read(path) for path in sorted(EXAMPLES.glob("*.py"))]
    for old in FOLDER.iterdir():
        if old.stem not in {"index", *(each.path.stem for each in examples)}:
            old.unlink()
    for example in examples:
        with tempfile.TemporaryDirectory() as folder:
            printed = run(example, Path(folder))
            _replace(FOLDER / example.picture, (Path(folder) / example.picture).read_text(encoding="utf-8"))
        _replace(FOLDER / f"{example.path.stem}.md", page(example, printed))
    _replace(FOLDER / "index.md", index(examples))


def _replace(path: Path, text: str) -> None:
    """Write a file, unless it holds this very text: then Sphinx need not read it again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the gallery before Sphinx looks for pages."""
    app.connect("builder-inited", make)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
