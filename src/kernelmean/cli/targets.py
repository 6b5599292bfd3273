"""Where a command may write, checked before work begins: each file once, none that is read, no figure of others."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ..core.disk import is_special

SCREEN = "-"
_ON_SCREEN = ("--html", "--csv", "--json", "--markdown")
"""Options that say what - means for them."""
MARK = b"\n<!-- a figure of a report by kernelmean -->\n"
"""The end of every figure beside a Markdown report: only such a file is written over unasked."""

Target = str | Path | None


def check_targets(outputs: Mapping[str, Target], inputs: Iterable[Target], figures: Sequence[str] = ()) -> None:
    """Raise when an output cannot be written, or would be written over another one, an input or a file of others.

    Parameters
    ----------
    outputs : mapping
        From the options to the files that they name.
    inputs : iterable
        What is read: files, folders, and names of built-in tables.
    figures : sequence of str
        The names of the figures that may come to lie beside ``--markdown``.
    """
    named = {option: str(path) for option, path in outputs.items() if path is not None}
    if list(named.values()).count(SCREEN) > 1:
        raise ValueError("two outputs are to go to the screen (-); write one of them to a file")
    read = [path for path in map(str, filter(None, inputs)) if path != SCREEN]
    taken = {_place(path): f"{path!r}, which is read" for path in read}
    folders = [Path(_place(path)) for path in read if os.path.isdir(path)]
    for option, path in named.items():
        if path == SCREEN and option not in _ON_SCREEN:
            raise ValueError(f"{option} writes a file, not to the screen (-); write its name")
        check_target(path)
        if path not in (SCREEN, os.devnull):
            _take(taken, folders, path, option)
    if named.get("--markdown") is not None:
        _check_markdown(Path(named["--markdown"]), figures, taken)


def check_target(path: Target) -> None:
    """Raise when a file cannot be written there; nothing is made."""
    if path is None or str(path) == SCREEN:
        return
    target = Path(path)
    if not target.name or target.is_dir():
        raise ValueError(f"{str(path)!r} is a folder or empty; write the name of a file")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(target.parent)!r} to write {target.name!r} in; make it first")
    if not is_special(target) and not os.access(target.resolve().parent, os.W_OK):
        raise PermissionError(
            f"the folder {str(target.parent)!r} cannot be written in; write {target.name!r} elsewhere"
        )


def figure_of(markdown: Path, name: str) -> Path:
    """Return where a figure of a Markdown report lies: beside it, under a name that begins with its own."""
    target = markdown.resolve()
    return target.with_name(f"{target.stem}-{name}.svg")


def check_own(figure: Path) -> None:
    """Raise when a figure would be written over a file, or through a link, that is no figure of such a report."""
    if os.path.lexists(figure) and (figure.is_symlink() or not figure.is_file() or not _is_marked(figure)):
        raise FileExistsError(
            f"--markdown would write its figure over {figure.name}, which is none of its own; remove that file, or "
            "write the report under another name"
        )


def _take(taken: dict[str, str], folders: Sequence[Path], path: str, option: str) -> None:
    """Note that an option writes a file, and raise where that is taken."""
    place = _place(path)
    if place in taken:
        raise ValueError(f"{path!r} is named twice: {option} would write over {taken[place]}; rename it")
    if any(folder in Path(place).parents for folder in folders):
        raise ValueError(f"{option} {path} lies in a folder that is read; write it elsewhere")
    taken[place] = f"what {option} writes"


def _check_markdown(markdown: Path, figures: Sequence[str], taken: Mapping[str, str]) -> None:
    if str(markdown) == SCREEN or is_special(markdown):
        raise ValueError("--markdown writes figures beside the text; write the name of a file, such as report.md")
    for figure in (figure_of(markdown, name) for name in figures):
        place = _place(figure)
        if place in taken:
            raise ValueError(
                f"--markdown {markdown} has a figure {figure.name}, which would be written over {taken[place]}; rename "
                "one of them"
            )
        check_own(figure)


def _is_marked(figure: Path) -> bool:
    with figure.open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(file.tell() - len(MARK), 0))
        return file.read() == MARK


def _place(path: str | Path) -> str:
    """Return one text for all ways to write a path: links, relative ones, letters that some systems take as one."""
    return unicodedata.normalize("NFC", os.path.realpath(path)).casefold()
