"""Every error becomes one line on stderr and an exit code; nobody is shown a traceback."""

from __future__ import annotations

import opcode
import os
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import typer
from numpy.linalg import LinAlgError

from ..core.words import printable
from .config import SOURCE
from .stderr import FAILURE, drop, missing_library, tell

BAD_INPUT, STOPPED, UNREAD = 2, 130, 141
"""Exit codes beside FAILURE; the last two: as of a program that Ctrl-C ended, and of one whose reader went away."""
DEBUG = "KERNELMEAN_DEBUG"
_RAISE = opcode.opmap["RAISE_VARARGS"]
_REBUILT = ("__traceback_maker",)  # frames of another machine, as Dask sends them: of these only the module is known
PACKAGES = {__name__.partition(".")[0]}
"""Whose errors are meant for the user: ours, and those of packages that add commands."""


class Stopped(Exception):  # noqa: N818 (somebody wanted it)
    """Long work was stopped from outside, at a point where nothing is lost."""


def guarded(run: Callable[[], int | None]) -> int:
    """Return the exit code of ``run``; errors and warnings are told in one line each."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: tell(f"kernelmean: note: {one_line(str(message))}")
        try:
            code = int(run() or 0)
            if sys.stdout is not None:
                sys.stdout.flush()  # here a full disk can be told of
        except SystemExit as end:
            if not isinstance(end.__context__, OSError):
                raise
            return _told(end.__context__)  # the option parser makes an exit of a broken pipe
        except Exception as error:
            return _told(error)
    return code


def _told(error: Exception) -> int:
    """Say what an error means, and return its exit code."""
    is_of_output = isinstance(error, OSError) and error.filename is None
    if is_of_output and isinstance(error, BrokenPipeError):  # the reader of the output has gone, as `head` does
        drop(sys.stdout)
        return UNREAD
    code, text = explain(error)
    if os.environ.get(DEBUG):
        tell("".join(traceback.format_exception(error)).rstrip())
    if text:
        tell(f"kernelmean: {one_line(text)}")
    if is_of_output:  # what is left of the output cannot be written either
        drop(sys.stdout)
    return code


def explain(error: Exception) -> tuple[int, str]:
    """Return the exit code and the text for an error."""
    format_message = getattr(error, "format_message", None)
    if format_message is not None:  # of the option parser, which has shown help itself when it says nothing
        text = format_message().rstrip(".")
        return BAD_INPUT, f"{text}{_origin(error)}; see kernelmean --help" if text else ""
    if isinstance(error, Stopped | typer.Abort):
        return STOPPED, str(error) or "stopped; nothing was written"
    if isinstance(error, ImportError) and error.name:  # of Python; what says how to install something has no name
        return missing_library(error)
    text = _bad_input(error)
    if text is not None:
        return BAD_INPUT, text
    kind = type(error).__name__
    report = f"set {DEBUG}=1 to see where, and report it with what kernelmean --version --verbose prints"
    return FAILURE, f"an error of kernelmean itself ({kind}: {error}); {report}"


def _bad_input(error: Exception) -> str | None:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError) or "start new thread" in str(error):
        return "there is not enough memory for so many rows; use --max-rows N with a smaller N"
    if isinstance(error, ImportError) or (isinstance(error, ValueError | TypeError | OSError) and is_refusal(error)):
        return str(error)
    return None


def is_refusal(error: Exception) -> bool:
    """Whether a package of commands raised an error by a statement of its own: what it says is meant for the user.

    An error out of a builtin operation or another library passed checks that should have stopped it before: it is one
    of this package. So is one of linear algebra, wherever it was raised.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return True
    module = str(last.tb_frame.f_globals.get("__name__", ""))
    code = last.tb_frame.f_code
    raised = code.co_code[last.tb_lasti] == _RAISE or code.co_names == _REBUILT
    return raised and module.partition(".")[0] in PACKAGES and not isinstance(error, LinAlgError)


def _origin(error: Any) -> str:
    """Say that a value of an option comes from a file, where it does."""
    context, name = getattr(error, "ctx", None), getattr(getattr(error, "param", None), "name", None)
    if context is None or name is None or name not in (context.default_map or {}):
        return ""
    source = context.get_parameter_source(name)
    return f" (from {context.meta[SOURCE]})" if source is not None and source.name == "DEFAULT_MAP" else ""


def one_line(text: str) -> str:
    """Return a text without line breaks and without what steers a terminal."""
    return printable(" ".join(text.split()))
