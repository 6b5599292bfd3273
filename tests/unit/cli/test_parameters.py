"""Options as values: what the parser sees of a dataclass, and what a command gets."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import kernelmean as km
from kernelmean.cli import app, run, takes_options
from kernelmean.inference.changes.search import Search


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
    different = {"missing", "estimator", "by", "save_path"}
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    commands = [known[name] for name in ("compare", "dependence", "describe", "density", "estimate", "monitor", "info")]
    said: dict[str, set[tuple[str, object]]] = {}
    for param in (param for command in commands for param in command.params):
        said.setdefault(param.name, set()).add((str(getattr(param, "help", None)), str(param.default)))
    assert {name for name, texts in said.items() if len(texts) > 1} == different


@pytest.mark.parametrize(
    ("name", "door", "least"),
    [
        ("compare", km.compare, 13),
        ("dependence", km.dependence, 12),
        ("changes", km.changes, 8),
        ("changes", Search, 5),
    ],
)
def test_options_have_the_defaults_of_the_functions_that_they_reach(name: str, door: Any, least: int) -> None:
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {"rng" if param.name == "seed" else param.name: param.default for param in command.params}
    taken = inspect.signature(door).parameters.items()
    both = {own: (options[own], param.default) for own, param in taken if own in options and param.default != ()}
    different = {"block"} if door is km.changes else set()  # None there: Search decides
    assert {own for own, (said, default) in both.items() if said != default} == different
    assert len(both) >= least


def test_every_command_that_writes_numbers_takes_the_common_options() -> None:
    common = {"quiet", "verbose", "json_path", "csv_path"}
    known = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    own = [{param.name for param in each.params} for each in known.values()]
    lacking = {frozenset(common - names) for names in own if "json_path" in names}
    assert lacking == {frozenset()}


def test_verbose_says_more_where_a_command_has_no_other_details(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["describe", "iris", "-v"]) == 0
    said = capsys.readouterr().out
    assert f"program  kernelmean {km.__version__}" in said
    assert "sepal length (cm)  numbers  " in said.partition("Clear columns")[2]
