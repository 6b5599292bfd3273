"""What the shell offers when you press the tab key: estimators, and columns of the table just named."""

from __future__ import annotations

from collections.abc import Callable

import typer

_ADAPTIVE = ("adaptive", "log-mean-exp", "aggregate", "kme", "mkme", "mmkme")
TWO_SAMPLES, PAIRS = (*_ADAPTIVE, "s-kmse", "f-kmse", "vpmkme"), (*_ADAPTIVE, "scose", "fcose")


def columns(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns of the first table named; after commas those not listed yet."""
    done, comma, start = incomplete.rpartition(",")
    others = [name for name in _names(context) if name not in done.split(",")]
    return [f"{done}{comma}{name}" for name in others if name.startswith(start)]


def one_of(*words: str) -> Callable[[str], list[str]]:
    """Return a function that offers the words which begin like the one typed."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def _names(context: typer.Context) -> list[str]:
    """Return the column names that need no quotes, of the table in the first word without dashes."""
    from ..tables.reading import column_names  # slow to import

    words = (context.params.get("a"), context.params.get("data"), *context.args)
    try:
        known = column_names(next(str(word) for word in words if word))
    except (OSError, ValueError, ImportError, StopIteration):  # the command itself will say so
        return []
    return [name for name in known if not set(name) & set(" ,\"'\\$`()&;|<>*?")]
