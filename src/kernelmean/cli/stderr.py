"""Lines on stderr, and the exit code for a failure of kernelmean itself."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from typing import TextIO

FAILURE = 70
"""The exit code when kernelmean itself failed. Only drifted data may give 1."""

_EXTRA = ("typer", "rich", "pyarrow")
PLAIN = "kernelmean.plain"
"""How characters are written that the encoding of a stream lacks, such as those of a pipe on Windows."""
_PLAIN_SIGNS = {"−": "-", "≤": "<=", "≥": ">="}


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Return signs of numbers in plain characters, and anything else as question marks."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN_SIGNS.get(each, "?") for each in error.object[error.start : error.end]), error.end


codecs.register_error(PLAIN, _plainly)


def tell(text: str) -> None:
    """Print a line on stderr; if it is missing, closed or no longer read, do nothing, so the exit code stays."""
    if sys.stderr is None:
        return
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:  # its reader left
        drop(sys.stderr)
    except ValueError:  # it is closed
        return


def drop(stream: TextIO) -> None:
    """Discard all further output to a closed pipe or a full disk; otherwise Python would exit with 120."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def missing_library(error: ImportError) -> tuple[int, str]:
    """Return the exit code and the text for a library that cannot be loaded, from the extra or a base dependency."""
    if (error.name or "").partition(".")[0] in _EXTRA:
        return 2, 'the command line needs its extra; write: pip install "kernelmean[cli]"'
    return FAILURE, f"what it needs cannot be loaded ({error}); reinstall it: pip install 'kernelmean[cli]'"
