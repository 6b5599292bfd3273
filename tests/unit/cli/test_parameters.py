"""Options as values: what the parser sees of a dataclass, and what a command gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from kernelmean.cli import app, takes_options


@dataclass(frozen=True)
class Loud:
    loud: Annotated[bool, typer.Option("--loud/--quiet", help="Shout.")] = False


@dataclass(frozen=True)
class Seeded:
    seed: Annotated[int, typer.Option(help="A seed.")] = 3


@dataclass(frozen=True, kw_only=True)
class Greeting(Loud, Seeded):
    name: Annotated[str, typer.Argument()]
    often: Annotated[int, typer.Option(help="How often.")] = 1


def test_a_command_gets_values_whose_fields_the_parser_has_read() -> None:
    given = []

    @takes_options
    def greet(greeting: Greeting, last: Annotated[bool, typer.Option(help="Last.")] = False) -> None:
        given.append((greeting, last))

    toy = typer.Typer(add_completion=False)
    toy.command()(greet)
    runner = CliRunner()
    assert runner.invoke(toy, ["Ada", "--often", "2", "--loud", "--last"]).exit_code == 0
    assert given == [(Greeting(name="Ada", often=2, loud=True), True)]
    (command,) = [typer.main.get_command(toy)]
    assert [param.name for param in command.params if param.name != "help"] == ["name", "often", "loud", "seed", "last"]


def test_an_option_says_the_same_in_every_command_that_takes_it() -> None:
    """Where it does not, the commands mean different things by it."""
    different = {"missing", "estimator", "checkpoint", "fail_on_drift", "by", "save_path"}
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    commands = [known[name] for name in ("compare", "dependence", "describe", "density", "estimate", "monitor", "info")]
    said: dict[str, set[tuple[str, object]]] = {}
    for param in (param for command in commands for param in command.params):
        said.setdefault(param.name, set()).add((str(getattr(param, "help", None)), str(param.default)))
    assert {name for name, texts in said.items() if len(texts) > 1} == different
