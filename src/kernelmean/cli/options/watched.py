"""The options that say what is monitored, and when that gives exit code 1."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..parameters import read_level
from .tables import SOURCE


@dataclass(frozen=True)
class Watched:
    """A reference, the tables after it, and how they are cut into batches."""

    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help=f"{SOURCE} Or a folder, or a pattern in quotes: its files are one table."
        ),
    ]
    news: Annotated[
        list[str],
        typer.Argument(
            metavar="NEW...",
            help="Later tables, in the order of time, or a folder or a pattern in quotes: its files are batches by "
            "name. Rows of a batch are taken in random order.",
        ),
    ]
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Cut every NEW into batches by this column.")] = None
    every: Annotated[
        str | None,
        typer.Option(metavar="hour|day|week|month", help="The length of the batches, if --by is a column of times."),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Resume from this JSON file if it exists, and save to it. Batches that it knows are skipped.",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            "--fail-on-drift",
            metavar="ALPHA",
            parser=read_level,
            help="End with exit code 1 if p was ever at most ALPHA.",
        ),
    ] = None
    average_run_length: Annotated[
        float | None,
        typer.Option(
            metavar="ROWS",
            help="Instead of a level: end with exit code 1 at an alarm. A false alarm comes after ROWS on average, or "
            "later.",
        ),
    ] = None

    @property
    def fails(self) -> bool:
        """Whether drift gives exit code 1."""
        return self.alpha is not None or self.average_run_length is not None
