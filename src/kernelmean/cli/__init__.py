"""The command line: parsing, calling the library, printing. See ``kernelmean --help``."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..core import lazy as _lazy
from .stderr import FAILURE, PLAIN, missing_library, tell

if TYPE_CHECKING:
    from .app import app, run
    from .errors import Stopped, explain
    from .outputs import as_csv
    from .parameters import takes_options
    from .progress import stoppable

__all__ = ["Stopped", "app", "as_csv", "explain", "main", "run", "stoppable", "takes_options"]

_lazy.attach(
    __name__,
    {
        "app": "app run",
        "errors": "Stopped explain",
        "outputs": "as_csv",
        "parameters": "takes_options",
        "progress": "stoppable",
    },
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: with 0 on success, 2 for bad input, 70 when kernelmean itself failed.

    1 is reserved for drifted data, with ``--fail-on-drift``.
    """
    if list(sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(f"kernelmean {__version__}")  # at once: the commands take a second to load
        sys.exit(0)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=PLAIN)  # for a λ on a terminal without one
    sys.exit(_run(arguments))


def _run(arguments: Sequence[str] | None) -> int:
    """Return the exit code in every case: an exception that left this function would end the process with 1."""
    try:
        from .app import run

        return run(arguments)
    except KeyboardInterrupt:  # while modules were loaded or options read
        tell("kernelmean: stopped before it began")
        return 130
    except ImportError as error:
        code, text = missing_library(error)
        tell(f"kernelmean: {text}")
        return code
    except SystemExit:
        raise
    except BaseException as error:
        tell(f"kernelmean: an error of kernelmean itself ({type(error).__name__}: {error})")
        return FAILURE
