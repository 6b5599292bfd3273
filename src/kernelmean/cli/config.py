"""--config FILE: the options of repeated runs from a TOML file with one table for each command.

The command line wins over the file. A key is the name of an option without its dashes, or the name of an argument.
Keys that the command of their table does not know are an error, whichever command runs.
"""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ..core.disk import read_text
from ..core.words import did_you_mean, listed
from .parameters import running_option

_PYPROJECT = "pyproject.toml"
_NOT_IN_FILES = ("config", "help")
SOURCE = "kernelmean.config"
"""The key under which the context of a command keeps the name of the file."""


class Note(str):
    """A note on the file that options came from, with the name of that file."""

    __slots__ = ("file",)
    file: str


def config_file(note: str | None) -> str | None:
    """Return the file that options came from, if any."""
    return note.file if isinstance(note, Note) else None


def read_config(context: typer.Context, path: str | None) -> str | None:
    """Take the options of the running command from a file, and return a note on it."""
    if path is None or context.resilient_parsing:
        return None
    tables = _tables(path)
    commands = _commands(context, tables)
    for name, table in tables.items():
        _check_table(path, name, table, commands)
    command = str(context.info_name)
    if command not in tables:
        raise ValueError(
            f"{path} has no table [{command}], it has {listed(f'[{name}]' for name in tables) or 'none'}; add one, or "
            "leave --config out"
        )
    known = _keys(commands[command])
    given = {_plain(key): value for key, value in tables[command].items()}
    try:
        context.default_map = {known[key].name: _value(path, key, value, known[key]) for key, value in given.items()}
    except RecursionError:
        raise ValueError(f"{path}: a value of [{command}] is nested too deep; write text, numbers or lists") from None
    context.meta[SOURCE] = path
    note = Note(f"{path} sets, unless the command line does: {listed(given) or 'nothing'}")
    note.file = path
    return note


Config = Annotated[
    str | None,
    running_option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=read_config,
        help="Take options from the table of this command in a TOML file, or under \\[tool.kernelmean] in a "
        "pyproject.toml. Options on the command line win.",
    ),
]


def _tables(path: str) -> Mapping[str, Any]:
    try:
        content = tomllib.loads(read_text(Path(path)))
    except (ValueError, RecursionError) as error:  # no TOML, or not even text
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    if Path(path).name != _PYPROJECT:
        return content
    tool = content.get("tool", {})
    tables = tool.get("kernelmean") if isinstance(tool, dict) else None
    if not isinstance(tables, dict):
        raise ValueError(  # noqa: TRY004 (of the file's content)
            f"{path} has no table [tool.kernelmean.COMMAND]; add one, or leave --config out"
        )
    return tables


def _commands(context: typer.Context, tables: Iterable[str]) -> dict[str, Any]:
    """Return the commands by name, those of other packages included if a table is for one."""
    group: Any = context.parent.command if context.parent else None
    if group is None:
        return {str(context.info_name): context.command}
    for name in tables:
        group.get_command(context, name)
    return dict(group.commands)


def _check_table(path: str, name: str, table: Any, commands: Mapping[str, Any]) -> None:
    if name not in commands:
        raise ValueError(
            f"{path}: {name!r} is no command{did_you_mean(name, commands)}; options stand in a table of their command, "
            f"one of {listed(f'[{known}]' for known in commands)}"
        )
    if not isinstance(table, dict):
        raise TypeError(f"{path}: {name} is {table!r}; write a table, such as [{name}] and below it seed = 1")
    known = _keys(commands[name])
    for key in map(_plain, table):
        if known and key not in known:  # a command that is not installed knows none, and says so when run
            raise ValueError(
                f"{path}: [{name}] has no option {key!r}{did_you_mean(key, known)}; it has {listed(sorted(known))}"
            )


def _keys(command: Any) -> dict[str, Any]:
    """Return the parameters of a command by their names in a file."""
    named = {_plain(max(param.opts, key=len)): param for param in command.params}
    return {name: param for name, param in named.items() if name not in _NOT_IN_FILES}


def _plain(key: str) -> str:
    return key.lstrip("-").replace("_", "-")


def _value(path: str, key: str, value: Any, param: Any) -> Any:
    """Return a value in the form of the command line: text, a list of texts, or a truth value."""
    is_switch = bool(getattr(param, "is_flag", False))
    if is_switch != isinstance(value, bool):
        raise ValueError(f"{path}: {key} is {value!r}; write {'true or false' if is_switch else 'text or a number'}")
    if is_switch:
        return value
    if not (getattr(param, "multiple", False) or param.nargs == -1):
        return _text(path, key, value)
    if isinstance(value, dict):
        return [f"{name}={_text(path, key, levels)}" for name, levels in value.items()]
    return [_text(path, key, item) for item in (value if isinstance(value, list) else [value])]


def _text(path: str, key: str, value: Any) -> str:
    """Return text, a number, or a list or table of these, as one word of a command line."""
    if isinstance(value, dict):
        return _joined(f"{name}={_text(path, key, one)}" for name, one in value.items())
    if isinstance(value, list):
        return _joined(_text(path, key, one) for one in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(f"{path}: {key} holds {value!r}; write text or a number")
    return str(value)


def _joined(words: Iterable[str]) -> str:
    """Join words with commas; words that hold a comma are put in double quotes."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(words)
    return line.getvalue()
