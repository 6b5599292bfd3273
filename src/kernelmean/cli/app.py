"""The commands: what they take, and whom they call."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .. import __version__
from .._table import Missing
from .errors import guarded
from .inputs import ROW_LIMIT, Reading, read_one, read_pair

app = typer.Typer(
    name="kernelmean",
    help="""Kernel mean embeddings on tables: do two data sets differ, where, and what describes one best?

    Tables are CSV or Parquet files, or built-in: wine, breast_cancer (wbdc), iris, diabetes, digits, eckerle4.
    """,
    epilog="Start with: kernelmean compare wine --by target --groups 0,1",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Columns = Annotated[list[str] | None, typer.Option(help="Use these columns only: a,b, or the option repeated.", metavar="NAMES")]
