"""The commands by their names: our own, and those that other packages add."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata
from typing import Any

import typer
from typer.core import TyperGroup

from .errors import PACKAGES, Stopped

ENTRY_POINTS = "kernelmean.commands"
"""The group of entry points by which packages add commands."""
APART = {"reproduce": "pip install ./paper"}
"""Our own commands that are packages of their own, and what installs each in the root of a clone."""


class Commands(TyperGroup):
    """The commands, which say a word when Ctrl-C ends them.

    Other packages are asked when a name is not one of ours, or when all names are wanted, as for help.
    """

    panel = "Files and the paper"

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Stopped("stopped; nothing was written") from None

    def list_commands(self, ctx: Any) -> list[str]:
        """Return all names."""
        self._add_others()
        return super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, or None where nobody has it."""
        if cmd_name not in self.commands:
            self._add_others()
        return super().get_command(ctx, cmd_name)

    def _add_others(self) -> None:
        for name, command in others():
            if name not in self.commands:
                command.name, command.rich_help_panel = name, self.panel
                self.commands[name] = command


def others() -> Iterator[tuple[str, Any]]:
    """Yield the commands of other packages by their names; ours that are not installed say how to install them."""
    known = {each.name: each for each in metadata.entry_points(group=ENTRY_POINTS)}
    for name in sorted({*known, *APART}):
        yield name, _loaded(known[name]) if name in known else _absent(name)


def _loaded(entry: metadata.EntryPoint) -> Any:
    PACKAGES.add(entry.module.partition(".")[0])
    try:
        return typer.main.get_command(entry.load())
    except Exception as error:
        package = entry.dist.name if entry.dist else entry.module
        return _stub(
            entry.name,
            f"Cannot be loaded; install {package} anew.",
            f"{entry.name} cannot be loaded ({type(error).__name__}: {error}); install {package} anew",
        )


def _absent(name: str) -> Any:
    return _stub(
        name,
        f"Not installed; in the root of a clone: {APART[name]}",
        f"{name} is a package of its own, which is not installed; in the root of a clone of kernelmean write: "
        f"{APART[name]}",
    )


def _stub(name: str, summary: str, error: str) -> Any:
    """Return a command that raises, whatever its arguments."""

    def refuse() -> None:
        raise ImportError(error)

    app = typer.Typer(add_completion=False)
    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    app.command(name, help=summary, add_help_option=False, context_settings=anything)(refuse)
    return typer.main.get_command(app)
