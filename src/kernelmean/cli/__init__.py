"""The command line: parsing, calling the library, printing. See ``kernelmean --help``."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from .. import __version__

FAILURE = 70
"""The exit code when kernelmean itself failed: 1 says that data have drifted, and nothing else may."""
_EXTRA = ("typer", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 when it worked, 2 when the input was bad, 70 when kernelmean itself failed.

    1 is kept for data that have drifted, with ``--fail-on-drift``.
    """
    if list(sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(f"kernelmean {__version__}")  # at once: the commands need a second to load
        sys.exit(0)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a λ on a terminal that has none
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """Return the exit code, whatever happens: an exception that got out of here would end the process with 1."""
    try:
        from .app import run

        return run(arguments)
    except KeyboardInterrupt:  # while modules were loaded or options read
        tell("kernelmean: stopped before it began")
        return 130
    except ImportError as error:
        if (error.name or "").partition(".")[0] in _EXTRA:
            tell('kernelmean: the command line needs its extra; write: pip install "kernelmean[cli]"')
            return 2
        tell(f"kernelmean: what it needs cannot be loaded ({error}); install it anew: pip install 'kernelmean[cli]'")
        return FAILURE
    except SystemExit:
        raise
    except BaseException as error:
        tell(f"kernelmean: an error of kernelmean itself ({type(error).__name__}: {error})")
        return FAILURE


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
