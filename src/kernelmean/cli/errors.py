"""Every error becomes one line on stderr and an exit code, without a traceback."""

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
from .spelling import spelled, spelled_error
from .stderr import FAILURE, drop, missing_library, tell

BAD_INPUT, STOPPED, UNREAD = 2, 130, 141
"""Exit codes besides FAILURE; the last two are those of a program that Ctrl-C ended, and of one whose reader left."""
DEBUG = "KERNELMEAN_DEBUG"
_MEANT = {"--target": "--y"}
"""Options that people try, and what they are called here."""
_RAISE = opcode.opmap["RAISE_VARARGS"]
_REBUILT = ("__traceback_maker",)  # frames of another machine, sent by Dask: only their module is known
_OURS = "kernelmean"
"""How the names of the packages begin whose errors are meant for the user: this one and the paper's."""


class Stopped(Exception):  # noqa: N818 (somebody wanted it)
    """Long work was stopped from outside, at a point where nothing is lost."""


def guarded(run: Callable[[], int | None]) -> int:
    """Return the exit code of ``run``; print errors and warnings in one line each."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: tell(f"kernelmean: note: {one_line(spelled(str(message)))}")
        try:
            code = int(run() or 0)
            if sys.stdout is not None:
                sys.stdout.flush()  # here a full disk can still be reported
        except SystemExit as end:
            if not isinstance(end.__context__, OSError):
                raise
            return _told(end.__context__)  # the option parser turns a broken pipe into an exit
        except Exception as error:
            return _told(error)
    return code


def _told(error: Exception) -> int:
    """Print what an error means, and return its exit code."""
    is_of_output = isinstance(error, OSError) and error.filename is None
    if is_of_output and isinstance(error, BrokenPipeError):  # the reader of the output left, as `head` does
        drop(sys.stdout)
        return UNREAD
    code, text = explain(error)
    if os.environ.get(DEBUG):
        tell("".join(traceback.format_exception(error)).rstrip())
    if text:
        tell(f"kernelmean: {one_line(text)}")
    if is_of_output:  # the rest of the output cannot be written either
        drop(sys.stdout)
    return code


def explain(error: Exception) -> tuple[int, str]:
    """Return the exit code and the text for an error."""
    format_message = getattr(error, "format_message", None)
    if format_message is not None:  # from the option parser; when its text is empty it has shown help itself
        _suggest(error)
        text = format_message().rstrip(".")
        context = getattr(error, "ctx", None)
        command = f" {context.info_name}" if context is not None and context.parent is not None else ""
        return BAD_INPUT, f"{text}; see kernelmean{command} --help" if text else ""
    if isinstance(error, Stopped | typer.Abort):
        return STOPPED, str(error) or "stopped; nothing was written"
    if (
        isinstance(error, ImportError) and error.name
    ):  # raised by Python; errors that say how to install something have no name
        return missing_library(error)
    text = _bad_input(error)
    if text is not None:
        return BAD_INPUT, spelled_error(text)
    kind = type(error).__name__
    report = f"set {DEBUG}=1 to see where, and report it with what kernelmean --version --verbose prints"
    return FAILURE, f"an error of kernelmean itself ({kind}: {error}); {report}"


def _bad_input(error: Exception) -> str | None:
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else "the output cannot be written: "
        return f"{where}{error.strerror}"
    if isinstance(error, MemoryError) or "start new thread" in str(error):
        return (
            "there is not enough memory for so many rows; use --max-rows N with a smaller N (without it, compare A B "
            "and dependence read long tables batch by batch)"
        )
    if isinstance(error, ImportError) or (isinstance(error, ValueError | TypeError | OSError) and is_refusal(error)):
        return str(error)
    return None


def is_refusal(error: Exception) -> bool:
    """Whether one of our packages raised the error by a ``raise`` of its own, with a text meant for the user.

    An error from a builtin operation or another library got past checks that should have caught it, so it is an error
    of this package. So is an error of linear algebra, wherever it was raised.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return True
    module = str(last.tb_frame.f_globals.get("__name__", ""))
    code = last.tb_frame.f_code
    raised = code.co_code[last.tb_lasti] == _RAISE or code.co_names == _REBUILT
    return raised and module.startswith(_OURS) and not isinstance(error, LinAlgError)


def _suggest(error: Any) -> None:
    """Let the error about an unknown option suggest the one that is meant, where the names are not alike."""
    meant, context = _MEANT.get(getattr(error, "option_name", "")), getattr(error, "ctx", None)
    if meant and context is not None and any(meant in each.opts for each in context.command.params):
        error.possibilities = [meant]


def one_line(text: str) -> str:
    """Return a text without line breaks and terminal control characters."""
    return printable(" ".join(text.split()))
