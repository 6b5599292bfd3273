"""The command line: parsing, calling the library, printing. See ``kernelmean --help``."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

from .. import __version__

_EXTRA = ("typer", "rich", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 when it worked, 2 when the input was bad, 1 when kernelmean itself failed."""
    if list(sys.argv[1:] if arguments is None else arguments) == ["--version"]:
        print(f"kernelmean {__version__}")  # at once: the commands need a second to load
        sys.exit(0)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a λ on a terminal that has none
    try:
        from .app import run
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.exit(_without_extra())
    except KeyboardInterrupt:
        sys.exit(_stopped())
    try:
        sys.exit(run(arguments))
    except KeyboardInterrupt:  # while options were read
        sys.exit(_stopped())


def _stopped() -> int:
    print("kernelmean: stopped before it began", file=sys.stderr)
    return 130


def _without_extra() -> int:
    print('kernelmean: the command line needs its extra; write: pip install "kernelmean[cli]"', file=sys.stderr)
    return 2
