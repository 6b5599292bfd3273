"""The options that say how numbers and dates are written in text: the same ones for every command that reads tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, Final

import typer

from ..tables.reading import TextFormat
from .complete import columns, one_of
from .inputs import assigned, option_words
from .options import DATA

_SPACE: Final = "space"
_Decimal = Annotated[
    str,
    typer.Option(
        metavar="MARK",
        help="The decimal mark of numbers: a point, or a comma as in 1,5.",
        autocompletion=one_of(".", ","),
        rich_help_panel=DATA,
    ),
]
_Thousands = Annotated[
    str | None,
    typer.Option(
        metavar="MARK",
        help="The mark between groups of three digits: one of . , ' _ or space.",
        autocompletion=one_of(".", ",", "'", "_", _SPACE),
        rich_help_panel=DATA,
    ),
]
_Dates = Annotated[
    str | None,
    typer.Option(
        metavar="dmy|mdy|ymd",
        help="The order of day, month and year in dates such as 01.02.2024; ISO dates need none.",
        autocompletion=one_of("dmy", "mdy", "ymd"),
        rich_help_panel=DATA,
    ),
]
_Units = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=UNIT",
        help="What stands before or behind the numbers of a column: price=$,weight=kg.",
        autocompletion=columns,
        rich_help_panel=DATA,
    ),
]
_Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The encoding of text files, such as latin-1; by default UTF-8, or UTF-16 with a byte order mark.",
        autocompletion=one_of("utf-8", "latin-1", "cp1252", "utf-16"),
        rich_help_panel=DATA,
    ),
]
_NaValues = Annotated[
    list[str] | None,
    typer.Option(
        "--na-values",
        metavar="TEXTS",
        help="What stands in missing cells, beside nothing, NA, N/A, ?, NaN, NULL and None: -,. for example.",
        rich_help_panel=DATA,
    ),
]
_OPTIONS: Final[dict[str, tuple[Any, str | None]]] = {
    "decimal": (_Decimal, "."),
    "thousands": (_Thousands, None),
    "dates": (_Dates, None),
    "units": (_Units, None),
    "encoding": (_Encoding, None),
    "na_values": (_NaValues, None),
}


def reads_text(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of text in the place of its parameter ``text``, which gets what they say."""

    @wraps(command)
    def run(**given: Any) -> Any:
        told = {name: given.pop(name) for name in _OPTIONS}
        return command(**given, text=_text_format(**told))

    own = inspect.signature(command, eval_str=True)
    parameters = [one for each in own.parameters.values() for one in (_parameters() if each.name == "text" else [each])]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": own.return_annotation}
    return run


def _parameters() -> list[inspect.Parameter]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter(name, kind, annotation=annotation, default=default)
        for name, (annotation, default) in _OPTIONS.items()
    ]


def _text_format(
    decimal: str,
    thousands: str | None,
    dates: str | None,
    units: Sequence[str] | None,
    encoding: str | None,
    na_values: Sequence[str] | None,
) -> TextFormat:
    """Return what the options say."""
    pairs = [assigned(part, "--units", "price=$,weight=kg") for text in units or () for part in option_words(text)]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"--units names the column {twice!r} twice; write its unit once")
    mark = " " if thousands == _SPACE else thousands
    return TextFormat(
        decimal, mark, dates, dict(pairs), encoding, [word for text in na_values or () for word in option_words(text)]
    )
