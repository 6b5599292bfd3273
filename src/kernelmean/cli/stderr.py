"""Words on stderr, where there is somebody who reads them, and the exit code of a failure of kernelmean itself."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO

FAILURE = 70
"""The exit code when kernelmean itself failed: 1 says that data have drifted, and nothing else may."""

_EXTRA = ("typer", "rich", "pyarrow")


def tell(text: str) -> None:
    """Print a line on stderr, where there is one that is read: a word that nobody hears changes no exit code."""
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # its reader went away
        drop(sys.stderr)
    except ValueError:  # it is closed
        return


def drop(stream: TextIO) -> None:
    """Let nothing more be written to a closed pipe or a full disk: Python would end with 120 for what is left."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def missing_library(error: ImportError) -> tuple[int, str]:
    """Return the exit code and the text for a library that cannot be loaded: of the extra, or of any installation."""
    if (error.name or "").partition(".")[0] in _EXTRA:
        return 2, 'the command line needs its extra; write: pip install "kernelmean[cli]"'
    return FAILURE, f"what it needs cannot be loaded ({error}); reinstall it: pip install 'kernelmean[cli]'"
