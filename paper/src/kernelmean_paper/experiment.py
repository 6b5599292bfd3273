"""Experiments: settings, a trial of one setting, and the section of the report about the trials."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import ClassVar

import numpy as np

from .arrays import Array
from .judged import Section

Scalar = str | int | float
Columns = Mapping[str, Array]
"""A data set: its columns by name, each of shape (n,), NaN where a cell is blank."""


class Size(Enum):
    """How many trials: quick for a look, full as in the paper."""

    QUICK = "quick"
    FULL = "full"


@dataclass(frozen=True)
class Setting:
    """One cell of an experiment: named values, and the number of trials to run."""

    values: Mapping[str, Scalar]
    trials: int

    @property
    def key(self) -> str:
        """The values as one line, which identifies stored trials."""
        return ", ".join(f"{name}={value}" for name, value in self.values.items())


@dataclass(frozen=True)
class Context:
    """What a trial may use besides its setting: the data, by the name of the data set."""

    load: Callable[[str], Columns]


@dataclass(frozen=True)
class Finding:
    """One number of one trial: the method, what was measured, and the value."""

    method: str
    measure: str
    value: float


@dataclass(frozen=True)
class Findings:
    """All numbers of the trials of an experiment, in the order of settings and trials."""

    settings: tuple[Setting, ...]
    trials: Mapping[str, Sequence[Sequence[Finding]]]
    """The findings of the trials of every setting, by its key, in the order of the trials' numbers; empty for missing
    trials."""

    def values(self, setting: Setting, method: str, measure: str) -> Array:
        """Return the values (trials,) of one method and measure; empty if it was not measured."""
        return self.columns(setting).get((method, measure), np.array([]))

    def columns(self, setting: Setting) -> Mapping[tuple[str, str], Array]:
        """Return the values (trials,) of every method and measure of a setting, found in one pass and cached."""
        return self._columns.get(setting.key, {})

    @cached_property
    def _columns(self) -> Mapping[str, Mapping[tuple[str, str], Array]]:
        return {key: _by_measure(trials) for key, trials in self.trials.items()}

    def where(self, **values: Scalar) -> list[Setting]:
        """Return the settings that have these values."""
        return [one for one in self.settings if all(one.values.get(name) == value for name, value in values.items())]


def _by_measure(trials: Sequence[Sequence[Finding]]) -> dict[tuple[str, str], Array]:
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for trial in trials:
        for one in trial:
            found[one.method, one.measure].append(one.value)
    return {key: np.array(values) for key, values in found.items()}


class Experiment(ABC):
    """A figure or table of the paper.

    A trial sees its setting, its number and a generator that depends only on the seed, the experiment, the setting
    (without its `readings`) and the number. So its findings do not depend on where or when it runs, or beside what.
    """

    name: ClassVar[str]
    """As on the command line: figure1."""
    title: ClassVar[str]
    readings: ClassVar[frozenset[str]] = frozenset()
    """Names of values that say how data are read, not which are drawn. Settings that differ only in these have the same
    generators, so that trials with the same number are paired."""

    @abstractmethod
    def settings(self, size: Size) -> list[Setting]:
        """Return the cells, cheap ones first."""

    @abstractmethod
    def trial(self, setting: Setting, rng: np.random.Generator, context: Context) -> list[Finding]:
        """Measure once."""

    def needs(self, setting: Setting) -> tuple[str, ...]:  # noqa: ARG002 - most settings need no data
        """Return the names of the data sets that trials of a setting load; they are fetched before any trial runs."""
        return ()

    @abstractmethod
    def section(self, findings: Findings) -> Section:
        """Return the section of the report on the findings, by rules; some trials may be missing."""

    def generator(self, setting: Setting, number: int, seed: int) -> np.random.Generator:
        """Return the generator of a trial, from the values of its setting that are not `readings`."""
        values = {name: value for name, value in setting.values.items() if name not in self.readings}
        key = Setting(values, setting.trials).key
        return np.random.default_rng([seed, zlib.crc32(f"{self.name}: {key}".encode()), number])

    def tasks(self, size: Size) -> Iterator[tuple[Setting, int]]:
        """Yield every trial: setting and number."""
        for setting in self.settings(size):
            yield from ((setting, number) for number in range(setting.trials))
