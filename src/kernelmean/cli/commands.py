"""What a command of another package is made of.

Such a package names a ``typer.Typer`` with one command in the entry-point group ``kernelmean.commands``. Its command
takes ``quiet: Quiet`` and ``config: Config`` as the others do, reports errors by raising exceptions, and returns its
exit code.
"""

from __future__ import annotations

from .config import Config
from .errors import one_line
from .options import Quiet
from .progress import progress
from .stderr import FAILURE, tell

__all__ = ["FAILURE", "Config", "Quiet", "one_line", "progress", "tell"]
