"""Options as values: a command takes frozen dataclasses, whose fields the parser sees as parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import partial, wraps
from typing import Any, get_type_hints

import typer

data_option = partial(typer.Option, rich_help_panel="Columns and rows")
test_option = partial(typer.Option, rich_help_panel="What is computed")
output_option = partial(typer.Option, rich_help_panel="Output")
running_option = partial(typer.Option, rich_help_panel="Running")
DESIGN_PANEL = "What the rows are"
design_option = partial(typer.Option, rich_help_panel=DESIGN_PANEL)
cluster_option = partial(typer.Option, rich_help_panel="Long tables")
"""``typer.Option`` for each panel in the help of a command."""


def read_level(text: str | float) -> float:
    """Return the number that a level is; a percentage says what to write instead."""
    for part, unit in ((str(text), 1.0), (str(text).removesuffix("%"), 0.01)):
        try:
            number = float(part)
        except ValueError:
            continue
        if unit == 1.0:
            return number
        raise typer.BadParameter(f"{text!r} is no number; write {number * unit:g}")
    raise typer.BadParameter(f"{text!r} is no number; write one such as 0.01")


def command(*examples: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function of option values a command, with examples for its help."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        made = takes_options(function)
        made.examples = examples  # type: ignore[attr-defined]
        return made

    return decorate


def takes_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Show the parser the fields of the dataclasses that a command takes, each with its type, help and default.

    The fields of a dataclass come before those of its bases. The command itself gets the dataclasses.
    """
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {
        name: each.annotation for name, each in signature.parameters.items() if is_dataclass(each.annotation)
    }
    parameters = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, each in signature.parameters.items()
        for one in (_spread(groups[name]) if name in groups else [each])
    ]

    @wraps(command)
    def run(**options: Any) -> Any:
        values = {
            name: group(**{one.name: options.pop(one.name) for one in fields(group)}) for name, group in groups.items()
        }
        return command(**options, **values)

    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": signature.return_annotation}
    return run


def _spread(group: type) -> Iterator[inspect.Parameter]:
    hints, known = get_type_hints(group, include_extras=True), {each.name: each for each in fields(group)}
    named = [name for each in group.__mro__ for name in vars(each).get("__annotations__", ())]
    for name in dict.fromkeys(named):
        default = known[name].default
        yield inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[name],
            default=inspect.Parameter.empty if default is MISSING else default,
        )
