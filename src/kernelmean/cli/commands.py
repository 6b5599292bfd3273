"""Building blocks for the command of the paper's package, which is a ``typer.Typer`` with one command.

It takes ``quiet: Quiet`` like the others, raises exceptions for errors, and returns its exit code.
"""

from __future__ import annotations

from .errors import one_line
from .options import Quiet
from .progress import progress
from .stderr import FAILURE, tell

__all__ = ["FAILURE", "Quiet", "one_line", "progress", "tell"]
