"""kernelmean info: show a saved embedding."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..core.words import printable
from .options import Quiet
from .parameters import command


@command("kernelmean info mean.npz")
def info(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that estimate --save or density --save wrote.")],
    quiet: Quiet = False,
) -> None:
    """Show what is in a saved embedding."""
    from ..estimators.files import load, read_columns  # slow to import, which help can do without
    from ..report.description import as_text
    from . import show

    description = show.saved(load(file), read_columns(file))
    print(printable(description.sentence or description.title) if quiet else as_text(description))
