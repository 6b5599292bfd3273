"""What errors about columns offer: options where the caller has them, else what to do with the table before."""

from __future__ import annotations

from collections.abc import Sequence

from .option_names import written

_SPECIAL = frozenset(" '\"\\;&|<>()*?[]#~`!{}")


def worded(option: str, value: str) -> str:
    """Return an option and its value, in quotes where a shell would take it apart."""
    if not _SPECIAL.intersection(value):
        return f"{option} {value}"
    return f"{option} " + (f'"{value}"' if '"' not in value else f"'{value}'")


def leave_out(names: Sequence[str], reader: str = "") -> str:
    """Return how columns are left out: by an option of the command line or of a ``reader``, or before the call.

    Examples
    --------
    >>> leave_out(["id"])
    "before (pandas: drop(columns=['id']))"
    >>> leave_out(["id"], "read_table")
    "with read_table(..., drop=['id'])"
    """
    asked = f"with {reader}(..., drop={list(names)!r})" if reader else f"before (pandas: drop(columns={list(names)!r}))"
    return written(asked, f"with {worded('--drop', ','.join(names))}")


def drop_rows(reader: str) -> str:
    """Return how rows with blank cells are left out of a table of numbers."""
    asked = f"with {reader}(..., missing='drop') " if reader else ""
    return f"drop such rows {written(asked, 'with --missing drop ' if reader else '')}or fill them first"


def all_incomplete(source: str, emptiest: str, reader: str = "") -> ValueError:
    """Return what to raise where rows with blank cells are left out and none is left."""
    return ValueError(
        f"{source}: every row has a blank cell, most of them in column {emptiest!r}; leave that column out "
        f"{leave_out([emptiest], reader)}"
    )
