"""Building blocks for commands of other packages.

Such a package lists a ``typer.Typer`` with one command in the entry-point group ``kernelmean.commands``. The command
takes ``quiet: Quiet`` and ``config: Config`` like the others, raises exceptions for errors, and returns its exit code.
"""

from __future__ import annotations

from .config import Config
from .errors import one_line
from .options import Quiet
from .progress import progress
from .stderr import FAILURE, tell

__all__ = ["FAILURE", "Config", "Quiet", "one_line", "progress", "tell"]
