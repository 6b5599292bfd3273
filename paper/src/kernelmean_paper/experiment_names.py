"""The names of the experiments; a module is imported when its experiment is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from types import MappingProxyType

from .experiment import Experiment
from .wording import listed

ALL = "all"
EXPERIMENTS: Mapping[str, str] = MappingProxyType(
    {
        "figure1": "figure1:Figure1",
        "figure2": "figure2:Figure2",
        "figure3": "figure3:Figure3",
        "table1": "t_tables:Table1",
        "table2": "t_tables:Table2",
        "table3": "uci_table:Table3",
        "table4": "hsic_table:Table4",
        "theorems": "theorems:Theorems",
    }
)
"""Module and class, by name, in the order of a report."""


def chosen(names: Iterable[str]) -> list[str]:
    """Return the names of experiments, each once and in the order of a report; "all" means all of them.

    Raises
    ------
    ValueError
        When a name is unknown.

    Examples
    --------
    >>> chosen(["table4", "figure1"])
    ['figure1', 'table4']
    """
    wanted = set(names)
    for name in sorted(wanted - {ALL, *EXPERIMENTS}):
        near = [f" (did you mean {each!r}?)" for each in get_close_matches(name.casefold(), [ALL, *EXPERIMENTS], n=1)]
        raise ValueError(
            f"there is no experiment {name!r}{''.join(near)}; write one of {listed(EXPERIMENTS)}, or {ALL}"
        )
    return [name for name in EXPERIMENTS if ALL in wanted or name in wanted]


def load(name: str) -> Experiment:
    """Return the experiment with a name."""
    module, _, kind = EXPERIMENTS[name].partition(":")
    experiment: Experiment = getattr(import_module(f".{module}", __package__), kind)()
    return experiment
